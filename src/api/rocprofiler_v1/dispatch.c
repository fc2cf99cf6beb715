/* Callbacks around kernels, and contexts that collect there. */
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"
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

/* Writers: set and remove (sequentially consistent, as `running`: who removes sees whoever may
 * still have loaded it). Readers: callbacks. */
static _Atomic(struct registration *) current;
static _Atomic uint32_t running; /* callbacks, of all threads */
static __thread uint32_t running_here __attribute__((tls_model("initial-exec")));

/* ---- records */

static struct {
    pthread_mutex_t lock;
    struct record *free; /* under the lock */
    /* One more, so that who takes a record and gives back the group's former one, as kernels do,
     * needs no lock. Writers: who takes it (exchange, acquire) or gives one (exchange, acq_rel: the
     * one that it replaces goes to the list). */
    _Atomic(struct record *) spare;
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct record *record_find(void)
{
    struct record *record = atomic_exchange_explicit(&records.spare, NULL, memory_order_acquire);
    if (record)
        return record;
    pthread_mutex_lock(&records.lock);
    record = records.free;
    if (record)
        records.free = record->next;
    pthread_mutex_unlock(&records.lock);
    return record ? record : malloc(sizeof *record);
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
        record = atomic_exchange_explicit(&records.spare, record, memory_order_acq_rel);
    if (!record)
        return;
    pthread_mutex_lock(&records.lock);
    record->next = records.free;
    records.free = record;
    pthread_mutex_unlock(&records.lock);
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

/* The group is on its way with a kernel from now on and holds a reference to its context. NULL: it
 * cannot be. */
static struct group *group_launch(const rocprofiler_group_t *wanted, struct record *record)
{
    struct v1_context *context = context_acquire(wanted->context);
    if (!context)
        return NULL;
    bool fine = wanted->index < context->plan->group_count && !context->standalone;
    struct group *group = fine ? &context->groups[wanted->index] : NULL;
    if (!fine || !group_take_off(group)) {
        context_release(context);
        return NULL;
    }
    record_release(group->record);
    group->record = record;
    group_trace_drop(group);
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

static void data_arrived(rocprofiler_dispatch_counting_service_data_t data,
                         rocprofiler_counter_record_t *values, size_t count,
                         rocprofiler_user_data_t user_data, void *unused)
{
    struct group *group = user_data.ptr;
    (void)unused;
    pthread_mutex_lock(&group->context->lock);
    group_take(group, values, count, group->values);
    group->record->public.begin = data.start_timestamp;
    group->record->public.end = data.end_timestamp;
    pthread_mutex_unlock(&group->context->lock);
    /* Release: a tool that polls `complete` finds the rest. */
    __atomic_store_n(&group->record->public.complete, engine->trace_time_ns(), __ATOMIC_RELEASE);
    group_land(group, GROUP_READY);
}

static void trace_arrived(rocprofiler_user_data_t user_data, struct counting_slot *trace,
                          void *unused)
{
    (void)unused;
    engine->counting_trace_hold(trace);
    group_trace_set(user_data.ptr, trace);
}

static void data_lost(rocprofiler_user_data_t user_data, void *unused)
{
    (void)unused;
    if (user_data.ptr)
        group_land(user_data.ptr, GROUP_LOST);
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
callback_data_brief(const rocprofiler_dispatch_counting_service_data_t *data,
                    const struct hsa_submission *submission)
{
    const hsa_kernel_dispatch_packet_t *packet = submission->packet;
    return (rocprofiler_callback_data_t){.agent = {submission->agent},
                                         .agent_index = submission->device,
                                         .queue = submission->queue,
                                         .queue_index = submission->index,
                                         .queue_id = (uint32_t)data->dispatch_info.queue_id.handle,
                                         .completion_signal = packet->completion_signal,
                                         .packet = packet};
}

static bool callback_data_fill(rocprofiler_callback_data_t *to,
                               const rocprofiler_dispatch_counting_service_data_t *data,
                               const struct record *record)
{
    struct hsa_submission submission;
    if (!engine->hsa_facts->submission(&submission))
        return false;
    const hsa_kernel_dispatch_packet_t *packet = submission.packet;
    if (atomic_load_explicit(&dispatches_are_brief, memory_order_relaxed)) {
        *to = callback_data_brief(data, &submission);
        return true;
    }
    struct kernel_facts kernel = kernel_facts(data->dispatch_info.kernel_id, packet->kernel_object);
    *to = (rocprofiler_callback_data_t){.agent = {submission.agent},
                                        .agent_index = submission.device,
                                        .queue = submission.queue,
                                        .queue_index = submission.index,
                                        .queue_id = (uint32_t)data->dispatch_info.queue_id.handle,
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
    atomic_fetch_add_explicit(&running, 1, memory_order_seq_cst);
    running_here++;
    const struct registration *registration = atomic_load_explicit(&current, memory_order_seq_cst);
    if (registration && registration->callbacks.dispatch)
        CALLBACK(status = registration->callbacks.dispatch(data, registration->data, group));
    running_here--;
    atomic_fetch_sub_explicit(&running, 1, memory_order_seq_cst);
    return status;
}

static void dispatch_choose(rocprofiler_dispatch_counting_service_data_t data,
                            rocprofiler_counter_config_id_t *config,
                            rocprofiler_user_data_t *user_data, void *unused)
{
    rocprofiler_callback_data_t callback_data;
    rocprofiler_group_t wanted = {0};
    (void)unused;
    user_data->ptr = NULL;
    struct record *record =
        atomic_load_explicit(&current, memory_order_seq_cst) ? record_take() : NULL;
    if (!record)
        return;
    struct group *group = NULL;
    if (callback_data_fill(&callback_data, &data, record) &&
        tool_ask(&callback_data, &wanted) == HSA_STATUS_SUCCESS && wanted.context)
        group = group_launch(&wanted, record);
    if (!group) {
        record_release(record);
        return;
    }
    user_data->ptr = group;
    *config = group->context->plan->groups[group->index].config;
}

/* ---- queues */

static void queue_tell(hsa_queue_t *queue, bool created)
{
    atomic_fetch_add_explicit(&running, 1, memory_order_seq_cst);
    running_here++;
    const struct registration *registration = atomic_load_explicit(&current, memory_order_seq_cst);
    hsa_status_t (*callback)(hsa_queue_t *, void *) = NULL;
    if (registration)
        callback = created ? registration->callbacks.create : registration->callbacks.destroy;
    if (callback)
        CALLBACK((void)callback(queue, registration->data));
    running_here--;
    atomic_fetch_sub_explicit(&running, 1, memory_order_seq_cst);
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
    const struct counting_dispatch_watch watch = {.lost = data_lost,
                                                  .traced = trace_arrived,
                                                  .together = kernels_run_together,
                                                  .without_ids = true};
    if (!counting.handle &&
        engine->context_create_front("ROC Profiler", &counting) != ROCPROFILER_STATUS_SUCCESS) {
        counting.handle = 0;
        return false;
    }
    if (!is_configured)
        is_configured = engine->counting_dispatch_configure_watched(counting, dispatch_choose, NULL,
                                                                    data_arrived, NULL, &watch) ==
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
    if (atomic_load_explicit(&current, memory_order_seq_cst))
        return fail(HSA_STATUS_ERROR, "there are queue callbacks already");
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (!counting_prepare() ||
        !queue_events_follow(registration->callbacks.create || registration->callbacks.destroy))
        status = fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for queue callbacks");
    else if (registration->callbacks.dispatch)
        status = counting_start();
    if (status == HSA_STATUS_SUCCESS)
        atomic_store_explicit(&current, registration, memory_order_seq_cst);
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

/* This thread's own callbacks are not waited for: it is inside of them. */
static bool callbacks_are_over(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&running, memory_order_seq_cst) <= running_here;
}

static bool callbacks_end(void)
{
    return wait_until(callbacks_are_over, NULL, 1000 * WAIT_NS_PER_MS, 20 * WAIT_NS_PER_US) &&
           running_here == 0;
}

hsa_status_t rocprofiler_remove_queue_callbacks(void)
{
    pthread_mutex_lock(&lock);
    struct registration *registration =
        atomic_exchange_explicit(&current, NULL, memory_order_seq_cst);
    if (registration) {
        engine->context_stop(counting);
        queue_events_follow(false);
    }
    pthread_mutex_unlock(&lock);
    if (registration && callbacks_end())
        free(registration);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_start_queue_callbacks(void)
{
    hsa_status_t status;
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&current, memory_order_seq_cst))
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
