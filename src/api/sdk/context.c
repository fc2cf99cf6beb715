#include "session/front/engine.h"

#include <rocprofiler-sdk/context.h>

rocprofiler_status_t rocprofiler_create_context(rocprofiler_context_id_t *context_id)
{
    return crocprof_engine()->context_create(context_id);
}

rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context_id)
{
    return crocprof_engine()->context_start(context_id);
}

rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t context_id)
{
    return crocprof_engine()->context_stop(context_id);
}

rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context_id, int *status)
{
    if (!status)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *status = 0;
    if (!crocprof_engine()->service_context_exists(context_id))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    *status = crocprof_engine()->context_is_active(context_id);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_context_is_valid(rocprofiler_context_id_t context_id, int *status)
{
    if (!status)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *status = crocprof_engine()->service_context_exists(context_id);
    return *status ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
}
