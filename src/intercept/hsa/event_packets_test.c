/* Packets of calls that record an event or wait for one: one of a call's is reported, and all reach
 * the device and the program as they would without. */
#include "intercept/event_call.h"
#include "intercept/hsa/test/hsa_calls.h"

#include <hsa/hsa_ext_amd.h>

enum {
    RECORD = ROCPROFILER_HIP_EVENT_RECORD,
    WAIT = ROCPROFILER_HIP_EVENT_WAIT,
    EVENT = 0xe0e0,
    SOURCE = 123,
    ROUNDS = 3000,
};

static hsa_barrier_and_packet_t barrier_packet(hsa_signal_t awaited, hsa_signal_t signal)
{
    return (hsa_barrier_and_packet_t){
        .header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
        .dep_signal = {{0}, awaited},
        .completion_signal = signal,
    };
}

static hsa_amd_barrier_value_packet_t value_packet(uint8_t format, hsa_signal_t signal)
{
    return (hsa_amd_barrier_value_packet_t){
        .header = {.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER,
                   .AmdFormat = format},
        .completion_signal = signal,
    };
}

static struct event_call submit_in_call(int32_t operation, hsa_queue_t *queue, const void *packets,
                                        uint32_t count)
{
    const struct event_call outer = event_call_begin(operation, EVENT, SOURCE);
    double_packets_submit(queue, packets, count);
    return event_call_end(outer);
}

static uint32_t records(int32_t operation)
{
    return double_count(DOUBLE_RECORD, TRACE_HIP_EVENT, operation);
}

static hsa_queue_t *queue_of_listener(int32_t operation)
{
    double_listen(TRACE_HIP_EVENT, operation);
    assert_true(table_arrives(double_table_make(1)));
    return queue_open();
}

static void data_check(uint32_t n, rocprofiler_callback_phase_t phase, const hsa_queue_t *queue)
{
    const struct double_entry *entry = double_entry(DOUBLE_CALL, TRACE_HIP_EVENT, RECORD, n);
    assert_non_null(entry);
    assert_int_equal(entry->phase, phase);
    const rocprofiler_callback_tracing_hip_event_data_t *data = &entry->payload.hip_event;
    bool is_over = phase == ROCPROFILER_CALLBACK_PHASE_NONE;
    assert_int_equal(data->size, sizeof *data);
    assert_int_equal(data->hip_event_handle, EVENT);
    assert_int_equal(data->queue_id.handle, queue->id);
    assert_int_equal(data->source_queue_id.handle, queue->id);
    assert_int_equal(data->agent_id.handle, 0x1001);
    assert_int_equal(data->start_timestamp != 0, is_over);
    assert_int_equal(data->end_timestamp != 0, is_over);
}

static void a_record_is_reported_and_its_signal_honoured(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_of_listener(-1);
    hsa_signal_t signal = signal_make(3);
    const hsa_barrier_and_packet_t barrier = barrier_packet((hsa_signal_t){0}, signal);
    double_packets_submit(queue, &barrier, 1); /* of another call */
    const struct event_call call = submit_in_call(RECORD, queue, &barrier, 1);
    assert_true(call.taken);
    assert_int_equal(call.queue, queue->id);
    assert_true(value_reached(signal, 1));
    assert_int_equal(records(-1), 1);
    const rocprofiler_buffer_tracing_hip_event_record_t *record =
        &double_entry(DOUBLE_RECORD, TRACE_HIP_EVENT, RECORD, 0)->payload.hip_event_record;
    assert_int_equal(record->size, sizeof *record);
    assert_int_equal(record->kind, ROCPROFILER_BUFFER_TRACING_HIP_EVENT);
    assert_int_equal(record->operation, RECORD);
    assert_int_equal(record->hip_event_handle, EVENT);
    assert_int_equal(record->queue_id.handle, queue->id);
    assert_int_equal(record->source_queue_id.handle, queue->id);
    assert_int_equal(record->agent_id.handle, 0x1001);
    assert_true(record->start_timestamp >= 7000000000ull);
    assert_true(record->end_timestamp >= record->start_timestamp);
    assert_true(amd_signal(signal)->end_ts != 0); /* as the program asks for them */
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_HIP_EVENT, -1), 3);
    data_check(0, ROCPROFILER_CALLBACK_PHASE_ENTER, queue);
    data_check(1, ROCPROFILER_CALLBACK_PHASE_EXIT, queue);
    data_check(2, ROCPROFILER_CALLBACK_PHASE_NONE, queue);
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(double_open_events(), 0);
    CALL(hsa_signal_destroy)(signal);
}

