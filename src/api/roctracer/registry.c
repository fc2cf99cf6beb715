/* What is enabled, and telling the engine. */
#include "api/roctracer/internal.h"
#include "base/wait.h"

#include <stdlib.h>
#include <string.h>

pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

/* Under registry_lock, except that calls read `callbacks` without it. */
static struct domain_state {
    /* Writers: under the lock (seq_cst). Readers: the calls themselves (acquire, so that what the
     * pointer leads to is complete; a registration is never freed). Whoever disables stores here,
     * then waits for threads whose `calling` is the registration; a call stores its `calling`, has
     * the light fence of listener_call behind it, and then reads here. So a call that is not waited
     * for reads the new state, whatever order this load has of its own. */
    _Atomic(const struct registration *) callbacks[OPERATIONS_MAX];
    struct pool *pools[OPERATIONS_MAX];
} domains_state[ACTIVITY_DOMAIN_NUMBER];

static struct registration *registrations;
static struct subscription *subscription; /* NULL: nothing was enabled yet */
static bool is_paused, externals_used;
static uint16_t hip_functions_of[2][TRACE_OPERATIONS_MAX];

const struct registration *registration_of(uint32_t domain, uint32_t op)
{
    return atomic_load_explicit(&domains_state[domain].callbacks[op], memory_order_acquire);
}

bool registration_is_current(uint32_t domain, uint32_t op, const struct registration *registration)
{
    const struct registration *now = registration_of(domain, op);
    /* The same tool has a second registration when only events joined or left. */
    return now == registration ||
           (now && now->callback == registration->callback && now->arg == registration->arg);
}

/* NULL: no memory. */
static const struct registration *registration_intern(activity_rtapi_callback_t callback, void *arg,
                                                      bool events)
{
    for (struct registration *r = registrations; r; r = r->next)
        if (r->callback == callback && r->arg == arg && r->events == events)
            return r;
    struct registration *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct registration){registrations, callback, arg, events};
    registrations = r;
    return r;
}

#define DOMAIN_BIT(name) (UINT64_C(1) << TRACE_##name)

static bool want(enum trace_domain domain, int32_t first, int32_t count,
                 const struct trace_subscriber *what)
{
    const struct subscription_front *front = what->front;
    bool empty = !what->callback && !(front && front->listener) && !what->buffer;
    return engine->subscription_want(subscription, domain, first, count, empty ? NULL : what);
}

static struct tracebuf *buffer_of(uint32_t domain, uint32_t op)
{
    const struct pool *pool = domains_state[domain].pools[op];
    return pool ? pool_buffer(pool) : NULL;
}

static uint32_t events_wanted(void)
{
    uint32_t events = 0;
    for (uint32_t op = 0; op < HSA_EVT_ID_NUMBER; op++)
        events |= registration_of(ACTIVITY_DOMAIN_HSA_EVT, op) ? 1u << op : 0;
    return events;
}

/* How calls are told of, without and with external ids. */
enum listener { LISTENER_NONE, LISTENER_HSA, LISTENER_HIP, LISTENER_HIP_TABLES, LISTENER_KFD };

static const struct subscription_front *front_of(enum listener listener)
{
#define BOTH(...)                                                                                  \
    {                                                                                              \
        {__VA_ARGS__, NULL},                                                                       \
        {                                                                                          \
            __VA_ARGS__, external_current                                                          \
        }                                                                                          \
    }
    static const struct subscription_front fronts[][2] = {
        [LISTENER_NONE] = BOTH(NULL, false),
        [LISTENER_HSA] = BOTH(hsa_call_listener, true),
        [LISTENER_HIP] = BOTH(hip_call_listener, false),
        [LISTENER_HIP_TABLES] = BOTH(hip_table_call_listener, true),
        [LISTENER_KFD] = BOTH(kfd_call_listener, true),
    };
#undef BOTH
    return listener == LISTENER_NONE && !externals_used ? NULL : &fronts[listener][externals_used];
}

/* ---- one function per domain tells the engine what the operation's state means for it */

