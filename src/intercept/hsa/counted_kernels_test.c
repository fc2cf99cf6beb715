/* Kernels that are counted, against the double of a runtime: what is put around each, one at a
 * time, and when the program sees its end. What the device models of kernels. */
#include <unistd.h>

#include "base/test/children.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/facts.h"
#include "intercept/hsa/serialize.h"
#include "intercept/hsa/test/hsa_calls.h"

static hsa_barrier_and_packet_t around[3];
static _Atomic int begun, completed;
static uint64_t duration_seen;
static bool uncounted;
static hsa_signal_t signal_watched;
static int64_t watched_at_complete;
static _Atomic unsigned complete_delay_us; /* reading values may take long */

static void counting_begin(struct trace_dispatch *dispatch, struct trace_packets *packets)
{
    begun++;
    if (uncounted)
        return;
    dispatch->counting = around;
    packets->before = &around[0];
    packets->before_count = 1;
    packets->after = &around[1];
    packets->after_count = 2;
    packets->serialize = true;
    packets->signal_after = true;
}

static void counting_complete(struct trace_dispatch *dispatch, bool failed)
{
    assert_false(failed);
    if (complete_delay_us > 0)
        usleep(complete_delay_us);
    else
        assert_ptr_equal(dispatch->counting, uncounted ? NULL : around);
    duration_seen = dispatch->end_ns - dispatch->start_ns;
    if (signal_watched.handle != 0)
        watched_at_complete = __atomic_load_n(&amd_signal(signal_watched)->value, __ATOMIC_ACQUIRE);
    completed++;
}

static const struct trace_counting_ops counting_ops = {counting_begin, counting_complete, false};

static void counting_wraps_kernels_one_at_a_time(void **state)
{
    enum { KERNELS = 200 };
    (void)state;
    for (int i = 0; i < 3; i++)
        around[i] = (hsa_barrier_and_packet_t){.header = HSA_PACKET_TYPE_BARRIER_AND |
                                                         1 << HSA_PACKET_HEADER_BARRIER,
                                               .reserved1 = 0xaa0 + (uint32_t)i};
    double_counting_configure(&counting_ops);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queues[2] = {queue_open(), queue_open()};
    for (uint32_t i = 0; i < KERNELS; i++) {
        hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
        double_packets_submit(queues[i % 2], &packet, 1);
    }
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(begun, KERNELS);
    assert_int_equal(completed, KERNELS);
    assert_int_equal(double_kernels_seen(), KERNELS);
    assert_int_equal(double_overlaps_seen(), 0);
    assert_int_equal(duration_seen, DOUBLE_TICKS_PER_KERNEL * 10);
    const unsigned char *second = double_packet(1); /* before, kernel, after, after */
    const unsigned behind_before = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER;
    assert_int_equal(second[0] | second[1] << 8, behind_before); /* and the program's fences */
    assert_int_equal(((const hsa_barrier_and_packet_t *)double_packet(3))->reserved1, 0xaa2);
    CALL(hsa_queue_destroy)(queues[0]);
    CALL(hsa_queue_destroy)(queues[1]);
    assert_int_equal(double_open_events(), 0);
}

/* The program sees the end of a kernel when its values are known; of others, as the device says. */
static void counted_kernels_end_with_their_values(void **state)
{
    enum { KERNELS = 100 };
    (void)state;
    completed = 0;
    double_counting_configure(&counting_ops);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    signal_watched = signal_make(0);
    for (int i = 0; i < KERNELS; i++) {
        uncounted = i % 2 == 1;
        duration_seen = 0;
        __atomic_store_n(&amd_signal(signal_watched)->value, 1, __ATOMIC_RELAXED);
        hsa_kernel_dispatch_packet_t packet = kernel_packet(64, signal_watched);
        uint64_t first = double_packets_seen();
        double_packets_submit(queue, &packet, 1);
        assert_true(value_reached(signal_watched, 0));
        const hsa_kernel_dispatch_packet_t *written = double_packet(first + !uncounted);
        assert_int_equal(written->completion_signal.handle == signal_watched.handle, uncounted);
        if (!uncounted)
            assert_int_equal(completed, i + 1);
        assert_true(completion_drain(STALL_NS));
        assert_int_equal(completed, i + 1);
        assert_int_equal(watched_at_complete, !uncounted);
        assert_int_equal(duration_seen, DOUBLE_TICKS_PER_KERNEL * 10);
    }
    uncounted = false;
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(signal_watched);
    signal_watched.handle = 0;
    assert_int_equal(double_open_events(), 0);
}

