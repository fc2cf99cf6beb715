#include "session/front/engine.h"

#include <crocprof/flush.h>
#include <rocprofiler-sdk/buffer.h>

rocprofiler_status_t rocprofiler_create_buffer(rocprofiler_context_id_t context, size_t size,
                                               size_t watermark, rocprofiler_buffer_policy_t policy,
                                               rocprofiler_buffer_tracing_cb_t callback,
                                               void *callback_data,
                                               rocprofiler_buffer_id_t *buffer_id)
{
    return crocprof_engine()->buffer_create(context, size, watermark, policy, callback,
                                            callback_data, buffer_id);
}

rocprofiler_status_t rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id)
{
    return crocprof_engine()->buffer_destroy(buffer_id);
}

rocprofiler_status_t rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id)
{
    return crocprof_engine()->buffer_flush(buffer_id);
}

rocprofiler_status_t crocprof_flush_complete(rocprofiler_buffer_id_t buffer_id)
{
    return crocprof_engine()->buffer_flush_complete(buffer_id);
}
