/*
 * Rows of packets do what their packets do one by one. The same random streams run on two devices,
 * once as they are and once with a bit in each header that means nothing to the registers and that
 * rows do not have, and must leave the same in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cp/pm4_ops.h"
#include "cp/test/gpu_double.h"
#include "gfx90a_regs.h" /* generated */

#define REG(name) REG_GFX90A_##name
#define SET_ONE   0xc0017900u
#define COPY      0xc0044000u
#define ALL       0xe0000000u

enum { DWORDS_MAX = 8192, VALUES = 512, ROUNDS = 60, SEEDS = 8, UNKNOWN_REGISTER = 0xc100 };
enum { SHADER_TYPE = 1 << 1, FROM_COUNTER = 4, TO_MEMORY = 1 << 8, TO_MEMORY_ASYNC = 5 << 8 };
enum { WIDE = 1 << 16, PAGE = 4096, WORDS = VALUES + PAGE / 8 /* a trace behind the values */ };

struct stream {
    uint32_t word[DWORDS_MAX], dwords, header_bits;
};

/* A device, and a queue that this thread runs itself. */
struct run {
    struct gpu_double *gpu;
    struct cp_queue *queue;
    struct stream stream;
    uint64_t stream_va, values_va;
    uint32_t random, dispatches;
};

static uint32_t random_below(struct run *run, uint32_t limit)
{
    run->random ^= run->random << 13;
    run->random ^= run->random >> 17;
    run->random ^= run->random << 5;
    return run->random % limit;
}

static void put(struct stream *stream, uint32_t header, uint32_t count, ...)
{
    va_list words;
    assert_true(stream->dwords + count + 1 <= DWORDS_MAX);
    stream->word[stream->dwords++] = header | stream->header_bits;
    va_start(words, count);
    for (uint32_t i = 0; i < count; i++)
        stream->word[stream->dwords++] = va_arg(words, uint32_t);
    va_end(words);
}

static void put_set(struct stream *stream, uint32_t reg, uint32_t value)
{
    put(stream, SET_ONE, 2, reg - 0xc000, value);
}

static void put_copy(struct stream *stream, uint32_t control, uint32_t reg, uint64_t va)
{
    put(stream, COPY, 5, control, reg, 0u, (uint32_t)va, (uint32_t)(va >> 32));
}

static struct run *run_create(const char *model, uint32_t header_bits)
{
    struct run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->gpu = double_create_as(model);
    assert_non_null(run->gpu);
    run->queue = calloc(1, sizeof *run->queue);
    assert_non_null(run->queue);
    run->queue->device = run->gpu->device;
    run->stream_va = double_alloc(run->gpu, sizeof run->stream.word);
    run->values_va = (double_alloc(run->gpu, WORDS * 8 + PAGE) + PAGE - 1) & ~(PAGE - 1ull);
    run->stream.header_bits = header_bits;
    return run;
}

static void run_destroy(struct run *run)
{
    double_destroy(run->gpu);
    free(run->queue);
    free(run);
}

static enum step turns(struct run *run, uint64_t va, uint32_t dwords)
{
    struct vm_reader *reader = &run->gpu->device->access.reader;
    enum step step = STEP_MORE;
    vm_reader_enter(reader);
    pm4_start(&run->queue->pm4, va, dwords);
    while (step == STEP_MORE)
        step = pm4_step(run->queue);
    vm_reader_leave(reader);
    return step;
}

static enum step stream_run(struct run *run)
{
    memcpy(double_host(run->gpu, run->stream_va), run->stream.word, sizeof run->stream.word);
    return turns(run, run->stream_va, run->stream.dwords);
}

/* ---- the same as one by one ---- */

static const uint32_t selects[] = {
    REG(SQ_PERFCOUNTER0_SELECT),  REG(SQ_PERFCOUNTER1_SELECT),  REG(TCC_PERFCOUNTER0_SELECT),
    REG(TCC_PERFCOUNTER1_SELECT), REG(TCP_PERFCOUNTER0_SELECT), REG(GRBM_PERFCOUNTER0_SELECT),
    REG(SPI_PERFCOUNTER0_SELECT), REG(CPC_PERFCOUNTER0_SELECT),
};
static const uint32_t lows[] = {
    REG(SQ_PERFCOUNTER0_LO),  REG(SQ_PERFCOUNTER1_LO),  REG(TCC_PERFCOUNTER0_LO),
    REG(TCC_PERFCOUNTER1_LO), REG(TCP_PERFCOUNTER0_LO), REG(GRBM_PERFCOUNTER0_LO),
    REG(SPI_PERFCOUNTER0_LO), REG(CPC_PERFCOUNTER0_LO),
};
enum { COUNTERS = sizeof lows / sizeof lows[0] };