/* Who sees the end of a packet that waits for all before it knows that those have ended: their
 * signals may be reused or destroyed, so nothing of ours touches them any more. */
static void no_packet_overtakes_a_counted_kernel(void **state)
{
    enum { ROUNDS = 30 };
    (void)state;
    double_counting_configure(&counting_ops);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    hsa_signal_t older = signal_make(0), newer = signal_make(0);
    complete_delay_us = 2000;
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_store_n(&amd_signal(older)->value, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&amd_signal(newer)->value, 1, __ATOMIC_RELAXED);
        hsa_kernel_dispatch_packet_t kernel = kernel_packet(64, older);
        double_packets_submit(queue, &kernel, 1);
        hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND |
                                                      1 << HSA_PACKET_HEADER_BARRIER,
                                            .completion_signal = newer};
        kernel.header |= 1 << HSA_PACKET_HEADER_BARRIER;
        kernel.completion_signal = newer;
        uncounted = i % 2 == 1; /* of the second, where that is a kernel */
        double_packets_submit(queue, uncounted ? (const void *)&kernel : &barrier, 1);
        uncounted = false;
        assert_true(value_reached(newer, 0));
        assert_int_equal(__atomic_load_n(&amd_signal(older)->value, __ATOMIC_ACQUIRE), 0);
        assert_true(completion_drain(STALL_NS));
    }
    /* With nothing owed the device completes the program's signal again. */
    uint64_t first = double_packets_seen();
    hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND |
                                                  1 << HSA_PACKET_HEADER_BARRIER,
                                        .completion_signal = newer};
    __atomic_store_n(&amd_signal(newer)->value, 1, __ATOMIC_RELAXED);
    double_packets_submit(queue, &barrier, 1);
    assert_true(value_reached(newer, 0));
    assert_int_equal(
        ((const hsa_barrier_and_packet_t *)double_packet(first))->completion_signal.handle,
        newer.handle);
    complete_delay_us = 0;
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(older);
    CALL(hsa_signal_destroy)(newer);
    assert_int_equal(double_open_events(), 0);
}

/* A packet without the barrier bit waits for no older one: its signal is the device's to complete,
 * as without us. */
static void a_packet_without_a_barrier_goes_by(void **state)
{
    (void)state;
    double_counting_configure(&counting_ops);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    hsa_signal_t counted = signal_make(1), other = signal_make(1);
    hsa_kernel_dispatch_packet_t kernel = kernel_packet(64, counted);
    hsa_barrier_and_packet_t packet = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                       .completion_signal = other};
    complete_delay_us = 2000;
    double_packets_submit(queue, &kernel, 1);
    uint64_t first = double_packets_seen();
    double_packets_submit(queue, &packet, 1);
    assert_memory_equal(double_packet(first), &packet, sizeof packet);
    assert_true(value_reached(other, 0));
    assert_true(value_reached(counted, 0));
    assert_true(completion_drain(STALL_NS));
    complete_delay_us = 0;
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(counted);
    CALL(hsa_signal_destroy)(other);
    assert_int_equal(double_open_events(), 0);
}

/* As AMD's library has it: a kernel's record comes before its values, and its counting ends before
 * the program sees its end. Tools make what they need for a queue from the first kernel's record.
 */
static uint32_t records_at_complete;

static void counting_complete_after_record(struct trace_dispatch *dispatch, bool failed)
{
    (void)dispatch;
    assert_false(failed);
    records_at_complete = double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1);
    completed++;
}

