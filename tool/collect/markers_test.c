#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "collect/markers.h"

/* A double of the library's clock. */
static uint64_t now_ns;
rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts)
{
    *ts = now_ns;
    return ROCPROFILER_STATUS_SUCCESS;
}

/* A double of the context that collects. */
static rocprofiler_context_id_t collecting = {1};
static int is_collecting = 1;
rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context, int *status)
{
    assert_int_equal(context.handle, collecting.handle);
    *status = is_collecting;
    return ROCPROFILER_STATUS_SUCCESS;
}

static struct marker seen[32];
static unsigned seen_count;
static void visit(const struct marker *marker)
{
    seen[seen_count++] = *marker;
}

static int collect(void **state)
{
    (void)state;
    markers_each(visit); /* what another test left */
    seen_count = 0;
    return 0;
}

static void call(uint64_t thread, int32_t operation, const char *message, uint64_t id,
                 uint64_t enter_ns, uint64_t exit_ns)
{
    rocprofiler_callback_tracing_marker_api_data_t data = {.size = sizeof data};
    if (operation == ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop)
        data.args.roctxRangeStop.id = id;
    else
        data.args.roctxMarkA.message = message; /* the same place in every arm */
    rocprofiler_callback_tracing_record_t record = {
        .thread_id = thread,
        .correlation_id.internal = enter_ns,
        .kind = ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
        .operation = operation,
        .phase = ROCPROFILER_CALLBACK_PHASE_ENTER,
        .payload = &data};
    rocprofiler_user_data_t user = {0};
    now_ns = enter_ns;
    markers_callback(record, &user, &collecting);
    record.phase = ROCPROFILER_CALLBACK_PHASE_EXIT;
    data.retval.roctx_range_id_t_retval = id;
    now_ns = exit_ns;
    markers_callback(record, &user, &collecting);
}

#define MARK(thread, text, at)                                                                     \
    call(thread, ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA, text, 0, at, at + 1)
#define PUSH(thread, text, at)                                                                     \
    call(thread, ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA, text, 0, at, at + 1)
#define POP(thread, at)                                                                            \
    call(thread, ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop, NULL, 0, at, at + 1)
#define START(text, id, at)                                                                        \
    call(1, ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA, text, id, at, at + 1)
#define STOP(thread, id, at)                                                                       \
    call(thread, ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop, NULL, id, at, at + 1)

static void expect(unsigned at, const char *message, uint64_t start_ns, uint64_t end_ns)
{
    assert_true(at < seen_count);
    assert_string_equal(seen[at].message, message);
    assert_int_equal(seen[at].start_ns, start_ns);
    assert_int_equal(seen[at].end_ns, end_ns);
}

static void pushed_ranges_nest_per_thread(void **state)
{
    (void)state;
    PUSH(1, "outer", 10);
    PUSH(2, "elsewhere", 15);
    PUSH(1, "inner", 20);
    POP(1, 30);
    POP(2, 35);
    POP(1, 40);
    POP(1, 50); /* nothing open: nothing happens */
    markers_each(visit);
    assert_int_equal(seen_count, 3);
    expect(0, "inner", 20, 30);
    expect(1, "elsewhere", 15, 35);
    expect(2, "outer", 10, 40);
    assert_int_equal(seen[1].thread_id, 2);
    assert_int_equal(seen[2].correlation_id, 10);
}

static void started_ranges_overlap_and_end_on_any_thread(void **state)
{
    (void)state;
    START("a", 7, 100);
    START("b", 8, 110);
    MARK(1, "moment", 115);
    STOP(2, 7, 120);
    STOP(2, 99, 125); /* unknown */
    STOP(1, 8, 130);
    markers_each(visit);
    assert_int_equal(seen_count, 3);
    expect(0, "moment", 115, 115);
    expect(1, "a", 100, 120);
    expect(2, "b", 110, 130);
}

static void open_ranges_end_with_the_program(void **state)
{
    (void)state;
    PUSH(1, "never popped", 200);
    MARK(1, "mark", 210);
    now_ns = 300;
    markers_each(visit);
    assert_int_equal(seen_count, 2);
    expect(0, "mark", 210, 210);
    expect(1, "never popped", 200, 300);
}

static unsigned visited, distinct;
static const char *previous;
static void count(const struct marker *marker)
{
    visited++;
    distinct += marker->message != previous;
    previous = marker->message;
}

/* Neither an end while others are open nor the end of all takes longer for each of them. */
static void many_ranges_may_be_open(void **state)
{
    enum { EACH = 50000 };
    (void)state;
    visited = 0;
    for (uint64_t i = 0; i < EACH; i++)
        PUSH(1, "first", i);
    for (uint64_t i = 0; i < EACH; i++)
        PUSH(2, "second", i);
    for (uint64_t id = 1; id <= EACH; id++)
        START("started", id, id);
    for (uint64_t id = 1; id <= EACH; id += 2)
        STOP(1, id, EACH + id);
    for (uint64_t i = 0; i < EACH / 2; i++)
        POP(1, 3 * EACH + i);
    assert_string_equal(markers_current(1), "first");
    markers_each(count);
    assert_int_equal(visited, 3 * EACH);
    assert_null(markers_current(1));
}