static bool hsa_call_publish(uint32_t op)
{
    const struct hsa_call *call = &hsa_calls[op];
    const struct registration *callback = registration_of(ACTIVITY_DOMAIN_HSA_API, op);
    if (op >= HSA_CALL_COUNT || call->operation < 0)
        return true;
    bool events = event_needs_call(call->domain, call->operation, events_wanted());
    struct trace_subscriber what = {.buffer = buffer_of(ACTIVITY_DOMAIN_HSA_API, op),
                                    .front = front_of(LISTENER_NONE)};
    if (callback || events) {
        what.front = front_of(LISTENER_HSA);
        what.callback_data = (void *)(uintptr_t)registration_intern(
            callback ? callback->callback : NULL, callback ? callback->arg : NULL, events);
        if (!what.callback_data)
            return false;
    }
    return want(call->domain, call->operation, 1, &what);
}

static bool hip_call_publish(uint32_t op)
{
    struct hip_function function;
    const struct registration *callback = registration_of(ACTIVITY_DOMAIN_HIP_API, op);
    if (!engine->hip_facts->function(op, &function) || function.operation < 0)
        return true;
    bool in_tables = engine->hip_facts->in_tables();
    const struct trace_subscriber what = {
        .buffer = buffer_of(ACTIVITY_DOMAIN_HIP_API, op),
        .front = front_of(!callback   ? LISTENER_NONE
                          : in_tables ? LISTENER_HIP_TABLES
                                      : LISTENER_HIP),
        .callback_data = (void *)(uintptr_t)callback,
    };
    return want(function.domain, function.operation, 1, &what);
}

static bool kfd_call_publish(uint32_t op)
{
    const struct registration *callback = registration_of(ACTIVITY_DOMAIN_KFD_API, op);
    const struct trace_subscriber what = {
        .buffer = buffer_of(ACTIVITY_DOMAIN_KFD_API, op),
        .front = front_of(callback ? LISTENER_KFD : LISTENER_NONE),
        .callback_data = (void *)(uintptr_t)callback,
    };
    return want(TRACE_THUNK_API, (int32_t)op, 1, &what);
}

static bool hip_operation_publish(uint32_t op)
{
    const struct trace_subscriber what = {.buffer = buffer_of(ACTIVITY_DOMAIN_HIP_OPS, op)};
    return want(TRACE_HIP_OPERATION, (int32_t)op, 1, &what);
}

static bool hsa_operation_publish(uint32_t op)
{
    const struct trace_subscriber what = {.buffer = buffer_of(ACTIVITY_DOMAIN_HSA_OPS, op)};
    switch (op) {
    case HSA_OP_ID_DISPATCH:
        return want(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE, 1, &what);
    case HSA_OP_ID_COPY:
        return want(TRACE_MEMORY_COPY, ROCPROFILER_MEMORY_COPY_HOST_TO_HOST,
                    ROCPROFILER_MEMORY_COPY_LAST - ROCPROFILER_MEMORY_COPY_HOST_TO_HOST, &what);
    case HSA_OP_ID_BARRIER:
        return want(TRACE_QUEUE_BARRIER, 0, 1, &what);
    default:
        return true;
    }
}

static bool objects_publish(uint32_t op, int32_t operation)
{
    const struct registration *callback = registration_of(ACTIVITY_DOMAIN_HSA_EVT, op);
    const struct trace_subscriber what = {.callback = callback ? event_of_object : NULL};
    return want(TRACE_CODE_OBJECT, operation, 1, &what);
}

static bool event_publish(uint32_t op)
{
    switch (op) {
    case HSA_EVT_ID_CODEOBJ:
        return objects_publish(op, ROCPROFILER_CODE_OBJECT_LOAD);
    case HSA_EVT_ID_KSYMBOL:
        return objects_publish(op, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER);
    case HSA_EVT_ID_SUBMIT: {
        const struct registration *callback = registration_of(ACTIVITY_DOMAIN_HSA_EVT, op);
        const struct trace_subscriber what = {.callback = callback ? event_of_submission : NULL};
        return want(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE, 1, &what);
    }
    default:
        break;
    }
    bool done = true;
    for (uint32_t id = 0; id < HSA_CALL_COUNT; id++)
        if (event_needs_call((enum trace_domain)hsa_calls[id].domain, hsa_calls[id].operation,
                             1u << op))
            done &= hsa_call_publish(id);
    return done;
}

