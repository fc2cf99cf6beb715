#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

enum { RING_BYTES = 4096 };

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

/* Writes dwords at the write pointer, wrapping, and rings. */
static void push(struct double_queue *queue, const uint32_t *words, uint32_t dwords)
{
    uint64_t at = *queue->write_pointer;
    for (uint32_t i = 0; i < dwords; i++)
        memcpy(queue->ring + (at + 4 * i) % queue->config.ring_bytes, &words[i], 4);
    __atomic_store_n(queue->write_pointer, at + 4ull * dwords, __ATOMIC_RELEASE);
    cp_kick(queue->gpu->cp);
}

static uint64_t read_bytes(struct double_queue *queue)
{
    return __atomic_load_n(queue->read_pointer, __ATOMIC_ACQUIRE);
}

static bool drained(struct double_queue *queue)
{
    return read_bytes(queue) == *queue->write_pointer;
}

#define LOW(va)  (uint32_t)(va)
#define HIGH(va) (uint32_t)((va) >> 32)

static void push_copy(struct double_queue *queue, uint64_t to, uint64_t from, uint32_t size_bytes)
{
    uint32_t packet[] = {1, size_bytes - 1, 0, LOW(from), HIGH(from), LOW(to), HIGH(to)};
    push(queue, packet, 7);
}

static void fill_random(uint8_t *bytes, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

static void copies_of_odd_sizes_equal_memcpy(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 63, 64, 65, 4095, 4097, 0x3fffe0, 0x3fffff};
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_sdma_create(gpu, 1, RING_BYTES);
    enum { ROOM = 5 << 20 };
    uint64_t from = double_alloc(gpu, ROOM), to = double_alloc(gpu, ROOM);
    uint8_t *source = double_host(gpu, from), *target = double_host(gpu, to);
    uint8_t *expected = calloc(1, ROOM);

    fill_random(source, ROOM, 7);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t source_offset = (uint32_t)i * 3 % 8, target_offset = (uint32_t)i * 5 % 16;
        memset(target, 0xee, ROOM);
        memset(expected, 0xee, ROOM);
        memcpy(expected + target_offset, source + source_offset, sizes[i]);
        push_copy(queue, to + target_offset, from + source_offset, sizes[i]);
        assert_true(double_wait(drained(queue)));
        assert_memory_equal(target, expected, ROOM);
    }
    free(expected);
    double_queue_destroy(queue);
}

/* Element sizes 1 to 16 bytes, offsets, pitches wider than the window, several slices. */
static void sub_window_copies_equal_a_reference(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_sdma_create(gpu, 1, RING_BYTES);
    enum { ROOM = 1 << 20, WIDTH = 13, ROWS = 7, SLICES = 3, PITCH = 40, SLICE = 40 * 11 };
    uint64_t from = double_alloc(gpu, ROOM), to = double_alloc(gpu, ROOM);
    uint8_t *source = double_host(gpu, from), *target = double_host(gpu, to);
    uint8_t *expected = calloc(1, ROOM);

    fill_random(source, ROOM, 3);
    for (uint32_t shift = 0; shift <= 4; shift++) {
        uint32_t element = 1u << shift;
        uint32_t packet[13] = {1 | 4 << 8 | shift << 29,
                               LOW(from),
                               HIGH(from),
                               2 | 1 << 16,
                               1 | (PITCH - 1) << 13,
                               SLICE - 1,
                               LOW(to),
                               HIGH(to),
                               5 | 3 << 16,
                               0 | (PITCH + 3) << 13,
                               SLICE + 60,
                               (WIDTH - 1) | (ROWS - 1) << 16,
                               SLICES - 1};
        memset(target, 0, ROOM);
        memset(expected, 0, ROOM);
        for (uint32_t z = 0; z < SLICES; z++)
            for (uint32_t y = 0; y < ROWS; y++)
                memcpy(expected + (5 + (y + 3) * (PITCH + 4) + z * (SLICE + 61)) * element,
                       source + (2 + (y + 1) * PITCH + (z + 1) * SLICE) * element, WIDTH * element);
        push(queue, packet, 13);
        assert_true(double_wait(drained(queue)));
        assert_memory_equal(target, expected, ROOM);
    }
    free(expected);
    double_queue_destroy(queue);
}