static void a_child_has_none_of_the_open_ranges(void **state)
{
    (void)state;
    PUSH(1, "parent's", 10);
    START("parent's", 5, 20);
    markers_fork_prepare();
    markers_fork_child();
    POP(1, 30);
    STOP(1, 5, 40);
    PUSH(1, "child's", 50);
    POP(1, 60);
    markers_each(visit);
    assert_int_equal(seen_count, 1);
    expect(0, "child's", 50, 60);
}

static void equal_messages_are_one_pointer(void **state)
{
    (void)state;
    char first[] = "loop", second[] = "loop";
    MARK(1, first, 1);
    MARK(1, second, 2);
    MARK(1, NULL, 3);
    first[0] = second[0] = 'X'; /* the program may reuse its memory */
    markers_each(visit);
    assert_ptr_equal(seen[0].message, seen[1].message);
    assert_string_equal(seen[0].message, "loop");
    assert_string_equal(seen[2].message, "(null)");
}

static void tables_grow(void **state)
{
    (void)state;
    char text[32];
    visited = distinct = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "message %d", (int)(i / 5));
        PUSH(1, text, i);
        POP(1, i);
    }
    markers_each(count);
    assert_int_equal(visited, 5000);
    assert_int_equal(distinct, 1000);
}

static unsigned begun;
static bool nobody_begins(void)
{
    begun++;
    return false;
}

static bool somebody_begins(void)
{
    return true;
}

static uint64_t took, last_ns;
static void take_in_order(const struct marker *marker)
{
    assert_true(marker->end_ns > last_ns);
    last_ns = marker->end_ns;
    took++;
}

static void *marks_make(void *count)
{
    for (uint64_t i = 1; i <= *(uint64_t *)count; i++)
        MARK(7, "again", i);
    return NULL;
}

/* A range belongs to where it began; pushes of a pause have their pops, wherever these are. */
static void a_pause_hides_what_begins_in_it(void **state)
{
    (void)state;
    PUSH(1, "before", 10);
    is_collecting = 0;
    POP(1, 20);
    MARK(1, "hidden", 30);
    PUSH(1, "hidden", 40);
    is_collecting = 1;
    PUSH(1, "inside", 50);
    assert_string_equal(markers_current(1), "inside");
    POP(1, 60);
    assert_string_equal(markers_current(1), "hidden"); /* a kernel's name all the same */
    POP(1, 70);
    markers_each(visit);
    assert_int_equal(seen_count, 2);
    assert_string_equal(seen[0].message, "before");
    assert_int_equal(seen[0].end_ns, 20);
    assert_string_equal(seen[1].message, "inside");
    assert_int_equal(seen[1].end_ns, 60);
}

/* Whoever marks waits when there are too many, and goes on when they are taken. */
static void many_markers_do_not_gather(void **state)
{
    enum { MARKS = 3 * MARKERS_MAX };
    (void)state;
    uint64_t few = MARKERS_MAX + 5, all = MARKS;
    markers_on_many(nobody_begins); /* and so nobody waits */
    marks_make(&few);
    assert_int_equal(begun, 1);
    markers_done_each(take_in_order);
    assert_int_equal(took, few);
    markers_fork_prepare();
    markers_fork_child(); /* asks again */
    took = last_ns = 0;
    markers_on_many(somebody_begins);
    pthread_t thread;
    pthread_create(&thread, NULL, marks_make, &all);
    while (took < MARKS - MARKERS_MANY) {
        uint64_t before = took;
        markers_wait();
        markers_done_each(take_in_order);
        assert_true(took - before <= MARKERS_MAX);
    }
    markers_nobody_empties();
    pthread_join(thread, NULL);
    markers_done_each(take_in_order);
    assert_int_equal(took, MARKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pushed_ranges_nest_per_thread, collect),
        cmocka_unit_test_setup(started_ranges_overlap_and_end_on_any_thread, collect),
        cmocka_unit_test_setup(a_pause_hides_what_begins_in_it, collect),
        cmocka_unit_test_setup(open_ranges_end_with_the_program, collect),
        cmocka_unit_test_setup(many_ranges_may_be_open, collect),
        cmocka_unit_test_setup(a_child_has_none_of_the_open_ranges, collect),
        cmocka_unit_test_setup(equal_messages_are_one_pointer, collect),
        cmocka_unit_test_setup(tables_grow, collect),
        cmocka_unit_test_setup(many_markers_do_not_gather, collect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
