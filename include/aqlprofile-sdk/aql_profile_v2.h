/*
 * Command packets for hardware counters, second interface: agents are described by the caller, so
 * no runtime is needed, and memory comes from the caller's callbacks.
 */
#ifndef AQLPROFILE_SDK_AQL_PROFILE_V2_H
#define AQLPROFILE_SDK_AQL_PROFILE_V2_H

#include <hsa/hsa.h>

/* The header defines a constant, which in C would be a symbol of every file that includes it. */
#ifndef __cplusplus
#define HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE                                              \
    aqlprofile_legacy_pm4_packet_size __attribute__((weak))
#endif
#include <hsa/hsa_ven_amd_aqlprofile.h>
#ifndef __cplusplus
#undef HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE
#define HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE 192
#endif

#include <aqlprofile-sdk/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Of the interface: AQLPROFILE_VERSION_MAJOR ... when the library was built. */
typedef struct aqlprofile_version_t {
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
} aqlprofile_version_t;

/** HSA_STATUS_ERROR_INVALID_ARGUMENT when `version` is NULL. */
hsa_status_t aqlprofile_get_version(aqlprofile_version_t *version);

/** Blocks beyond hsa_ven_amd_aqlprofile_block_name_t, whose last number was 32 when these were
 * given out. The reserved ones have no block. In AMD's header they follow HSA's list, which got one
 * more in ROCm 7.2: there each is 1 higher. This library's are these, and a client of both asks for
 * a block's number by its name (::AQLPROFILE_INFO_BLOCK_ID). */
typedef enum {
    AQLPROFILE_BLOCK_NAME_RESERVED_0 = 33,
    AQLPROFILE_BLOCK_NAME_RESERVED_1 = 34,
    AQLPROFILE_BLOCK_NAME_RESERVED_2 = 35,
    AQLPROFILE_BLOCK_NAME_RESERVED_3 = 36,
    AQLPROFILE_BLOCK_NAME_RESERVED_4 = 37,
    AQLPROFILE_BLOCK_NAME_RESERVED_5 = 38,
    AQLPROFILE_BLOCK_NAME_CPG = 39,
    AQLPROFILE_BLOCK_NAME_RLC = 40,
    AQLPROFILE_BLOCK_NAME_CHA = 41,
    AQLPROFILE_BLOCK_NAME_CHC = 42,
    AQLPROFILE_BLOCK_NAME_GC_CANE = 43,
    AQLPROFILE_BLOCK_NAME_GC_FFBM = 44,
    AQLPROFILE_BLOCK_NAME_GC_L2TLB = 45,
    AQLPROFILE_BLOCK_NAME_GC_UTCL1 = 46,
    AQLPROFILE_BLOCK_NAME_GC_UTCL2 = 47,
    AQLPROFILE_BLOCK_NAME_GC_VML2 = 48,
    AQLPROFILE_BLOCK_NAME_GC_VML2_SPM = 49,
    AQLPROFILE_BLOCK_NAME_GCEA_SE = 50,
    AQLPROFILE_BLOCK_NAME_GRBMH = 51,
    AQLPROFILE_BLOCK_NAME_SQG = 52,
    AQLPROFILE_BLOCK_NAME_RESERVED_6 = 53,
    AQLPROFILE_BLOCK_NAME_RESERVED_7 = 54,
    AQLPROFILE_BLOCK_NAME_RESERVED_8 = 55,
    AQLPROFILE_BLOCK_NAME_RESERVED_9 = 56,
    AQLPROFILE_BLOCKS_NUMBER = 57
} aqlprofile_block_name_t;

/** One set of packets with its memory. */
typedef struct {
    uint64_t handle;
} aqlprofile_handle_t;

typedef struct {
    uint64_t handle;
} aqlprofile_agent_handle_t;

/* ---- memory, provided by the caller */

typedef enum {
    AQLPROFILE_MEMORY_HINT_NONE = 0,
    AQLPROFILE_MEMORY_HINT_HOST = 1,
    AQLPROFILE_MEMORY_HINT_DEVICE_UNCACHED = 2,
    AQLPROFILE_MEMORY_HINT_DEVICE_COHERENT = 3,
    AQLPROFILE_MEMORY_HINT_DEVICE_NONCOHERENT = 4,
    AQLPROFILE_MEMORY_HINT_LAST
} aqlprofile_memory_hint_t;

/** Who touches the memory, and where it would best lie. */
typedef union {
    uint32_t raw;
    struct {
        uint32_t device_access : 1;
        uint32_t host_access : 1;
        uint32_t memory_hint : 6; /**< ::aqlprofile_memory_hint_t */
        uint32_t _reserved : 24;
    };
} aqlprofile_buffer_desc_flags_t;

