#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static uint16_t slot_header(struct double_queue *queue, uint64_t index)
{
    uint64_t packets = queue->config.ring_bytes / 64;
    return __atomic_load_n((uint16_t *)(queue->ring + (index & (packets - 1)) * 64),
                           __ATOMIC_ACQUIRE);
}

static void dispatch_reaches_engine_and_completes(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 3, 64);
    hsa_signal_t done = double_signal(gpu, 1, 9);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    assert_non_null(queue);
    packet.kernarg_address = (void *)0x1234000;
    double_push(queue, &packet);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_true(double_wait(double_read_index(queue) == 1));
    assert_int_equal(slot_header(queue, 0), HSA_PACKET_TYPE_INVALID);
    assert_true(double_wait(double_event_count(gpu, 9) == 1));
    uint64_t *mailbox = double_host(gpu, double_signal_host(gpu, done)->event_mailbox_ptr);
    assert_int_equal(*mailbox, 9);

    const struct dispatch_request *request = &gpu->dispatch[0].request;
    assert_int_equal(gpu->dispatch_count, 1);
    assert_memory_equal(&request->packet, &packet, sizeof packet);
    assert_int_equal(request->packet_va, queue->config.ring_va);
    assert_int_equal(request->amd_queue_va, queue->amd_queue_va);
    assert_int_equal(request->dispatch_id, 0);
    assert_int_equal(request->queue_id, 3);
    double_queue_destroy(queue);
}

static void barrier_bit_waits_and_others_overlap(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t overlapping = double_kernel(false, no_signal);
    hsa_kernel_dispatch_packet_t ordered = double_kernel(true, no_signal);
    double_hold(gpu, true);
    double_push(queue, &overlapping);
    double_push(queue, &overlapping);
    double_push(queue, &ordered);
    assert_true(double_wait(double_dispatch_count(gpu) == 2));
    double_settle();
    assert_int_equal(double_dispatch_count(gpu), 2);
    double_finish(gpu, 0, NULL);
    double_settle();
    assert_int_equal(double_dispatch_count(gpu), 2);
    double_finish(gpu, 1, NULL);
    assert_true(double_wait(double_dispatch_count(gpu) == 3));
    double_finish(gpu, 2, NULL);
    assert_true(double_wait(double_read_index(queue) == 3));
    double_queue_destroy(queue);
}

/* The slot of a packet stays the kernel's until it ends, and slots go back in order. */
static void slots_are_released_in_ring_order(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_signal_t first = double_signal(gpu, 1, 0), second = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(false, first);
    double_hold(gpu, true);
    double_push(queue, &packet);
    packet.completion_signal = second;
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 2));
    double_finish(gpu, 1, NULL);
    assert_int_equal(double_signal_value(gpu, second), 0);
    double_settle();
    assert_int_equal(double_read_index(queue), 0);
    assert_int_equal(slot_header(queue, 0) & 0xff, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    assert_int_equal(double_signal_value(gpu, first), 1);
    double_finish(gpu, 0, NULL);
    assert_true(double_wait(double_read_index(queue) == 2));
    assert_int_equal(double_signal_value(gpu, first), 0);
    double_queue_destroy(queue);
}

static hsa_barrier_and_packet_t barrier_packet(uint16_t type, hsa_signal_t a, hsa_signal_t b,
                                               hsa_signal_t completion)
{
    return (hsa_barrier_and_packet_t){
        .header = type, .dep_signal = {a, {0}, b}, .completion_signal = completion};
}

static void barrier_and_waits_for_all_and_blocks_nobody_else(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64),
                        *other = double_aql_create(gpu, 2, 64);
    hsa_signal_t a = double_signal(gpu, 1, 0), b = double_signal(gpu, 1, 0);
    hsa_signal_t done = double_signal(gpu, 1, 5), kernel_done = double_signal(gpu, 1, 0);
    hsa_barrier_and_packet_t barrier = barrier_packet(HSA_PACKET_TYPE_BARRIER_AND, a, b, done);
    hsa_kernel_dispatch_packet_t kernel = double_kernel(false, kernel_done);
    double_push(queue, &barrier);
    double_push(queue, &kernel); /* behind the barrier, without a barrier bit */
    double_settle();
    double_signal_set(gpu, a, 0); /* no kick: the CP must poll */
    double_settle();
    assert_int_equal(double_signal_value(gpu, done), 1);
    assert_int_equal(double_dispatch_count(gpu), 0);

    hsa_signal_t other_done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t unrelated = double_kernel(true, other_done);
    double_push(other, &unrelated);
    assert_true(double_wait(double_signal_value(gpu, other_done) == 0));

    double_signal_set(gpu, b, 0);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_true(double_wait(double_event_count(gpu, 5) == 1));
    assert_true(double_wait(double_signal_value(gpu, kernel_done) == 0));
    double_queue_destroy(queue);
    double_queue_destroy(other);
}

