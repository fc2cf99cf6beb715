/*
 * PM4 streams as real profilers send them, written out dword by dword from the packet formats.
 * What executed is reported to the register file directly: the wave engine is a double.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

enum { NO_CONFIRM_COPY = 0x02002500 }; /* COPY_DATA register -> memory, 32 bits, streaming */

struct stream {
    uint32_t word[512];
    uint32_t dwords;
};

static void put(struct stream *stream, uint32_t count, ...)
{
    va_list words;
    va_start(words, count);
    for (uint32_t i = 0; i < count; i++)
        stream->word[stream->dwords++] = va_arg(words, uint32_t);
    va_end(words);
}

/* SET_UCONFIG_REG of an absolute register. */
static void set_uconfig(struct stream *stream, uint32_t reg, uint32_t value)
{
    put(stream, 3, 0xc0017900u, reg - 0xc000, value);
}

static void flush(struct stream *stream)
{
    put(stream, 2, 0xc0004600u, 0x407u);
}

static void copy_register(struct stream *stream, uint32_t reg, uint64_t to)
{
    put(stream, 6, 0xc0044000u, (uint32_t)NO_CONFIRM_COPY, reg, 0u, (uint32_t)to,
        (uint32_t)(to >> 32));
}

enum {
    GRBM_GFX_INDEX = 0xc200,
    RLC_PERFMON_CLK_CNTL = 0xdcbf,
    CP_PERFMON_CNTL = 0xd808,
    SQ_PERFCOUNTER_CTRL = 0xd9e0,
    SQ_PERFCOUNTER_MASK = 0xd9e1,
    SQ_PERFCOUNTER0_SELECT = 0xd9c0,
    GRBM_PERFCOUNTER0_SELECT = 0xd840,
    TCC_PERFCOUNTER0_SELECT = 0xdb80,
    SQ_PERFCOUNTER0_LO = 0xd1c0,
    GRBM_PERFCOUNTER0_LO = 0xd040,
    TCC_PERFCOUNTER0_LO = 0xd380,
    ENGINES = 8,
    BROADCAST = 0xe0000000u
};

/* {SQ:4 SQ_WAVES, GRBM:0 GRBM_COUNT, TCC:17 TCC_HIT of channel 0}, the order of a real stream. */
static void put_start(struct stream *stream)
{
    flush(stream);
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    set_uconfig(stream, RLC_PERFMON_CLK_CNTL, 1);
    set_uconfig(stream, CP_PERFMON_CNTL, 0);
    set_uconfig(stream, SQ_PERFCOUNTER_CTRL, 0xffff007f);
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    set_uconfig(stream, SQ_PERFCOUNTER0_SELECT, 0x0f0ff004);
    set_uconfig(stream, SQ_PERFCOUNTER_MASK, 0xffffffff);
    set_uconfig(stream, SQ_PERFCOUNTER_CTRL, 0xffff0057);
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    set_uconfig(stream, GRBM_PERFCOUNTER0_SELECT, 0);
    set_uconfig(stream, GRBM_GFX_INDEX, 0xa0000000);
    set_uconfig(stream, TCC_PERFCOUNTER0_SELECT, 17);
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    put(stream, 3, 0xc0017600u, 0x2e0bu - 0x2c00u, 1u); /* COMPUTE_PERFCOUNT_ENABLE */
    set_uconfig(stream, CP_PERFMON_CNTL, 0);
    set_uconfig(stream, CP_PERFMON_CNTL, 1);
    flush(stream);
}

static void put_read(struct stream *stream, uint64_t to)
{
    set_uconfig(stream, CP_PERFMON_CNTL, 0x401);
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    flush(stream);
    for (uint32_t se = 0; se < ENGINES; se++, to += 8) {
        set_uconfig(stream, GRBM_GFX_INDEX, 0x60000000 | se << 16);
        copy_register(stream, SQ_PERFCOUNTER0_LO, to);
        copy_register(stream, SQ_PERFCOUNTER0_LO + 1, to + 4);
    }
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    copy_register(stream, GRBM_PERFCOUNTER0_LO, to);
    copy_register(stream, GRBM_PERFCOUNTER0_LO + 1, to + 4);
    set_uconfig(stream, GRBM_GFX_INDEX, 0xa0000000);
    copy_register(stream, TCC_PERFCOUNTER0_LO, to + 8);
    copy_register(stream, TCC_PERFCOUNTER0_LO + 1, to + 12);
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    put(stream, 7, 0xc0055800u, 0x28c40000u, 0xffffffffu, 0u, 0u, 0u, 0x10u); /* ACQUIRE_MEM */
}

