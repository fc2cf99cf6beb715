/* What front ends ask for without being tools: the engine is set up for it, and runtimes that are
 * here already follow. Above everything else in session. */
#include "runtime/work.h"
#include "session/lifecycle.h"
#include "session/runtimes.h"

rocprofiler_status_t context_create_front(const char *owner, rocprofiler_context_id_t *id)
{
    session_initialize();
    return context_make(0, owner, id);
}

struct subscription *subscription_create(uint64_t domain_bits)
{
    session_records_prepare();
    struct subscription *subscription = subscription_new(domain_bits);
    if (subscription) {
        runtimes_catch_up();
        runtimes_follow_calls();
    }
    return subscription;
}

bool subscription_want(struct subscription *subscription, enum trace_domain domain, int32_t first,
                       int32_t count, const struct trace_subscriber *what)
{
    bool wanted = subscription_set(subscription, domain, first, count, what);
    if (wanted && domain == TRACE_HIP_OPERATION)
        runtimes_follow_operations();
    return wanted;
}

void subscription_pause(struct subscription *subscription, bool paused)
{
    subscription_run(subscription, !paused);
    runtimes_follow_operations();
}

void session_work_collect(void)
{
    runtimes_work_collect();
}

bool session_work_wait(void)
{
    return runtimes_work_wait();
}
