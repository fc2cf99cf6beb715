/* What devices say of their measurements: Crocprof's own addition to the counter interface. */
#include <crocprof/quality.h>

#include <string.h>

#include "session/front/engine.h"

rocprofiler_status_t crocprof_quality_of_counter(rocprofiler_agent_id_t agent_id,
                                                 rocprofiler_counter_id_t counter_id,
                                                 crocprof_quality_t *quality)
{
    if (!quality)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_quality_of_counter(agent_id, counter_id, quality);
}

rocprofiler_status_t crocprof_quality_of_times(rocprofiler_agent_id_t agent_id, const char **words)
{
    if (!words)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_quality_of_times(agent_id, words);
}

/* The engine leaves it in the bytes that the structure reserves. */
rocprofiler_status_t
crocprof_quality_of_duration(const rocprofiler_kernel_dispatch_info_t *dispatch_info,
                             uint64_t *modelled_ns)
{
    if (!dispatch_info || !modelled_ns)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    memcpy(modelled_ns, dispatch_info->reserved_padding, sizeof *modelled_ns);
    return ROCPROFILER_STATUS_SUCCESS;
}