static void put_stop(struct stream *stream)
{
    set_uconfig(stream, GRBM_GFX_INDEX, BROADCAST);
    set_uconfig(stream, CP_PERFMON_CNTL, 2);
    set_uconfig(stream, RLC_PERFMON_CLK_CNTL, 0);
    flush(stream);
}

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

static void run(struct double_queue *queue, const struct stream *stream)
{
    hsa_signal_t done = double_signal(queue->gpu, 1, 0);
    double_push_pm4(queue, stream->word, stream->dwords, done);
    assert_true(double_wait(double_signal_value(queue->gpu, done) == 0));
}

/* One dispatch: engine n gets n + 1 groups of 4 waves, each of which reads one line of channel 0
 * twice, so that n + 1 times one request hits in L1. */
static void execute(struct gpu_double *gpu, uint64_t seq)
{
    struct perf *perf = gpu->device->perf;
    struct perf_line_access read = {.line_va = 0x10000, .kind = ACCESS_READ};
    perf_dispatch_begin(perf, seq, true);
    for (uint32_t se = 0; se < ENGINES; se++)
        for (uint32_t i = 0; i <= se; i++)
            perf_group_retire(perf, &(struct perf_group){.dispatch_seq = seq,
                                                         .se = se,
                                                         .cu = i,
                                                         .waves = 4,
                                                         .work_items = 256,
                                                         .busy_cycles = 500,
                                                         .wants = PERF_WANT_L2,
                                                         .accesses = &read,
                                                         .access_count = 1});
    perf_dispatch_end(perf, seq);
}

/* Groups sit on 1 + 2 + ... + 8 = 36 different units: each misses its own L1, and all but the
 * first hit the line in L2. */
enum { GROUPS = 36, L2_HITS = GROUPS - 1 };

static void check_results(const uint64_t *result, uint64_t runs)
{
    for (uint32_t se = 0; se < ENGINES; se++)
        assert_int_equal(result[se], runs * 4 * (se + 1));
    assert_true(result[ENGINES] >= runs * 500); /* GRBM_COUNT covers the busiest unit */
    assert_int_equal(result[ENGINES + 1], runs * GROUPS - 1);
}

static void start_read_stop(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint64_t to = double_alloc(gpu, 256), *result = double_host(gpu, to);
    struct stream start = {0}, read = {0}, stop = {0};
    put_start(&start);
    put_read(&read, to);
    put_stop(&stop);
    assert_int_equal(stop.dwords, 11); /* what a real profiler's stream measures */
    for (int session = 0; session < 2; session++) {
        execute(gpu, 1); /* before the start: not counted */
        run(queue, &start);
        execute(gpu, 2);
        run(queue, &read);
        run(queue, &stop);
        check_results(result, 1);
    }
    double_queue_destroy(queue);
}

static void start_stop_read(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint64_t to = double_alloc(gpu, 256), *result = double_host(gpu, to);
    struct stream start = {0}, read = {0}, stop = {0};
    put_start(&start);
    put_stop(&stop);
    put_read(&read, to);
    run(queue, &start);
    execute(gpu, 1);
    execute(gpu, 2);
    run(queue, &stop);
    execute(gpu, 3); /* after the stop: not counted */
    run(queue, &read);
    check_results(result, 2);
    double_queue_destroy(queue);
}

static void same_run_same_values(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint64_t to = double_alloc(gpu, 256), *result = double_host(gpu, to), first[10];
    struct stream start = {0}, read = {0};
    put_start(&start);
    put_read(&read, to);
    for (int round = 0; round < 5; round++) {
        run(queue, &start);
        execute(gpu, (uint64_t)round);
        run(queue, &read);
        if (round == 0)
            memcpy(first, result, sizeof first);
        assert_memory_equal(result, first, sizeof first);
    }
    double_queue_destroy(queue);
}

/* CS_PARTIAL_FLUSH waits for this queue's kernels, and for no other queue's. */
static void flush_waits_for_own_dispatches(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64),
                        *other = double_aql_create(gpu, 2, 64);
    hsa_signal_t done = double_signal(gpu, 1, 0), other_done = double_signal(gpu, 1, 0);
    hsa_kernel_dispatch_packet_t kernel = double_kernel(false, (hsa_signal_t){0});
    struct stream stream = {0};
    flush(&stream);
    double_hold(gpu, true);
    double_push(queue, &kernel);
    double_push_pm4(queue, stream.word, stream.dwords, done);
    double_push_pm4(other, stream.word, stream.dwords, other_done);
    assert_true(double_wait(double_signal_value(gpu, other_done) == 0));
    double_settle();
    assert_int_equal(double_signal_value(gpu, done), 1);
    double_finish(gpu, 0, NULL);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    double_queue_destroy(queue);
    double_queue_destroy(other);
}

