/* Which calls are of an event, and where it was recorded last, for calls that this test plays. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/test/children.h"

#include "intercept/hip/events.h"
#include "intercept/hsa/test/trace_double.h"

#define CALL(function) ROCPROFILER_HIP_RUNTIME_API_ID_##function

enum {
    RECORD = ROCPROFILER_HIP_EVENT_RECORD,
    WAIT = ROCPROFILER_HIP_EVENT_WAIT,
    EVENTS = 5000,
    THREADS = 8,
    QUEUE = 30,
};

static hipEvent_t event_at(uintptr_t place)
{
    return (hipEvent_t)(place * 64);
}

/* `queue`: where the call's packet goes; 0: it submits none. Answers what was open meanwhile. */
static struct event_call call_play(int32_t operation, const rocprofiler_hip_api_args_t *args,
                                   bool succeeded, uint64_t queue)
{
    struct hip_event_scope scope;
    memset(&scope, 0xa5, sizeof scope);
    hip_event_enter(&scope, operation, args);
    const struct event_call open = event_call_here;
    if (queue)
        event_call_take(queue);
    hip_event_exit(&scope, operation, args, succeeded);
    return open;
}

static struct event_call record_play(uintptr_t place, bool succeeded, uint64_t queue)
{
    const rocprofiler_hip_api_args_t args = {.hipEventRecord.event = event_at(place)};
    return call_play(CALL(hipEventRecord), &args, succeeded, queue);
}

static struct event_call wait_play(uintptr_t place)
{
    const rocprofiler_hip_api_args_t args = {.hipStreamWaitEvent.event = event_at(place)};
    return call_play(CALL(hipStreamWaitEvent), &args, true, QUEUE + 1);
}

static void destroy_play(uintptr_t place)
{
    const rocprofiler_hip_api_args_t args = {.hipEventDestroy.event = event_at(place)};
    call_play(CALL(hipEventDestroy), &args, true, 0);
}

static void a_wait_knows_where_the_event_was_recorded(void **state)
{
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_EVENT, -1);
    assert_int_equal(wait_play(1).source_queue, 0);
    const struct event_call record = record_play(1, true, QUEUE);
    assert_int_equal(record.operation, RECORD);
    assert_int_equal(record.event, (uintptr_t)event_at(1));
    assert_false(event_call_is_open());
    const struct event_call wait = wait_play(1);
    assert_int_equal(wait.operation, WAIT);
    assert_int_equal(wait.event, (uintptr_t)event_at(1));
    assert_int_equal(wait.source_queue, QUEUE);
    assert_int_equal(wait_play(2).source_queue, 0);
    record_play(1, true, QUEUE + 5); /* again, elsewhere */
    record_play(1, false, QUEUE + 6);
    record_play(1, true, 0); /* captured: nothing was submitted */
    assert_int_equal(wait_play(1).source_queue, QUEUE + 5);
    destroy_play(1);
    destroy_play(2);
    assert_int_equal(wait_play(1).source_queue, 0);
}

/* Others' calls inside of callbacks do not end it. */
static void calls_nest(void **state)
{
    struct hip_event_scope scope;
    const rocprofiler_hip_api_args_t args = {.hipEventRecord.event = event_at(3)};
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_EVENT, -1);
    hip_event_enter(&scope, CALL(hipEventRecord_spt), &args);
    record_play(4, true, QUEUE + 1);
    assert_true(event_call_is_open());
    assert_int_equal(event_call_here.event, (uintptr_t)event_at(3));
    event_call_take(QUEUE);
    assert_false(event_call_is_open());
    hip_event_exit(&scope, CALL(hipEventRecord_spt), &args, true);
    assert_int_equal(event_call_here.operation, 0);
    assert_int_equal(wait_play(3).source_queue, QUEUE);
    assert_int_equal(wait_play(4).source_queue, QUEUE + 1);
}

static void only_those_calls_are_wanted_and_only_while_somebody_listens(void **state)
{
    (void)state;
    double_reset();
    assert_false(hip_event_is_configured(CALL(hipEventRecord)));
    assert_false(hip_event_is_wanted(CALL(hipEventRecord)));
    assert_int_equal(record_play(1, true, QUEUE).operation, 0);
    double_listen(TRACE_HIP_EVENT, WAIT);
    assert_true(hip_event_is_configured(CALL(hipEventDestroy)));
    assert_true(hip_event_is_wanted(CALL(hipEventDestroy)));
    assert_true(hip_event_is_wanted(CALL(hipEventRecord))); /* for the wait's sake */
    assert_true(hip_event_is_wanted(CALL(hipStreamWaitEvent_spt)));
    assert_false(hip_event_is_configured(CALL(hipEventCreate)));
    assert_false(hip_event_is_configured(CALL(hipEventSynchronize)));
    assert_false(hip_event_is_wanted(CALL(LAST)));
    assert_false(hip_event_is_wanted(-1));
    double_reset();
    double_listen(TRACE_HIP_EVENT, RECORD);
    assert_true(hip_event_is_wanted(CALL(hipEventRecordWithFlags)));
    assert_false(hip_event_is_wanted(CALL(hipStreamWaitEvent)));
    double_unlisten(TRACE_HIP_EVENT);
    assert_false(hip_event_is_wanted(CALL(hipEventRecord)));
}

static void event_wait(void *place)
{
    wait_play((uintptr_t)place);
}

static void children_wait_for_events(void **state)
{
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_EVENT, -1);
    record_play(1, true, QUEUE);
    children_take_turns(event_wait, (void *)1);
}

static void *events_use(void *number)
{
    uintptr_t first = 10 + (uintptr_t)number * EVENTS, wrong = 0;
    for (uintptr_t i = first; i < first + EVENTS; i++)
        record_play(i, true, i);
    for (uintptr_t i = first; i < first + EVENTS; i++)
        wrong += wait_play(i).source_queue != i;
    for (uintptr_t i = first; i < first + EVENTS; i++)
        destroy_play(i);
    for (uintptr_t i = first; i < first + EVENTS; i++)
        wrong += wait_play(i).source_queue != 0;
    return (void *)wrong;
}

static void many_events_of_many_threads(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_EVENT, -1);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, events_use, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_knows_where_the_event_was_recorded),
        cmocka_unit_test(calls_nest),
        cmocka_unit_test(only_those_calls_are_wanted_and_only_while_somebody_listens),
        cmocka_unit_test(many_events_of_many_threads),
        cmocka_unit_test(children_wait_for_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
