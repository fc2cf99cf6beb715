/* ROCtracer's extension: tracing on and off, and ids that a program or tool gives to its own work.
 */
#ifndef ROCTRACER_EXT_H_
#define ROCTRACER_EXT_H_

#include "roctracer.h"

/** Operations of ACTIVITY_DOMAIN_EXT_API. */
typedef enum {
    ACTIVITY_EXT_OP_MARK = 0,
    /** Stands directly before the record of a call that an external id was pushed for:
     * correlation_id is the call's, external_id the pushed one. */
    ACTIVITY_EXT_OP_EXTERN_ID = 1
} activity_ext_op_t;

/** Told, on the thread that starts or stops, when tracing really starts or stops. */
typedef void (*roctracer_start_cb_t)(void);
typedef void (*roctracer_stop_cb_t)(void);
typedef struct { /**< properties of ACTIVITY_DOMAIN_EXT_API; members may be NULL */
    roctracer_start_cb_t start_cb;
    roctracer_stop_cb_t stop_cb;
} roctracer_ext_properties_t;

#ifdef __cplusplus
extern "C" {
#endif

/** Tracing is on from the beginning. Stopping suspends everything that is enabled, markers (ROCTX)
 * excepted; starting goes on with it. */
ROCTRACER_API void roctracer_start(void) ROCTRACER_VERSION_4_1;
ROCTRACER_API void roctracer_stop(void) ROCTRACER_VERSION_4_1;

/** Ids of the calling thread, the latest push on top. */
ROCTRACER_API roctracer_status_t
roctracer_activity_push_external_correlation_id(activity_correlation_id_t id) ROCTRACER_VERSION_4_1;

/** `last_id`, when not NULL, gets the popped id. MISMATCHED_EXTERNAL_CORRELATION_ID, and 0, when
 * nothing was pushed. */
ROCTRACER_API roctracer_status_t roctracer_activity_pop_external_correlation_id(
    activity_correlation_id_t *last_id) ROCTRACER_VERSION_4_1;

/** Of older versions: they do nothing that a program would notice. load returns 1. */
ROCTRACER_API int roctracer_load(void);
ROCTRACER_API void roctracer_unload(void);
ROCTRACER_API void roctracer_flush_buf(void);
ROCTRACER_API void roctracer_mark(const char *message);

#ifdef __cplusplus
}
#endif

#endif
