/* The marker library's tables, played by this program: single calls and ranges. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk/marker.h>

#include "intercept/hsa/test/trace_double.h"
#include "intercept/marker/open_ranges.h"
#include "intercept/table/install.h"

enum {
    THREAD_RANGE = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA,
    PROCESS_RANGE = ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA,
};

static const char *marked;
static int level, calls_of_other;
static roctx_range_id_t last_id;

static void mark(const char *message)
{
    marked = message;
}

static int push(const char *message)
{
    marked = message;
    return level++;
}

static int pop(void)
{
    return level > 0 ? --level : -1;
}

static roctx_range_id_t start(const char *message)
{
    marked = message;
    return ++last_id;
}

static void stop(roctx_range_id_t id)
{
    (void)id;
}

static void other_mark(const char *message)
{
    (void)message;
    calls_of_other++;
}

static roctx_range_id_t other_start(const char *message)
{
    (void)message;
    return 1; /* numbers its ranges as the first copy does */
}

static roctxCoreApiTable_t core = {sizeof core, mark, push, pop, start, stop, NULL};
static roctxCoreApiTable_t other = {sizeof other, other_mark, push, pop, other_start, stop, NULL};
static roctxControlApiTable_t control = {sizeof(uint64_t), NULL, NULL}; /* an older, shorter one */
static roctxNameApiTable_t name = {sizeof name, NULL, NULL, NULL, NULL};

static uint32_t count(enum double_what what, enum trace_domain domain, int32_t operation)
{
    return double_count(what, domain, operation);
}

/* Phases of a range; the message is what the EXIT saw. */
static uint32_t range_phases(int32_t operation, rocprofiler_callback_phase_t phase)
{
    uint32_t found = 0;
    const struct double_entry *entry;
    for (uint32_t i = 0;
         (entry = double_entry(DOUBLE_CALL, TRACE_MARKER_CORE_RANGE_API, operation, i)); i++)
        found += entry->phase == phase;
    return found;
}

static void install(void **state)
{
    (void)state;
    static const struct runtime_row row = {.kind = RUNTIME_ROCTX, .name = "roctx"};
    void *tables[] = {&core, &control, &name};
    void *others[] = {&other, &control, &name};
    double_reset();
    double_listen(TRACE_MARKER_CORE_API, -1);
    double_listen(TRACE_MARKER_CORE_RANGE_API, -1);
    assert_true(intercept_table_install(&row, tables, 10000));
    assert_true(intercept_table_install(&row, others, 10000));
    assert_ptr_not_equal(core.roctxMarkA_fn, mark);
    assert_null(core.roctxGetThreadId_fn);
    assert_null(control.roctxProfilerPause_fn);
}

static void a_mark_is_seen_by_both_kinds_and_by_its_own_copy(void **state)
{
    (void)state;
    enum { MARK = ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA };
    core.roctxMarkA_fn("here");
    assert_string_equal(marked, "here");
    const struct double_entry *entry =
        double_entry(DOUBLE_API_EXIT, TRACE_MARKER_CORE_API, MARK, 0);
    assert_non_null(entry);
    assert_int_equal(count(DOUBLE_API_EXIT, TRACE_MARKER_CORE_RANGE_API, -1), 1);
    other.roctxMarkA_fn("there");
    assert_string_equal(marked, "here");
    assert_int_equal(calls_of_other, 1);
}

static void thread_ranges_nest_and_end_with_their_pop(void **state)
{
    (void)state;
    char text[8] = "inner";
    assert_int_equal(core.roctxRangePushA_fn("outer"), 0);
    uint64_t outer = double_enclosing();
    assert_int_not_equal(outer, 0);
    assert_int_equal(core.roctxRangePushA_fn(text), 1);
    assert_int_not_equal(double_enclosing(), outer);
    memset(text, 'x', sizeof text); /* gone before the end */
    assert_int_equal(core.roctxRangePop_fn(), 1);
    assert_int_equal(double_enclosing(), outer);
    assert_int_equal(range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_ENTER), 2);
    assert_int_equal(range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT), 1);
    const struct double_entry *record =
        double_entry(DOUBLE_RECORD, TRACE_MARKER_CORE_RANGE_API, THREAD_RANGE, 0);
    const struct double_entry *inner =
        double_entry(DOUBLE_CALL, TRACE_MARKER_CORE_RANGE_API, THREAD_RANGE, 1);
    assert_non_null(record);
    assert_int_equal(record->correlation, inner->correlation);
    assert_true(record->payload.marker_record.end_timestamp >=
                record->payload.marker_record.start_timestamp);
    assert_int_equal(core.roctxRangePop_fn(), 0);
    assert_int_equal(double_enclosing(), 0);
    assert_int_equal(core.roctxRangePop_fn(), -1); /* once too often */
    assert_int_equal(range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT), 2);
    assert_int_equal(double_open_events(), 0);
    /* single calls are reported besides */
    assert_int_equal(
        count(DOUBLE_API_EXIT, TRACE_MARKER_CORE_API, ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop),
        3);
}

