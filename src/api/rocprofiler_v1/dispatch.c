/* Callbacks around kernels, and contexts that collect there. */
#include "api/rocprofiler_v1/callers.h"
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"
#include "base/fork_lock.h"
#include "base/wait.h"

#include <stdlib.h>
#include <unistd.h>

/* One rocprofiler_set_queue_callbacks. */
struct registration {
    rocprofiler_queue_callbacks_t callbacks;
    void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under `lock`: what there is of the engine's, made step by step and never twice; a step that
 * failed is tried again by the next who needs it. */
static rocprofiler_context_id_t counting; /* handle 0: not yet */
static bool is_configured;                /* the context counts dispatches */
static struct subscription *kernels;      /* NULL: runtimes that were there have no wrappers */
static struct subscription *queue_events;

/* Writers: set (release) and remove (acquire-release). Readers: callbacks, behind caller_begin()
 * (acquire): who removes sees whoever may still have loaded it. */
static _Atomic(struct registration *) current;

/* ---- records */

static pthread_mutex_t records_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(records_kept, records_lock)
static struct record *records_free; /* under the lock */

/* One is this thread's, so that who takes a record and gives back the group's former one, as
 * kernels do, needs no lock. */
static __thread struct {
    struct record *record;
    bool is_watched; /* given back when the thread ends */
} spare __attribute__((tls_model("initial-exec")));
static pthread_key_t spare_key;
static bool spare_key_is_there; /* constant once made */

static void record_give(void *data)
{
    struct record *record = data;
    pthread_mutex_lock(&records_lock);
    record->next = records_free;
    records_free = record;
    pthread_mutex_unlock(&records_lock);
}

static void spare_end(void *unused)
{
    (void)unused;
    if (spare.record)
        record_give(spare.record);
    spare.record = NULL;
    spare.is_watched = false;
}

static void spare_key_make(void)
{
    spare_key_is_there = pthread_key_create(&spare_key, spare_end) == 0;
}

static bool spare_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, spare_key_make);
    return spare_key_is_there && pthread_setspecific(spare_key, &spare) == 0;
}

static struct record *record_find(void)
{
    struct record *record = spare.record;
    spare.record = NULL;
    if (record)
        return record;
    pthread_mutex_lock(&records_lock);
    record = records_free;
    if (record)
        records_free = record->next;
    pthread_mutex_unlock(&records_lock);
    return record ? record : aligned_alloc(_Alignof(struct record), sizeof *record);
}

static struct record *record_take(void)
{
    struct record *record = record_find();
    if (record)
        *record = (struct record){.public = {.dispatch = engine->trace_time_ns()}};
    return record;
}

void record_release(struct record *record)
{
    if (record)
        record_give(record);
}

/* The caller submits kernels, so the next one's record is there; it was written to by the thread
 * that completed this one's kernel. */
static void record_keep(struct record *record)
{
    if (!spare.is_watched)
        spare.is_watched = spare_watch();
    if (!record || spare.record || !spare.is_watched) {
        record_release(record);
        return;
    }
    __builtin_prefetch(record, 1);
    spare.record = record;
}

/* ---- from the dispatch to its data */

