#include "intercept/ompt/events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

struct scope {
    struct scope *below; /* of the open ones: the one that began before; of the spare ones: any */
    uint32_t level;      /* how many of the same operation enclose it */
    uint64_t start_ticks;
    struct trace_event event;
};

/* Traced scopes that are open on this thread, the latest first: tasks that a wait executes may wait
 * in turn, as deep as the program recurses. */
struct scopes {
    struct scope *latest, *spare;
};

static __thread struct scopes *thread_scopes;
/* Scopes that are open, traced or not, so that an end finds its own beginning. */
static __thread uint16_t levels[ROCPROFILER_OMPT_ID_LAST];

static pthread_key_t scopes_key;
static pthread_once_t scopes_once = PTHREAD_ONCE_INIT;

static void scopes_free(void *any)
{
    struct scopes *scopes = any;
    struct scope *below;
    thread_scopes = NULL;
    for (struct scope *scope = scopes->latest; scope; scope = below) {
        below = scope->below;
        trace_event_release(&scope->event);
        free(scope);
    }
    for (struct scope *scope = scopes->spare; scope; scope = below) {
        below = scope->below;
        free(scope);
    }
    free(scopes);
}

static void scopes_key_create(void)
{
    pthread_key_create(&scopes_key, scopes_free);
}

/* Allocates at a thread's first traced scope. */
static struct scopes *scopes_of_thread(void)
{
    if (!thread_scopes) {
        pthread_once(&scopes_once, scopes_key_create);
        thread_scopes = calloc(1, sizeof *thread_scopes);
        if (thread_scopes)
            pthread_setspecific(scopes_key, thread_scopes);
    }
    return thread_scopes;
}

static void record_common(rocprofiler_buffer_tracing_ompt_record_t *record,
                          const struct trace_event *event)
{
    *record = (rocprofiler_buffer_tracing_ompt_record_t){.size = sizeof *record,
                                                         .kind = ROCPROFILER_BUFFER_TRACING_OMPT,
                                                         .operation = event->operation,
                                                         .thread_id = event->thread_id};
}

static uint64_t value_of(const ompt_data_t *data)
{
    return data ? data->value : 0;
}

/* Records of device operations carry a few of the arguments. */
static void record_target(rocprofiler_buffer_tracing_ompt_record_t *record,
                          const rocprofiler_ompt_args_t *args)
{
    switch ((int)record->operation) {
    case ROCPROFILER_OMPT_ID_target_emi:
        record->target.kind = (int32_t)args->target_emi.kind;
        record->target.device_num = args->target_emi.device_num;
        record->target.task_id = value_of(args->target_emi.task_data);
        record->target.target_id = value_of(args->target_emi.target_data);
        record->target.codeptr_ra = args->target_emi.codeptr_ra;
        return;
    case ROCPROFILER_OMPT_ID_target_data_op_emi:
        record->target_data_op.host_op_id = value_of(args->target_data_op_emi.host_op_id);
        record->target_data_op.optype = (int32_t)args->target_data_op_emi.optype;
        record->target_data_op.src_device_num = args->target_data_op_emi.src_device_num;
        record->target_data_op.dst_device_num = args->target_data_op_emi.dst_device_num;
        record->target_data_op.bytes = args->target_data_op_emi.bytes;
        record->target_data_op.codeptr_ra = args->target_data_op_emi.codeptr_ra;
        return;
    case ROCPROFILER_OMPT_ID_target_submit_emi:
        record->target_kernel.host_op_id = value_of(args->target_submit_emi.host_op_id);
        record->target_kernel.requested_num_teams = args->target_submit_emi.requested_num_teams;
        return;
    default:
        return;
    }
}

/* ---- a scope */

static void scope_spare(struct scopes *scopes, struct scope *scope)
{
    scope->below = scopes->spare;
    scopes->spare = scope;
}

