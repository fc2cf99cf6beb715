/*
 * Private memory as the runtime sees it: the test plays the runtime, which is asked through
 * queue_inactive_signal. Offsets of the second version of amd_queue_t are those of its header.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

enum { ASKED = 0x1, RETURNED = 0x200, INACTIVE_EVENT = 60 };
enum { /* bytes from the start of amd_queue_t */
       CAPS = 40,
       MAX_USE = 184,
       ALTERNATE_MAX_USE = 200,
       ALTERNATE_GRID = 232,
       ALTERNATE_LANE_BYTES = 244,
       ALTERNATE_RING = 248,
       LAST_USED = 256
};
enum { CAPS_PROCESSOR = 1, CAPS_RUNTIME = 2, DIES = 8 };

static const hsa_signal_t no_signal = {0};

static int setup(void **state)
{
    *state = double_create();
    return *state ? 0 : -1;
}

static int setup_gfx942(void **state)
{
    *state = double_create_as("gfx942");
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    double_destroy(*state);
    return 0;
}

static hsa_kernel_dispatch_packet_t kernel(uint32_t private_bytes, hsa_signal_t completion)
{
    hsa_kernel_dispatch_packet_t packet = double_kernel(false, completion);
    packet.private_segment_size = private_bytes;
    return packet;
}

static void field_store32(struct double_queue *queue, uint32_t offset, uint32_t value)
{
    __atomic_store_n((uint32_t *)((char *)queue->amd_queue + offset), value, __ATOMIC_RELEASE);
}

static void field_store64(struct double_queue *queue, uint32_t offset, uint64_t value)
{
    __atomic_store_n((uint64_t *)((char *)queue->amd_queue + offset), value, __ATOMIC_RELEASE);
}

static uint32_t field_load32(struct double_queue *queue, uint32_t offset)
{
    return __atomic_load_n((uint32_t *)((char *)queue->amd_queue + offset), __ATOMIC_ACQUIRE);
}

static uint64_t field_load64(struct double_queue *queue, uint32_t offset)
{
    return __atomic_load_n((uint64_t *)((char *)queue->amd_queue + offset), __ATOMIC_ACQUIRE);
}

static void give(struct double_queue *queue, uint32_t lane_bytes, uint32_t waves, bool once)
{
    field_store32(queue, offsetof(amd_queue_t, compute_tmpring_size), waves | 13u << 12);
    field_store32(queue, offsetof(amd_queue_t, scratch_wave64_lane_byte_size), lane_bytes);
    field_store32(queue, offsetof(amd_queue_t, queue_properties),
                  once ? AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE : 0);
    double_signal_set(queue->gpu, queue->inactive, 0);
}

static bool asked(struct double_queue *queue)
{
    return double_wait(double_signal_value(queue->gpu, queue->inactive) == ASKED);
}

static void without_private_memory_nobody_is_asked(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(0, no_signal);
    double_push(queue, &packet);
    assert_true(double_wait(double_read_index(queue) == 1));
    assert_int_equal(double_signal_value(gpu, queue->inactive), 0);
    assert_int_equal(gpu->dispatch[0].request.scratch_waves, 0);
    double_queue_destroy(queue);
}

static void too_little_is_told_and_the_packet_tried_again(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_signal_t done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t packet = kernel(720, done);
    double_push(queue, &packet);
    assert_true(asked(queue));
    assert_true(double_wait(double_event_count(gpu, INACTIVE_EVENT) == 1));
    double_settle();
    assert_int_equal(double_dispatch_count(gpu), 0);
    assert_int_equal(double_read_index(queue), 0); /* where the runtime looks for the packet */
    give(queue, 704, 64, false);                   /* still too little: asked once more */
    assert_true(asked(queue));
    assert_int_equal(double_dispatch_count(gpu), 0);
    give(queue, 720, 96, false);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_int_equal(double_dispatch_count(gpu), 1);
    assert_int_equal(gpu->dispatch[0].request.scratch_waves, 96);
    assert_int_equal(double_event_count(gpu, INACTIVE_EVENT), 2);
    double_push(queue, &packet); /* it keeps what it has */
    assert_true(double_wait(double_read_index(queue) == 2));
    assert_int_equal(double_signal_value(gpu, queue->inactive), 0);
    double_queue_destroy(queue);
}

