#include "worth.h"

#include <crocprof/quality.h>

static const char *const names[] = {
    [CROCPROF_QUALITY_NOT_STATED] = "-",
    [CROCPROF_QUALITY_EXACT] = "exact",
    [CROCPROF_QUALITY_MODELLED] = "modelled",
    [CROCPROF_QUALITY_APPROXIMATE] = "approximate",
    [CROCPROF_QUALITY_NOT_COUNTED] = "not counted",
};

static crocprof_quality_t quality_of(const struct avail_agent *agent,
                                     const rocprofiler_counter_info_v1_t *counter)
{
    crocprof_quality_t quality = CROCPROF_QUALITY_NOT_STATED;
    if (counter->is_constant)
        return CROCPROF_QUALITY_NOT_STATED; /* a property of the agent */
    crocprof_quality_of_counter(agent->agent->id, counter->id, &quality);
    return quality;
}

bool worth_is_stated(const struct avail_agent *agent)
{
    for (size_t i = 0; i < agent->count; i++)
        if (quality_of(agent, &agent->counters[i]) != CROCPROF_QUALITY_NOT_STATED)
            return true;
    return false;
}

const char *worth_name(const struct avail_agent *agent,
                       const rocprofiler_counter_info_v1_t *counter)
{
    return names[quality_of(agent, counter)];
}
