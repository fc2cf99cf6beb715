/* What an AQL queue's memory may look like, and what becomes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

static const hsa_signal_t no_signal = {0};

enum { PAGE = 4096, PACKETS = PAGE / AQL_PACKET_BYTES };

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

static hsa_barrier_and_packet_t barrier_packet(hsa_signal_t completion)
{
    return (hsa_barrier_and_packet_t){.header = HSA_PACKET_TYPE_BARRIER_AND |
                                                1 << HSA_PACKET_HEADER_BARRIER,
                                      .completion_signal = completion};
}

static void slot_write(uint8_t *ring, uint64_t slot, const void *packet)
{
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(ring + slot * AQL_PACKET_BYTES + 2, (const uint8_t *)packet + 2, AQL_PACKET_BYTES - 2);
    __atomic_store_n((uint16_t *)(void *)(ring + slot * AQL_PACKET_BYTES), header,
                     __ATOMIC_RELEASE);
}

/* A queue on a ring that somebody has used before. */
static struct double_queue *queue_on_used_ring(struct gpu_double *gpu, const void *packet)
{
    struct double_queue *queue = double_aql_create(gpu, 1, PACKETS);
    assert_int_equal(cp_queue_destroy(gpu->device, 1), 0);
    for (uint64_t slot = 0; slot < PACKETS; slot++)
        slot_write(queue->ring, slot, packet);
    assert_int_equal(cp_queue_create(gpu->device, &queue->config), 0);
    return queue;
}

/* What lies in a ring before its index was given out is not the host's. */
static void leavings_are_not_executed(void **state)
{
    struct gpu_double *gpu = *state;
    hsa_signal_t left = double_signal(gpu, 100, 0), done = double_signal(gpu, 100, 0);
    hsa_barrier_and_packet_t old = barrier_packet(left), barrier = barrier_packet(done);
    struct double_queue *queue = queue_on_used_ring(gpu, &old);
    double_settle();
    assert_int_equal(double_signal_value(gpu, left), 100);
    for (int i = 0; i < 3; i++) { /* of a host that writes first */
        slot_write(queue->ring, (uint64_t)i, &barrier);
        double_reserve(queue);
        cp_kick(gpu->cp);
    }
    assert_true(double_wait(double_signal_value(gpu, done) == 97));
    double_settle();
    assert_int_equal(double_signal_value(gpu, left), 100);
    assert_int_equal(double_read_index(queue), 3);
    double_queue_destroy(queue);
}

/* Hosts take an index and wait until its slot is free: the packet in it is an old one. */
static void full_rings_are_not_executed_twice(void **state)
{
    enum { FEW = 2, ROUNDS = 200 };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, FEW);
    hsa_signal_t done = double_signal(gpu, FEW * ROUNDS, 0);
    hsa_barrier_and_packet_t barrier = barrier_packet(done);
    for (int i = 0; i < FEW; i++)
        double_reserve(queue);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        assert_true(double_wait(double_read_index(queue) == FEW * round));
        for (int i = 0; i < FEW; i++) /* of the next round */
            double_reserve(queue);
        for (uint64_t i = FEW; i-- > 0;) /* the first one comes last, and both are executed */
            double_publish(queue, FEW * round + i, &barrier);
        assert_true(
            double_wait(double_signal_value(gpu, done) <= (int64_t)(FEW * (ROUNDS - round - 1))));
        assert_int_equal(double_signal_value(gpu, done), FEW * (ROUNDS - round - 1));
    }
    double_queue_destroy(queue);
}

/* Its ring in one mapping, in two, and elsewhere in the host. */
static void memory_may_be_mapped_anew(void **state)
{
    struct gpu_double *gpu = *state;
    double_alloc(gpu, PAGE - gpu->used_bytes % PAGE);
    struct double_queue *queue = double_aql_create(gpu, 1, PACKETS);
    hsa_signal_t done = double_signal(gpu, 3 * PACKETS, 0);
    hsa_barrier_and_packet_t barrier = barrier_packet(done);
    const uint64_t va = queue->config.ring_va, middle = va + sizeof(barrier) * PACKETS / 2;
    for (int i = 0; i < PACKETS; i++)
        double_push(queue, &barrier);
    assert_true(double_wait(double_read_index(queue) == PACKETS));

    assert_int_equal(vm_split(gpu->vm, middle), 0);
    for (int i = 0; i < PACKETS; i++)
        double_push(queue, &barrier);
    assert_true(double_wait(double_read_index(queue) == 2 * PACKETS));

    uint8_t *elsewhere =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(elsewhere != MAP_FAILED);
    assert_int_equal(vm_split(gpu->vm, va), 0);
    assert_int_equal(vm_split(gpu->vm, va + PAGE), 0);
    assert_int_equal(vm_unmap(gpu->vm, va), 0);
    double_settle(); /* an idle queue without its ring is no fault */
    assert_int_equal(vm_unmap(gpu->vm, middle), 0);
    for (uint64_t slot = 0; slot < PACKETS; slot++)
        *(uint16_t *)(void *)(elsewhere + slot * AQL_PACKET_BYTES) = HSA_PACKET_TYPE_INVALID;
    assert_int_equal(vm_map(gpu->vm, va, PAGE, elsewhere, VM_READ | VM_WRITE), 0);
    queue->ring = elsewhere;
    for (int i = 0; i < PACKETS; i++)
        double_push(queue, &barrier);
    assert_true(double_wait(double_read_index(queue) == 3 * PACKETS));
    assert_int_equal(double_signal_value(gpu, done), 0);
    assert_int_equal(double_fault_count(gpu), 0);
    double_queue_destroy(queue);
    munmap(elsewhere, PAGE);
}