/* All units, one channel or unit of all engines, one engine, one unit, or beyond the hardware. */
static uint32_t random_index(struct run *run)
{
    const uint32_t engine = random_below(run, 9) << 16;
    switch (random_below(run, 6)) {
    case 0:
        return 0xa0000000u | random_below(run, 34);
    case 1:
        return 0x60000000u | engine;
    case 2:
        return engine | random_below(run, 16);
    case 3:
        return random_below(run, 8) << 29 | engine | random_below(run, 256);
    default:
        return ALL;
    }
}

static void put_random_set(struct run *run)
{
    enum { TRACE_ON = 1 << 21 | 1 << 18 };
    static const uint32_t perfmon[] = {0, 1, 1, 1, 2, 0x401};
    static const uint32_t events[] = {0, 2, 3, 4, 14, 17, 19, 26, 47, 56};
    static const uint32_t controls[] = {0xffff0057, 0xffff007f, 0xffffffff, 0x57, 0};
    struct stream *stream = &run->stream;
    switch (random_below(run, 12)) {
    case 0:
        put_set(stream, REG(CP_PERFMON_CNTL), perfmon[random_below(run, 6)]);
        break;
    case 1:
        put_set(stream, REG(SQ_PERFCOUNTER_CTRL), controls[random_below(run, 5)]);
        break;
    case 2:
        put_set(stream, REG(SQ_PERFCOUNTER_MASK), controls[random_below(run, 5)]);
        break;
    case 3:
        put_set(stream, lows[random_below(run, COUNTERS)], random_below(run, 1000));
        break;
    case 4:
        put_set(stream, random_below(run, 2) ? REG(SQ_THREAD_TRACE_CNTR) : UNKNOWN_REGISTER, 0);
        break;
    case 11:
        put_set(stream, REG(SQ_THREAD_TRACE_MODE), random_below(run, 2) ? TRACE_ON : 0);
        break;
    case 5:
    case 6:
    case 7:
        put_set(stream, selects[random_below(run, COUNTERS)], events[random_below(run, 10)]);
        break;
    default:
        put_set(stream, REG(GRBM_GFX_INDEX), random_index(run));
        break;
    }
}

static void put_random_copy(struct run *run)
{
    static const uint32_t controls[] = {WIDE | TO_MEMORY | FROM_COUNTER, WIDE | TO_MEMORY,
                                        WIDE | TO_MEMORY_ASYNC | FROM_COUNTER,
                                        TO_MEMORY | FROM_COUNTER};
    uint32_t reg = lows[random_below(run, COUNTERS)];
    if (random_below(run, 32) == 0)
        reg = REG(SQ_THREAD_TRACE_WPTR);
    if (random_below(run, 8) == 0)
        reg = random_below(run, 2) ? REG(GRBM_GFX_INDEX) : selects[random_below(run, COUNTERS)];
    put_copy(&run->stream, controls[random_below(run, 4)], reg,
             run->values_va + 8ull * random_below(run, VALUES));
}

/* PRED_EXEC for some dies, and of how many dwords, which is known when those are there. */
static void put_random_packets(struct run *run, uint32_t count)
{
    struct stream *stream = &run->stream;
    uint32_t predicate = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!predicate && random_below(run, 16) == 0) {
            put(stream, 0xc0002300u, 1, random_below(run, 256) << 24);
            predicate = stream->dwords - 1;
        }
        if (random_below(run, 2))
            put_random_set(run);
        else
            put_random_copy(run);
        if (predicate && (i + 1 == count || random_below(run, 4) == 0)) {
            stream->word[predicate] |= stream->dwords - predicate - 1;
            predicate = 0;
        }
    }
}

