#include "intercept/marker/ranges.h"

#include <string.h>

#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk/marker.h>

#include "base/clock.h"
#include "base/log.h"
#include "intercept/marker/open_ranges.h"

enum {
    MARK = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxMarkA,
    THREAD_RANGE = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA,
    PROCESS_RANGE = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA,
    GET_THREAD_ID = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId,
};
enum { FN_MARK, FN_PUSH, FN_POP, FN_START, FN_STOP, FN_THREAD_ID, FN_COUNT };

static void *next_functions[FN_COUNT * TABLE_COPIES_MAX];

static bool listened(int32_t operation)
{
    return trace_set_load(TRACE_MARKER_CORE_RANGE_API, operation) != NULL;
}

/* ---- a range */

static void message_keep(struct range *range, const char *message)
{
    size_t length = strnlen(message, RANGE_MESSAGE_BYTES - 1);
    memcpy(range->message, message, length);
    range->message[length] = 0;
}

/* False: nobody listens any more. Both kinds of range have the message as their only argument. */
static bool range_begin(struct range *range, int32_t operation, const char *message)
{
    if (!trace_event_open(&range->event, TRACE_MARKER_CORE_RANGE_API, operation))
        return false;
    range->data = (rocprofiler_callback_tracing_marker_api_data_t){
        .size = sizeof range->data, .args.roctxThreadRangeA.message = message};
    trace_event_call(&range->event, operation, ROCPROFILER_CALLBACK_PHASE_ENTER, &range->data);
    if (message) {
        message_keep(range, message);
        range->data.args.roctxThreadRangeA.message = range->message;
    }
    range->start_ticks = clock_ticks();
    return true;
}

static void range_end(struct range *range)
{
    uint64_t end_ticks = clock_ticks();
    int32_t operation = range->event.operation;
    trace_event_call(&range->event, operation, ROCPROFILER_CALLBACK_PHASE_EXIT, &range->data);
    const rocprofiler_buffer_tracing_marker_api_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API,
        .operation = operation,
        .start_timestamp = range->start_ticks, /* an API's times become nanoseconds at delivery */
        .end_timestamp = end_ticks,
        .thread_id = range->event.thread_id};
    trace_event_record(&range->event, &record, sizeof record);
    trace_event_release(&range->event);
}

/* ---- functions, each with what it calls */

typedef __typeof__(((roctxCoreApiTable_t *)0)->roctxMarkA_fn) mark_fn;
typedef __typeof__(((roctxCoreApiTable_t *)0)->roctxRangePushA_fn) push_fn;
typedef __typeof__(((roctxCoreApiTable_t *)0)->roctxRangePop_fn) pop_fn;
typedef __typeof__(((roctxCoreApiTable_t *)0)->roctxRangeStartA_fn) start_fn;
typedef __typeof__(((roctxCoreApiTable_t *)0)->roctxRangeStop_fn) stop_fn;
typedef __typeof__(((roctxCoreApiTable_t *)0)->roctxGetThreadId_fn) thread_id_fn;

static void mark(const char *message, mark_fn next)
{
    const struct trace_set *set = trace_set_load(TRACE_MARKER_CORE_RANGE_API, MARK);
    if (!set) {
        next(message);
        return;
    }
    rocprofiler_callback_tracing_marker_api_data_t data = {.size = sizeof data,
                                                           .args.roctxMarkA.message = message};
    struct trace_frame frame;
    trace_api_enter(&frame, set, TRACE_MARKER_CORE_RANGE_API, MARK, &data);
    next(message);
    TRACE_CALL_MAY_BE_LEFT();
    trace_api_exit(&frame);
}

static int thread_id(roctx_thread_id_t *tid, thread_id_fn next)
{
    const struct trace_set *set = trace_set_load(TRACE_MARKER_CORE_RANGE_API, GET_THREAD_ID);
    if (!set)
        return next(tid);
    rocprofiler_callback_tracing_marker_api_data_t data = {.size = sizeof data,
                                                           .args.roctxGetThreadId.tid = tid};
    struct trace_frame frame;
    trace_api_enter(&frame, set, TRACE_MARKER_CORE_RANGE_API, GET_THREAD_ID, &data);
    data.retval.int32_t_retval = next(tid);
    TRACE_CALL_MAY_BE_LEFT();
    trace_api_exit(&frame);
    return data.retval.int32_t_retval;
}

static int push(const char *message, push_fn next)
{
    struct range *range = thread_range_push(listened(THREAD_RANGE));
    if (!range)
        return next(message);
    if (range_begin(range, THREAD_RANGE, message))
        trace_enclosure_begin(&range->event);
    int level = next(message);
    range->data.retval.int32_t_retval = level;
    return level;
}