static void fills_write_bytes_halves_and_words(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_sdma_create(gpu, 1, RING_BYTES);
    enum { ROOM = 3 << 20 };
    uint64_t to = double_alloc(gpu, ROOM);
    uint8_t *target = double_host(gpu, to), pattern[] = {0x44, 0x33, 0x22, 0x11};

    for (uint32_t size = 0; size <= 2; size++) {
        uint32_t unit = 1u << size, bytes = (2 << 20) + 20;
        uint32_t packet[5] = {11 | size << 30, LOW(to + 8), HIGH(to + 8), 0x11223344, bytes - unit};
        memset(target, 0, ROOM);
        push(queue, packet, 5);
        assert_true(double_wait(drained(queue)));
        for (uint32_t i = 0; i < ROOM; i++) {
            bool inside = i >= 8 && i < 8 + bytes;
            if (target[i] != (inside ? pattern[(i - 8) % unit] : 0))
                fail_msg("size %u byte %u is 0x%02x", unit, i, target[i]);
        }
    }
    double_queue_destroy(queue);
}

static void fence_trap_atomic_timestamp_write(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_sdma_create(gpu, 1, RING_BYTES);
    uint64_t va = double_alloc(gpu, 64);
    uint32_t *words = double_host(gpu, va);
    uint64_t before = gpu_clock_ticks();
    uint64_t minus_one = UINT64_MAX;
    uint64_t counter_va = va + 16, clock_va = va + 24, data_va = va + 32;
    words[4] = 5;
    uint32_t fence[] = {5, LOW(va), HIGH(va), 0xabcd};
    uint32_t atomic[] = {10 | 47u << 25,
                         LOW(counter_va),
                         HIGH(counter_va),
                         LOW(minus_one),
                         HIGH(minus_one),
                         0,
                         0,
                         0};
    uint32_t timestamp[] = {13 | 2 << 8, LOW(clock_va), HIGH(clock_va)};
    uint32_t write[] = {2, LOW(data_va), HIGH(data_va), 2, 7, 8, 9};
    uint32_t nop[] = {0, 0, 2 << 16, 123, 456};
    uint32_t trap[] = {6, 42};
    push(queue, fence, 4);
    push(queue, atomic, 8);
    push(queue, timestamp, 3);
    push(queue, nop, 5);
    push(queue, write, 7);
    push(queue, trap, 2);
    assert_true(double_wait(double_event_count(gpu, 42) == 1));
    assert_true(double_wait(drained(queue)));
    assert_int_equal(words[0], 0xabcd);
    assert_int_equal(*(uint64_t *)double_host(gpu, counter_va), 4);
    assert_in_range(*(uint64_t *)double_host(gpu, clock_va), before, gpu_clock_ticks());
    assert_int_equal(words[8], 7);
    assert_int_equal(words[9], 8);
    assert_int_equal(words[10], 9);
    double_queue_destroy(queue);
}

static void poll_yields_and_flush_is_skipped(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_sdma_create(gpu, 1, RING_BYTES);
    struct double_queue *other = double_sdma_create(gpu, 2, RING_BYTES);
    uint64_t flag = double_alloc(gpu, 64), from = double_alloc(gpu, 64), to = double_alloc(gpu, 64);
    uint32_t poll[] = {8 | 3u << 28 | 1u << 31, LOW(flag), HIGH(flag), 0x20, 0xf0, 0xfff << 16};
    uint32_t flush[] = {8, 0, 0x80000000, 0, 0, 0};
    push(queue, flush, 6);
    assert_true(double_wait(drained(queue)));
    push(queue, poll, 6);
    double_settle();
    assert_false(drained(queue));
    push_copy(other, to, from, 64);
    assert_true(double_wait(drained(other)));
    __atomic_store_n((uint32_t *)double_host(gpu, flag), 0x125, __ATOMIC_RELEASE);
    assert_true(double_wait(drained(queue)));
    double_queue_destroy(queue);
    double_queue_destroy(other);
}

static void packets_wrap_around_the_ring(void **state)
{
    enum { ROUNDS = 200 }; /* 28 bytes a packet: every alignment to the end of a 256-byte ring */
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_sdma_create(gpu, 1, 256);
    uint64_t from = double_alloc(gpu, ROUNDS), to = double_alloc(gpu, ROUNDS);

    fill_random(double_host(gpu, from), ROUNDS, 11);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        assert_true(double_wait(*queue->write_pointer - read_bytes(queue) <= 256 - 28));
        push_copy(queue, to + i, from + i, 1);
    }
    assert_true(double_wait(drained(queue)));
    assert_memory_equal(double_host(gpu, to), double_host(gpu, from), ROUNDS);
    double_queue_destroy(queue);
}