static void barrier_or_waits_for_any(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_signal_t a = double_signal(gpu, 1, 0), b = double_signal(gpu, 1, 0);
    hsa_signal_t done = double_signal(gpu, 1, 0), empty_done = double_signal(gpu, 1, 0);
    hsa_barrier_and_packet_t barrier = barrier_packet(HSA_PACKET_TYPE_BARRIER_OR, a, b, done);
    hsa_barrier_and_packet_t empty =
        barrier_packet(HSA_PACKET_TYPE_BARRIER_OR, no_signal, no_signal, empty_done);

    double_push(queue, &barrier);
    double_settle();
    assert_int_equal(double_signal_value(gpu, done), 1);
    double_signal_set(gpu, b, 0);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    double_push(queue, &empty);
    assert_true(double_wait(double_signal_value(gpu, empty_done) == 0));
    double_queue_destroy(queue);
}

static void barrier_value_compares_masked(void **state)
{
    static const struct {
        uint32_t condition;
        int64_t closed, open;
    } cases[] = {
        {HSA_SIGNAL_CONDITION_EQ, 0x4f, 0x5a},
        {HSA_SIGNAL_CONDITION_NE, 0x5a, 0x6a},
        {HSA_SIGNAL_CONDITION_LT, 0x5a, 0x4a},
        {HSA_SIGNAL_CONDITION_GTE, 0x4a, 0x5a},
    };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsa_signal_t watched = double_signal(gpu, cases[i].closed, 0),
                     done = double_signal(gpu, 1, 0);
        hsa_amd_barrier_value_packet_t packet = {
            .header = {.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC, .AmdFormat = 2},
            .signal = watched,
            .value = 0x50,
            .mask = 0xf0,
            .cond = cases[i].condition,
            .completion_signal = done,
        };
        double_push(queue, &packet);
        double_settle();
        assert_int_equal(double_signal_value(gpu, done), 1);
        double_signal_set(gpu, watched, cases[i].open);
        assert_true(double_wait(double_signal_value(gpu, done) == 0));
    }
    double_queue_destroy(queue);
}

static void ring_wraps_around(void **state)
{
    enum { PACKETS = 4, LAUNCHES = 500 };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, PACKETS);
    hsa_signal_t done = double_signal(gpu, LAUNCHES, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(false, done);

    for (uint64_t i = 0; i < LAUNCHES; i++) {
        assert_true(double_wait(i - double_read_index(queue) < PACKETS));
        double_push(queue, &packet);
    }
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_true(double_wait(double_read_index(queue) == LAUNCHES));
    assert_int_equal(gpu->dispatch_count, LAUNCHES);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        assert_int_equal(gpu->dispatch[i].request.dispatch_id, i);
        assert_int_equal(gpu->dispatch[i].request.packet_va,
                         queue->config.ring_va + i % PACKETS * 64);
    }
    double_queue_destroy(queue);
}