static int pop(pop_fn next)
{
    int level = next();
    struct range *range = thread_range_pop();
    if (range && range->event.set) {
        trace_enclosure_end(&range->event);
        range_end(range);
    }
    return level;
}

/* Copies of the library number their ranges alike. */
static uint64_t number_of(roctx_range_id_t id, uint32_t copy)
{
    return id * TABLE_COPIES_MAX + copy;
}

static roctx_range_id_t start(const char *message, start_fn next, uint32_t copy)
{
    static _Atomic bool warned; /* any thread, relaxed: once is enough */
    struct range range;
    if (!listened(PROCESS_RANGE) || !range_begin(&range, PROCESS_RANGE, message))
        return next(message);
    roctx_range_id_t id = next(message);
    range.data.retval.roctx_range_id_t_retval = id;
    if (process_range_keep(number_of(id, copy), &range))
        return id;
    trace_event_release(&range.event);
    if (!atomic_exchange_explicit(&warned, true, memory_order_relaxed))
        log_warning("marker", "more than %d process ranges are open: the ends of some are lost",
                    PROCESS_RANGES_MAX);
    return id;
}

static void stop(roctx_range_id_t id, stop_fn next, uint32_t copy)
{
    struct range range;
    bool traced = process_range_take(number_of(id, copy), &range);
    next(id);
    if (traced)
        range_end(&range);
}

/* ---- wrappers */

#define NEXT(type, function, copy) ((type)next_functions[(function)*TABLE_COPIES_MAX + (copy)])
#define WRAPPERS(copy)                                                                             \
    static void mark_##copy(const char *message)                                                   \
    {                                                                                              \
        mark(message, NEXT(mark_fn, FN_MARK, copy));                                               \
    }                                                                                              \
    static int push_##copy(const char *message)                                                    \
    {                                                                                              \
        return push(message, NEXT(push_fn, FN_PUSH, copy));                                        \
    }                                                                                              \
    static int pop_##copy(void)                                                                    \
    {                                                                                              \
        return pop(NEXT(pop_fn, FN_POP, copy));                                                    \
    }                                                                                              \
    static roctx_range_id_t start_##copy(const char *message)                                      \
    {                                                                                              \
        return start(message, NEXT(start_fn, FN_START, copy), copy);                               \
    }                                                                                              \
    static void stop_##copy(roctx_range_id_t id)                                                   \
    {                                                                                              \
        stop(id, NEXT(stop_fn, FN_STOP, copy), copy);                                              \
    }                                                                                              \
    static int thread_id_##copy(roctx_thread_id_t *tid)                                            \
    {                                                                                              \
        return thread_id(tid, NEXT(thread_id_fn, FN_THREAD_ID, copy));                             \
    }
WRAPPERS(0)
WRAPPERS(1)
_Static_assert(TABLE_COPIES_MAX == 2, "a set of wrappers for each copy");

#define COPIES(name)                                                                               \
    {                                                                                              \
        (void *)name##_0, (void *)name##_1                                                         \
    }
#define SLOT(member) (offsetof(roctxCoreApiTable_t, member) / sizeof(void *) - 1)

static const struct table_function functions[FN_COUNT] = {
    [FN_MARK] = {SLOT(roctxMarkA_fn), MARK},
    [FN_PUSH] = {SLOT(roctxRangePushA_fn), THREAD_RANGE},
    [FN_POP] = {SLOT(roctxRangePop_fn), THREAD_RANGE},
    [FN_START] = {SLOT(roctxRangeStartA_fn), PROCESS_RANGE},
    [FN_STOP] = {SLOT(roctxRangeStop_fn), PROCESS_RANGE},
    [FN_THREAD_ID] = {SLOT(roctxGetThreadId_fn), GET_THREAD_ID},
};

static void *wrapper_at(uint32_t function, int copy)
{
    static void *const wrappers[FN_COUNT][TABLE_COPIES_MAX] = {
        [FN_MARK] = COPIES(mark),   [FN_PUSH] = COPIES(push), [FN_POP] = COPIES(pop),
        [FN_START] = COPIES(start), [FN_STOP] = COPIES(stop), [FN_THREAD_ID] = COPIES(thread_id),
    };
    return wrappers[function][copy];
}

static void *tables[TABLE_COPIES_MAX];

const struct table_wrappers table_wrappers_marker_ranges = {
    .name = "marker_core_range",
    .domain = TRACE_MARKER_CORE_RANGE_API,
    .functions = functions,
    .wrapper = wrapper_at,
    .function_count = FN_COUNT,
    .next = next_functions,
    .tables = tables,
};
