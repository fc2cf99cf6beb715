/* Counters of a whole device over time, sampled when the tool asks. */
#ifndef ROCPROFILER_SDK_DEVICE_COUNTING_SERVICE_H
#define ROCPROFILER_SDK_DEVICE_COUNTING_SERVICE_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

ROCPROFILER_SDK_EXPERIMENTAL
typedef rocprofiler_status_t (*rocprofiler_device_counting_agent_cb_t)(
    rocprofiler_context_id_t context_id, rocprofiler_counter_config_id_t config_id);

/**
 * Runs once for each agent at every start of the context, on the starting thread: the tool calls
 * `set_config` with what this agent shall count this time. Without that call nothing is counted on
 * it. The last call counts.
 *
 * `set_config` returns PROFILE_NOT_FOUND, CONTEXT_INVALID, AGENT_MISMATCH (the configuration's
 * agent is not one of the context's) or CONFIGURATION_LOCKED (called outside a start).
 */
ROCPROFILER_SDK_EXPERIMENTAL
typedef void (*rocprofiler_device_counting_service_cb_t)(
    rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
    rocprofiler_device_counting_agent_cb_t set_config, void *user_data);

/**
 * Adds an agent to those that the context counts, while it is stopped. Handle 0 as buffer:
 * values go to the caller of the sample function only.
 *
 * CONFIGURATION_LOCKED; CONTEXT_INVALID; AGENT_DISPATCH_CONFLICT (the context counts dispatches);
 * CONTEXT_CONFLICT (it samples PCs); BUFFER_NOT_FOUND; INVALID_ARGUMENT (no callback, or the agent
 * is the context's already); AGENT_NOT_FOUND; AGENT_ARCH_NOT_SUPPORTED (a CPU).
 *
 * An agent's counters belong to one started context: the start of a second one, of this or of any
 * other tool, is refused with CONTEXT_CONFLICT. A context may start before HSA does; it counts from
 * hsa_init on.
 */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t rocprofiler_configure_device_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_agent_id_t agent_id, rocprofiler_device_counting_service_cb_t cb, void *user_data)
    ROCPROFILER_NONNULL(4) ROCPROFILER_API;

/**
 * Reads the counters of every agent of the context; they run on, so values grow from the start of
 * the context to its stop. One VALUE record for each instance of each counter, with `user_data`,
 * goes to the agent's buffer, and to `output_records` when given (room for `*rec_count`, which is
 * set to the number written). Any thread.
 *
 * FLAG_ASYNC does not wait: records are in the buffers when the context has stopped, at the latest.
 *
 * CONTEXT_NOT_FOUND (handle 0); FINALIZED; CONTEXT_INVALID; CONTEXT_NOT_STARTED; INVALID_ARGUMENT
 * (output_records with FLAG_ASYNC or without rec_count); OUT_OF_RESOURCES (too little room: the
 * number needed is written to `*rec_count`); HSA_NOT_LOADED; CONTEXT_ERROR (another thread is
 * sampling, starting or stopping this context); ERROR (the device does not answer).
 */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t rocprofiler_sample_device_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_user_data_t user_data,
    rocprofiler_counter_flag_t flags, rocprofiler_counter_record_t *output_records,
    size_t *rec_count) ROCPROFILER_API;

#if ROCPROFILER_SDK_BETA_COMPAT > 0
ROCPROFILER_SDK_DEPRECATED("now rocprofiler_device_counting_agent_cb_t")
typedef rocprofiler_device_counting_agent_cb_t rocprofiler_agent_set_profile_callback_t;
#endif

ROCPROFILER_EXTERN_C_FINI

#endif
