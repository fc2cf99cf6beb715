#include "session/expect.h"

#include "base/environment.h"
#include "session/endings.h"
#include "session/lifecycle.h"

bool attach_is_asked_for(void)
{
    return environment_flag("ROCP_TOOL_ATTACH", false);
}

static void nobody(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user_data,
                   void *data)
{
    (void)record, (void)user_data, (void)data;
}

/* Somebody who wants kernels but is never told of one: queues are intercepted for it. */
static void expect_once(void)
{
    session_records_prepare();
    struct subscription *expected =
        subscription_new(1u << TRACE_KERNEL_DISPATCH | 1u << TRACE_CODE_OBJECT);
    if (!expected)
        return;
    subscription_run(expected, false);
    subscription_set(expected, TRACE_KERNEL_DISPATCH, 0, 1,
                     &(struct trace_subscriber){.callback = nobody});
    if (session_stage() == STAGE_READY)
        session_exit_watch();
}

void attach_expect_if_asked(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (attach_is_asked_for())
        pthread_once(&once, expect_once);
}
