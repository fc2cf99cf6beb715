/* External correlation ids, per context and thread. */
#ifndef SESSION_FRONT_EXTERNAL_H
#define SESSION_FRONT_EXTERNAL_H

#include <rocprofiler-sdk/external_correlation.h>

rocprofiler_status_t external_push(rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
                                   rocprofiler_user_data_t value);
rocprofiler_status_t external_pop(rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
                                  rocprofiler_user_data_t *value);

#endif