static bool publish(uint32_t domain, uint32_t op)
{
    switch (domain) {
    case ACTIVITY_DOMAIN_HSA_API:
        return hsa_call_publish(op);
    case ACTIVITY_DOMAIN_HSA_OPS:
        return hsa_operation_publish(op);
    case ACTIVITY_DOMAIN_HIP_OPS:
        return hip_operation_publish(op);
    case ACTIVITY_DOMAIN_HIP_API:
        return hip_call_publish(op);
    case ACTIVITY_DOMAIN_KFD_API:
        return kfd_call_publish(op);
    case ACTIVITY_DOMAIN_HSA_EVT:
        return event_publish(op);
    default:
        return true;
    }
}

/* Without a subscription this does nothing: subscription_take() tells what was enabled before. */
static bool publish_range(uint32_t domain, uint32_t first, uint32_t end)
{
    bool done = true;
    for (uint32_t op = first; subscription && done && op < end; op++)
        done = publish(domain, op);
    return done;
}

/* ---- the subscription */

enum { BEGUN_NOT, BEGINNING, BEGUN };

/* Writer: the thread that makes the subscription (release). Readers: whoever enables something
 * (acquire). */
static _Atomic int begun;
static __thread bool thread_begins;

static void subscription_take(struct subscription *made)
{
    static const uint32_t ends[ACTIVITY_DOMAIN_NUMBER] = {
        [ACTIVITY_DOMAIN_HSA_API] = HSA_CALL_COUNT,
        [ACTIVITY_DOMAIN_HSA_OPS] = HSA_OP_ID_NUMBER,
        [ACTIVITY_DOMAIN_HIP_OPS] = HIP_OPERATIONS,
        [ACTIVITY_DOMAIN_HIP_API] = HIP_FUNCTIONS_MAX,
        [ACTIVITY_DOMAIN_KFD_API] = KFD_API_ID_NUMBER,
        [ACTIVITY_DOMAIN_HSA_EVT] = HSA_EVT_ID_NUMBER,
    };
    pthread_mutex_lock(&registry_lock);
    subscription = made;
    if (is_paused)
        engine->subscription_pause(subscription, true);
    for (uint32_t domain = 0; domain < ACTIVITY_DOMAIN_NUMBER; domain++)
        publish_range(domain, 0, ends[domain]);
    pthread_mutex_unlock(&registry_lock);
}

static void subscription_make(void)
{
    thread_begins = true;
    struct subscription *made = engine->subscription_create(
        DOMAIN_BIT(HSA_CORE_API) | DOMAIN_BIT(HSA_AMD_EXT_API) | DOMAIN_BIT(HSA_IMAGE_EXT_API) |
        DOMAIN_BIT(HIP_RUNTIME_API) | DOMAIN_BIT(HIP_COMPILER_API) | DOMAIN_BIT(CODE_OBJECT) |
        DOMAIN_BIT(KERNEL_DISPATCH) | DOMAIN_BIT(MEMORY_COPY) | DOMAIN_BIT(HIP_OPERATION) |
        DOMAIN_BIT(QUEUE_BARRIER) | DOMAIN_BIT(THUNK_API));
    thread_begins = false;
    if (made) {
        subscription_take(made);
        engine->runtimes_follow_libraries(); /* wanted by a tool that was set up just now */
    }
    engine->runtime_registered_collect();
    atomic_store_explicit(&begun, made ? BEGUN : BEGUN_NOT, memory_order_release);
}

static bool has_begun(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&begun, memory_order_acquire) != BEGINNING;
}

bool registry_begin(void)
{
    int not_yet = BEGUN_NOT;
    if (atomic_compare_exchange_strong_explicit(&begun, &not_yet, BEGINNING, memory_order_seq_cst,
                                                memory_order_seq_cst))
        subscription_make();
    /* The thread that makes it may wait for a tool that waits for us, so this wait has an end. */
    if (!thread_begins)
        wait_until(has_begun, NULL, 2000 * WAIT_NS_PER_MS, 50 * WAIT_NS_PER_US);
    return atomic_load_explicit(&begun, memory_order_acquire) != BEGUN_NOT;
}

/* A runtime decides once, when it makes a queue, whether packets can be seen on their way; such a
 * queue makes every dispatch slower. So a paused subscription wants kernels, which is enough for
 * queues to be made so, and this callback is never called. */
