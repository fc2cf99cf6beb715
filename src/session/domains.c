#include "session/session.h"

#define CALLBACK(kind) ROCPROFILER_CALLBACK_TRACING_##kind
#define BUFFER(kind)   ROCPROFILER_BUFFER_TRACING_##kind
#define REQUEST(kind)  ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_##kind

const struct domain domains[TRACE_DOMAIN_COUNT] = {
#define X(name, callback, buffer, args, request)                                                   \
    [TRACE_##name] = {CALLBACK(callback), BUFFER(buffer), BUFFER(args), REQUEST(request),          \
                      TRACE_##name <= TRACE_OMPT},
    TRACE_DOMAINS(X)
#undef X
};

/* `is_api` is a comparison: the API domains come first in the list. */
_Static_assert((int)TRACE_OMPT < (int)TRACE_CODE_OBJECT, "APIs come first");
_Static_assert((int)TRACE_HSA_CORE_API == 0, "APIs come first");

int domain_of_callback_kind(uint32_t kind)
{
    for (int i = 0; kind != 0 && i < TRACE_DOMAIN_COUNT; i++)
        if (domains[i].callback_kind == kind)
            return i;
    return -1;
}

int domain_of_buffer_kind(uint32_t kind, bool *with_args)
{
    for (int i = 0; kind != 0 && i < TRACE_DOMAIN_COUNT; i++) {
        *with_args = domains[i].args_kind == kind;
        if (domains[i].buffer_kind == kind || *with_args)
            return i;
    }
    return -1;
}