/* Two threads reserve 0 and 1; the second publishes and rings first. */
static void doorbells_may_overtake(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_signal_t done = double_signal(gpu, 2, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    uint64_t first = double_reserve(queue), second = double_reserve(queue);
    double_publish(queue, second, &packet);
    double_settle();
    assert_int_equal(double_dispatch_count(gpu), 0);
    double_publish(queue, first, &packet); /* the last doorbell value is the smaller one */
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_true(double_wait(double_read_index(queue) == 2));
    double_queue_destroy(queue);
}

static void times_are_written_when_profiled(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_signal_t plain = double_signal(gpu, 1, 0), timed = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, plain);
    double_push(queue, &packet);
    assert_true(double_wait(double_signal_value(gpu, plain) == 0));
    assert_int_equal(double_signal_host(gpu, plain)->end_ts, 0);
    __atomic_store_n(&queue->amd_queue->queue_properties, AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
                     __ATOMIC_RELEASE);
    packet.completion_signal = timed;
    double_push(queue, &packet);
    assert_true(double_wait(double_signal_value(gpu, timed) == 0));
    assert_int_equal(double_signal_host(gpu, timed)->start_ts, 1000);
    assert_int_equal(double_signal_host(gpu, timed)->end_ts, 2000);

    hsa_signal_t barrier_done = double_signal(gpu, 1, 0);
    hsa_barrier_and_packet_t barrier =
        barrier_packet(HSA_PACKET_TYPE_BARRIER_AND, no_signal, no_signal, barrier_done);
    uint64_t before = gpu_clock_ticks();
    double_push(queue, &barrier);
    assert_true(double_wait(double_signal_value(gpu, barrier_done) == 0));
    assert_in_range(double_signal_host(gpu, barrier_done)->start_ts, before, gpu_clock_ticks());
    assert_in_range(double_signal_host(gpu, barrier_done)->end_ts,
                    double_signal_host(gpu, barrier_done)->start_ts, gpu_clock_ticks());
    double_queue_destroy(queue);
}

enum bad_packet {
    BAD_GRID,
    BAD_DIMENSIONS,
    BAD_GROUP_SIZE,
    BAD_GROUP_MEMORY,
    BAD_KERNEL,
    BAD_TYPE,
    BAD_VENDOR_FORMAT,
    BAD_COUNT
};

static hsa_kernel_dispatch_packet_t bad_packet(enum bad_packet kind)
{
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, no_signal);
    switch (kind) {
    case BAD_GRID:
        packet.grid_size_y = 0;
        break;
    case BAD_DIMENSIONS:
        packet.setup = 0;
        break;
    case BAD_GROUP_SIZE:
        packet.workgroup_size_x = 1025;
        break;
    case BAD_GROUP_MEMORY:
        packet.group_segment_size = 65537;
        break;
    case BAD_KERNEL:
        packet.kernel_object = 0;
        break;
    case BAD_TYPE:
        packet.header = 200;
        break;
    default:
        packet.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC;
        packet.setup = 99;
        break;
    }
    return packet;
}

/* The codes are those the runtimes decode: see amd_aql_queue's error handler. */
static void bad_packets_stop_the_queue(void **state)
{
    static const int64_t codes[BAD_COUNT] = {
        [BAD_GRID] = 2,   [BAD_DIMENSIONS] = 2, [BAD_GROUP_SIZE] = 64,    [BAD_GROUP_MEMORY] = 4,
        [BAD_KERNEL] = 8, [BAD_TYPE] = 32,      [BAD_VENDOR_FORMAT] = 256};
    struct gpu_double *gpu = *state;
    hsa_kernel_dispatch_packet_t good = double_kernel(true, no_signal);

    for (uint32_t kind = 0; kind < BAD_COUNT; kind++) {
        struct double_queue *queue = double_aql_create(gpu, 10 + kind, 64);
        hsa_kernel_dispatch_packet_t bad = bad_packet(kind);
        double_push(queue, &bad);
        double_push(queue, &good);
        assert_true(double_wait(double_signal_value(gpu, queue->inactive) == codes[kind]));
        assert_true(double_wait(double_event_count(gpu, 60) == kind + 1));
        double_settle();
        assert_int_equal(double_dispatch_count(gpu), 0);
        double_queue_destroy(queue);
    }
}

static void kernel_faults_stop_the_queue(void **state)
{
    static const struct {
        enum fault_kind kind;
        int64_t code;
    } cases[] = {{FAULT_ILLEGAL_INSTRUCTION, 0x40000000},
                 {FAULT_APERTURE, 0x20000000},
                 {FAULT_TRAP, 0x80000000}};
    struct gpu_double *gpu = *state;

    double_hold(gpu, true);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct double_queue *queue = double_aql_create(gpu, 10 + i, 64);
        hsa_signal_t done = double_signal(gpu, 1, 0);
        hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
        double_push(queue, &packet);
        assert_true(double_wait(double_dispatch_count(gpu) == i + 1));
        double_finish(gpu, i,
                      &(struct dispatch_result){
                          .fault = cases[i].kind, .fault_pc_va = 0x2040, .mnemonic = "v_bad_b32"});
        assert_true(double_wait(double_signal_value(gpu, queue->inactive) == cases[i].code));
        assert_int_equal(double_signal_value(gpu, done), 1);
        assert_int_equal(gpu->aborted_queue, 10 + i);
        double_queue_destroy(queue);
    }
}