static void execute(struct run *run)
{
    const struct gpu_model *model = run->gpu->device->model;
    struct perf *perf = run->gpu->device->perf;
    uint64_t seq = ++run->dispatches;
    uint32_t groups = random_below(run, 20);
    perf_dispatch_begin(perf, seq, random_below(run, 3) != 0);
    for (uint32_t i = 0; i < groups; i++) {
        struct perf_line_access read = {.line_va = 0x10000 + 64ull * random_below(run, 256),
                                        .kind = ACCESS_READ,
                                        .flags = ACCESS_FIRST};
        perf_group_retire(perf, &(struct perf_group){.dispatch_seq = seq,
                                                     .group_index = i,
                                                     .xcc = random_below(run, model->xcc_count),
                                                     .se = random_below(run, model->se_count),
                                                     .cu = random_below(run, model->cu_per_sh),
                                                     .waves = 1 + random_below(run, 4),
                                                     .work_items = 64,
                                                     .busy_cycles = 500,
                                                     .wants = perf_wants(perf),
                                                     .accesses = &read,
                                                     .access_count = 1});
    }
    perf_dispatch_end(perf, seq);
}

/* Where a thread trace goes: a page. */
static void put_trace(struct stream *stream, uint64_t va)
{
    put_set(stream, REG(GRBM_GFX_INDEX), ALL);
    put_set(stream, REG(SQ_THREAD_TRACE_BASE), (uint32_t)(va / PAGE));
    put_set(stream, REG(SQ_THREAD_TRACE_BASE2), (uint32_t)(va / PAGE >> 32));
    put_set(stream, REG(SQ_THREAD_TRACE_SIZE), 1);
}

/* What the rounds of a seed leave in memory, one after another. */
static uint64_t *values_of(const char *model, uint32_t seed, uint32_t header_bits)
{
    struct run *run = run_create(model, header_bits);
    uint64_t *all = calloc(ROUNDS, WORDS * 8);
    assert_non_null(all);
    run->random = seed * 2654435761u;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        run->stream.dwords = 0;
        put_trace(&run->stream, run->values_va + VALUES * 8);
        put_random_packets(run, random_below(run, 400));
        assert_int_equal(stream_run(run), STEP_IDLE);
        memcpy(all + (size_t)round * WORDS, double_host(run->gpu, run->values_va), WORDS * 8);
        execute(run);
    }
    run_destroy(run);
    return all;
}

static void the_same_as_one_by_one(void **state)
{
    static const char *const models[] = {"gfx90a", "gfx906", "gfx942"};
    uint32_t counted = 0;
    (void)state;
    for (uint32_t i = 0; i < 3 * SEEDS; i++) {
        const char *model = models[i % 3];
        uint64_t *rows = values_of(model, i + 1, 0), *alone = values_of(model, i + 1, SHADER_TYPE);
        assert_memory_equal(rows, alone, (size_t)ROUNDS * WORDS * 8);
        for (uint32_t k = 0; k < ROUNDS * WORDS; k++)
            counted += rows[k] > 1000; /* than what is written into values */
        free(rows);
        free(alone);
    }
    assert_true(counted > 100); /* cycles, and bytes: these streams do count */
}

/* ---- where rows end ---- */

static void more_than_a_turn_of_packets(void **state)
{
    enum { PACKETS = 700 };
    struct run *run = run_create("gfx90a", 0);
    uint64_t *values = double_host(run->gpu, run->values_va);
    (void)state;
    put_set(&run->stream, REG(TCC_PERFCOUNTER0_LO), 41);
    for (uint32_t i = 0; i < PACKETS; i++)
        put_copy(&run->stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO),
                 run->values_va + 8ull * (i % VALUES));
    assert_int_equal(stream_run(run), STEP_IDLE);
    for (uint32_t i = 0; i < VALUES; i++)
        assert_int_equal(values[i], 41);
    run_destroy(run);
}

/* Values before the bad address are there, and the queue's error names it. */
static void a_bad_address_is_a_fault(void **state)
{
    struct run *run = run_create("gfx90a", 0);
    uint64_t *values = double_host(run->gpu, run->values_va);
    (void)state;
    put_set(&run->stream, REG(TCC_PERFCOUNTER0_LO), 5);
    put_copy(&run->stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO),
             run->values_va);
    put_copy(&run->stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO), 0x5008);
    put_copy(&run->stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO),
             run->values_va + 8);
    assert_int_equal(stream_run(run), STEP_ERROR);
    assert_int_equal(values[0], 5);
    assert_int_equal(values[1], 0);
    assert_int_equal(run->queue->error.fault_va, 0x5008);
    assert_int_equal(run->queue->error.fault_kind, VM_WRITE);
    run_destroy(run);
}

/* A row's last packet that the buffer has half of is an error, not read to its end. */
static void half_a_packet_is_an_error(void **state)
{
    struct run *run = run_create("gfx90a", 0);
    (void)state;
    put_set(&run->stream, REG(GRBM_GFX_INDEX), ALL);
    put_copy(&run->stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO),
             run->values_va);
    run->stream.dwords--;
    assert_int_equal(stream_run(run), STEP_ERROR);
    run_destroy(run);
}

