/*
 * Services of a context besides tracing (counting, sampling): how they hang on a context and learn
 * that it starts or stops. Implemented by src/session, used by the services themselves.
 */
#ifndef MODEL_SERVICE_H
#define MODEL_SERVICE_H

#include <rocprofiler-sdk/fwd.h>
#include <stdbool.h>

enum service_kind {
    SERVICE_DISPATCH_COUNTING,
    SERVICE_DEVICE_COUNTING,
    SERVICE_PC_SAMPLING,
    SERVICE_THREAD_TRACE,
    SERVICE_COUNT
};

struct service_ops {
    /* No lock of session's is held. start runs before the context counts as active; a status other
     * than SUCCESS refuses the start. stop runs after it was deactivated. Either may be NULL. */
    rocprofiler_status_t (*start)(rocprofiler_context_id_t context, void *data);
    void (*stop)(rocprofiler_context_id_t context, void *data);
    /* At finalisation, after stop; frees `data`. */
    void (*destroy)(void *data);
};

/* While tools initialise, and for both sorts of counting also later, as long as the context is
 * stopped: CONFIGURATION_LOCKED otherwise; CONTEXT_NOT_FOUND; SERVICE_ALREADY_CONFIGURED when the
 * context has that service; AGENT_DISPATCH_CONFLICT for both sorts of counting in one context. */
rocprofiler_status_t service_add(rocprofiler_context_id_t context, enum service_kind kind,
                                 const struct service_ops *ops, void *data);

/* The context's data for that service, or NULL. */
void *service_find(rocprofiler_context_id_t context, enum service_kind kind);

/* Checks and allowances of the moment, for argument checks of configure functions. */
bool service_context_exists(rocprofiler_context_id_t context);
/* CONTEXT_NOT_FOUND, or CONFIGURATION_LOCKED when a counting service could not be added now. */
rocprofiler_status_t service_counting_open(rocprofiler_context_id_t context);
bool service_context_active(rocprofiler_context_id_t context);
/* The name of the tool that made the context, for messages. */
const char *service_context_owner(rocprofiler_context_id_t context);
/* True when HSA came before anybody wanted its dispatches: they pass unseen. */
bool service_dispatches_missed(void);

#endif