static uint64_t exceptions_of(struct gpu_double *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    uint64_t exceptions = gpu->exceptions;
    pthread_mutex_unlock(&gpu->lock);
    return exceptions;
}

/* A runtime that has asked for exceptions gets them, and its queue's signal stays as it is. The
 * numbers are those of the kernel's enum kfd_dbg_trap_exception_code. */
static void errors_are_exceptions_where_they_are_wanted(void **state)
{
    enum { TRAP = 1 << 1, ILLEGAL = 1 << 3, APERTURE = 1 << 5 };
    static const uint8_t numbers[BAD_COUNT] = {
        [BAD_GRID] = 16,   [BAD_DIMENSIONS] = 16, [BAD_GROUP_SIZE] = 21,   [BAD_GROUP_MEMORY] = 17,
        [BAD_KERNEL] = 18, [BAD_TYPE] = 20,       [BAD_VENDOR_FORMAT] = 23};
    static const struct {
        enum fault_kind kind;
        uint64_t exception;
    } cases[] = {
        {FAULT_ILLEGAL_INSTRUCTION, ILLEGAL}, {FAULT_APERTURE, APERTURE}, {FAULT_TRAP, TRAP}};
    struct gpu_double *gpu = *state;
    gpu->exception_area = 0x7000;
    double_hold(gpu, true);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct double_queue *queue = double_aql_create(gpu, 10 + i, 64);
        hsa_kernel_dispatch_packet_t packet = double_kernel(true, no_signal);
        gpu->exceptions = 0;
        double_push(queue, &packet);
        assert_true(double_wait(double_dispatch_count(gpu) == i + 1));
        double_finish(gpu, i, &(struct dispatch_result){.fault = cases[i].kind});
        assert_true(double_wait(exceptions_of(gpu) == cases[i].exception));
        assert_int_equal(double_signal_value(gpu, queue->inactive), 0);
        double_queue_destroy(queue);
    }
    for (uint32_t kind = 0; kind < BAD_COUNT; kind++) {
        struct double_queue *queue = double_aql_create(gpu, 20 + kind, 64);
        hsa_kernel_dispatch_packet_t bad = bad_packet(kind);
        gpu->exceptions = 0;
        double_push(queue, &bad);
        assert_true(double_wait(exceptions_of(gpu) == UINT64_C(1) << (numbers[kind] - 1)));
        assert_int_equal(double_signal_value(gpu, queue->inactive), 0);
        double_queue_destroy(queue);
    }
}

static void memory_faults_reach_the_driver(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 4, 64);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, no_signal);
    double_hold(gpu, true);
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    double_finish(gpu, 0,
                  &(struct dispatch_result){.fault = FAULT_MEMORY_WRITE, .fault_va = 0xdead0});
    assert_true(double_wait(double_fault_count(gpu) == 1));
    assert_int_equal(gpu->fault_va, 0xdead0);
    assert_int_equal(gpu->fault_access, VM_WRITE);
    assert_int_equal(double_signal_value(gpu, queue->inactive), 0);

    /* The CP's own accesses: a completion signal that is not mapped. */
    struct double_queue *second = double_aql_create(gpu, 5, 64);
    hsa_barrier_and_packet_t barrier =
        barrier_packet(HSA_PACKET_TYPE_BARRIER_AND, no_signal, no_signal, (hsa_signal_t){0x4000});
    double_push(second, &barrier);
    assert_true(double_wait(double_fault_count(gpu) == 2));
    assert_in_range(gpu->fault_va, 0x4000, 0x4000 + sizeof(amd_signal_t));
    double_queue_destroy(queue);
    double_queue_destroy(second);
}

static void stopped_queue_keeps_its_place(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_signal_t done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    struct cp_queue_config config = queue->config;
    config.percent = 0;
    assert_int_equal(cp_queue_update(gpu->device, &config), 0);
    double_push(queue, &packet);
    double_settle();
    assert_int_equal(double_dispatch_count(gpu), 0);
    config.percent = 100;
    assert_int_equal(cp_queue_update(gpu->device, &config), 0);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    double_queue_destroy(queue);
}