/* NULL: no memory. */
static struct scope *scope_new(struct scopes *scopes)
{
    static _Atomic bool warned; /* any thread, relaxed: once is enough */
    struct scope *scope = scopes ? scopes->spare : NULL;
    if (scope)
        scopes->spare = scope->below;
    else if (scopes)
        scope = malloc(sizeof *scope);
    if (!scope && !atomic_exchange_explicit(&warned, true, memory_order_relaxed))
        log_warning("ompt", "no memory for OpenMP regions: some are lost");
    return scope;
}

static void scope_begin(int32_t operation, uint32_t level,
                        rocprofiler_callback_tracing_ompt_data_t *data)
{
    struct scopes *scopes = scopes_of_thread();
    struct scope *scope = scope_new(scopes);
    if (!scope)
        return;
    if (!trace_event_open(&scope->event, TRACE_OMPT, operation)) {
        scope_spare(scopes, scope);
        return;
    }
    scope->level = level;
    scope->below = scopes->latest;
    scopes->latest = scope;
    trace_event_call(&scope->event, operation, ROCPROFILER_CALLBACK_PHASE_ENTER, data);
    trace_enclosure_begin(&scope->event);
    scope->start_ticks = clock_ticks();
}

static void scope_report_end(struct scope *scope, uint64_t end_ticks,
                             rocprofiler_callback_tracing_ompt_data_t *data)
{
    rocprofiler_buffer_tracing_ompt_record_t record;
    trace_event_call(&scope->event, scope->event.operation, ROCPROFILER_CALLBACK_PHASE_EXIT, data);
    record_common(&record, &scope->event);
    record_target(&record, &data->args);
    record.start_timestamp = scope->start_ticks; /* become nanoseconds at delivery */
    record.end_timestamp = end_ticks;
    trace_event_record(&scope->event, &record, sizeof record);
    trace_event_release(&scope->event);
}

/* The link to it; NULL: there is none. */
static struct scope **scope_find(int32_t operation, uint32_t level)
{
    struct scope **link = thread_scopes ? &thread_scopes->latest : NULL;
    while (link && *link && ((*link)->event.operation != operation || (*link)->level != level))
        link = &(*link)->below;
    return link && *link ? link : NULL;
}

/* The scope may lie below others: a runtime is free to end what it began in another order. */
static void scope_end(int32_t operation, uint32_t level,
                      rocprofiler_callback_tracing_ompt_data_t *data)
{
    uint64_t end_ticks = clock_ticks();
    struct scope **link = scope_find(operation, level);
    if (!link)
        return;
    struct scope *scope = *link;
    *link = scope->below;
    trace_enclosure_end(&scope->event);
    scope_report_end(scope, end_ticks, data);
    scope_spare(thread_scopes, scope);
}

bool ompt_event_wanted(int32_t operation, int endpoint)
{
    bool listened = trace_set_load(TRACE_OMPT, operation) != NULL;
    if (endpoint == ompt_scope_begin) {
        levels[operation]++;
        return listened;
    }
    if (endpoint != ompt_scope_end || levels[operation] == 0)
        return listened && endpoint != ompt_scope_end;
    levels[operation]--;
    return scope_find(operation, levels[operation]) != NULL;
}

void ompt_event_scope(int32_t operation, int endpoint,
                      rocprofiler_callback_tracing_ompt_data_t *data)
{
    if (endpoint == ompt_scope_begin) {
        scope_begin(operation, levels[operation] - 1u, data);
    } else if (endpoint == ompt_scope_end) {
        scope_end(operation, levels[operation], data);
    } else { /* both at once; no level of its own is open */
        scope_begin(operation, UINT32_MAX, data);
        scope_end(operation, UINT32_MAX, data);
    }
}

void ompt_event_moment(int32_t operation, rocprofiler_callback_tracing_ompt_data_t *data)
{
    struct trace_event event;
    rocprofiler_buffer_tracing_ompt_record_t record;
    if (!trace_event_open(&event, TRACE_OMPT, operation))
        return;
    trace_event_call(&event, operation, ROCPROFILER_CALLBACK_PHASE_NONE, data);
    record_common(&record, &event);
    record.start_timestamp = record.end_timestamp = clock_ticks();
    trace_event_record(&event, &record, sizeof record);
    trace_event_release(&event);
}
