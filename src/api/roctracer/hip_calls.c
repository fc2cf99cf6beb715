/* HIP_API: callbacks with the hip_api_data_t that HIP itself filled, or, where calls are seen in
 * its tables, with one made like it. */
#include "api/roctracer/internal.h"

#include "base/log.h"

#include <string.h>

/* Every release's hip_api_data_t begins like that. */
struct hip_data {
    uint64_t correlation_id;
    uint32_t phase;
};

static void unknown_warn(const char *function)
{
    static _Atomic bool warned; /* writers: any (exchange); only the first one warns */
    if (!atomic_exchange_explicit(&warned, true, memory_order_seq_cst))
        log_warning("roctracer",
                    "no known HIP release says how %s hands its arguments to callbacks: HIP_API "
                    "callbacks are not called for it, records are written",
                    function ? function : "a function");
}

static void tell(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                 rocprofiler_callback_phase_t phase, const struct registration *registration,
                 uint32_t id, struct hip_data *call, uint32_t phase_data)
{
    call->correlation_id = frame->internal;
    call->phase = phase == ROCPROFILER_CALLBACK_PHASE_EXIT ? ACTIVITY_API_PHASE_EXIT
                                                           : ACTIVITY_API_PHASE_ENTER;
    if (phase_data) {
        uint64_t *word = &user_data->value;
        memcpy((char *)call + phase_data, &word, sizeof word);
    }
    registration->callback(ACTIVITY_DOMAIN_HIP_API, id, call, registration->arg);
}

void hip_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                       rocprofiler_callback_phase_t phase, void *registration)
{
    const struct hip_native *call = frame->native;
    /* The call was in progress when the library's tables arrived. */
    if (__builtin_expect(!call, 0))
        return;
    if (registration_is_current(ACTIVITY_DOMAIN_HIP_API, call->id, registration))
        tell(frame, user_data, phase, registration, call->id, call->data, call->phase_data);
}

/* Each phase gets a fresh copy of the arguments: a tool that changes its copy harms nobody. */
void hip_table_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                             rocprofiler_callback_phase_t phase, void *registration)
{
    const rocprofiler_callback_tracing_hip_api_data_t *from = frame->payload;
    enum trace_domain domain = trace_frame_domain(frame);
    uint32_t id = hip_function_of(domain, frame->operation);
    union {
        struct hip_data head;
        char bytes[HIP_DATA_BYTES_MAX];
    } call;
    if (!registration_is_current(ACTIVITY_DOMAIN_HIP_API, id, registration))
        return;
    uint32_t phase_data =
        engine->hip_facts->data_write(domain, frame->operation, &from->args, &call);
    if (__builtin_expect(!phase_data, 0))
        unknown_warn(engine->operation_name(domain, frame->operation));
    else
        tell(frame, user_data, phase, registration, id, &call.head, phase_data);
}