static void destroy_aborts_running_kernels(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 8, 64);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, no_signal);
    double_hold(gpu, true);
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    assert_int_equal(cp_queue_destroy(gpu->device, 8), 0);
    assert_int_equal(gpu->aborted_queue, 8);
    assert_int_equal(cp_queue_destroy(gpu->device, 8), -ENOENT);
    assert_int_equal(atomic_load(&gpu->device->in_flight), 0);
    free(queue);
}

/* A kernel ends while its queue is destroyed: the report comes late and must change nothing. */
static void late_reports_are_ignored(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 8, 64);
    hsa_signal_t done = double_signal(gpu, 1, 7);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    double_hold(gpu, true);
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    double_queue_destroy(queue);
    double_finish(gpu, 0, NULL);
    assert_int_equal(double_signal_value(gpu, done), 1);
    assert_int_equal(double_event_count(gpu, 7), 0);
    assert_int_equal(atomic_load(&gpu->device->in_flight), 0);
}

static void kernel_interrupts_are_raised(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, no_signal);
    double_hold(gpu, true);
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    const struct dispatch_request *request = &gpu->dispatch[0].request;
    request->interrupt(request->arg, 33);
    request->interrupt(request->arg, 1 << 20); /* no such event */
    assert_true(double_wait(double_event_count(gpu, 33) == 1));
    double_finish(gpu, 0, NULL);
    double_queue_destroy(queue);
}

static uint64_t process_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void idle_processor_sleeps(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    double_settle();
    uint64_t before = process_cpu_ns();
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    assert_in_range(process_cpu_ns() - before, 0, 3000000); /* 1 % of a core */
    double_queue_destroy(queue);
}

/* Without doorbell notice the CP polls: work is seen within a few milliseconds, without a kick. */
static void unnoticed_doorbells_are_polled(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_signal_t done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    gpu->sleep_ns = 0;
    cp_kick(gpu->cp);
    double_settle();
    uint64_t index = double_reserve(queue);
    uint16_t header = packet.header;
    memcpy(queue->ring + index * 64 + 2, (uint8_t *)&packet + 2, 62);
    __atomic_store_n((uint16_t *)(queue->ring + index * 64), header, __ATOMIC_RELEASE);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    double_queue_destroy(queue);
}

static int child_launches(struct gpu_double *gpu)
{
    cp_after_fork_child(gpu->cp);
    struct double_queue *queue = double_aql_create(gpu, 2, 64);
    hsa_signal_t done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = double_kernel(true, done);
    if (!queue)
        return 1;
    double_push(queue, &packet);
    return double_wait(double_signal_value(gpu, done) == 0) ? 0 : 2;
}

static void child_of_fork_starts_anew(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    int status = -1;
#ifdef __SANITIZE_THREAD__
    skip(); /* it allows no thread in the child of a threaded process */
#endif
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_launches(gpu));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    double_queue_destroy(queue);
}

#define DOUBLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOUBLE_TEST(dispatch_reaches_engine_and_completes),
        DOUBLE_TEST(barrier_bit_waits_and_others_overlap),
        DOUBLE_TEST(slots_are_released_in_ring_order),
        DOUBLE_TEST(barrier_and_waits_for_all_and_blocks_nobody_else),
        DOUBLE_TEST(barrier_or_waits_for_any),
        DOUBLE_TEST(barrier_value_compares_masked),
        DOUBLE_TEST(ring_wraps_around),
        DOUBLE_TEST(doorbells_may_overtake),
        DOUBLE_TEST(times_are_written_when_profiled),
        DOUBLE_TEST(bad_packets_stop_the_queue),
        DOUBLE_TEST(kernel_faults_stop_the_queue),
        DOUBLE_TEST(errors_are_exceptions_where_they_are_wanted),
        DOUBLE_TEST(memory_faults_reach_the_driver),
        DOUBLE_TEST(stopped_queue_keeps_its_place),
        DOUBLE_TEST(destroy_aborts_running_kernels),
        DOUBLE_TEST(late_reports_are_ignored),
        DOUBLE_TEST(kernel_interrupts_are_raised),
        DOUBLE_TEST(idle_processor_sleeps),
        DOUBLE_TEST(unnoticed_doorbells_are_polled),
        DOUBLE_TEST(child_of_fork_starts_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
