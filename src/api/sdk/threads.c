#include "session/front/engine.h"

#include <rocprofiler-sdk/internal_threading.h>

rocprofiler_status_t
rocprofiler_at_internal_thread_create(rocprofiler_internal_thread_library_cb_t precreate,
                                      rocprofiler_internal_thread_library_cb_t postcreate, int libs,
                                      void *data)
{
    return crocprof_engine()->thread_callbacks_add(precreate, postcreate, libs, data);
}

rocprofiler_status_t rocprofiler_create_callback_thread(rocprofiler_callback_thread_t *cb_thread_id)
{
    return crocprof_engine()->callback_thread_create(cb_thread_id);
}

rocprofiler_status_t rocprofiler_assign_callback_thread(rocprofiler_buffer_id_t buffer_id,
                                                        rocprofiler_callback_thread_t cb_thread_id)
{
    return crocprof_engine()->callback_thread_assign(buffer_id, cb_thread_id);
}
