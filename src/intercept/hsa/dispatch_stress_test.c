/* Dispatches under attack: eight threads, each with queues of its own that come and go, signals
   that are used again, destroyed as soon as they are seen, or missing, barriers between kernels. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "intercept/hsa/completion.h"
#include "intercept/hsa/install.h"
#include "intercept/hsa/tables.h"
#include "intercept/hsa/test/hsa_double.h"
#include "intercept/hsa/test/trace_double.h"
#include "intercept/hsa/wrappers.h"

enum { THREADS = 8, QUEUES = 6, KERNELS = 120, TOTAL = THREADS * QUEUES * KERNELS };

/* A call as the program makes it: through the table. */
#define CALL(name) ((__typeof__(hsa_instances[0].real.name))double_function(HSA_FN_##name))

static int reset(void **state)
{
    (void)state;
    double_reset();
    return 0;
}

static amd_signal_t *amd_signal(hsa_signal_t signal)
{
    return (amd_signal_t *)(uintptr_t)signal.handle;
}

static void signal_wait(hsa_signal_t signal)
{
    while (__atomic_load_n(&amd_signal(signal)->value, __ATOMIC_ACQUIRE) != 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void kernel_submit(hsa_queue_t *queue, uint32_t number, hsa_signal_t signal)
{
    const hsa_kernel_dispatch_packet_t packet = {.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                                                 .setup = 1,
                                                 .workgroup_size_x = 64,
                                                 .workgroup_size_y = 1,
                                                 .workgroup_size_z = 1,
                                                 .grid_size_x = number,
                                                 .grid_size_y = 1,
                                                 .grid_size_z = 1,
                                                 .kernel_object = double_kernel_object(0),
                                                 .completion_signal = signal};
    double_packets_submit(queue, &packet, 1);
}

/* With `signal`, whose value is 0 again afterwards. */
static void barrier_submit(hsa_queue_t *queue, hsa_signal_t signal)
{
    const hsa_barrier_and_packet_t packet = {.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << 8,
                                             .completion_signal = signal};
    __atomic_store_n(&amd_signal(signal)->value, 1, __ATOMIC_RELAXED);
    double_packets_submit(queue, &packet, 1);
    signal_wait(signal);
}

/* Kernel `number` in one of the ways a program launches. */
static void kernel_launch(hsa_queue_t *queue, uint32_t number, hsa_signal_t own)
{
    hsa_signal_t passing;
    switch (number % 5) {
    case 0: /* nobody waits */
        kernel_submit(queue, number, (hsa_signal_t){0});
        return;
    case 1: /* the signal goes as soon as it is seen */
        CALL(hsa_signal_create)(1, 0, NULL, &passing);
        kernel_submit(queue, number, passing);
        signal_wait(passing);
        CALL(hsa_signal_destroy)(passing);
        return;
    case 2: /* two kernels count one signal: it cannot be lent */
        __atomic_store_n(&amd_signal(own)->value, 2, __ATOMIC_RELAXED);
        kernel_submit(queue, number, own);
        const hsa_barrier_and_packet_t packet = {.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << 8,
                                                 .completion_signal = own};
        double_packets_submit(queue, &packet, 1);
        signal_wait(own);
        return;
    default: /* the same signal for kernels and barriers */
        __atomic_store_n(&amd_signal(own)->value, 1, __ATOMIC_RELAXED);
        kernel_submit(queue, number, own);
        signal_wait(own);
        if (number % 5 == 3)
            barrier_submit(queue, own);
        return;
    }
}

/* The last kernels of a queue are in flight when it is destroyed. */
static void *program(void *first)
{
    uint32_t number = *(const uint32_t *)first;
    hsa_signal_t own;
    CALL(hsa_signal_create)(0, 0, NULL, &own);
    for (int q = 0; q < QUEUES; q++) {
        hsa_queue_t *queue = NULL;
        CALL(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, 4096, 0, NULL, NULL, 0, 0, &queue);
        for (int i = 0; i < KERNELS; i++, number++) {
            if (i < KERNELS - 10)
                kernel_launch(queue, number, own);
            else
                kernel_submit(queue, number, (hsa_signal_t){0});
        }
        CALL(hsa_queue_destroy)(queue);
    }
    CALL(hsa_signal_destroy)(own);
    return NULL;
}

static void programs_run(void)
{
    pthread_t threads[THREADS];
    uint32_t first[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        first[t] = 1 + t * QUEUES * KERNELS;
        assert_int_equal(pthread_create(&threads[t], NULL, program, &first[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

/* Each kernel at most once, with its own times. Returns how many there are. */
static uint32_t records_check(void)
{
    static bool seen[TOTAL + 1];
    const struct double_entry *entry;
    uint32_t count = 0;
    memset(seen, 0, sizeof seen);
    entry = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, 0);
    uint32_t records = double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1);
    for (; entry && count < records; entry++) {
        const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record =
            &entry->payload.dispatch_record;
        if (entry->what != DOUBLE_RECORD)
            continue;
        assert_in_range(record->dispatch_info.grid_size.x, 1, TOTAL);
        assert_false(seen[record->dispatch_info.grid_size.x]);
        seen[record->dispatch_info.grid_size.x] = true;
        assert_int_equal(record->end_timestamp - record->start_timestamp,
                         DOUBLE_TICKS_PER_KERNEL * 10);
        count++;
    }
    return count;
}

static void every_kernel_is_reported_once(void **state)
{
    (void)state;
    double_listen_records(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    programs_run();
    assert_int_equal(records_check(), TOTAL);
    assert_int_equal(double_open_events(), 0);
}

static _Atomic bool toggling;

/* Nobody, records, callbacks too; operation 0, which no dispatch has, keeps the domain wanted. */
static void *toggle(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; atomic_load(&toggling); i++) {
        for (int32_t operation = ROCPROFILER_KERNEL_DISPATCH_ENQUEUE;
             operation <= ROCPROFILER_KERNEL_DISPATCH_COMPLETE; operation++) {
            if (i % 3 == 0)
                atomic_store(&trace_slots[TRACE_KERNEL_DISPATCH][operation], NULL);
            else if (i % 3 == 1)
                double_listen_records(TRACE_KERNEL_DISPATCH, operation);
            else
                double_listen(TRACE_KERNEL_DISPATCH, operation);
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

static void listeners_come_and_go(void **state)
{
    pthread_t toggler;
    (void)state;
    double_listen_records(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    atomic_store(&toggling, true);
    assert_int_equal(pthread_create(&toggler, NULL, toggle, NULL), 0);
    programs_run();
    atomic_store(&toggling, false);
    pthread_join(toggler, NULL);
    assert_in_range(records_check(), 1, TOTAL);
    assert_int_equal(double_open_events(), 0);
}

/* As ROCr does 16 times a second; an interrupt between its two readings shifts the line by as long.
 */
static void kernels_stay_in_order_when_the_runtime_measures_its_clocks(void **state)
{
    enum { COUNT = 200, SHIFT_NS = 300000 };
    hsa_queue_t *queue = NULL;
    hsa_signal_t signal;

    (void)state;
    double_listen_records(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    CALL(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, 4096, 0, NULL, NULL, 0, 0, &queue);
    CALL(hsa_signal_create)(1, 0, NULL, &signal);
    for (uint32_t i = 0; i < COUNT; i++) {
        __atomic_store_n(&amd_signal(signal)->value, 1, __ATOMIC_RELAXED);
        kernel_submit(queue, i + 1, signal);
        signal_wait(signal);
        completion_harvest(UINT64_C(10000000000));
        double_clock_shift(i % 4 < 2 ? -SHIFT_NS : SHIFT_NS);
    }
    uint64_t end_ns = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record =
            &double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, i)->payload.dispatch_record;
        assert_int_equal(record->dispatch_info.grid_size.x, i + 1);
        assert_true(record->start_timestamp >= end_ns);
        assert_true(record->end_timestamp >= record->start_timestamp);
        end_ns = record->end_timestamp;
    }
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_kernel_is_reported_once, reset),
        cmocka_unit_test_setup(listeners_come_and_go, reset),
        cmocka_unit_test_setup(kernels_stay_in_order_when_the_runtime_measures_its_clocks, reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    double_stop();
    return failed;
}
