/*
 * Who owns the counter registers of which device: one context, which counts dispatches on all
 * devices or its own devices over time. Any thread.
 */
#ifndef SESSION_COUNTING_OWNERS_H
#define SESSION_COUNTING_OWNERS_H

#include <rocprofiler-sdk/fwd.h>

/* CONTEXT_CONFLICT, and nothing taken, when another context owns what is asked for. */
rocprofiler_status_t owners_take_all(rocprofiler_context_id_t context);
rocprofiler_status_t owners_take(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent);
/* Everything that the context owns. */
void owners_release(rocprofiler_context_id_t context);

#endif
