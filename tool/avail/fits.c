#include "fits.h"

#include <crocprof/plan.h>

rocprofiler_status_t fits_plan(struct fits *fits, const struct avail_agent *agent,
                               const rocprofiler_counter_id_t *counters, size_t count)
{
    rocprofiler_agent_id_t id = agent->agent->id;
    uint32_t passes = 0;
    fits->passes = 1;
    fits->why[0] = 0;
    if (count > FITS_COUNTERS_MAX)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    rocprofiler_status_t status = crocprof_plan_passes(id, counters, count, fits->pass_of, &passes);
    if (status == ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT && passes < count)
        crocprof_plan_explain(id, counters + passes, 1, fits->why, sizeof fits->why);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    fits->passes = passes > 0 ? passes : 1;
    if (passes > 1)
        crocprof_plan_explain(id, counters, count, fits->why, sizeof fits->why);
    return status;
}