/* The program waits as long as it would without us, and uses its signal again at once. */
static void a_signal_is_lent(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_of_listener(-1);
    hsa_signal_t signal = signal_make(1);
    const hsa_barrier_and_packet_t barrier = barrier_packet((hsa_signal_t){0}, signal);
    for (uint32_t i = 0; i < 100; i++) {
        submit_in_call(RECORD, queue, &barrier, 1);
        assert_memory_equal(double_packet(i), &barrier, sizeof barrier);
        assert_true(value_reached(signal, 0));
        CALL(hsa_signal_store_screlease)(signal, 1);
    }
    CALL(hsa_signal_destroy)(signal);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(records(RECORD), 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(double_entry(DOUBLE_RECORD, TRACE_HIP_EVENT, RECORD, i)
                        ->payload.hip_event_record.end_timestamp >= 7000000000ull);
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(double_open_events(), 0);
}

/* What is in a queue that breaks is reported to nobody, and holds nothing. */
static void a_broken_queue_ends_it(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_of_listener(-1);
    hsa_signal_t awaited = signal_make(1), lent = signal_make(1), counted = signal_make(7);
    hsa_barrier_and_packet_t barrier = barrier_packet(awaited, lent);
    submit_in_call(WAIT, queue, &barrier, 1);
    barrier.completion_signal = counted;
    submit_in_call(WAIT, queue, &barrier, 1);
    double_queue_break(queue);
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(records(-1), 0);
    assert_int_equal(double_open_events(), 0);
    CALL(hsa_signal_destroy)(lent);
    CALL(hsa_signal_destroy)(counted);
    CALL(hsa_signal_destroy)(awaited);
}

/* What the call submits besides: barriers that wait for nothing, kernels. */
static void a_wait_is_the_barrier_that_waits(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_of_listener(-1);
    hsa_signal_t signal = signal_make(3), awaited = signal_make(1);
    const hsa_kernel_dispatch_packet_t kernel = kernel_packet(64, (hsa_signal_t){0});
    unsigned char packets[4][64];
    const hsa_barrier_and_packet_t plain = barrier_packet((hsa_signal_t){0}, signal);
    const hsa_barrier_and_packet_t waiting = barrier_packet(awaited, signal);
    memcpy(packets[0], &kernel, 64);
    memcpy(packets[1], &plain, 64);
    memcpy(packets[2], &waiting, 64);
    memcpy(packets[3], &waiting, 64);
    assert_false(submit_in_call(WAIT, queue, packets, 2).taken);
    assert_true(value_reached(signal, 2));
    assert_int_equal(records(-1), 0);
    assert_true(submit_in_call(WAIT, queue, packets[2], 2).taken);
    assert_int_equal(records(-1), 0); /* it waits */
    CALL(hsa_signal_store_screlease)(awaited, 0);
    assert_true(value_reached(signal, 0));
    assert_int_equal(records(-1), 1);
    const struct double_entry *entry = double_entry(DOUBLE_RECORD, TRACE_HIP_EVENT, WAIT, 0);
    assert_non_null(entry);
    assert_int_equal(entry->payload.hip_event_record.queue_id.handle, queue->id);
    assert_int_equal(entry->payload.hip_event_record.source_queue_id.handle, SOURCE);
    assert_int_equal(double_packets_seen(), 4);
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(signal);
    CALL(hsa_signal_destroy)(awaited);
}

/* From the first such packet on, barriers in front of it are what it waits for. */
static void a_record_by_value_is_known(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_of_listener(-1);
    hsa_signal_t signal = signal_make(9);
    const hsa_barrier_and_packet_t barrier = barrier_packet((hsa_signal_t){0}, signal);
    const hsa_amd_barrier_value_packet_t value =
        value_packet(HSA_AMD_PACKET_TYPE_BARRIER_VALUE, signal);
    const hsa_amd_barrier_value_packet_t other = value_packet(1, signal);
    unsigned char packets[3][64];
    memcpy(packets[0], &other, 64);
    memcpy(packets[1], &barrier, 64);
    memcpy(packets[2], &value, 64);
    assert_false(submit_in_call(RECORD, queue, packets[0], 1).taken);
    assert_true(submit_in_call(RECORD, queue, packets[2], 1).taken);
    assert_false(submit_in_call(RECORD, queue, packets[1], 1).taken);
    assert_true(submit_in_call(RECORD, queue, packets, 3).taken);
    assert_false(submit_in_call(WAIT, queue, packets[2], 1).taken);
    assert_true(value_reached(signal, 2));
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(records(RECORD), 2);
    assert_int_equal(records(WAIT), 0);
    assert_int_equal(double_packets_seen(), 7);
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(signal);
}

/* Waits are listened to, so that the queue of a record is to be known, but not records. */
static void a_record_is_taken_for_its_queue_alone(void **state)
{
    (void)state;
    hsa_queue_t *queue = queue_of_listener(WAIT);
    hsa_signal_t signal = signal_make(1);
    const hsa_amd_barrier_value_packet_t value =
        value_packet(HSA_AMD_PACKET_TYPE_BARRIER_VALUE, signal);
    const struct event_call call = submit_in_call(RECORD, queue, &value, 1);
    assert_true(call.taken);
    assert_int_equal(call.queue, queue->id);
    assert_true(value_reached(signal, 0));
    assert_memory_equal(double_packet(0), &value, sizeof value);
    assert_int_equal(records(-1), 0);
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(signal);
}

static void many_with_kernels_between(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    hsa_queue_t *queue = queue_of_listener(-1);
    hsa_signal_t signal = signal_make(2 * ROUNDS);
    const hsa_kernel_dispatch_packet_t kernel = kernel_packet(64, signal);
    const hsa_amd_barrier_value_packet_t value =
        value_packet(HSA_AMD_PACKET_TYPE_BARRIER_VALUE, signal);
    for (int i = 0; i < ROUNDS; i++) {
        double_packets_submit(queue, &kernel, 1);
        submit_in_call(RECORD, queue, &value, 1);
    }
    assert_true(value_reached(signal, 0));
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(records(RECORD), ROUNDS);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), ROUNDS);
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(double_open_events(), 0);
    CALL(hsa_signal_destroy)(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_record_is_reported_and_its_signal_honoured, reset),
        cmocka_unit_test_setup(a_signal_is_lent, reset),
        cmocka_unit_test_setup(a_broken_queue_ends_it, reset),
        cmocka_unit_test_setup(a_wait_is_the_barrier_that_waits, reset),
        cmocka_unit_test_setup(a_record_by_value_is_known, reset),
        cmocka_unit_test_setup(a_record_is_taken_for_its_queue_alone, reset),
        cmocka_unit_test_setup(many_with_kernels_between, reset),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