static void nobody(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user_data,
                   void *data)
{
    (void)record, (void)user_data, (void)data;
}

static void queues_expect_once(void)
{
    const struct trace_subscriber what = {.callback = nobody};
    struct subscription *expected = engine->subscription_create(DOMAIN_BIT(KERNEL_DISPATCH));
    if (!expected)
        return;
    engine->subscription_pause(expected, true);
    engine->subscription_want(expected, TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
                              1, &what);
}

void registry_queues_expect(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* Not from inside of registry_begin(): the tool that it sets up may come back here. */
    if (registry_begin() && !thread_begins)
        pthread_once(&once, queues_expect_once);
}

/* ---- for the exported functions */

void registration_wait(const struct registration *registration)
{
    /* The list only grows at its head, so the lock is needed for the head alone. */
    pthread_mutex_lock(&registry_lock);
    const struct registration *first = registrations;
    pthread_mutex_unlock(&registry_lock);
    for (const struct registration *r = first; r; r = r->next)
        if (r->callback == registration->callback && r->arg == registration->arg)
            engine->subscription_calls_wait(r, CALLBACK_WAIT_NS);
}

bool callbacks_set(uint32_t domain, uint32_t first, uint32_t end,
                   activity_rtapi_callback_t callback, void *arg)
{
    const struct registration *registration =
        callback ? registration_intern(callback, arg, false) : NULL;
    if (callback && !registration)
        return false;
    for (uint32_t op = first; op < end; op++)
        atomic_store_explicit(&domains_state[domain].callbacks[op], registration,
                              memory_order_seq_cst);
    return publish_range(domain, first, end);
}

bool activities_set(uint32_t domain, uint32_t first, uint32_t end, struct pool *pool)
{
    for (uint32_t op = first; op < end; op++)
        domains_state[domain].pools[op] = pool;
    return publish_range(domain, first, end);
}

void activities_remove(const struct pool *pool)
{
    for (uint32_t domain = 0; domain < ACTIVITY_DOMAIN_NUMBER; domain++)
        for (uint32_t op = 0; op < OPERATIONS_MAX; op++)
            if (domains_state[domain].pools[op] == pool) {
                domains_state[domain].pools[op] = NULL;
                publish_range(domain, op, op + 1);
            }
}

/* Two of HIP's functions may be one operation of ours: the one of the same name stands for it. */
static void hip_function_note(uint32_t id, const struct hip_function *function)
{
    uint16_t *slot =
        &hip_functions_of[function->domain == TRACE_HIP_COMPILER_API][function->operation];
    const char *name = engine->operation_name(function->domain, function->operation);
    if (*slot == 0 || (name && !strcmp(name, function->name)))
        *slot = (uint16_t)id;
}

uint32_t hip_function_of(enum trace_domain domain, int32_t operation)
{
    return operation >= 0 && operation < TRACE_OPERATIONS_MAX
               ? hip_functions_of[domain == TRACE_HIP_COMPILER_API][operation]
               : 0;
}

void registry_hip_armed(void)
{
    struct hip_function function;
    pthread_mutex_lock(&registry_lock);
    uint32_t end = engine->hip_facts->function_end();
    for (uint32_t id = 1; id < end && id < HIP_FUNCTIONS_MAX; id++)
        if (engine->hip_facts->function(id, &function) && function.operation >= 0)
            hip_function_note(id, &function);
    if (subscription)
        publish_range(ACTIVITY_DOMAIN_HIP_API, 1, end);
    pthread_mutex_unlock(&registry_lock);
    hip_numbers_compare();
}

void registry_pause(bool paused)
{
    is_paused = paused;
    if (subscription)
        engine->subscription_pause(subscription, paused);
}

void registry_externals_begin(void)
{
    pthread_mutex_lock(&registry_lock);
    bool first = !externals_used;
    externals_used = true;
    if (first && subscription) {
        publish_range(ACTIVITY_DOMAIN_HSA_API, 0, HSA_CALL_COUNT);
        publish_range(ACTIVITY_DOMAIN_HIP_API, 1, engine->hip_facts->function_end());
        publish_range(ACTIVITY_DOMAIN_KFD_API, 0, KFD_API_ID_NUMBER);
    }
    pthread_mutex_unlock(&registry_lock);
}
