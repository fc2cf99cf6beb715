/* How counters split into passes: Crocprof's own addition to the counter interface. */
#include <crocprof/plan.h>

#include "session/front/engine.h"

rocprofiler_status_t crocprof_plan_passes(rocprofiler_agent_id_t agent_id,
                                          const rocprofiler_counter_id_t *counters, size_t count,
                                          uint32_t *pass_of, uint32_t *pass_count)
{
    if (!pass_count || (count && (!counters || !pass_of)))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_plan_passes(agent_id, counters, count, pass_of, pass_count);
}

rocprofiler_status_t crocprof_plan_explain(rocprofiler_agent_id_t agent_id,
                                           const rocprofiler_counter_id_t *counters, size_t count,
                                           char *text, size_t size)
{
    if (!text || !size || (count && !counters))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_plan_explain(agent_id, counters, count, text, size);
}