static void data_moves(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint64_t va = double_alloc(gpu, 256);
    uint32_t low = (uint32_t)va, high = (uint32_t)(va >> 32), *word = double_host(gpu, va);
    uint64_t before = gpu_clock_ticks();
    struct stream stream = {0};
    put(&stream, 7, 0xc0053700u, 0x00000500u, low, high, 0x11u, 0x22u, 0x33u); /* WRITE_DATA x3 */
    put(&stream, 6, 0xc0044000u, 0x00000501u, low + 4, high, low + 16, high);  /* mem -> mem */
    put(&stream, 6, 0xc0044000u, 0x00010505u, 0xaabbccddu, 0x12345678u, low + 24,
        high);                                                           /* imm 64 */
    put(&stream, 6, 0xc0044000u, 0x00110509u, 0u, 0u, low + 32, high);   /* GPU clock */
    put(&stream, 6, 0xc0044000u, 0x00000005u, 0xcafeu, 0u, 0xc342u, 0u); /* imm -> USERDATA_2 */
    put(&stream, 6, 0xc0044000u, 0x00000500u, 0xc342u, 0u, low + 40, high);
    put(&stream, 9, 0xc0071e00u, 0x0000000fu, low, high, 5u, 0u, 0u, 0u, 0u); /* ATOMIC_MEM add */
    put(&stream, 6, 0xc0044000u, 0x00000506u, 0u, 0u, low + 44, high);        /* its old value */
    put(&stream, 1, 0xffff1000u);                                             /* NOP of one dword */
    put(&stream, 7, 0xc0055000u, 0x60300000u, low, high, low + 64, high, 12u); /* DMA_DATA */
    put(&stream, 8, 0xc0064900u, 0x00000514u, 2u << 29 | 2u << 24, low + 80, high, 0x99u, 0x88u,
        21u); /* RELEASE_MEM with interrupt */
    run(queue, &stream);
    assert_int_equal(word[0], 0x16);
    assert_int_equal(word[1], 0x22);
    assert_int_equal(word[2], 0x33);
    assert_int_equal(word[4], 0x22);
    assert_int_equal(*(uint64_t *)&word[6], 0x12345678aabbccdd);
    assert_in_range(*(uint64_t *)&word[8], before, gpu_clock_ticks());
    assert_int_equal(word[10], 0xcafe);
    assert_int_equal(word[11], 0x11);
    assert_memory_equal(&word[16], word, 12);
    assert_int_equal(*(uint64_t *)&word[20], 0x8800000099);
    assert_true(double_wait(double_event_count(gpu, 21) == 1)); /* raised after the turn */
    double_queue_destroy(queue);
}

static void conditional_and_nested_streams(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint64_t va = double_alloc(gpu, 256), inner_va = double_alloc(gpu, 64);
    uint32_t low = (uint32_t)va, high = (uint32_t)(va >> 32), *word = double_host(gpu, va);
    uint32_t inner[] = {0xc0033700u, 0x00000500u, low + 4, high, 7u};
    struct stream stream = {0};
    memcpy(double_host(gpu, inner_va), inner, sizeof inner);
    put(&stream, 2, 0xc0002300u, 0x02000005u); /* PRED_EXEC: XCC 1 only, which gfx90a has not */
    put(&stream, 5, 0xc0033700u, 0x00000500u, low, high, 1u);
    put(&stream, 2, 0xc0002300u, 0x01000005u); /* XCC 0 */
    put(&stream, 5, 0xc0033700u, 0x00000500u, low + 8, high, 2u);
    put(&stream, 5, 0xc0032200u, low + 12, high, 0u, 5u); /* COND_EXEC on a zero */
    put(&stream, 5, 0xc0033700u, 0x00000500u, low + 16, high, 3u);
    put(&stream, 4, 0xc0023f00u, (uint32_t)inner_va, (uint32_t)(inner_va >> 32), 0x10800005u);
    put(&stream, 5, 0xc0033700u, 0x00000500u, low + 20, high, 9u); /* after the inner stream */
    run(queue, &stream);
    assert_int_equal(word[0], 0);
    assert_int_equal(word[2], 2);
    assert_int_equal(word[4], 0);
    assert_int_equal(word[1], 7);
    assert_int_equal(word[5], 9);
    double_queue_destroy(queue);
}