static void records_come_before_values(void **state)
{
    static const struct trace_counting_ops ops = {counting_begin, counting_complete_after_record,
                                                  false};
    enum { KERNELS = 20 };
    (void)state;
    completed = 0;
    double_counting_configure(&ops);
    double_listen_records(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    for (int i = 0; i < KERNELS; i++) {
        hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
        double_packets_submit(queue, &packet, 1);
        assert_true(completion_drain(STALL_NS));
        assert_int_equal(completed, i + 1);
        assert_int_equal(records_at_complete, i + 1);
    }
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(double_open_events(), 0);
}

/* ---- a device that says what it models of a kernel, in clocks, in its signal's reserved words */

static uint64_t cycles_modelled;

static void kernel_models(const hsa_kernel_dispatch_packet_t *packet)
{
    amd_signal_t *signal = amd_signal(packet->completion_signal);
    signal->reserved3[0] = (uint32_t)cycles_modelled;
    signal->reserved3[1] = (uint32_t)(cycles_modelled >> 32);
}

static uint64_t modelled_ns_of_a_kernel(hsa_queue_t *queue, uint64_t cycles)
{
    uint64_t ns = 0;
    uint32_t n = double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1);
    hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
    cycles_modelled = cycles;
    double_packets_submit(queue, &packet, 1);
    assert_true(completion_drain(STALL_NS));
    const struct double_entry *entry = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, n);
    assert_non_null(entry);
    memcpy(&ns, entry->payload.dispatch_record.dispatch_info.reserved_padding, sizeof ns);
    return ns;
}

/* Hours of them as well, whose product with a second's nanoseconds does not fit into 64 bits. */
static void modelled_cycles_are_told_in_nanoseconds(void **state)
{
    enum { HZ = 1600000000, HOURS = 5 };
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    const hsa_agent_t gpu = {DOUBLE_GPU};
    struct hsa_agent_entry *agent =
        (struct hsa_agent_entry *)(uintptr_t)agents_find(&hsa_instances[0], gpu);
    agent->cycles_hz = HZ;
    double_on_kernel = kernel_models;
    hsa_queue_t *queue = queue_open();
    assert_int_equal(modelled_ns_of_a_kernel(queue, 8), 5);
    assert_int_equal(modelled_ns_of_a_kernel(queue, HZ / 4 * 7ull), 1750000000);
    assert_int_equal(modelled_ns_of_a_kernel(queue, HZ * 3600ull * HOURS + 16),
                     3600000000000ull * HOURS + 10);
    double_on_kernel = NULL;
    CALL(hsa_queue_destroy)(queue);
    agent->cycles_hz = 0;
}

static void queues_ask_and_take_turns(void *queue)
{
    const hsa_agent_t gpu = {DOUBLE_GPU};
    struct serial_turn turn = {0};
    hsa_barrier_and_packet_t barrier;
    CALL(hsa_amd_profiling_set_profiler_enabled)(queue, 1);
    serialize_begin(&turn, agents_find(&hsa_instances[0], gpu), queue, &barrier);
    serialize_tick(UINT64_MAX - 1);
    serialize_end(&turn);
}

static void children_find_no_lock_held(void **state)
{
    (void)state;
    double_counting_configure(&counting_ops);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    children_take_turns(queues_ask_and_take_turns, queue);
    CALL(hsa_queue_destroy)(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counting_wraps_kernels_one_at_a_time, reset),
        cmocka_unit_test_setup(counted_kernels_end_with_their_values, reset),
        cmocka_unit_test_setup(no_packet_overtakes_a_counted_kernel, reset),
        cmocka_unit_test_setup(a_packet_without_a_barrier_goes_by, reset),
        cmocka_unit_test_setup(records_come_before_values, reset),
        cmocka_unit_test_setup(modelled_cycles_are_told_in_nanoseconds, reset),
        cmocka_unit_test_setup(children_find_no_lock_held, reset),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