typedef hsa_status_t (*aqlprofile_memory_alloc_callback_t)(void **ptr, uint64_t size,
                                                           aqlprofile_buffer_desc_flags_t flags,
                                                           void *userdata);
typedef void (*aqlprofile_memory_dealloc_callback_t)(void *ptr, void *userdata);
typedef hsa_status_t (*aqlprofile_memory_copy_t)(void *dst, const void *src, size_t size,
                                                 void *userdata);

/* ---- agents */

typedef enum {
    AQLPROFILE_AGENT_VERSION_NONE = 0,
    AQLPROFILE_AGENT_VERSION_V0 = 1, /**< ::aqlprofile_agent_info_t */
    AQLPROFILE_AGENT_VERSION_V1 = 2, /**< ::aqlprofile_agent_info_v1_t */
    AQLPROFILE_AGENT_VERSION_LAST
} aqlprofile_agent_version_t;

/** Counts are of the whole device. */
typedef struct {
    const char *agent_gfxip; /**< "gfx90a" */
    uint32_t xcc_num;
    uint32_t se_num;
    uint32_t cu_num;
    uint32_t shader_arrays_per_se;
} aqlprofile_agent_info_t;

typedef struct {
    const char *agent_gfxip;
    uint32_t xcc_num;
    uint32_t se_num;
    uint32_t cu_num;
    uint32_t shader_arrays_per_se;
    uint32_t domain;      /**< PCI */
    uint32_t location_id; /**< PCI bus, device, function */
} aqlprofile_agent_info_v1_t;

hsa_status_t aqlprofile_register_agent(aqlprofile_agent_handle_t *agent_id,
                                       const aqlprofile_agent_info_t *agent_info);
/** `agent_info` points to the struct of `version`. */
hsa_status_t aqlprofile_register_agent_info(aqlprofile_agent_handle_t *agent_id,
                                            const void *agent_info,
                                            aqlprofile_agent_version_t version);

/* ---- counters */

typedef enum {
    AQLPROFILE_ACCUMULATION_NONE = 0,
    AQLPROFILE_ACCUMULATION_LO_RES, /**< Integrated every fourth cycle */
    AQLPROFILE_ACCUMULATION_HI_RES, /**< Integrated every cycle */
    AQLPROFILE_ACCUMULATION_LAST
} aqlprofile_accumulation_type_t;

typedef union {
    uint32_t raw;
    struct {
        uint32_t accum : 3; /**< ::aqlprofile_accumulation_type_t, SQ block only */
        uint32_t _reserved : 29;
    } sq_flags;
} aqlprofile_pmc_event_flags_t;

typedef struct {
    uint32_t block_index; /**< Instance of the block */
    uint32_t event_id;
    aqlprofile_pmc_event_flags_t flags;
    hsa_ven_amd_aqlprofile_block_name_t block_name;
} aqlprofile_pmc_event_t;

typedef struct {
    aqlprofile_agent_handle_t agent;
    const aqlprofile_pmc_event_t *events;
    uint32_t event_count;
} aqlprofile_pmc_profile_t;

typedef enum {
    AQLPROFILE_INFO_COMMAND_BUFFER_SIZE = 0,
    AQLPROFILE_INFO_PMC_DATA_SIZE = 1,
    AQLPROFILE_INFO_PMC_DATA = 2,
    AQLPROFILE_INFO_BLOCK_COUNTERS = 4, /**< uint32_t: registers of the first event's block */
    AQLPROFILE_INFO_BLOCK_ID = 5,       /**< hsa_ven_amd_aqlprofile_id_query_t: by name */
    AQLPROFILE_INFO_ENABLE_CMD = 6,
    AQLPROFILE_INFO_DISABLE_CMD = 7,
} aqlprofile_pmc_info_type_t;

hsa_status_t aqlprofile_get_pmc_info(const aqlprofile_pmc_profile_t *profile,
                                     aqlprofile_pmc_info_type_t attribute, void *value);
hsa_status_t aqlprofile_validate_pmc_event(aqlprofile_agent_handle_t agent,
                                           const aqlprofile_pmc_event_t *event, bool *result);

typedef struct {
    hsa_ext_amd_aql_pm4_packet_t start_packet; /**< Resets and starts the counters */
    hsa_ext_amd_aql_pm4_packet_t stop_packet;
    hsa_ext_amd_aql_pm4_packet_t read_packet; /**< Copies the values to memory */
} aqlprofile_pmc_aql_packets_t;

