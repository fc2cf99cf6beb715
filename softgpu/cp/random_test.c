/*
 * Whatever a broken program puts into a ring, the processor survives it: random packets with
 * plausible opcodes and lengths, addresses partly mapped. Runs on the test's own thread, without
 * the CP's; under ASan and UBSan (the asan preset) it also finds reads beyond buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

enum { ROUNDS = 20000, TURNS_MAX = 50, STREAM_DWORDS = 64, DATA_BYTES = 4096 };

static uint32_t seed;

static uint32_t random32(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static int setup(void **state)
{
    seed = 20260101;
    *state = double_create();
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    double_destroy(*state);
    return 0;
}

/* One word in four is a mapped address' half, so that packets get somewhere. */
static uint32_t random_word(uint64_t va)
{
    switch (random32() % 8) {
    case 0:
        return (uint32_t)va + random32() % DATA_BYTES / 8 * 8;
    case 1:
        return (uint32_t)(va >> 32);
    case 2:
        return random32() % 64;
    default:
        return random32();
    }
}

/* Runs one queue until it stops, waits, or has had its turns; returns the last step. */
static enum step drive(struct cp_queue *queue, enum step (*turn)(struct cp_queue *))
{
    enum step step = STEP_MORE;
    vm_reader_enter(&queue->device->access.reader);
    for (int i = 0; i < TURNS_MAX && (step == STEP_MORE || step == STEP_SLICE); i++)
        step = turn(queue);
    vm_reader_leave(&queue->device->access.reader);
    queue->device->raised_count = 0;
    return step;
}

static void random_pm4_does_no_harm(void **state)
{
    static const uint8_t opcodes[] = {0x10, 0x1e, 0x21, 0x22, 0x23, 0x37, 0x3c, 0x3f, 0x40,
                                      0x46, 0x49, 0x50, 0x58, 0x68, 0x69, 0x76, 0x79, 0xff};
    static const uint8_t lengths[] = {4, 8, 3, 4, 1, 5, 6, 3, 5, 1, 6, 6, 6, 3, 3, 3, 3, 2};
    struct gpu_double *gpu = *state;
    struct cp_queue *queue = calloc(1, sizeof *queue);
    uint64_t stream_va = double_alloc(gpu, STREAM_DWORDS * 4),
             data_va = double_alloc(gpu, DATA_BYTES);
    uint32_t *stream = double_host(gpu, stream_va), ended[STEP_ERROR + 1] = {0};

    queue->device = gpu->device;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t at = 0;
        while (at < STREAM_DWORDS) {
            uint32_t pick = random32() % sizeof opcodes;
            uint32_t body = random32() % 16 ? lengths[pick] : random32() % 0x4000;
            stream[at++] = 3u << 30 | (body - 1) % 0x4000 << 16 | (uint32_t)opcodes[pick] << 8;
            for (uint32_t i = 0; i < body && at < STREAM_DWORDS; i++)
                stream[at++] = random_word(random32() % 8 ? data_va : stream_va);
        }
        pm4_start(&queue->pm4, stream_va, STREAM_DWORDS);
        ended[drive(queue, pm4_step)]++;
    }
    assert_true(ended[STEP_ERROR] > 0);
    assert_true(ended[STEP_BLOCKED] > 0); /* they do get past their first packet */
    free(queue);
}

static void random_sdma_does_no_harm(void **state)
{
    static const uint8_t opcodes[] = {0, 1, 2, 5, 6, 8, 10, 11, 13, 99};
    enum { RING_BYTES = 256 };
    struct gpu_double *gpu = *state;
    struct cp_queue *queue = calloc(1, sizeof *queue);
    uint64_t ring_va = double_alloc(gpu, RING_BYTES), data_va = double_alloc(gpu, DATA_BYTES);
    uint64_t pointers_va = double_alloc(gpu, 16);
    uint64_t *pointers = double_host(gpu, pointers_va);
    uint32_t *ring = double_host(gpu, ring_va), ended[STEP_ERROR + 1] = {0};

    queue->device = gpu->device;
    queue->config = (struct cp_queue_config){.type = CP_QUEUE_SDMA,
                                             .ring_va = ring_va,
                                             .ring_bytes = RING_BYTES,
                                             .read_pointer_va = pointers_va,
                                             .write_pointer_va = pointers_va + 8};
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < RING_BYTES / 4; i++)
            ring[i] = random_word(data_va);
        ring[0] =
            opcodes[random32() % sizeof opcodes] | random32() % 5 << 8 | (random32() & 0xf0000000);
        queue->sdma = (struct sdma_state){0};
        pointers[1] = random32() % 16 ? random32() % (RING_BYTES / 4) * 4 : random32();
        ended[drive(queue, sdma_step)]++;
    }
    assert_true(ended[STEP_ERROR] > 0);
    free(queue);
}

static void random_aql_does_no_harm(void **state)
{
    struct gpu_double *gpu = *state;
    hsa_signal_t signal = double_signal(gpu, 0, 3);
    for (int round = 0; round < ROUNDS / 40; round++) {
        struct double_queue *queue = double_aql_create(gpu, 1, 64);
        for (int i = 0; i < 4; i++) {
            uint32_t packet[16];
            for (int word = 0; word < 16; word++)
                packet[word] = random_word(signal.handle);
            packet[0] = random32() % 7 | random32() % 3 << 16 | (random32() & 0x100);
            double_push(queue, packet);
        }
        double_queue_destroy(queue);
        gpu->used_bytes = signal.handle - double_arena_va + 4096;
    }
}

#define DOUBLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOUBLE_TEST(random_pm4_does_no_harm),
        DOUBLE_TEST(random_sdma_does_no_harm),
        DOUBLE_TEST(random_aql_does_no_harm),
    };
    setenv("CROC_LOG_LEVEL", "error", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