/* What the queue had is freed when it gets more, so nothing of its may run. */
static void earlier_dispatches_end_before_more_is_asked(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t small = kernel(64, no_signal), large = kernel(128, no_signal);
    give(queue, 64, 96, false);
    double_hold(gpu, true);
    double_push(queue, &small);
    double_push(queue, &large);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    double_settle();
    assert_int_equal(double_signal_value(gpu, queue->inactive), 0);
    double_finish(gpu, 0, NULL);
    assert_true(asked(queue));
    assert_int_equal(double_read_index(queue), 1);
    give(queue, 128, 96, false);
    assert_true(double_wait(double_dispatch_count(gpu) == 2));
    double_finish(gpu, 1, NULL);
    assert_true(double_wait(double_read_index(queue) == 2));
    double_queue_destroy(queue);
}

static void other_queues_go_on_and_a_queue_without_memory_ends(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *poor = double_aql_create(gpu, 1, 64),
                        *other = double_aql_create(gpu, 2, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(1 << 20, no_signal);
    double_push(poor, &packet);
    assert_true(asked(poor));
    packet.private_segment_size = 0;
    for (uint32_t i = 0; i < 50; i++)
        double_push(other, &packet);
    assert_true(double_wait(double_read_index(other) == 50));
    double_signal_set(gpu, poor->inactive, -1); /* the runtime has none, and ends the queue */
    double_settle();
    assert_int_equal(double_read_index(poor), 0);
    assert_int_equal(double_dispatch_count(gpu), 50);
    double_queue_destroy(poor);
    double_queue_destroy(other);
}

/* Memory for one use: what follows waits, also without a barrier, until the runtime has it back. */
static void memory_for_one_use_goes_back_before_the_next_packet(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(16016, no_signal), plain = kernel(0, no_signal);
    double_hold(gpu, true);
    double_push(queue, &packet);
    double_push(queue, &plain);
    assert_true(asked(queue));
    give(queue, 16016, 8, true);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    assert_int_equal(gpu->dispatch[0].request.scratch_waves, 8);
    double_settle();
    assert_int_equal(double_dispatch_count(gpu), 1);
    assert_int_equal(double_signal_value(gpu, queue->inactive), 0);
    double_finish(gpu, 0, NULL);
    assert_true(double_wait(double_signal_value(gpu, queue->inactive) == RETURNED));
    assert_int_equal(double_event_count(gpu, INACTIVE_EVENT), 2);
    field_store32(queue, offsetof(amd_queue_t, scratch_wave64_lane_byte_size), 0);
    double_signal_set(gpu, queue->inactive, 0);
    double_settle();
    assert_int_equal(double_dispatch_count(gpu), 1); /* the property is what lets it go on */
    field_store32(queue, offsetof(amd_queue_t, queue_properties), 0);
    assert_true(double_wait(double_dispatch_count(gpu) == 2));
    double_finish(gpu, 1, NULL);
    assert_true(double_wait(double_read_index(queue) == 2));
    double_push(queue, &packet);
    assert_true(asked(queue));
    double_queue_destroy(queue);
}

/* A faulting kernel in memory for one use: the queue stops with its fault, and asks for nothing. */
static void a_fault_in_memory_for_one_use_stops_the_queue(void **state)
{
    static const struct dispatch_result trap = {.fault = FAULT_TRAP};
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(64, no_signal);
    give(queue, 64, 8, true);
    double_hold(gpu, true);
    double_push(queue, &packet);
    assert_true(double_wait(double_dispatch_count(gpu) == 1));
    double_finish(gpu, 0, &trap);
    assert_true(
        double_wait((uint32_t)double_signal_value(gpu, queue->inactive) == QUEUE_ERROR_TRAP));
    double_settle();
    assert_int_equal((uint32_t)double_signal_value(gpu, queue->inactive), QUEUE_ERROR_TRAP);
    double_queue_destroy(queue);
}

static void last_uses_are(struct double_queue *queue, uint32_t half, uint64_t index)
{
    for (uint32_t die = 0; die < DIES; die++)
        assert_int_equal(field_load64(queue, LAST_USED + die * 16 + half * 8), index);
}

static void reclaim_is_announced_and_obeyed(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(256, no_signal);
    assert_int_equal(field_load32(queue, CAPS), CAPS_PROCESSOR);
    field_store32(queue, CAPS, CAPS_PROCESSOR | CAPS_RUNTIME);
    field_store64(queue, MAX_USE, UINT64_MAX);
    field_store64(queue, ALTERNATE_MAX_USE, UINT64_MAX);
    give(queue, 256, 40, false);
    for (uint32_t i = 0; i < 3; i++)
        double_push(queue, &packet);
    assert_true(double_wait(double_read_index(queue) == 3));
    assert_int_equal(gpu->dispatch[0].request.scratch_waves, 40 * DIES);
    last_uses_are(queue, 0, 2);
    last_uses_are(queue, 1, 0);
    field_store64(queue, MAX_USE, 2); /* taken back: the next one must ask */
    double_push(queue, &packet);
    assert_true(asked(queue));
    assert_int_equal(double_dispatch_count(gpu), 3);
    field_store64(queue, MAX_USE, UINT64_MAX);
    give(queue, 256, 40, false);
    assert_true(double_wait(double_read_index(queue) == 4));
    last_uses_are(queue, 0, 3);
    double_queue_destroy(queue);
}

static void the_second_piece_serves_small_grids(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(512, no_signal);
    field_store32(queue, CAPS, CAPS_PROCESSOR | CAPS_RUNTIME);
    field_store64(queue, MAX_USE, UINT64_MAX);
    field_store64(queue, ALTERNATE_MAX_USE, UINT64_MAX);
    give(queue, 256, 40, true); /* "once" belongs to the first piece */
    field_store32(queue, ALTERNATE_LANE_BYTES, 512);
    field_store32(queue, ALTERNATE_RING, 16 | 32u << 12);
    for (uint32_t axis = 0; axis < 3; axis++)
        field_store32(queue, ALTERNATE_GRID + 4 * axis, axis ? 1 : 1024);
    double_push(queue, &packet);
    double_push(queue, &packet);
    assert_true(double_wait(double_read_index(queue) == 2));
    assert_int_equal(gpu->dispatch[1].request.scratch_waves, 16 * DIES);
    last_uses_are(queue, 1, 1);
    assert_int_equal(double_signal_value(gpu, queue->inactive), 0);
    packet.grid_size_y = 2;
    double_push(queue, &packet);
    assert_true(asked(queue));
    field_store32(queue, ALTERNATE_GRID + 4, 2);
    double_signal_set(gpu, queue->inactive, 0);
    assert_true(double_wait(double_read_index(queue) == 3));
    field_store64(queue, ALTERNATE_MAX_USE, 2);
    double_push(queue, &packet);
    assert_true(asked(queue));
    double_queue_destroy(queue);
}

/* A runtime that does not know the second version has other things there, or nothing. */
static void the_first_version_is_left_alone_behind_its_end(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    hsa_kernel_dispatch_packet_t packet = kernel(256, no_signal);
    uint8_t before[DOUBLE_QUEUE_BYTES - LAST_USED];
    memset((char *)queue->amd_queue + LAST_USED, 0xa5, sizeof before);
    memset(before, 0xa5, sizeof before);
    field_store64(queue, MAX_USE, 0);
    give(queue, 256, 40, false);
    for (uint32_t i = 0; i < 3; i++)
        double_push(queue, &packet);
    assert_true(double_wait(double_read_index(queue) == 3));
    assert_memory_equal((char *)queue->amd_queue + LAST_USED, before, sizeof before);
    packet.private_segment_size = 512;
    double_push(queue, &packet);
    assert_true(asked(queue));
    double_queue_destroy(queue);
}

static void other_gpus_do_not_announce_it(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    assert_int_equal(field_load32(queue, CAPS), 0);
    double_queue_destroy(queue);
}

int main(void)
{
#define TEST(name)        cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_GFX942(name) cmocka_unit_test_setup_teardown(name, setup_gfx942, teardown)
    const struct CMUnitTest tests[] = {
        TEST(without_private_memory_nobody_is_asked),
        TEST(too_little_is_told_and_the_packet_tried_again),
        TEST(earlier_dispatches_end_before_more_is_asked),
        TEST(other_queues_go_on_and_a_queue_without_memory_ends),
        TEST(memory_for_one_use_goes_back_before_the_next_packet),
        TEST(a_fault_in_memory_for_one_use_stops_the_queue),
        TEST(other_gpus_do_not_announce_it),
        TEST_GFX942(reclaim_is_announced_and_obeyed),
        TEST_GFX942(the_second_piece_serves_small_grids),
        TEST_GFX942(the_first_version_is_left_alone_behind_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