/* False: it is on its way already. */
static bool group_take_off(struct group *group)
{
    uint32_t state = atomic_load_explicit(&group->state, memory_order_relaxed);
    while (state != GROUP_FLYING)
        if (atomic_compare_exchange_weak_explicit(&group->state, &state, GROUP_FLYING,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

/* The next kernel mostly needs what the last one used, which the thread that completes kernels has
 * written to since. */
static void recent_fetch_ahead(void)
{
    __builtin_prefetch(recent.pool, 1);
    __builtin_prefetch(recent.context, 1);
    __builtin_prefetch(recent.group, 1);
}

static void recent_note(const struct group *group)
{
    recent.pool = group->context->pool;
    recent.context = group->context;
    recent.group = group;
}

/* The group is on its way with a kernel from now on and holds a reference to its context. NULL: it
 * cannot be. */
static struct group *group_launch(const rocprofiler_group_t *wanted, struct record *record)
{
    struct v1_context *context = context_acquire(wanted->context);
    if (!context)
        return NULL;
    struct group *group = context->standalone ? NULL : context_group(context, wanted->index);
    if (!group || !group_take_off(group)) {
        context_release(context);
        return NULL;
    }
    if (!group->collector)
        group->collector =
            engine->counting_collector_create(context->plan->groups[wanted->index].config, group);
    if (!group->collector) {
        group_state_set(group, GROUP_IDLE);
        context_release(context);
        return NULL;
    }
    record_keep(group->record);
    group->record = record;
    group_trace_drop(group);
    recent_note(group);
    return group;
}

static void group_land(struct group *group, enum group_state state)
{
    struct v1_context *context = group->context;
    pthread_mutex_lock(&context->lock);
    group_state_set(group, state);
    pthread_cond_broadcast(&context->changed);
    pthread_mutex_unlock(&context->lock);
    if (context->pool)
        pool_context_completed(context);
    else if (context->handler && !context_is_closed(context))
        CALLBACK((void)context->handler(group_public(group), context->handler_arg));
    context_release(context);
}

static void values_arrived(void *owner, const rocprofiler_counter_record_t *values, size_t count)
{
    struct group *group = owner;
    pthread_mutex_lock(&group->context->lock);
    group_take(group, values, count, group->values);
    pthread_mutex_unlock(&group->context->lock);
}

static void trace_arrived(void *owner, struct counting_slot *trace)
{
    engine->counting_trace_hold(trace);
    group_trace_set(owner, trace);
}

static void kernel_ended(void *owner, bool lost, uint64_t start_ns, uint64_t end_ns)
{
    struct group *group = owner;
    if (lost) {
        group_land(group, GROUP_LOST);
        return;
    }
    group->record->public.begin = start_ns;
    group->record->public.end = end_ns;
    /* Release: a tool that polls `complete` finds the rest. */
    __atomic_store_n(&group->record->public.complete, engine->trace_time_ns(), __ATOMIC_RELEASE);
    group_land(group, GROUP_READY);
}

/* ---- asking the tool */

/* A system call for each kernel costs more than everything else that is looked up. */
static __thread uint32_t own_thread_id __attribute__((tls_model("initial-exec")));

static void on_fork_child(void)
{
    own_thread_id = 0;
}

static void fork_watch(void)
{
    pthread_atfork(NULL, NULL, on_fork_child);
}

static uint32_t thread_id_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (own_thread_id == 0) {
        pthread_once(&once, fork_watch);
        own_thread_id = (uint32_t)gettid();
    }
    return own_thread_id;
}

/* With opt_mode nothing is looked up: neither the kernel, nor the thread, nor times. */
static rocprofiler_callback_data_t
callback_data_brief(const rocprofiler_kernel_dispatch_info_t *info,
                    const struct hsa_submission *submission)
{
    const hsa_kernel_dispatch_packet_t *packet = submission->packet;
    return (rocprofiler_callback_data_t){.agent = {submission->agent},
                                         .agent_index = submission->device,
                                         .queue = submission->queue,
                                         .queue_index = submission->index,
                                         .queue_id = (uint32_t)info->queue_id.handle,
                                         .completion_signal = packet->completion_signal,
                                         .packet = packet};
}

static bool callback_data_fill(rocprofiler_callback_data_t *to,
                               const rocprofiler_kernel_dispatch_info_t *info,
                               const struct record *record)
{
    struct hsa_submission submission;
    if (!engine->hsa_facts->submission(&submission))
        return false;
    const hsa_kernel_dispatch_packet_t *packet = submission.packet;
    if (atomic_load_explicit(&dispatches_are_brief, memory_order_relaxed)) {
        *to = callback_data_brief(info, &submission);
        return true;
    }
    struct kernel_facts kernel = kernel_facts(info->kernel_id, packet->kernel_object);
    *to = (rocprofiler_callback_data_t){.agent = {submission.agent},
                                        .agent_index = submission.device,
                                        .queue = submission.queue,
                                        .queue_index = submission.index,
                                        .queue_id = (uint32_t)info->queue_id.handle,
                                        .completion_signal = packet->completion_signal,
                                        .packet = packet,
                                        .kernel_name = kernel.name,
                                        .kernel_object = packet->kernel_object,
                                        .kernel_code = kernel.code,
                                        .thread_id = thread_id_here(),
                                        .record = &record->public};
    return true;
}

static hsa_status_t tool_ask(const rocprofiler_callback_data_t *data, rocprofiler_group_t *group)
{
    hsa_status_t status = HSA_STATUS_ERROR;
    struct caller *caller = caller_begin();
    if (!caller)
        return status;
    const struct registration *registration = atomic_load_explicit(&current, memory_order_acquire);
    if (registration && registration->callbacks.dispatch)
        CALLBACK(status = registration->callbacks.dispatch(data, registration->data, group));
    caller_end(caller);
    return status;
}

static struct counting_collector *dispatch_choose(const rocprofiler_kernel_dispatch_info_t *info)
{
    rocprofiler_callback_data_t callback_data;
    rocprofiler_group_t wanted = {0};
    recent_fetch_ahead();
    struct record *record =
        atomic_load_explicit(&current, memory_order_acquire) ? record_take() : NULL;
    if (!record)
        return NULL;
    struct group *group = NULL;
    if (callback_data_fill(&callback_data, info, record) &&
        tool_ask(&callback_data, &wanted) == HSA_STATUS_SUCCESS && wanted.context)
        group = group_launch(&wanted, record);
    if (!group)
        record_keep(record);
    return group ? group->collector : NULL;
}

/* ---- queues */

static void queue_tell(hsa_queue_t *queue, bool created)
{
    struct caller *caller = caller_begin();
    if (!caller)
        return;
    const struct registration *registration = atomic_load_explicit(&current, memory_order_acquire);
    hsa_status_t (*callback)(hsa_queue_t *, void *) = NULL;
    if (registration)
        callback = created ? registration->callbacks.create : registration->callbacks.destroy;
    if (callback)
        CALLBACK((void)callback(queue, registration->data));
    caller_end(caller);
}

static void queue_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                           rocprofiler_callback_phase_t phase, void *unused)
{
    const rocprofiler_callback_tracing_hsa_api_data_t *call = frame->payload;
    (void)user_data, (void)unused;
    if (frame->operation == ROCPROFILER_HSA_CORE_API_ID_hsa_queue_destroy &&
        phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        queue_tell(call->args.hsa_queue_destroy.queue, false);
    else if (frame->operation == ROCPROFILER_HSA_CORE_API_ID_hsa_queue_create &&
             phase == ROCPROFILER_CALLBACK_PHASE_EXIT &&
             call->retval.hsa_status_t_retval == HSA_STATUS_SUCCESS)
        queue_tell(*call->args.hsa_queue_create.queue, true);
}

/* HSA's calls get wrappers only for tools that ask for these callbacks. */
static bool queue_events_follow(bool wanted)
{
    static const int32_t calls[] = {ROCPROFILER_HSA_CORE_API_ID_hsa_queue_create,
                                    ROCPROFILER_HSA_CORE_API_ID_hsa_queue_destroy};
    static const struct subscription_front front = {.listener = queue_listener, .wants_args = true};
    const struct trace_subscriber subscriber = {.front = &front};
    if (wanted && !queue_events)
        queue_events = engine->subscription_create(1ull << TRACE_HSA_CORE_API);
    bool fine = !wanted || queue_events;
    for (int i = 0; i < 2 && queue_events; i++)
        fine = engine->subscription_want(queue_events, TRACE_HSA_CORE_API, calls[i], 1,
                                         wanted ? &subscriber : NULL) &&
               fine;
    return fine;
}

/* ---- the engine's context */

static bool kernels_run_together(void)
{
    return atomic_load_explicit(&kernels_are_concurrent, memory_order_relaxed);
}

/* Under `lock`. */
static bool counting_prepare(void)
{
    static const struct counting_collector_ops collectors = {.choose = dispatch_choose,
                                                             .traced = trace_arrived,
                                                             .counted = values_arrived,
                                                             .ended = kernel_ended,
                                                             .together = kernels_run_together};
    if (!counting.handle &&
        engine->context_create_front("ROC Profiler", &counting) != ROCPROFILER_STATUS_SUCCESS) {
        counting.handle = 0;
        return false;
    }
    if (!is_configured)
        is_configured = engine->counting_collectors_configure(counting, &collectors) ==
                        ROCPROFILER_STATUS_SUCCESS;
    /* The subscription gives a runtime that is there already its wrappers. */
    if (is_configured && !kernels)
        kernels = engine->subscription_create(1ull << TRACE_KERNEL_DISPATCH);
    return kernels != NULL;
}

void dispatch_expect(void)
{
    pthread_mutex_lock(&lock);
    counting_prepare();
    pthread_mutex_unlock(&lock);
}

/* Under `lock`. */
static hsa_status_t counting_start(void)
{
    char owner[200];
    engine->counting_owner_describe((rocprofiler_agent_id_t){0}, owner, sizeof owner);
    rocprofiler_status_t status = engine->context_start(counting);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        return HSA_STATUS_SUCCESS;
    if (status == ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT)
        return fail(HSA_STATUS_ERROR, "kernels cannot be counted: the counters belong to %s",
                    owner);
    return fail(HSA_STATUS_ERROR, "kernels cannot be counted (status %d)", (int)status);
}

/* Under `lock`. */
static hsa_status_t callbacks_install(struct registration *registration)
{
    if (atomic_load_explicit(&current, memory_order_relaxed)) /* changes under `lock` */
        return fail(HSA_STATUS_ERROR, "there are queue callbacks already");
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (!counting_prepare() ||
        !queue_events_follow(registration->callbacks.create || registration->callbacks.destroy))
        status = fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for queue callbacks");
    else if (registration->callbacks.dispatch)
        status = counting_start();
    if (status == HSA_STATUS_SUCCESS)
        atomic_store_explicit(&current, registration, memory_order_release);
    else
        queue_events_follow(false);
    return status;
}

hsa_status_t rocprofiler_set_queue_callbacks(rocprofiler_queue_callbacks_t callbacks, void *data)
{
    struct registration *registration = malloc(sizeof *registration);
    if (!registration)
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for queue callbacks");
    *registration = (struct registration){callbacks, data};
    library_begin();
    pthread_mutex_lock(&lock);
    hsa_status_t status = callbacks_install(registration);
    pthread_mutex_unlock(&lock);
    if (status != HSA_STATUS_SUCCESS)
        free(registration);
    return status;
}

hsa_status_t rocprofiler_remove_queue_callbacks(void)
{
    pthread_mutex_lock(&lock);
    struct registration *registration =
        atomic_exchange_explicit(&current, NULL, memory_order_acq_rel);
    if (registration) {
        engine->context_stop(counting);
        queue_events_follow(false);
    }
    pthread_mutex_unlock(&lock);
    /* One that goes on, or this thread's own, still has it. */
    if (registration && callers_leave(WAIT_NS_PER_S))
        free(registration);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_start_queue_callbacks(void)
{
    hsa_status_t status;
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&current, memory_order_relaxed)) /* changes under `lock` */
        status = counting_start();
    else
        status = fail(HSA_STATUS_ERROR, "there are no queue callbacks");
    pthread_mutex_unlock(&lock);
    return status;
}

hsa_status_t rocprofiler_stop_queue_callbacks(void)
{
    pthread_mutex_lock(&lock);
    if (is_configured)
        engine->context_stop(counting);
    pthread_mutex_unlock(&lock);
    return HSA_STATUS_SUCCESS;
}

/* ---- older names */

hsa_status_t rocprofiler_set_intercepting(rocprofiler_intercepting_t callbacks, void *data)
{
    return rocprofiler_set_queue_callbacks(callbacks, data);
}

hsa_status_t rocprofiler_remove_intercepting(void)
{
    return rocprofiler_remove_queue_callbacks();
}

hsa_status_t rocprofiler_add_dispatch_callback(rocprofiler_callback_t callback, void *data)
{
    if (!callback)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "add_dispatch_callback: no callback");
    return rocprofiler_set_queue_callbacks((rocprofiler_queue_callbacks_t){.dispatch = callback},
                                           data);
}

hsa_status_t rocprofiler_queue_create_profiled(
    hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
    uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue)
{
    const struct hsa_calls *hsa = hsa_calls();
    if (!hsa)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    library_begin();
    dispatch_expect();
    hsa_status_t status = hsa->queue_create(agent_handle, size, type, callback, data,
                                            private_segment_size, group_segment_size, queue);
    return status == HSA_STATUS_SUCCESS
               ? status
               : fail(status, "the runtime gives no queue (status 0x%x)", (unsigned)status);
}
