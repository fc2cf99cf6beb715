#include "session/front/engine.h"

#include <rocprofiler-sdk/external_correlation.h>

rocprofiler_status_t rocprofiler_configure_external_correlation_id_request_service(
    rocprofiler_context_id_t context_id,
    const rocprofiler_external_correlation_id_request_kind_t *kinds, size_t kinds_count,
    rocprofiler_external_correlation_id_request_cb_t callback, void *callback_args)
{
    return crocprof_engine()->request_service_configure(context_id, kinds, kinds_count, callback,
                                                        callback_args);
}

rocprofiler_status_t
rocprofiler_push_external_correlation_id(rocprofiler_context_id_t context,
                                         rocprofiler_thread_id_t tid,
                                         rocprofiler_user_data_t external_correlation_id)
{
    return crocprof_engine()->external_push(context, tid, external_correlation_id);
}

rocprofiler_status_t
rocprofiler_pop_external_correlation_id(rocprofiler_context_id_t context,
                                        rocprofiler_thread_id_t tid,
                                        rocprofiler_user_data_t *external_correlation_id)
{
    return crocprof_engine()->external_pop(context, tid, external_correlation_id);
}