/* Two mappings side by side whose memory is the other way round in the host: commands and values
 * go on from one to the next. */
static void across_mappings(void **state)
{
    enum { PART = 4096, SETS = PART / 12 + 1 };
    const uint64_t commands = 0x100000, values = 0x200000;
    struct run *run = run_create("gfx90a", 0);
    struct stream *stream = &run->stream;
    struct vm *vm = run->gpu->vm;
    uint64_t host_va = double_alloc(run->gpu, 4 * PART + 4096);
    uint8_t *host = double_host(run->gpu, (host_va + 4095) & ~4095ull);
    (void)state;
    assert_int_equal(vm_map(vm, commands, PART, host + PART, VM_READ | VM_WRITE), 0);
    assert_int_equal(vm_map(vm, commands + PART, PART, host, VM_READ | VM_WRITE), 0);
    assert_int_equal(vm_map(vm, values, PART, host + 3 * PART, VM_READ | VM_WRITE), 0);
    assert_int_equal(vm_map(vm, values + PART, PART, host + 2 * PART, VM_READ | VM_WRITE), 0);
    put(stream, 0xc0001000u, 1, 0u); /* NOP: what follows ends where the first mapping does */
    put(stream, 0xc0001000u, 1, 0u);
    for (uint32_t i = 1; i < SETS; i++)
        put_set(stream, REG(TCC_PERFCOUNTER0_LO), i);
    assert_int_equal(stream->dwords, PART / 4 + 3);
    for (uint64_t va = values + PART - 8; va <= values + PART; va += 8)
        put_copy(stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO), va);
    memcpy(host + PART, stream->word, PART);
    memcpy(host, (uint8_t *)stream->word + PART, 4ull * stream->dwords - PART);
    assert_int_equal(turns(run, commands, stream->dwords), STEP_IDLE);
    assert_int_equal(*(uint64_t *)(void *)(host + 4 * PART - 8), SETS - 1);
    assert_int_equal(*(uint64_t *)(void *)(host + 2 * PART), SETS - 1);
    run_destroy(run);
}

/* A target that there is not, at an address that there is. */
static void another_target_is_an_error(void **state)
{
    enum { TO_NOBODY = 3 << 8 };
    struct run *run = run_create("gfx90a", 0);
    (void)state;
    put_copy(&run->stream, WIDE | TO_NOBODY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO),
             run->values_va);
    assert_int_equal(stream_run(run), STEP_ERROR);
    run_destroy(run);
}

/* The predicate of the buffer that a row's is called from: one die is written, and read. */
static void a_row_for_one_die(void **state)
{
    enum { ROW_AT = 64 };
    struct run *run = run_create("gfx942", 0);
    struct stream *stream = &run->stream;
    uint64_t *values = double_host(run->gpu, run->values_va);
    uint64_t row_va = run->stream_va + 4 * ROW_AT;
    (void)state;
    put_set(stream, REG(TCC_PERFCOUNTER0_LO), 5);
    put(stream, 0xc0002300u, 1, 1u << 24 << 3 | 6); /* XCC 3 alone runs the buffer, and a NOP */
    put(stream, 0xc0023f00u, 3, (uint32_t)row_va, (uint32_t)(row_va >> 32), 9u);
    put(stream, 0xc0001000u, 1, 0u);
    put_copy(stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO), run->values_va + 8);
    uint32_t outer = stream->dwords;
    stream->dwords = ROW_AT;
    put_set(stream, REG(TCC_PERFCOUNTER0_LO), 7);
    put_copy(stream, WIDE | TO_MEMORY | FROM_COUNTER, REG(TCC_PERFCOUNTER0_LO), run->values_va);
    stream->dwords = outer;
    assert_int_equal(stream_run(run), STEP_IDLE);
    assert_int_equal(values[0], 7);
    assert_int_equal(values[1], 5);
    run_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_as_one_by_one),   cmocka_unit_test(more_than_a_turn_of_packets),
        cmocka_unit_test(a_bad_address_is_a_fault), cmocka_unit_test(half_a_packet_is_an_error),
        cmocka_unit_test(across_mappings),          cmocka_unit_test(another_target_is_an_error),
        cmocka_unit_test(a_row_for_one_die),
    };
    setenv("CROC_LOG_LEVEL", "error", 1); /* of registers that are not there */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
