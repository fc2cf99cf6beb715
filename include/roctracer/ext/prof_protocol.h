/*
 * What runtimes and tracers exchange: domains, callback types and the activity record.
 * Part of the ROCtracer interface, version 4.1.
 */
#ifndef EXT_PROF_PROTOCOL_H_
#define EXT_PROF_PROTOCOL_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** What can be traced. An API domain traces calls, an OPS domain what the device does for them. */
typedef enum {
    ACTIVITY_DOMAIN_HSA_API = 0, /**< calls of the HSA runtime */
    ACTIVITY_DOMAIN_HSA_OPS = 1, /**< dispatches, copies and barriers of HSA queues */
    ACTIVITY_DOMAIN_HIP_OPS = 2, /**< kernels, copies and barriers of HIP streams */
    ACTIVITY_DOMAIN_HCC_OPS = ACTIVITY_DOMAIN_HIP_OPS, /**< older name */
    ACTIVITY_DOMAIN_HIP_VDI = ACTIVITY_DOMAIN_HIP_OPS, /**< older name */
    ACTIVITY_DOMAIN_HIP_API = 3,                       /**< calls of HIP */
    ACTIVITY_DOMAIN_KFD_API = 4,                       /**< calls of the driver library */
    ACTIVITY_DOMAIN_EXT_API = 5,                       /**< external correlation ids */
    ACTIVITY_DOMAIN_ROCTX = 6,                         /**< markers */
    ACTIVITY_DOMAIN_HSA_EVT = 7,                       /**< events inside of the HSA runtime */
    ACTIVITY_DOMAIN_NUMBER
} activity_domain_t;

/**
 * Called at both ends of a traced call, on its thread. `cid` is the operation of `domain`; `data`
 * is the domain's structure (hsa_api_data_t, hip_api_data_t, roctx_api_data_t, hsa_evt_data_t),
 * valid during the call; `arg` is what was registered.
 */
typedef void (*activity_rtapi_callback_t)(uint32_t domain, uint32_t cid, const void *data,
                                          void *arg);

typedef uint32_t activity_kind_t;
typedef uint32_t activity_op_t;

typedef enum { ACTIVITY_API_PHASE_ENTER = 0, ACTIVITY_API_PHASE_EXIT = 1 } activity_api_phase_t;

/** Unique in the process; joins a call with the work it caused. */
typedef uint64_t activity_correlation_id_t;

/** Nanoseconds of the system clock, as roctracer_get_timestamp() gives them. */
typedef uint64_t roctracer_timestamp_t;

/** What happened. Which members of the unions are meant follows from `domain`. 64 bytes. */
typedef struct activity_record_s {
    uint32_t domain;      /**< activity_domain_t */
    activity_kind_t kind; /**< HIP_OPS: the runtime's command type, see roctracer_op_string() */
    activity_op_t op;     /**< operation of the domain */
    union {
        struct {
            activity_correlation_id_t correlation_id; /**< of the call that caused it */
            roctracer_timestamp_t begin_ns;
            roctracer_timestamp_t end_ns;
        };
        struct { /**< PC samples */
            uint32_t se;
            uint64_t cycle;
            uint64_t pc;
        } pc_sample;
    };
    union {
        struct { /**< OPS domains */
            int device_id;
            uint64_t queue_id;
        };
        struct { /**< API domains */
            uint32_t process_id;
            uint32_t thread_id;
        };
        struct { /**< EXT_API */
            activity_correlation_id_t external_id;
        };
    };
    union {
        size_t bytes;            /**< copies: their size */
        const char *kernel_name; /**< dispatches; may be NULL; valid as long as the record */
        const char *mark_message;
    };
} activity_record_t;

/** Kinds of callbacks between runtime and tracer. */
typedef void (*activity_sync_callback_t)(uint32_t cid, activity_record_t *record, const void *data,
                                         void *arg);
typedef void (*activity_async_callback_t)(uint32_t op, void *record, void *arg);

#endif