static void pops_find_their_push_when_nobody_listened_meanwhile(void **state)
{
    (void)state;
    uint32_t ended = range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT);
    core.roctxRangePushA_fn("traced");
    double_unlisten(TRACE_MARKER_CORE_RANGE_API);
    core.roctxRangePushA_fn("not traced");
    core.roctxRangePop_fn();
    assert_int_equal(range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT), ended);
    core.roctxRangePop_fn();
    assert_int_equal(range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT), ended + 1);
    double_listen(TRACE_MARKER_CORE_RANGE_API, -1);
}

static void deep_nesting_is_kept(void **state)
{
    (void)state;
    enum { DEPTH = 1000 };
    uint32_t ended = range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < DEPTH; i++)
            core.roctxRangePushA_fn("deep");
        for (int i = 0; i < DEPTH; i++)
            core.roctxRangePop_fn();
    }
    assert_int_equal(range_phases(THREAD_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT),
                     ended + 2 * DEPTH);
    assert_int_equal(double_open_events(), 0);
}

static void *push_and_end(void *unused)
{
    for (int i = 0; i < 40; i++) /* more than a block of them */
        core.roctxRangePushA_fn("left open");
    return unused;
}

/* What a thread leaves open it keeps no hold on: external ids and records go when their last user
 * has. */
static void a_thread_that_ends_lets_its_ranges_go(void **state)
{
    (void)state;
    pthread_t thread;
    int before = double_open_events(), level_before = level;
    assert_int_equal(pthread_create(&thread, NULL, push_and_end, NULL), 0);
    pthread_join(thread, NULL);
    level = level_before; /* of the copy that this program plays, which has one for all threads */
    assert_int_equal(double_open_events(), before);
}

static void process_ranges_end_with_their_number_and_copy(void **state)
{
    (void)state;
    last_id = 0;
    roctx_range_id_t one = core.roctxRangeStartA_fn("one");
    roctx_range_id_t same = other.roctxRangeStartA_fn("same number");
    roctx_range_id_t two = core.roctxRangeStartA_fn("two");
    assert_true(one == same && two != one);
    core.roctxRangeStop_fn(two);
    core.roctxRangeStop_fn(two); /* twice */
    core.roctxRangeStop_fn(77);  /* never begun */
    assert_int_equal(range_phases(PROCESS_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT), 1);
    other.roctxRangeStop_fn(same);
    core.roctxRangeStop_fn(one);
    assert_int_equal(range_phases(PROCESS_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT), 3);
    assert_int_equal(double_open_events(), 0);
}

static void more_process_ranges_than_room_lose_their_end_only(void **state)
{
    (void)state;
    uint32_t ended = range_phases(PROCESS_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT);
    roctx_range_id_t ids[PROCESS_RANGES_MAX + 3];
    for (uint32_t i = 0; i < PROCESS_RANGES_MAX + 3; i++)
        ids[i] = core.roctxRangeStartA_fn("many");
    for (uint32_t i = 0; i < PROCESS_RANGES_MAX + 3; i++)
        core.roctxRangeStop_fn(ids[i]);
    assert_int_equal(range_phases(PROCESS_RANGE, ROCPROFILER_CALLBACK_PHASE_EXIT),
                     ended + PROCESS_RANGES_MAX);
    assert_int_equal(double_open_events(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(install),
        cmocka_unit_test(a_mark_is_seen_by_both_kinds_and_by_its_own_copy),
        cmocka_unit_test(thread_ranges_nest_and_end_with_their_pop),
        cmocka_unit_test(pops_find_their_push_when_nobody_listened_meanwhile),
        cmocka_unit_test(deep_nesting_is_kept),
        cmocka_unit_test(a_thread_that_ends_lets_its_ranges_go),
        cmocka_unit_test(process_ranges_end_with_their_number_and_copy),
        cmocka_unit_test(more_process_ranges_than_room_lose_their_end_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
