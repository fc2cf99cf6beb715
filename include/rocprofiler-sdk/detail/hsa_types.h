/*
 * The HSA headers, and the types of newer ones that argument unions need where older ones are
 * installed: Debian 12 has ROCm 5.2.3, the unions describe ROCm 7. The minor version of the AMD
 * extension, which counts what is declared, tells for every release which types its header has.
 */
#ifndef ROCPROFILER_SDK_DETAIL_HSA_TYPES_H
#define ROCPROFILER_SDK_DETAIL_HSA_TYPES_H

#include <assert.h> /* this and string.h: AMD's headers bring them, and their users rely on it */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>

#ifdef __cplusplus
extern "C" {
#endif

#if HSA_AMD_INTERFACE_VERSION_MINOR < 1
typedef uint32_t hsa_amd_sdma_engine_id_t; /* one bit per engine */
#endif

#if HSA_AMD_INTERFACE_VERSION_MINOR < 4
typedef struct hsa_amd_vmem_alloc_handle_s {
    uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;

typedef enum {
    MEMORY_TYPE_NONE,
    MEMORY_TYPE_PINNED,
} hsa_amd_memory_type_t;

typedef struct hsa_amd_memory_access_desc_s {
    hsa_access_permission_t permissions;
    hsa_agent_t agent_handle;
} hsa_amd_memory_access_desc_t;
#endif

#if HSA_AMD_INTERFACE_VERSION_MINOR < 14
typedef struct hsa_amd_ais_file_handle_s {
    union {
        void *handle;
        int fd;
        uint8_t pad[8];
    };
} hsa_amd_ais_file_handle_t;
#endif

/* In the image header of ROCm 7; a repeated typedef of one type is allowed. */
typedef struct hsa_ext_sampler_descriptor_v2_s hsa_ext_sampler_descriptor_v2_t;

/* The runtime declares these only in its C++ header of API tables; repeating them is allowed. */
typedef void (*hsa_amd_queue_intercept_packet_writer)(const void *pkts, uint64_t pkt_count);
typedef void (*hsa_amd_queue_intercept_handler)(const void *pkts, uint64_t pkt_count,
                                                uint64_t user_pkt_index, void *data,
                                                hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t *queue, hsa_agent_t agent,
                                               void *data);

/* The anonymous callback type of hsa_ext_program_iterate_modules(). */
typedef hsa_status_t (*hsa_ext_program_iterate_modules_cb_t)(hsa_ext_program_t program,
                                                             hsa_ext_module_t module, void *data);

#ifdef __cplusplus
}
#endif

#endif
