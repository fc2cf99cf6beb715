/* Packets of a queue whose times are modelled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

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

static struct double_queue *profiled_queue(struct gpu_double *gpu)
{
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    assert_non_null(queue);
    queue->amd_queue->queue_properties |= AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
    return queue;
}

static uint64_t cycles_of(const amd_signal_t *signal)
{
    return (uint64_t)signal->reserved3[1] << 32 | signal->reserved3[0];
}

/* A kernel whose modelled end lies ahead of the clock ends when the clock is there. */
static void a_kernel_ends_no_sooner_than_its_time(void **state)
{
    enum { AHEAD_TICKS = 5000000 }; /* 50 ms */
    struct gpu_double *gpu = *state;
    struct double_queue *queue = profiled_queue(gpu);
    hsa_signal_t done = double_signal(gpu, 1, 9);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    double_hold(gpu, true);
    uint64_t pushed = gpu_clock_ticks();
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    uint64_t begin = gpu->dispatch[0].request.begin_ticks;
    assert_true(begin >= pushed && begin <= gpu_clock_ticks());

    struct dispatch_result result = {
        .begin_ticks = begin, .end_ticks = gpu_clock_ticks() + AHEAD_TICKS, .model_cycles = 4711};
    double_finish(gpu, 0, &result);
    assert_int_equal(double_signal_value(gpu, done), 1);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_true(gpu_clock_ticks() >= result.end_ticks);
    assert_true(double_wait(double_event_count(gpu, 9) == 1));
    assert_true(double_wait(double_read_index(queue) == 1));
    assert_int_equal(double_signal_host(gpu, done)->start_ts, begin);
    assert_int_equal(double_signal_host(gpu, done)->end_ts, result.end_ticks);
    assert_int_equal(cycles_of(double_signal_host(gpu, done)), 4711);
    double_queue_destroy(queue);
}

/* Two kernels and what marks the time behind each, all there before the first one ends, as a
 * program times a kernel: the distance of the marks is the second kernel's duration. */
static void marks_follow_the_kernels_before_them(void **state)
{
    enum { FIRST_TICKS = 300, SECOND_TICKS = 700 };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = profiled_queue(gpu);
    hsa_signal_t marks[2] = {double_signal(gpu, 1, 0), double_signal(gpu, 1, 0)};
    hsa_kernel_dispatch_packet_t kernel = double_kernel(true, (hsa_signal_t){0});
    double_hold(gpu, true);
    for (int i = 0; i < 2; i++) {
        hsa_barrier_and_packet_t mark = {.header = HSA_PACKET_TYPE_BARRIER_AND |
                                                   1 << HSA_PACKET_HEADER_BARRIER,
                                         .completion_signal = marks[i]};
        double_push(queue, &kernel);
        double_push(queue, &mark);
    }
    double_settle(); /* all four have been seen, and their times have passed */
    static const uint64_t took[] = {FIRST_TICKS, SECOND_TICKS};
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(double_wait(double_dispatch_count(gpu) == i + 1));
        uint64_t begin = gpu->dispatch[i].request.begin_ticks;
        struct dispatch_result result = {.begin_ticks = begin, .end_ticks = begin + took[i]};
        double_finish(gpu, i, &result);
        assert_true(double_wait(double_signal_value(gpu, marks[i]) == 0));
    }
    const amd_signal_t *first = double_signal_host(gpu, marks[0]),
                       *second = double_signal_host(gpu, marks[1]);
    assert_true(first->end_ts >= gpu->dispatch[0].request.begin_ticks + FIRST_TICKS);
    assert_int_equal(first->start_ts, first->end_ts);
    assert_int_equal(second->end_ts, gpu->dispatch[1].request.begin_ticks + SECOND_TICKS);
    assert_true(second->end_ts <= gpu_clock_ticks());
    assert_true(gpu->dispatch[1].request.begin_ticks >= first->end_ts);
    double_queue_destroy(queue);
}

static hsa_barrier_and_packet_t wait_for(hsa_signal_t signal, hsa_signal_t completion)
{
    return (hsa_barrier_and_packet_t){.header = HSA_PACKET_TYPE_BARRIER_AND,
                                      .dep_signal = {signal},
                                      .completion_signal = completion};
}

/* What waits for a kernel of another queue comes behind its end, also where that is found to have
 * ended already: a queue's own kernel may take the computer longer, and the model a shorter time.
 */
static void what_waits_for_another_queue_begins_behind_it(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = profiled_queue(gpu), *other = double_aql_create(gpu, 2, 64);
    hsa_signal_t done = double_signal(gpu, 1, 0), mark = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t there = double_kernel(true, done),
                                 here = double_kernel(true, (hsa_signal_t){0});
    hsa_barrier_and_packet_t wait = wait_for(done, mark);
    assert_non_null(other);
    wait.header |= 1 << HSA_PACKET_HEADER_BARRIER;
    other->amd_queue->queue_properties |= AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
    double_hold(gpu, true);
    double_push(other, &there);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    double_push(queue, &here);
    double_push(queue, &wait);
    double_push(queue, &here);
    assert_true(double_wait(double_dispatch_count(gpu) == 2));
    double_settle();
    const uint64_t begin = gpu->dispatch[0].request.begin_ticks, end = gpu_clock_ticks();
    double_finish(gpu, 0, &(struct dispatch_result){.begin_ticks = begin, .end_ticks = end});
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    const uint64_t own = gpu->dispatch[1].request.begin_ticks;
    double_finish(gpu, 1, &(struct dispatch_result){.begin_ticks = own, .end_ticks = own + 300});
    assert_true(double_wait(double_signal_value(gpu, mark) == 0));
    assert_int_equal(double_signal_host(gpu, mark)->end_ts, end);
    assert_true(double_wait(double_dispatch_count(gpu) == 3));
    assert_true(gpu->dispatch[2].request.begin_ticks >= end);
    double_queue_destroy(queue);
    double_queue_destroy(other);
}