static void bad_addresses_and_packets_stop_the_queue(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_sdma_create(gpu, 1, RING_BYTES);
    uint64_t from = double_alloc(gpu, 4096), end = double_arena_va + DOUBLE_ARENA_BYTES;
    push_copy(queue, end - 100, from, 200); /* runs off the end of the mapping */
    assert_true(double_wait(double_fault_count(gpu) == 1));
    assert_int_equal(gpu->fault_va, end);
    assert_int_equal(gpu->fault_access, VM_WRITE);
    double_settle();
    assert_false(drained(queue));
    double_queue_destroy(queue);

    queue = double_sdma_create(gpu, 2, RING_BYTES);
    push(queue, (uint32_t[]){0x99}, 1);
    double_settle();
    assert_false(drained(queue));
    assert_int_equal(double_fault_count(gpu), 1);
    double_queue_destroy(queue);
}

/* Two queues of large copies advance together: neither waits for the other's whole copy. */
static void large_copies_share_the_processor(void **state)
{
    enum { BYTES = 12 << 20 };
    struct gpu_double *gpu = *state;
    struct double_queue *large = double_sdma_create(gpu, 1, RING_BYTES);
    struct double_queue *small = double_sdma_create(gpu, 2, RING_BYTES);
    uint64_t from = double_alloc(gpu, BYTES), to = double_alloc(gpu, BYTES);
    struct timespec begin, end;

    memset(double_host(gpu, from), 1, BYTES);
    memset(double_host(gpu, to), 2, BYTES);
    for (int i = 0; i < 20; i++)
        push_copy(large, to, from, BYTES);
    push_copy(small, to, from, 64);
    assert_true(double_wait(drained(small)));
    assert_false(drained(large));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    uint64_t before = read_bytes(large);
    assert_true(double_wait(drained(large)));
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    print_message("SDMA copies: %.1f GB/s\n",
                  (double)(*large->write_pointer - before) / 28 * BYTES / seconds / 1e9);
    double_queue_destroy(large);
    double_queue_destroy(small);
}

#define DOUBLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* What an engine's counters say through its registers: packets, and of these traps. */
static void packets_are_counted(void **state)
{
    enum {
        COUNTER0_CFG = 0x12b7,
        COUNTER1_CFG,
        CONTROL,
        LOW_WORD = 0x12bb
    }; /* engine 0 of gfx90a */
    enum { ENABLE = 1 << 28, START = 1 << 24, PACKETS = 35, INTERRUPTS = 32 };
    struct gpu_double *gpu = *state;
    struct perf *perf = gpu->device->perf;
    struct double_queue *queue = double_sdma_create(gpu, 1, RING_BYTES);
    uint64_t to = double_alloc(gpu, 4096);
    uint32_t trap[] = {6, 0}, nop[] = {0}, counts[2];
    push(queue, nop, 1);
    assert_true(double_wait(drained(queue)));
    assert_true(perf_reg_write(perf, 1, COUNTER0_CFG, ENABLE | PACKETS));
    assert_true(perf_reg_write(perf, 1, COUNTER1_CFG, ENABLE | INTERRUPTS));
    assert_true(perf_reg_write(perf, 1, CONTROL, START));
    for (int i = 0; i < 7; i++)
        push_copy(queue, to + 2048, to, 64);
    push(queue, trap, 2);
    push(queue, trap, 2);
    assert_true(double_wait(drained(queue)));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(perf_reg_write(perf, 1, CONTROL, i));
        assert_true(perf_reg_read(perf, 0, LOW_WORD, &counts[i]));
    }
    assert_int_equal(counts[0], 9);
    assert_int_equal(counts[1], 2);
    double_queue_destroy(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOUBLE_TEST(packets_are_counted),
        DOUBLE_TEST(copies_of_odd_sizes_equal_memcpy),
        DOUBLE_TEST(sub_window_copies_equal_a_reference),
        DOUBLE_TEST(fills_write_bytes_halves_and_words),
        DOUBLE_TEST(fence_trap_atomic_timestamp_write),
        DOUBLE_TEST(poll_yields_and_flush_is_skipped),
        DOUBLE_TEST(packets_wrap_around_the_ring),
        DOUBLE_TEST(bad_addresses_and_packets_stop_the_queue),
        DOUBLE_TEST(large_copies_share_the_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