/* Only a completion signal of a queue that is profiled takes times. */
static void kernels_are_timed_for_somebody(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, PACKETS);
    hsa_kernel_dispatch_packet_t with = double_kernel(true, double_signal(gpu, 2, 0));
    hsa_kernel_dispatch_packet_t without = double_kernel(true, no_signal);
    double_push(queue, &with);
    double_push(queue, &without);
    assert_true(double_wait(double_read_index(queue) == 2));
    __atomic_store_n(&queue->amd_queue->queue_properties, AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
                     __ATOMIC_RELEASE);
    double_push(queue, &with);
    double_push(queue, &without);
    assert_true(double_wait(double_read_index(queue) == 4));
    static const bool untimed[] = {true, true, false, true};
    for (int i = 0; i < 4; i++)
        assert_int_equal(gpu->dispatch[i].request.is_untimed, untimed[i]);
    double_queue_destroy(queue);
}

/* Packets that may read counters come behind what the kernels before them did. */
static void ended_kernels_are_counted_first(void **state)
{
    enum { ROUNDS = 300 };
    static const uint32_t invalidate[] = {0xc0055800, 1u << 29, 0, 0, 0, 0, 0xa}; /* ACQUIRE_MEM */
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, PACKETS);
    hsa_kernel_dispatch_packet_t kernel = double_kernel(true, no_signal);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t first = double_reserve(queue);
        uint64_t second = double_push_pm4(queue, invalidate, 7, no_signal) % PACKETS;
        queue->ring[second * AQL_PACKET_BYTES + 1] |= 1; /* the barrier bit */
        double_publish(queue, first, &kernel);
        assert_true(double_wait(double_read_index(queue) == 2 * i));
    }
    assert_int_equal(gpu->dispatch_count, ROUNDS);
    assert_int_equal(gpu->invalidations, ROUNDS);
    assert_int_equal(gpu->invalidated_late, 0);
    double_queue_destroy(queue);
}

#define DOUBLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A host of one thread writes a whole packet, its header first, and says by the index that it is
 * there. */
static void index_decides(void **state)
{
    enum { LOOKS = 20 };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, PACKETS);
    hsa_signal_t early = double_signal(gpu, 1, 0), done = double_signal(gpu, 1, 0);
    const hsa_barrier_and_packet_t unfinished = barrier_packet(early),
                                   packet = barrier_packet(done);
    memcpy(queue->ring, &unfinished, sizeof unfinished);
    cp_kick(gpu->cp);
    for (int n = 0; n < LOOKS; n++)
        double_pause();
    assert_int_equal(double_signal_value(gpu, early), 1);
    memcpy(queue->ring, &packet, sizeof packet);
    __atomic_store_n(&queue->amd_queue->write_dispatch_id, 1, __ATOMIC_RELEASE);
    cp_kick(gpu->cp);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_int_equal(double_signal_value(gpu, early), 1);
    double_queue_destroy(queue);
}

/* Who is told of a kernel's fault finds its packet where the read index says. */
static void faulting_packet_stays(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, PACKETS);
    const hsa_kernel_dispatch_packet_t kernel = double_kernel(false, no_signal);
    const struct dispatch_result fault = {.fault = FAULT_MEMORY_READ, .fault_va = 0x1000};
    double_hold(gpu, true);
    double_push(queue, &kernel);
    double_push(queue, &kernel);
    assert_true(double_wait(double_dispatch_count(gpu) == 2));
    double_finish(gpu, 0, &fault);
    assert_true(double_wait(double_fault_count(gpu) == 1));
    assert_int_equal(double_read_index(queue), 0);
    assert_memory_equal(queue->ring, &kernel, sizeof kernel);
    double_queue_destroy(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOUBLE_TEST(leavings_are_not_executed),
        DOUBLE_TEST(full_rings_are_not_executed_twice),
        DOUBLE_TEST(memory_may_be_mapped_anew),
        DOUBLE_TEST(kernels_are_timed_for_somebody),
        DOUBLE_TEST(ended_kernels_are_counted_first),
        DOUBLE_TEST(index_decides),
        DOUBLE_TEST(faulting_packet_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
