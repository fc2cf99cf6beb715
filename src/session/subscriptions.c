/* Interest that changes at any time, of front ends whose interface knows no contexts. */
#include "base/wait.h"
#include "model/operations.h"
#include "session/internal.h"

#include <stdlib.h>
#include <string.h>

static _Atomic uint32_t subscription_count; /* relaxed: a hint that only grows */

bool subscriptions_exist(void)
{
    return atomic_load_explicit(&subscription_count, memory_order_relaxed) != 0;
}

static bool context_of_subscription(struct subscription *subscription)
{
    struct context *context = context_new(0);
    if (!context)
        return false;
    subscription->context = context;
    context->subscription = subscription;
    pthread_mutex_lock(&session_lock);
    context->state = session_stage() < STAGE_FINALIZING ? CONTEXT_ACTIVE : CONTEXT_STOPPED;
    bool listed = context_list(context);
    pthread_mutex_unlock(&session_lock);
    if (!listed)
        free(context);
    return listed;
}

struct subscription *subscription_new(uint64_t domain_bits)
{
    struct subscription *subscription = calloc(1, sizeof *subscription);
    if (!subscription)
        return NULL;
    subscription->domains = domain_bits;
    if (!context_of_subscription(subscription)) {
        free(subscription);
        return NULL;
    }
    atomic_fetch_add_explicit(&subscription_count, 1, memory_order_relaxed);
    return subscription;
}

static bool wanted_is_there(struct subscription *subscription, enum trace_domain domain,
                            struct trace_subscriber **fresh)
{
    struct trace_subscriber **wanted = &subscription->wanted[domain];
    pthread_mutex_lock(&session_lock);
    if (!*wanted) {
        *wanted = *fresh;
        *fresh = NULL;
    }
    bool there = *wanted != NULL;
    pthread_mutex_unlock(&session_lock);
    return there;
}

/* Memory for a domain's subscribers; two threads may ask for the same. */
static bool wanted_prepare(struct subscription *subscription, enum trace_domain domain)
{
    struct trace_subscriber *fresh = NULL;
    if (wanted_is_there(subscription, domain, &fresh))
        return true;
    fresh = calloc((size_t)operation_count(domain), sizeof *fresh);
    bool there = wanted_is_there(subscription, domain, &fresh);
    free(fresh);
    return there;
}

/* Copies field by field onto zeroes, as sets are compared by their bytes. */
static void subscriber_copy(struct trace_subscriber *to, const struct context *context,
                            const struct trace_subscriber *what)
{
    memset(to, 0, sizeof *to);
    if (!what)
        return;
    to->context = context_id(context);
    to->context_index = context->index;
    to->callback = what->callback;
    to->callback_data = what->callback_data;
    to->buffer = what->buffer;
    to->request = what->request;
    to->request_data = what->request_data;
    to->front = what->front;
}

bool subscription_set(struct subscription *subscription, enum trace_domain domain, int32_t first,
                      int32_t count, const struct trace_subscriber *what)
{
    int32_t end = operation_count(domain);
    if (first < 0 || count < 0 || first > end || count > end - first ||
        !(subscription->domains >> domain & 1))
        return false;
    if (!wanted_prepare(subscription, domain))
        return false;
    pthread_mutex_lock(&session_lock);
    for (int32_t op = first; op < first + count; op++)
        subscriber_copy(&subscription->wanted[domain][op], subscription->context, what);
    sets_publish_operations(domain, first, count);
    pthread_mutex_unlock(&session_lock);
    return true;
}

void subscription_run(struct subscription *subscription, bool runs)
{
    pthread_mutex_lock(&session_lock);
    if (session_stage() < STAGE_FINALIZING) {
        subscription->context->state = runs ? CONTEXT_ACTIVE : CONTEXT_STOPPED;
        sets_publish(subscription->context);
    }
    pthread_mutex_unlock(&session_lock);
}

struct listening {
    struct thread *thread;
    const void *callback_data;
};

static bool has_left(void *data)
{
    const struct listening *listening = data;
    return atomic_load_explicit(&session_of(listening->thread)->calling, memory_order_acquire) !=
           listening->callback_data;
}

/* Each thread is waited for once: what it calls afterwards sees what the caller stored before. */
void subscription_calls_wait(const void *callback_data, uint64_t limit_ns)
{
    uint64_t begin_ns = wait_now_ns();
    const struct thread *self = thread_current;
    thread_quiesce(callback_data); /* nobody records into it: only the barrier is meant */
    for (struct thread *t = thread_first(); t; t = t->next) {
        uint64_t gone_ns = wait_now_ns() - begin_ns;
        struct listening listening = {t, callback_data};
        if (t != self)
            wait_until(has_left, &listening, limit_ns > gone_ns ? limit_ns - gone_ns : 0,
                       50 * WAIT_NS_PER_US);
    }
}

void subscriptions_end(void)
{
    struct context *context;
    pthread_mutex_lock(&session_lock);
    for (uint32_t i = 0; (context = context_at(i)); i++) {
        if (!context->subscription)
            continue;
        context->state = CONTEXT_STOPPED;
        sets_publish(context);
    }
    pthread_mutex_unlock(&session_lock);
}
