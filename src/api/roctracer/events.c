/* HSA_EVT: what happens inside of the runtime. */
#include "api/hsa_events/hsa_events.h"
#include "api/roctracer/internal.h"
#include "base/callback.h"

static bool event_is_wanted(uint32_t event)
{
    return registration_of(ACTIVITY_DOMAIN_HSA_EVT, event) != NULL;
}

static void event_tell(uint32_t event, const hsa_evt_data_t *data)
{
    const struct registration *registration = registration_of(ACTIVITY_DOMAIN_HSA_EVT, event);
    if (registration)
        CALLBACK(registration->callback(ACTIVITY_DOMAIN_HSA_EVT, event, data, registration->arg));
}

static const struct hsa_event_sink sink = {event_is_wanted, event_tell};

bool event_needs_call(enum trace_domain domain, int32_t operation, uint32_t events)
{
    return hsa_event_needs_call(domain, operation, events);
}

void events_of_call(const struct trace_frame *frame, rocprofiler_callback_phase_t phase)
{
    hsa_events_of_call(&sink, frame, phase);
}

void event_of_object(rocprofiler_callback_tracing_record_t record,
                     rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    hsa_event_of_object(&sink, &record);
}

void event_of_submission(rocprofiler_callback_tracing_record_t record,
                         rocprofiler_user_data_t *user_data, void *callback_data)
{
    (void)user_data, (void)callback_data;
    hsa_event_of_submission(&sink, &record);
}
