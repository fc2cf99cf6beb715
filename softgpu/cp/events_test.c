/* When the driver hears of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

static const hsa_signal_t no_signal = {0};

static int setup(void **state)
{
    *state = double_create();
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    double_destroy(*state);
    return 0;
}

static hsa_barrier_and_packet_t barrier_behind(hsa_signal_t signal, hsa_signal_t completion)
{
    return (hsa_barrier_and_packet_t){.header = HSA_PACKET_TYPE_BARRIER_AND,
                                      .dep_signal = {signal, no_signal},
                                      .completion_signal = completion};
}

/* A packet and the marker behind it share an event where one host thread waits for both: it is
 * raised when both have ended. Once in a while the processor's thread stands still between them. */
static void an_event_of_two_packets_is_raised_once(void **state)
{
    enum { ROUNDS = 100, EVENT = 9 };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint32_t raised = 0;
    for (int i = 0; i < ROUNDS; i++) {
        hsa_signal_t gate = double_signal(gpu, 1, 0);
        hsa_signal_t first = double_signal(gpu, 1, EVENT), second = double_signal(gpu, 1, EVENT);
        hsa_barrier_and_packet_t packet = barrier_behind(gate, first);
        hsa_barrier_and_packet_t marker = barrier_behind(first, second);
        double_push(queue, &packet);
        double_push(queue, &marker);
        double_signal_set(gpu, gate, 0);
        assert_true(double_wait(double_signal_value(gpu, second) == 0));
        assert_true(double_wait(double_event_count(gpu, EVENT) > raised));
        raised = double_event_count(gpu, EVENT);
    }
    assert_in_range(raised, 1, 2 * ROUNDS - 1);
    double_queue_destroy(queue);
}

/* Of several queues, some shared between them. */
static void every_event_is_raised(void **state)
{
    enum { QUEUES = 4, PACKETS = 60, FIRST = 10 };
    struct gpu_double *gpu = *state;
    struct double_queue *queues[QUEUES];
    hsa_signal_t gate = double_signal(gpu, 1, 0);
    for (uint32_t q = 0; q < QUEUES; q++) {
        queues[q] = double_aql_create(gpu, q + 1, 64);
        for (uint32_t i = 0; i < PACKETS; i++) {
            hsa_barrier_and_packet_t packet = barrier_behind(
                i == 0 ? gate : no_signal, double_signal(gpu, 1, FIRST + (q * PACKETS + i) % 40));
            double_push(queues[q], &packet);
        }
    }
    double_signal_set(gpu, gate, 0);
    for (uint32_t event = FIRST; event < FIRST + 40; event++)
        assert_true(double_wait(double_event_count(gpu, event) >= 1));
    for (uint32_t q = 0; q < QUEUES; q++)
        double_queue_destroy(queues[q]);
}

/* Whom an event woke may never run: packets go on nevertheless, and nobody is asked for ever. */
static void woken_threads_that_never_run_hold_nobody_up(void **state)
{
    enum { ROUNDS = 200, EVENT = 9 };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    atomic_store(&gpu->waiters_called, true);
    uint64_t asked_before = atomic_load(&gpu->waiters_asked); /* or a little later */
    for (uint32_t i = 0; i < ROUNDS; i++) {
        hsa_signal_t first = double_signal(gpu, 1, EVENT), second = double_signal(gpu, 1, 0);
        hsa_signal_t gate = double_signal(gpu, 1, 0); /* opened without a doorbell */
        hsa_barrier_and_packet_t packet = barrier_behind(no_signal, first);
        hsa_barrier_and_packet_t behind = barrier_behind(gate, second);
        uint64_t asked = atomic_load(&gpu->waiters_asked);
        double_push(queue, &packet);
        double_push(queue, &behind);
        assert_true(double_wait(double_event_count(gpu, EVENT) > i));
        assert_true(double_wait(atomic_load(&gpu->waiters_asked) > asked));
        double_signal_set(gpu, gate, 0);
        assert_true(double_wait(double_signal_value(gpu, second) == 0));
    }
    assert_true(atomic_load(&gpu->waiters_asked) - asked_before < 10 * ROUNDS);
    double_queue_destroy(queue);
}

/* Many queues wait for one signal, and go on in one turn of the processor. */
static void no_event_is_lost_in_a_crowd(void **state)
{
    enum { QUEUES = 32, PACKETS = 31, EVENTS = QUEUES * PACKETS };
    struct gpu_double *gpu = *state;
    struct double_queue *queues[QUEUES];
    hsa_signal_t gate = double_signal(gpu, 1, 0);
    for (uint32_t event = 1; event <= EVENTS; event++) {
        struct double_queue **queue = &queues[(event - 1) / PACKETS];
        if (event % PACKETS == 1) {
            hsa_barrier_and_packet_t first = barrier_behind(gate, no_signal);
            *queue = double_aql_create(gpu, 1 + event / PACKETS, 64);
            double_push(*queue, &first);
        }
        hsa_barrier_and_packet_t packet = barrier_behind(no_signal, double_signal(gpu, 1, event));
        double_push(*queue, &packet);
    }
    double_settle();
    double_signal_set(gpu, gate, 0);
    for (uint32_t event = 1; event <= EVENTS; event++)
        assert_true(double_wait(double_event_count(gpu, event) > 0));
    for (int i = 0; i < QUEUES; i++)
        double_queue_destroy(queues[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_of_two_packets_is_raised_once, setup, teardown),
        cmocka_unit_test_setup_teardown(every_event_is_raised, setup, teardown),
        cmocka_unit_test_setup_teardown(no_event_is_lost_in_a_crowd, setup, teardown),
        cmocka_unit_test_setup_teardown(woken_threads_that_never_run_hold_nobody_up, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
