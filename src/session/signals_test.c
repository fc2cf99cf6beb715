/* Signal handlers that make traced calls, at any moment of traced calls: who is inside of whom
 * stays true, and straight ways are taken again when all is over. */
#include "session/front/engine.h"
#include "session/internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CALLED = 1, RECORDED = 2, RUN_NS = 400000000, SIGNAL_PAUSE_NS = 4000 };

static rocprofiler_context_id_t context, retiring;
static rocprofiler_buffer_id_t buffer, retired_buffer;
static uint64_t retired, retired_count;
/* Of the thread that makes the calls and its handlers. */
static volatile sig_atomic_t handlers; /* that are running */
static volatile uint64_t outer_id;     /* of the program's call, once it is known to be open */
static _Atomic uint64_t calls_of_handlers, wrong;
static _Atomic bool is_over;

/* A call of the program is inside of none. One of a handler is inside of the program's, if that is
 * open; just before and behind that may be so or not, but it is inside of no other. */
static void check(uint64_t internal, uint64_t ancestor, bool is_handlers)
{
    bool is_known = ancestor == 0 || ancestor == outer_id;
    wrong +=
        internal == 0 || (is_handlers ? outer_id && ancestor != outer_id : !is_known || ancestor);
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        user_data->value = record.correlation_id.internal;
    wrong += user_data->value != record.correlation_id.internal;
    check(record.correlation_id.internal, record.correlation_id.ancestor, handlers > 0);
}

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t of,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)id, (void)of, (void)data, (void)dropped;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_hsa_api_record_t *record = headers[i]->payload;
        wrong += record->start_timestamp > record->end_timestamp ||
                 record->correlation_id.external.value != 0 ||
                 record->correlation_id.internal <= record->correlation_id.ancestor;
    }
}

static void on_retired(rocprofiler_context_id_t id, rocprofiler_buffer_id_t of,
                       rocprofiler_record_header_t **headers, size_t count, void *data,
                       uint64_t dropped)
{
    (void)id, (void)of, (void)data, (void)dropped;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *record =
            headers[i]->payload;
        retired = record->internal_correlation_id;
        retired_count++;
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    const rocprofiler_tracing_operation_t called = CALLED, recorded = RECORDED;
    rocprofiler_status_t failed = context_create(&retiring);
    failed |= buffer_create(retiring, 4096, 4096, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_retired,
                            NULL, &retired_buffer);
    failed |= buffer_service_configure(
        retiring, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0, retired_buffer);
    return (int)(failed | context_create(&context) |
                 buffer_create(context, 4 << 20, 2 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                               on_buffer, NULL, &buffer) |
                 callback_service_configure(context, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
                                            &called, 1, on_call, NULL) |
                 buffer_service_configure(context, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API,
                                          &recorded, 1, buffer));
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static __attribute__((noinline)) void traced_call(int32_t op, bool is_handlers)
{
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, op);
    struct trace_frame frame;
    trace_api_enter(&frame, set, TRACE_HSA_CORE_API, op, &data);
    if (!is_handlers) {
        outer_id = frame.internal;
        for (volatile int i = 0; i < 20; i++)
            ;
        outer_id = 0;
    }
    trace_api_exit(&frame);
}

static void on_signal(int number)
{
    (void)number;
    handlers = handlers + 1;
    traced_call(CALLED, true);
    traced_call(RECORDED, true);
    handlers = handlers - 1;
    calls_of_handlers += 2;
}

static void *disturb(void *arg)
{
    const pthread_t *disturbed = arg;
    while (!is_over) {
        pthread_kill(*disturbed, SIGUSR1);
        uint64_t end_ns = clock_now_ns() + SIGNAL_PAUSE_NS;
        while (clock_now_ns() < end_ns)
            ;
    }
    return NULL;
}

static void nesting_stays_true(void **state)
{
    (void)state;
    pthread_t self = pthread_self(), other;
    assert_int_equal(session_force_configure(configure), ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(context_start(context), ROCPROFILER_STATUS_SUCCESS);
    struct session_thread *room = session_of(session_self());
    signal(SIGUSR1, on_signal);
    assert_int_equal(pthread_create(&other, NULL, disturb, &self), 0);
    uint64_t end_ns = clock_now_ns() + RUN_NS, healed = 0, looked = 0;
    while (clock_now_ns() < end_ns) {
        for (int i = 0; i < 500; i++)
            traced_call(i % 2 ? CALLED : RECORDED, false);
        looked++;
        healed += room->open == OPEN_NOTHING;
    }
    is_over = true;
    pthread_join(other, NULL);
    signal(SIGUSR1, SIG_IGN);
    assert_int_equal(buffer_flush(buffer), ROCPROFILER_STATUS_SUCCESS);
    assert_true(calls_of_handlers > 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(healed, looked);
}

/* Retirement begins and ends in the middle of a call, whose work outlives it; and another call ends
 * in it. */
static void a_straight_call_does_not_forget_its_work(void **state)
{
    (void)state;
    struct session_thread *room = session_of(session_self());
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    struct trace_event event;
    struct trace_frame frame;
    room->takes_blocks = true;
    traced_call(CALLED, false);
    trace_api_enter(&frame, trace_set_load(TRACE_HSA_CORE_API, CALLED), TRACE_HSA_CORE_API, CALLED,
                    &data);
    if (clock_uses_tsc && thread_fence_is_free)
        assert_int_equal(room->open, (uintptr_t)&frame);
    context_start(retiring);
    trace_event_open_unwatched(&event, TRACE_KERNEL_DISPATCH);
    context_stop(retiring);
    traced_call(RECORDED, false);
    trace_api_exit(&frame);
    assert_int_equal(room->open, OPEN_NOTHING);
    context_start(retiring);
    buffer_flush(retired_buffer);
    retired_count = 0;
    trace_event_release(&event);
    buffer_flush(retired_buffer);
    context_stop(retiring);
    assert_int_equal(retired_count, 1);
    assert_int_equal(retired, frame.internal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nesting_stays_true),
                                       cmocka_unit_test(a_straight_call_does_not_forget_its_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