hsa_status_t aqlprofile_pmc_create_packets(aqlprofile_handle_t *handle,
                                           aqlprofile_pmc_aql_packets_t *packets,
                                           aqlprofile_pmc_profile_t profile,
                                           aqlprofile_memory_alloc_callback_t alloc_cb,
                                           aqlprofile_memory_dealloc_callback_t dealloc_cb,
                                           aqlprofile_memory_copy_t memcpy_cb, void *userdata);
void aqlprofile_pmc_delete_packets(aqlprofile_handle_t handle);

/** `counter_id` numbers the samples of an event; see ::aqlprofile_iterate_event_coord. */
typedef hsa_status_t (*aqlprofile_pmc_data_callback_t)(aqlprofile_pmc_event_t event,
                                                       uint64_t counter_id, uint64_t counter_value,
                                                       void *userdata);
hsa_status_t aqlprofile_pmc_iterate_data(aqlprofile_handle_t handle,
                                         aqlprofile_pmc_data_callback_t callback, void *userdata);

typedef hsa_status_t (*aqlprofile_eventname_callback_t)(int id, const char *name, void *data);
hsa_status_t aqlprofile_iterate_event_ids(aqlprofile_eventname_callback_t callback,
                                          void *user_data);

/** One call per coordinate: its number, id, extent, value and name. */
typedef hsa_status_t (*aqlprofile_coordinate_callback_t)(int position, int id, int extent,
                                                         int coordinate, const char *name,
                                                         void *userdata);
hsa_status_t aqlprofile_iterate_event_coord(aqlprofile_agent_handle_t agent,
                                            aqlprofile_pmc_event_t event, uint64_t sample_id,
                                            aqlprofile_coordinate_callback_t callback,
                                            void *userdata);

/* ---- thread trace */

typedef enum aqlprofile_att_parameter_rt_timestamp_t {
    AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_DEFAULT = 0,
    AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_ENABLE,
    AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_DISABLE
} aqlprofile_att_parameter_rt_timestamp_t;

typedef enum aqlprofile_att_parameter_name_ext_t {
    AQLPROFILE_ATT_PARAMETER_NAME_BUFFER_SIZE_HIGH = 11,
    AQLPROFILE_ATT_PARAMETER_NAME_RT_TIMESTAMP
} aqlprofile_att_parameter_name_ext_t;

typedef struct {
    hsa_ven_amd_aqlprofile_parameter_name_t parameter_name;
    union {
        uint32_t value;
        struct {
            uint32_t counter_id : 28;
            uint32_t simd_mask : 4;
        };
    };
} aqlprofile_att_parameter_t;

typedef struct {
    hsa_agent_t agent;
    const aqlprofile_att_parameter_t *parameters;
    uint32_t parameter_count;
} aqlprofile_att_profile_t;

typedef struct {
    hsa_ext_amd_aql_pm4_packet_t start_packet;
    hsa_ext_amd_aql_pm4_packet_t stop_packet;
} aqlprofile_att_control_aql_packets_t;

hsa_status_t aqlprofile_att_create_packets(aqlprofile_handle_t *handle,
                                           aqlprofile_att_control_aql_packets_t *packets,
                                           aqlprofile_att_profile_t profile,
                                           aqlprofile_memory_alloc_callback_t alloc_cb,
                                           aqlprofile_memory_dealloc_callback_t dealloc_cb,
                                           aqlprofile_memory_copy_t memcpy_cb, void *userdata);
void aqlprofile_att_delete_packets(aqlprofile_handle_t handle);

typedef hsa_status_t (*aqlprofile_att_data_callback_t)(uint32_t shader, void *buffer, uint64_t size,
                                                       void *callback_data);
hsa_status_t aqlprofile_att_iterate_data(aqlprofile_handle_t handle,
                                         aqlprofile_att_data_callback_t callback, void *userdata);

typedef struct {
    uint64_t id;
    uint64_t addr;
    uint64_t size;
    hsa_agent_t agent;
    uint32_t isUnload : 1;
    uint32_t fromStart : 1;
} aqlprofile_att_codeobj_data_t;

hsa_status_t aqlprofile_att_codeobj_marker(hsa_ext_amd_aql_pm4_packet_t *packet,
                                           aqlprofile_handle_t *handle,
                                           aqlprofile_att_codeobj_data_t data,
                                           aqlprofile_memory_alloc_callback_t alloc_cb,
                                           aqlprofile_memory_dealloc_callback_t dealloc_cb,
                                           void *userdata);

#ifdef __cplusplus
}
#endif

#endif
