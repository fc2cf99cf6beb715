/* Contexts: a set of services that start and stop together. */
#ifndef ROCPROFILER_SDK_CONTEXT_H
#define ROCPROFILER_SDK_CONTEXT_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

#define ROCPROFILER_CONTEXT_NONE ROCPROFILER_HANDLE_LITERAL(rocprofiler_context_id_t, 0UL)

/** Only while the tool initialises. `context_id->handle` must be 0 on entry. */
rocprofiler_status_t
rocprofiler_create_context(rocprofiler_context_id_t *context_id) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/**
 * Any thread. Starting a started context succeeds and changes nothing; while another thread starts
 * or stops it, the call waits for the outcome. CONTEXT_NOT_FOUND; CONTEXT_CONFLICT (another active
 * context counts dispatches); OUT_OF_RESOURCES (too many contexts listen to one operation);
 * CONFIGURATION_LOCKED at and after the end; CONTEXT_ERROR from inside of its own stop.
 */
rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context_id) ROCPROFILER_API;

/** Any thread. After the return no new record is begun; records of work in flight still arrive.
 * CONTEXT_NOT_FOUND: no such context, or it is not started. */
rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t context_id) ROCPROFILER_API;

/** status: 1 when started. */
rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context_id,
                                                   int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(2);

/** status: 1 when the context exists and its services can be started. */
rocprofiler_status_t rocprofiler_context_is_valid(rocprofiler_context_id_t context_id,
                                                  int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(2);

ROCPROFILER_EXTERN_C_FINI

#endif
