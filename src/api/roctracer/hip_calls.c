/* HIP_API: callbacks with the hip_api_data_t that HIP itself filled. */
#include "api/roctracer/internal.h"

#include "base/log.h"

#include <string.h>

/* Every release's hip_api_data_t begins like that. */
struct hip_data {
    uint64_t correlation_id;
    uint32_t phase;
};

static void unknown_warn(void)
{
    static _Atomic bool warned;
    if (!atomic_exchange(&warned, true))
        log_warning("roctracer", "this HIP release does not show its callback structure: HIP_API "
                                 "callbacks are not called, records are written");
}

void hip_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                       rocprofiler_callback_phase_t phase, void *data)
{
    const struct registration *registration = data;
    struct hip_data *native = frame->native;
    if (__builtin_expect(!native, 0)) {
        unknown_warn();
        return;
    }
    if (!registration_is_current(ACTIVITY_DOMAIN_HIP_API, frame->native_id, registration))
        return;
    native->correlation_id = frame->internal;
    native->phase = phase == ROCPROFILER_CALLBACK_PHASE_EXIT ? ACTIVITY_API_PHASE_EXIT
                                                             : ACTIVITY_API_PHASE_ENTER;
    if (frame->native_phase_data) {
        uint64_t *word = &user_data->value;
        memcpy((char *)native + frame->native_phase_data, &word, sizeof word);
    }
    registration->callback(ACTIVITY_DOMAIN_HIP_API, frame->native_id, native, registration->arg);
}