/* A chain may be longer than the nesting allowed, and does not return. */
static void chained_streams_do_not_return(void **state)
{
    enum { LINKS = 10, LINK_BYTES = 64 };
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint64_t chain = double_alloc(gpu, LINKS * LINK_BYTES), va = double_alloc(gpu, 256);
    uint32_t *word = double_host(gpu, va);
    struct stream first = {0};

    for (uint32_t i = 0; i < LINKS; i++) {
        uint64_t to = va + 4 * i, next = chain + (i + 1) * LINK_BYTES;
        struct stream link = {0};
        put(&link, 5, 0xc0033700u, 0x00000500u, (uint32_t)to, (uint32_t)(to >> 32), i + 1);
        if (i + 1 < LINKS)
            put(&link, 4, 0xc0023f00u, (uint32_t)next, (uint32_t)(next >> 32),
                0x10900000u | (i + 2 < LINKS ? 10 : 5));
        put(&link, 1, 0xdeadbeefu); /* outside the link's size, or never returned to */
        memcpy(double_host(gpu, chain + i * LINK_BYTES), link.word, 4ull * link.dwords);
    }
    put(&first, 4, 0xc0023f00u, (uint32_t)chain, (uint32_t)(chain >> 32), 0x1090000au);
    put(&first, 1, 0xdeadbeefu);
    run(queue, &first);
    for (uint32_t i = 0; i < LINKS; i++)
        assert_int_equal(word[i], i + 1);
    double_queue_destroy(queue);
}

static void waits_poll_memory(void **state)
{
    struct gpu_double *gpu = *state;
    struct double_queue *queue = double_aql_create(gpu, 1, 64);
    uint64_t va = double_alloc(gpu, 64);
    uint32_t low = (uint32_t)va, high = (uint32_t)(va >> 32), *word = double_host(gpu, va);
    hsa_signal_t done = double_signal(gpu, 1, 0);
    struct stream stream = {0};
    put(&stream, 7, 0xc0053c00u, 0x13u, low, high, 5u, 0xffu, 4u);
    /* Lock: loop until the word was 0, then it is 77. */
    put(&stream, 9, 0xc0071e00u, 0x00000108u, low + 4, high, 77u, 0u, 0u, 0u, 4u);
    word[1] = 1;
    double_push_pm4(queue, stream.word, stream.dwords, done);
    double_settle();
    assert_int_equal(double_signal_value(gpu, done), 1);
    __atomic_store_n(&word[0], 0x105, __ATOMIC_RELEASE);
    double_settle();
    assert_int_equal(double_signal_value(gpu, done), 1);
    __atomic_store_n(&word[1], 0, __ATOMIC_RELEASE);
    assert_true(double_wait(double_signal_value(gpu, done) == 0));
    assert_int_equal(word[1], 77);
    double_queue_destroy(queue);
}

static void bad_streams_stop_the_queue(void **state)
{
    static const uint32_t bad[][8] = {
        {2, 0xc000ff00, 0},                                   /* no such opcode */
        {1, 0x12345678},                                      /* a type-0 header */
        {2, 0xc0054000, 0},                                   /* COPY_DATA longer than the buffer */
        {6, 0xc0044000, 0x50f},                               /* no such source */
        {7, 0xc0053c00, 3, 0x338, 0, 1, ~0u},                 /* waits for an unknown register */
        {7, 0xc0055000, 0x60300000, 0, 0, 0, 0, 1 << 26 | 4}, /* DMA_DATA from a register */
        {7, 0xc0055000, 0x60300000, 0, 0, 0, 0, 1 << 27 | 4}, /* and to one */
    };
    struct gpu_double *gpu = *state;

    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct double_queue *queue = double_aql_create(gpu, 10 + i, 64);
        double_push_pm4(queue, bad[i] + 1, bad[i][0], (hsa_signal_t){0});
        assert_true(double_wait(double_signal_value(gpu, queue->inactive) == 256));
        double_queue_destroy(queue);
    }
    struct double_queue *queue = double_aql_create(gpu, 30, 64);
    uint32_t write[] = {0xc0033700, 0x500, 0x1000, 0, 1}; /* nothing is mapped there */
    double_push_pm4(queue, write, 5, (hsa_signal_t){0});
    assert_true(double_wait(double_fault_count(gpu) == 1));
    assert_int_equal(gpu->fault_va, 0x1000);
    double_queue_destroy(queue);
}

#define DOUBLE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOUBLE_TEST(start_read_stop),
        DOUBLE_TEST(start_stop_read),
        DOUBLE_TEST(same_run_same_values),
        DOUBLE_TEST(flush_waits_for_own_dispatches),
        DOUBLE_TEST(data_moves),
        DOUBLE_TEST(conditional_and_nested_streams),
        DOUBLE_TEST(chained_streams_do_not_return),
        DOUBLE_TEST(waits_poll_memory),
        DOUBLE_TEST(bad_streams_stop_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