/* A barrier packet stands behind a kernel and waits for two signals that were completed so many
 * ticks after the kernel's end, or before. Returns how many after it that packet ends. */
static int64_t ends_behind(struct gpu_double *gpu, uint16_t type, int64_t first, int64_t second)
{
    enum { AGO_TICKS = 300 };
    struct double_queue *queue = profiled_queue(gpu);
    hsa_signal_t ended[2] = {double_signal(gpu, 0, 0), double_signal(gpu, 0, 0)};
    hsa_signal_t mark = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t kernel = double_kernel(true, (hsa_signal_t){0});
    hsa_barrier_and_packet_t wait = wait_for(ended[0], mark);
    const uint32_t at = double_dispatch_count(gpu);
    wait.header = (uint16_t)(type | 1 << HSA_PACKET_HEADER_BARRIER);
    wait.dep_signal[1] = ended[1];
    double_hold(gpu, true);
    double_push(queue, &kernel);
    double_push(queue, &wait);
    assert_true(double_wait(double_dispatch_count(gpu) == at + 1));
    double_settle(); /* both have been seen */
    struct dispatch_result result = {.begin_ticks = gpu->dispatch[at].request.begin_ticks,
                                     .end_ticks = gpu_clock_ticks() - AGO_TICKS};
    double_signal_host(gpu, ended[0])->end_ts = result.end_ticks + (uint64_t)first;
    double_signal_host(gpu, ended[1])->end_ts = result.end_ticks + (uint64_t)second;
    double_finish(gpu, at, &result);
    assert_true(double_wait(double_signal_value(gpu, mark) == 0));
    const uint64_t end_ticks = double_signal_host(gpu, mark)->end_ts;
    assert_true(end_ticks <= gpu_clock_ticks());
    double_queue_destroy(queue);
    return (int64_t)(end_ticks - result.end_ticks);
}

static void a_barrier_packet_follows_the_last_of_all_or_the_first_of_any(void **state)
{
    enum { AHEAD_TICKS = 1000000000 };
    struct gpu_double *gpu = *state;
    assert_int_equal(ends_behind(gpu, HSA_PACKET_TYPE_BARRIER_AND, 200, 100), 200);
    assert_int_equal(ends_behind(gpu, HSA_PACKET_TYPE_BARRIER_OR, 200, 100), 100);
    assert_int_equal(ends_behind(gpu, HSA_PACKET_TYPE_BARRIER_AND, -200, -100), 0);
    assert_true(ends_behind(gpu, HSA_PACKET_TYPE_BARRIER_AND, AHEAD_TICKS, 0) >= 0);
}

/* A barrier packet holds up all behind it, also what does not wait for kernels before it. */
static void what_a_barrier_packet_held_up_begins_behind_it(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = profiled_queue(gpu);
    hsa_signal_t asked = double_signal(gpu, 1, 0), mark = double_signal(gpu, 1, 0);
    hsa_barrier_and_packet_t wait = wait_for(asked, mark);
    hsa_kernel_dispatch_packet_t kernel = double_kernel(false, (hsa_signal_t){0});
    double_push(queue, &wait);
    double_push(queue, &kernel);
    double_settle(); /* both have been seen */
    const uint64_t told = gpu_clock_ticks();
    double_signal_set(gpu, asked, 0);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    assert_true(double_signal_host(gpu, mark)->end_ts >= told);
    assert_true(gpu->dispatch[0].request.begin_ticks >= double_signal_host(gpu, mark)->end_ts);
    double_queue_destroy(queue);
}

/* A queue that goes while a kernel is held back leaves the program's memory alone. */
static void a_held_kernel_goes_with_its_queue(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = profiled_queue(gpu);
    hsa_signal_t done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    double_hold(gpu, true);
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    struct dispatch_result result = {.begin_ticks = gpu->dispatch[0].request.begin_ticks,
                                     .end_ticks = gpu_clock_ticks() + 3600ull * GPU_CLOCK_HZ};
    double_finish(gpu, 0, &result);
    double_settle();
    assert_int_equal(double_signal_value(gpu, done), 1);
    double_queue_destroy(queue);
    assert_int_equal(double_signal_value(gpu, done), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_ends_no_sooner_than_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_follow_the_kernels_before_them, setup, teardown),
        cmocka_unit_test_setup_teardown(what_waits_for_another_queue_begins_behind_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_barrier_packet_follows_the_last_of_all_or_the_first_of_any, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_barrier_packet_held_up_begins_behind_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_held_kernel_goes_with_its_queue, setup, teardown),
    };
    setenv("CROCGPU_TIME", "model", 1); /* read when the first queue is made */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
