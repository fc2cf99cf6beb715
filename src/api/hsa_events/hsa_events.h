/*
 * Events of the HSA runtime (memory, devices, copies, code objects, submissions), made from the
 * engine's reports for the two interfaces that tell of them: ROCtracer's HSA_EVT domain and ROC
 * Profiler's HSA callbacks, whose structures and numbers are the same.
 */
#ifndef API_HSA_EVENTS_H
#define API_HSA_EVENTS_H

#include "session/front/engine.h"

#include <roctracer/roctracer_hsa.h>

/* One for each interface. `data` is valid during the call. */
struct hsa_event_sink {
    bool (*wants)(uint32_t event); /* a hint: tell drops events that nobody wants */
    void (*tell)(uint32_t event, const hsa_evt_data_t *data);
};

/* Whether the function's exit (or entry) makes an event of a kind in `events` (a bit for each
 * hsa_evt_id_t). */
bool hsa_event_needs_call(enum trace_domain domain, int32_t operation, uint32_t events);
void hsa_events_of_call(const struct hsa_event_sink *sink, const struct trace_frame *frame,
                        rocprofiler_callback_phase_t phase);
/* Each tells of one record: of the CODE_OBJECT and of the KERNEL_DISPATCH domain. */
void hsa_event_of_object(const struct hsa_event_sink *sink,
                         const rocprofiler_callback_tracing_record_t *record);
void hsa_event_of_submission(const struct hsa_event_sink *sink,
                             const rocprofiler_callback_tracing_record_t *record);

#endif
