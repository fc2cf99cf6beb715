/* ROCtracer and HSA: hsa_api_id_t and hsa_api_data_t (hsa_prof_str.h), device operations, events.
 */
#ifndef ROCTRACER_HSA_H_
#define ROCTRACER_HSA_H_

#include "roctracer.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa_ostream_ops.h"
#include "hsa_prof_str.h"

/** Operations of ACTIVITY_DOMAIN_HSA_OPS. */
typedef enum hsa_op_id_t {
    HSA_OP_ID_DISPATCH = 0, /**< kernels; see hsa_ops_properties_t */
    HSA_OP_ID_COPY = 1,     /**< asynchronous copies */
    HSA_OP_ID_BARRIER = 2,  /**< barrier packets, alike */
    HSA_OP_ID_RESERVED1 = 3,
    HSA_OP_ID_NUMBER
} hsa_op_id_t;

/* ROC Profiler's activity.h has these two, with the same names and layout. */
#ifndef ROCPROFILER_ACTIVITY_H
/** Operations of ACTIVITY_DOMAIN_HSA_EVT; each is called back once, after it happened. */
typedef enum hsa_evt_id_t {
    HSA_EVT_ID_ALLOCATE = 0, /**< memory allocated or (size 0) about to be freed */
    HSA_EVT_ID_DEVICE = 1,   /**< an agent got access to memory */
    HSA_EVT_ID_MEMCOPY = 2,  /**< hsa_memory_copy */
    HSA_EVT_ID_SUBMIT = 3,   /**< a packet went to the device */
    HSA_EVT_ID_KSYMBOL = 4,  /**< a kernel came or goes */
    HSA_EVT_ID_CODEOBJ = 5,  /**< a code object was loaded or is about to be unloaded */
    HSA_EVT_ID_NUMBER
} hsa_evt_id_t;
#endif

/**
 * Properties of ACTIVITY_DOMAIN_HSA_OPS. Nothing is read from them, but setting them (NULL will do)
 * announces that dispatches or barriers may be enabled later: they are traced on queues that were
 * created after that, or after they were enabled for the first time. Queues made before cannot be
 * traced.
 */
typedef struct hsa_ops_properties_t {
    void *reserved1[4];
} hsa_ops_properties_t;

#ifndef ROCPROFILER_ACTIVITY_H
/** What an HSA_EVT callback gets. Pointers are valid during the call. */
typedef struct {
    union {
        struct {
            const void *ptr;
            size_t size; /**< bytes; 0: freed */
            hsa_amd_segment_t segment;
            hsa_amd_memory_pool_global_flag_t global_flag;
            int is_code;
        } allocate;

        struct {
            hsa_device_type_t type;
            uint32_t id; /**< GPU: the driver's node number; CPU: counted from 0 */
            hsa_agent_t agent;
            const void *ptr;
        } device;

        struct {
            const void *dst;
            const void *src;
            size_t size; /**< bytes */
        } memcopy;

        struct {
            const void *packet;      /**< 64 bytes */
            const char *kernel_name; /**< NULL: not a kernel dispatch */
            hsa_queue_t *queue;
            uint32_t device_type;
            uint32_t device_id;
        } submit;

        struct {
            uint64_t object; /**< what dispatch packets name it by */
            const char *name;
            uint32_t name_length;
            int unload; /**< 1: it goes */
        } ksymbol;

        struct {
            uint32_t storage_type; /**< hsa_ven_amd_loader_code_object_storage_type_t */
            int storage_file;      /**< descriptor; -1: it is in memory */
            uint64_t memory_base;
            uint64_t memory_size; /**< bytes */
            uint64_t load_base;
            uint64_t load_size; /**< bytes */
            uint64_t load_delta;
            uint32_t uri_length; /**< without the terminating zero */
            const char *uri;
            int unload; /**< 1: it goes */
        } codeobj;
    };
} hsa_evt_data_t;
#endif

#endif
