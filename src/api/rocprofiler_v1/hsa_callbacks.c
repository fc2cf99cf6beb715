/* rocprofiler_set_hsa_callbacks: what happens inside of the HSA runtime. */
#include "api/hsa_events/hsa_events.h"
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"

#include <stdlib.h>

_Static_assert(sizeof(hsa_evt_data_t) == sizeof(rocprofiler_hsa_callback_data_t) &&
                   offsetof(hsa_evt_data_t, codeobj.unload) ==
                       offsetof(rocprofiler_hsa_callback_data_t, codeobj.unload) &&
                   (int)HSA_EVT_ID_CODEOBJ == (int)ROCPROFILER_HSA_CB_ID_CODEOBJ,
               "one structure under two names");

enum { EVENTS = ROCPROFILER_HSA_CB_ID_CODEOBJ + 1 };

/* What one rocprofiler_set_hsa_callbacks() set. It is never freed, because a call may be in it, and
 * tools set callbacks once. */
struct registration {
    rocprofiler_hsa_callback_fun_t callbacks[EVENTS];
    void *arg;
    uint32_t events; /* that have a callback, as bits */
};

/* Writers: rocprofiler_set_hsa_callbacks (release). Readers: whoever reports (acquire). */
static _Atomic(const struct registration *) current;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct subscription *subscription; /* under `lock` */

static rocprofiler_hsa_callback_fun_t callback_of(uint32_t event, void **arg)
{
    const struct registration *registration = atomic_load_explicit(&current, memory_order_acquire);
    *arg = registration ? registration->arg : NULL;
    return registration ? registration->callbacks[event] : NULL;
}

static bool event_is_wanted(uint32_t event)
{
    void *arg;
    return callback_of(event, &arg) != NULL;
}

static void event_tell(uint32_t event, const hsa_evt_data_t *data)
{
    void *arg;
    rocprofiler_hsa_callback_fun_t callback = callback_of(event, &arg);
    if (callback)
        CALLBACK((void)callback((rocprofiler_hsa_cb_id_t)event,
                                (const rocprofiler_hsa_callback_data_t *)(const void *)data, arg));
}

static const struct hsa_event_sink sink = {event_is_wanted, event_tell};

static void call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                          rocprofiler_callback_phase_t phase, void *unused)
{
    (void)user_data, (void)unused;
    hsa_events_of_call(&sink, frame, phase);
}

static void object_listener(rocprofiler_callback_tracing_record_t record,
                            rocprofiler_user_data_t *user_data, void *unused)
{
    (void)user_data, (void)unused;
    hsa_event_of_object(&sink, &record);
}

static void submission_listener(rocprofiler_callback_tracing_record_t record,
                                rocprofiler_user_data_t *user_data, void *unused)
{
    (void)user_data, (void)unused;
    hsa_event_of_submission(&sink, &record);
}

/* ---- telling the engine */

static bool want(enum trace_domain domain, int32_t operation, const struct trace_subscriber *what)
{
    return engine->subscription_want(subscription, domain, operation, 1, what);
}

static bool calls_follow(uint32_t events)
{
    static const enum trace_domain tables[] = {TRACE_HSA_CORE_API, TRACE_HSA_AMD_EXT_API};
    static const struct subscription_front calls = {.listener = call_listener, .wants_args = true};
    const struct trace_subscriber listener = {.front = &calls};
    bool fine = true;
    for (int t = 0; t < 2; t++)
        for (int32_t op = 0, count = engine->operation_count(tables[t]); op < count; op++)
            if (hsa_event_needs_call(tables[t], op, ~0u))
                fine &= want(tables[t], op,
                             hsa_event_needs_call(tables[t], op, events) ? &listener : NULL);
    return fine;
}

static bool events_follow(uint32_t events)
{
    const struct trace_subscriber object = {.callback = object_listener};
    const struct trace_subscriber submission = {.callback = submission_listener};
    bool objects = events & 1u << ROCPROFILER_HSA_CB_ID_CODEOBJ,
         symbols = events & 1u << ROCPROFILER_HSA_CB_ID_KSYMBOL,
         submissions = events & 1u << ROCPROFILER_HSA_CB_ID_SUBMIT;
    return calls_follow(events) &
           want(TRACE_CODE_OBJECT, ROCPROFILER_CODE_OBJECT_LOAD, objects ? &object : NULL) &
           want(TRACE_CODE_OBJECT, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
                symbols ? &object : NULL) &
           want(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE,
                submissions ? &submission : NULL);
}

static bool subscribe(uint32_t events)
{
    if (!subscription && events)
        subscription =
            engine->subscription_create(1ull << TRACE_HSA_CORE_API | 1ull << TRACE_HSA_AMD_EXT_API |
                                        1ull << TRACE_CODE_OBJECT | 1ull << TRACE_KERNEL_DISPATCH);
    return subscription ? events_follow(events) : events == 0;
}

/* Under `lock`. Events come while they are being subscribed, so the callbacks are there first.
 * False: the former ones are there again. */
static bool registration_install(const struct registration *registration)
{
    const struct registration *former = atomic_load_explicit(&current, memory_order_relaxed);
    atomic_store_explicit(&current, registration, memory_order_release);
    if (subscribe(registration->events))
        return true;
    atomic_store_explicit(&current, former, memory_order_release);
    subscribe(former ? former->events : 0);
    return false;
}

hsa_status_t rocprofiler_set_hsa_callbacks(const rocprofiler_hsa_callbacks_t callbacks, void *arg)
{
    struct registration *registration = malloc(sizeof *registration);
    if (!registration)
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for HSA callbacks");
    *registration = (struct registration){{callbacks.allocate, callbacks.device, callbacks.memcopy,
                                           callbacks.submit, callbacks.ksymbol, callbacks.codeobj},
                                          arg,
                                          0};
    for (int i = 0; i < EVENTS; i++)
        registration->events |= registration->callbacks[i] ? 1u << i : 0;
    library_begin();
    pthread_mutex_lock(&lock);
    bool fine = registration_install(registration);
    pthread_mutex_unlock(&lock);
    return fine ? HSA_STATUS_SUCCESS
                : fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for HSA callbacks");
}
