#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gfx90a_regs.h"
#include "perf/perf.h"
#include "perf/sampling.h"

#define REG(name) REG_GFX90A_##name

enum { ENGINES = 8, CU_PER_ENGINE = 14, CHANNELS = 32, BROADCAST = (int)0xe0000000 };

static int setup(void **state)
{
    return perf_create(gpu_model_find("gfx90a"), (struct perf **)state);
}

static int teardown(void **state)
{
    perf_destroy(*state);
    return 0;
}

static void set(struct perf *perf, uint32_t reg, uint32_t value)
{
    assert_true(perf_reg_write(perf, 1, reg, value));
}

static uint64_t get(struct perf *perf, uint32_t low)
{
    uint32_t words[2];
    assert_true(perf_reg_read(perf, 0, low, &words[0]));
    assert_true(perf_reg_read(perf, 0, low + 1, &words[1]));
    return (uint64_t)words[1] << 32 | words[0];
}

static uint64_t get_engine(struct perf *perf, uint32_t low, uint32_t se)
{
    set(perf, REG(GRBM_GFX_INDEX), 0x60000000 | se << 16);
    return get(perf, low);
}

/* Reset, everything on: what START does apart from the selects. */
static void start(struct perf *perf)
{
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    set(perf, REG(CP_PERFMON_CNTL), 0);
    set(perf, REG(SQ_PERFCOUNTER_MASK), 0xffffffff);
    set(perf, REG(SQ_PERFCOUNTER_CTRL), 0xffff0057);
    set(perf, REG(COMPUTE_PERFCOUNT_ENABLE), 1);
    set(perf, REG(CP_PERFMON_CNTL), 1);
}

static void stop(struct perf *perf)
{
    set(perf, REG(CP_PERFMON_CNTL), 2);
}

static void retire(struct perf *perf, uint32_t se, uint32_t cu, const struct perf_group *like)
{
    struct perf_group group = *like;
    group.se = se;
    group.cu = cu;
    perf_group_retire(perf, &group);
}

/* GRBM_COUNT of a window in which so many counters of each engine are selected and read. */
static uint64_t window_cycles(uint32_t sq_counters)
{
    struct perf *perf;
    uint64_t cycles;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    set(perf, REG(GRBM_PERFCOUNTER0_SELECT), 0);
    start(perf);
    for (uint32_t i = 0; i < sq_counters; i++)
        set(perf, REG(SQ_PERFCOUNTER0_SELECT), 4 + i);
    for (uint32_t i = 0; i < sq_counters; i++)
        for (uint32_t se = 0; se < ENGINES; se++)
            get_engine(perf, REG(SQ_PERFCOUNTER0_LO), se);
    for (uint32_t i = 0; i < sq_counters; i++)
        assert_true(perf_counter_read(perf, 0, REG(SQ_PERFCOUNTER0_LO) + 2 * i, &cycles));
    if (sq_counters)
        set(perf, REG(SQ_PERFCOUNTER_CTRL), 0xffff0057);
    perf_dispatch_begin(perf, 1, true);
    retire(perf, 0, 0, &(struct perf_group){.dispatch_seq = 1, .waves = 1, .busy_cycles = 500});
    perf_dispatch_end(perf, 1);
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    cycles = get(perf, REG(GRBM_PERFCOUNTER0_LO));
    perf_destroy(perf);
    return cycles;
}

static void the_clock_does_not_know_how_many_counters_there_are(void **state)
{
    (void)state;
    assert_true(window_cycles(0) >= 500);
    assert_int_equal(window_cycles(1), window_cycles(0));
    assert_int_equal(window_cycles(8), window_cycles(0));
}

static void indexed_selects_count_different_events(void **state)
{
    struct perf *perf = *state;
    struct perf_group group = {.waves = 3, .work_items = 150};
    perf_group_count(&group, TALLY_SALU, 11);
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    set(perf, REG(SQ_PERFCOUNTER2_SELECT), 0x0f0ff000 | 4); /* SQ_WAVES everywhere */
    set(perf, REG(GRBM_GFX_INDEX), 0x60000000 | 5 << 16);
    set(perf, REG(SQ_PERFCOUNTER2_SELECT), 0x0f0ff000 | 56); /* SQ_INSTS_SALU in engine 5 */
    start(perf);
    for (uint32_t se = 0; se < ENGINES; se++)
        retire(perf, se, 2, &group);
    for (uint32_t se = 0; se < ENGINES; se++)
        assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER2_LO), se), se == 5 ? 11 : 3);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER2_LO), ENGINES), 0); /* no such engine */
    uint32_t value;
    set(perf, REG(GRBM_GFX_INDEX), 0x60000000 | 5 << 16);
    assert_true(perf_reg_read(perf, 0, REG(SQ_PERFCOUNTER2_SELECT), &value));
    assert_int_equal(value, 0x0f0ff000 | 56);
}

static void per_unit_blocks_see_their_unit(void **state)
{
    struct perf *perf = *state;
    struct perf_group group = {.waves = 1};
    perf_group_count(&group, TALLY_GLOBAL_READ, 7);
    perf_group_count(&group, TALLY_FLAT_WRITE, 2);
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    set(perf, REG(TA_PERFCOUNTER0_SELECT), 32); /* TA_TOTAL_WAVEFRONTS */
    start(perf);
    retire(perf, 3, 9, &group);
    retire(perf, 3, 9, &group);
    retire(perf, 2, 9, &group);
    for (uint32_t se = 0; se < ENGINES; se++)
        for (uint32_t cu = 0; cu < 16; cu++) {
            uint64_t expected = cu != 9 ? 0 : se == 3 ? 18 : se == 2 ? 9 : 0;
            set(perf, REG(GRBM_GFX_INDEX), 0x20000000 | se << 16 | cu);
            assert_int_equal(get(perf, REG(TA_PERFCOUNTER0_LO)), expected);
        }
}

static void counting_follows_start_stop_and_gates(void **state)
{
    struct perf *perf = *state;
    struct perf_group group = {.waves = 4};
    set(perf, REG(SQ_PERFCOUNTER0_SELECT), 4);
    retire(perf, 0, 0, &group); /* before the start */
    start(perf);
    retire(perf, 0, 0, &group);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 4);
    stop(perf);
    retire(perf, 0, 0, &group); /* stopped */
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 4);
    set(perf, REG(CP_PERFMON_CNTL), 0x401); /* the start-and-sample of a read goes on counting */
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 4);
    retire(perf, 0, 0, &group);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 8);

    set(perf, REG(COMPUTE_PERFCOUNT_ENABLE), 0);
    retire(perf, 0, 0, &group);
    set(perf, REG(COMPUTE_PERFCOUNT_ENABLE), 1);
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    set(perf, REG(SQ_PERFCOUNTER_CTRL), 0xffff0017); /* without CS_EN */
    retire(perf, 0, 0, &group);
    set(perf, REG(SQ_PERFCOUNTER_CTRL), 0xffff0057);
    set(perf, REG(SQ_PERFCOUNTER_MASK), 0xfffffffd); /* without unit 1 */
    retire(perf, 0, 1, &group);
    retire(perf, 0, 0, &group);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 12);
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    set(perf, REG(CP_PERFMON_CNTL), 0);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 0);
}

static void counters_are_64_bits_and_can_be_written(void **state)
{
    struct perf *perf = *state;
    struct perf_group group = {0};
    perf_group_count(&group, TALLY_VALU_OTHER, 0xf0000000);
    set(perf, REG(SQ_PERFCOUNTER1_SELECT), 26);
    start(perf);
    for (int i = 0; i < 20; i++)
        retire(perf, 1, 0, &group);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER1_LO), 1), 20 * 0xf0000000ull);
    stop(perf);
    set(perf, REG(SQ_PERFCOUNTER1_LO), 5);
    set(perf, REG(SQ_PERFCOUNTER1_HI), 1);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER1_LO), 1), 0x100000005);
}

/* SQ_LEVEL_WAVES, integrated by the next counter, is wave residency. */
static void levels_are_accumulated_by_the_next_counter(void **state)
{
    struct perf *perf = *state;
    struct perf_group group = {.waves = 2, .wave_cycles = 4000};
    set(perf, REG(SQ_PERFCOUNTER0_SELECT), 5);
    set(perf, REG(SQ_PERFCOUNTER1_SELECT), 185);
    set(perf, REG(SQ_PERFCOUNTER2_SELECT), 74); /* SQ_WAVE_CYCLES, in units of four */
    set(perf, REG(SQ_PERFCOUNTER3_SELECT), 1);  /* accumulates something that is no level */
    start(perf);
    retire(perf, 0, 0, &group);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 0);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER1_LO), 0), 4000);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER2_LO), 0), 1000);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER3_LO), 0), 0);
}

static void cycles_follow_the_documented_clock(void **state)
{
    struct perf *perf = *state;
    set(perf, REG(GRBM_PERFCOUNTER0_SELECT), 2); /* GUI_ACTIVE */
    set(perf, REG(GRBM_PERFCOUNTER1_SELECT), 0); /* COUNT */
    set(perf, REG(SQ_PERFCOUNTER0_SELECT), 3);   /* BUSY_CYCLES */
    start(perf);
    uint64_t before = get(perf, REG(GRBM_PERFCOUNTER1_LO));
    perf_dispatch_begin(perf, 1, true);
    retire(perf, 0, 0, &(struct perf_group){.dispatch_seq = 1, .busy_cycles = 300});
    retire(perf, 0, 0, &(struct perf_group){.dispatch_seq = 1, .busy_cycles = 400});
    retire(perf, 4, 1, &(struct perf_group){.dispatch_seq = 1, .busy_cycles = 500});
    perf_dispatch_end(perf, 1);
    assert_int_equal(get(perf, REG(GRBM_PERFCOUNTER0_LO)), 1000 + 700);
    assert_true(get(perf, REG(GRBM_PERFCOUNTER1_LO)) >= before + 1700);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 1700);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 4), 1500);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 1), 0);
}

/* Waves of a queue without COMPUTE_PERFCOUNT_ENABLE: the sequencers' counters do not see them, the
 * others do. */
static void queues_may_be_left_out(void **state)
{
    struct perf *perf = *state;
    struct perf_group group = {
        .dispatch_seq = 1, .busy_cycles = 300, .waves = 4, .work_items = 256};
    set(perf, REG(GRBM_PERFCOUNTER0_SELECT), 2); /* GUI_ACTIVE */
    set(perf, REG(SQ_PERFCOUNTER0_SELECT), 3);   /* BUSY_CYCLES */
    set(perf, REG(SQ_PERFCOUNTER1_SELECT), 4);   /* WAVES */
    start(perf);
    perf_dispatch_begin(perf, 1, false);
    perf_dispatch_begin(perf, 2, true);
    retire(perf, 0, 0, &group);
    group.dispatch_seq = 2;
    group.waves = 1;
    group.work_items = 64;
    retire(perf, 0, 0, &group);
    perf_dispatch_end(perf, 1);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 0);
    perf_dispatch_end(perf, 2);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 1300);
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER1_LO), 0), 1);
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    assert_int_equal(get(perf, REG(GRBM_PERFCOUNTER0_LO)), 2 * 1300);
}

/* MC blocks are started, cleared and read through their own control register. Their events are
 * not modelled: what can be seen is that they answer 0 and keep their settings. */
static void mc_blocks_keep_their_registers(void **state)
{
    struct perf *perf = *state;
    uint32_t value;
    set(perf, REG(GRBM_GFX_INDEX), 0xa0000007);
    set(perf, REG(GCEA_PERFCOUNTER1_CFG), 0x10000000 | 12);
    set(perf, REG(GCEA_PERFCOUNTER_RSLT_CNTL), 0x02000000);
    set(perf, REG(GCEA_PERFCOUNTER_RSLT_CNTL), 0x01000000);
    set(perf, REG(GCEA_PERFCOUNTER_RSLT_CNTL), 1);
    assert_int_equal(get(perf, REG(GCEA_PERFCOUNTER_LO)), 0);
    assert_true(perf_reg_read(perf, 0, REG(GCEA_PERFCOUNTER1_CFG), &value));
    assert_int_equal(value, 0x1000000c);
    set(perf, REG(GRBM_GFX_INDEX), 0xa0000008);
    assert_true(perf_reg_read(perf, 0, REG(GCEA_PERFCOUNTER1_CFG), &value));
    assert_int_equal(value, 0);
}

static void unknown_registers_and_events(void **state)
{
    struct perf *perf = *state;
    uint32_t value;
    assert_false(perf_reg_write(perf, 1, 0x338, 1));
    assert_false(perf_reg_read(perf, 0, 0x338, &value));
    assert_false(perf_reg_read(perf, 1, REG(GRBM_GFX_INDEX), &value)); /* one XCC only */
    set(perf, REG(SQ_PERFCOUNTER0_SELECT), 300);
    start(perf);
    retire(perf, 0, 0, &(struct perf_group){.waves = 4});
    assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO), 0), 0);
}

/* Event numbers are the GPU's own: SQ_INSTS_SALU is 30, 31, 56 and 60. */
static void event_numbers_follow_the_gpu(void **state)
{
    static const struct {
        const char *name;
        uint32_t number;
    } gpus[] = {{"gfx906", 30}, {"gfx908", 31}, {"gfx90a", 56}, {"gfx942", 60}};
    struct perf_group group = {0};

    (void)state;
    perf_group_count(&group, TALLY_SALU, 9);
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        struct perf *perf;
        assert_int_equal(perf_create(gpu_model_find(gpus[i].name), &perf), 0);
        for (size_t j = 0; j < sizeof gpus / sizeof gpus[0]; j++)
            set(perf, REG(SQ_PERFCOUNTER0_SELECT) + (uint32_t)j, gpus[j].number);
        start(perf);
        retire(perf, 0, 0, &group);
        for (size_t j = 0; j < sizeof gpus / sizeof gpus[0]; j++)
            assert_int_equal(get_engine(perf, REG(SQ_PERFCOUNTER0_LO) + 2 * (uint32_t)j, 0),
                             i == j ? 9 : 0);
        perf_destroy(perf);
    }
}

/* Eight XCCs: a write reaches those in the mask, a read sees one. */
static void xccs_have_their_own_counters(void **state)
{
    struct perf *perf;
    uint32_t value;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx942"), &perf), 0);
    uint32_t all = (1u << gpu_model_find("gfx942")->xcc_count) - 1;
    assert_true(perf_reg_write(perf, all, REG(CP_PERFMON_CNTL), 0));
    assert_true(perf_reg_write(perf, all, REG(SPI_PERFCOUNTER0_SELECT), 52)); /* SPI_CSN_WAVE */
    assert_true(perf_reg_write(perf, all & ~2u, REG(CP_PERFMON_CNTL), 1));    /* not XCC 1 */
    for (uint32_t xcc = 0; xcc < 3; xcc++)
        perf_group_retire(perf, &(struct perf_group){.xcc = xcc, .waves = xcc + 1});
    for (uint32_t xcc = 0; xcc < 3; xcc++) {
        assert_true(perf_reg_read(perf, xcc, REG(SPI_PERFCOUNTER0_LO), &value));
        assert_int_equal(value, xcc == 1 ? 0 : xcc + 1);
    }
    perf_destroy(perf);
}

static uint64_t channels_sum(struct perf *perf, uint32_t low)
{
    uint64_t sum = 0;
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        set(perf, REG(GRBM_GFX_INDEX), 0xa0000000 | channel);
        sum += get(perf, low);
    }
    return sum;
}

static uint64_t units_sum(struct perf *perf, uint32_t low)
{
    uint64_t sum = 0;
    for (uint32_t se = 0; se < ENGINES; se++)
        for (uint32_t cu = 0; cu < CU_PER_ENGINE; cu++) {
            set(perf, REG(GRBM_GFX_INDEX), 0x20000000 | se << 16 | cu);
            sum += get(perf, low);
        }
    return sum;
}

static void memory_selects(struct perf *perf)
{
    static const uint32_t tcc[] = {3, 17, 19, 38}, tcp[] = {29, 69};
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    for (uint32_t i = 0; i < 4; i++)
        set(perf, REG(TCC_PERFCOUNTER0_SELECT) + (i == 0 ? 0 : i == 1 ? 2 : i + 2), tcc[i]);
    set(perf, REG(TCP_PERFCOUNTER0_SELECT), tcp[0]);
    set(perf, REG(TCP_PERFCOUNTER1_SELECT), tcp[1]);
}

static void stream(struct perf *perf, uint64_t seq, uint64_t base_va, uint32_t lines, uint8_t kind)
{
    struct perf_line_access *accesses = calloc(lines, sizeof *accesses);
    for (uint32_t i = 0; i < lines; i++)
        accesses[i] = (struct perf_line_access){.line_va = base_va + 64ull * i,
                                                .bytes_mask_lo = UINT32_MAX,
                                                .bytes_mask_hi = UINT32_MAX,
                                                .kind = kind,
                                                .flags = ACCESS_FIRST,
                                                .tags = 1,
                                                .lanes = 1};
    perf_group_retire(perf, &(struct perf_group){.dispatch_seq = seq,
                                                 .waves = 1,
                                                 .wants = PERF_WANT_L2,
                                                 .accesses = accesses,
                                                 .access_count = lines});
    free(accesses);
}

/* A 1 MiB buffer read twice: the first pass misses everywhere, the second misses the 16 KiB L1
 * (LRU, streamed) and hits the 8 MiB L2. The L1 asks for halves of the L2's lines, two of which are
 * one request there; each half comes from memory. */
static void streaming_reads_hit_l2_the_second_time(void **state)
{
    enum { LINES = (1 << 20) / 64, PAIRS = LINES / 2 };
    struct perf *perf = *state;

    memory_selects(perf);
    assert_int_equal(perf_wants(perf), 0);
    start(perf);
    assert_int_equal(perf_wants(perf), PERF_WANT_L2);
    perf_dispatch_begin(perf, 1, true);
    stream(perf, 1, 0x40000000, LINES, ACCESS_READ);
    stream(perf, 1, 0x40000000, LINES, ACCESS_READ);
    perf_dispatch_end(perf, 1);
    assert_int_equal(units_sum(perf, REG(TCP_PERFCOUNTER0_LO)), 2 * LINES);
    assert_int_equal(units_sum(perf, REG(TCP_PERFCOUNTER1_LO)), 2 * LINES);
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER0_LO)), 2 * PAIRS); /* REQ */
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER1_LO)), PAIRS);     /* HIT */
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER2_LO)), PAIRS);     /* MISS */
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER3_LO)), LINES);     /* EA_RDREQ */
    /* 256-byte blocks, round-robin: every channel saw the same number of requests. */
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        set(perf, REG(GRBM_GFX_INDEX), 0xa0000000 | channel);
        assert_int_equal(get(perf, REG(TCC_PERFCOUNTER0_LO)), 2 * PAIRS / CHANNELS);
    }
    stop(perf);
    set(perf, REG(CP_PERFMON_CNTL), 0);
    assert_int_equal(perf_wants(perf), 0);
}

/* Writes allocate without fetching; the dispatch's end writes each dirty sector back once. */
static void written_lines_go_to_memory_once(void **state)
{
    enum { LINES = 1000 };
    struct perf *perf = *state;

    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    set(perf, REG(TCC_PERFCOUNTER0_SELECT), 26); /* EA_WRREQ */
    set(perf, REG(TCC_PERFCOUNTER1_SELECT), 27); /* EA_WRREQ_64B */
    set(perf, REG(TCC_PERFCOUNTER2_SELECT), 38); /* EA_RDREQ */
    set(perf, REG(TCC_PERFCOUNTER3_SELECT), 13); /* WRITE */
    start(perf);
    perf_dispatch_begin(perf, 1, true);
    stream(perf, 1, 0x40000000, LINES, ACCESS_WRITE);
    stream(perf, 1, 0x40000000, LINES, ACCESS_WRITE);
    struct perf_line_access half = {
        .line_va = 0x50000000, .bytes_mask_lo = 0xf, .kind = ACCESS_WRITE};
    perf_group_retire(
        perf, &(struct perf_group){
                  .dispatch_seq = 1, .wants = PERF_WANT_L2, .accesses = &half, .access_count = 1});
    perf_dispatch_end(perf, 1);
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER3_LO)), 2 * LINES + 1);
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER0_LO)), LINES + 1);
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER1_LO)), LINES);
    assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER2_LO)), 0);
}

/* The halves of 128-byte lines, written one after the other: the second finds the line that the
 * first has allocated. On gfx908, whose lines have 64 bytes, each is a line of its own. */
static void second_halves_find_their_line(void **state)
{
    enum { LINES = 512 };
    static const struct {
        const char *name;
        uint64_t misses;
    } gpus[] = {{"gfx90a", LINES / 2}, {"gfx908", LINES}};
    (void)state;
    for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
        struct perf *perf;
        assert_int_equal(perf_create(gpu_model_find(gpus[i].name), &perf), 0);
        memory_selects(perf);
        start(perf);
        perf_dispatch_begin(perf, 1, true);
        stream(perf, 1, 0x40000000, LINES, ACCESS_WRITE);
        perf_dispatch_end(perf, 1);
        assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER0_LO)), LINES);
        assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER1_LO)), LINES - gpus[i].misses);
        assert_int_equal(channels_sum(perf, REG(TCC_PERFCOUNTER2_LO)), gpus[i].misses);
        perf_destroy(perf);
    }
}

/* GRBM_GUI_ACTIVE of a dispatch without its launch. */
static uint64_t dispatch_cycles(struct perf *perf)
{
    perf_dispatch_end(perf, 1);
    set(perf, REG(GRBM_GFX_INDEX), (uint32_t)BROADCAST);
    return get(perf, REG(GRBM_PERFCOUNTER0_LO)) - 1000;
}

static void timed_dispatch_begin(struct perf *perf)
{
    set(perf, REG(GRBM_PERFCOUNTER0_SELECT), 2);
    start(perf);
    assert_int_equal(perf_wants(perf), 0); /* but that time is: */
    assert_true(perf_wants_time(perf));
    perf_dispatch_begin(perf, 1, true);
}

/* 112 units read 10000 lines each, in 2500 blocks: a line a cycle would be 10000 cycles, but 71.68
 * MB at 85 % of 1638.4 GB/s take 51.47 us, which are 87500 cycles of 1700 MHz. */
static void time_waits_for_memory(void **state)
{
    enum { BLOCKS = 2500, LINES = 4, UNITS = ENGINES * CU_PER_ENGINE };
    struct perf *perf = *state;
    struct perf_block *blocks = calloc(BLOCKS, sizeof *blocks);
    struct perf_group group = {.dispatch_seq = 1,
                               .waves = 4,
                               .beside = 1,
                               .simd_cycles = 100,
                               .blocks = blocks,
                               .block_count = BLOCKS};
    perf_group_count(&group, TALLY_GLOBAL_WRITE, BLOCKS);
    perf_group_time(&group);
    timed_dispatch_begin(perf);
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            uint64_t offset = 256 * (unit * (uint64_t)BLOCKS + i);
            blocks[i] = (struct perf_block){.va = 0x40000000 + offset,
                                            .number = (uint32_t)(offset / 256),
                                            .position = (uint16_t)sample_position(offset),
                                            .kind = ACCESS_READ,
                                            .sectors = 15};
        }
        retire(perf, unit / CU_PER_ENGINE, unit % CU_PER_ENGINE, &group);
    }
    assert_in_range(dispatch_cycles(perf), 87499, 87501);
    free(blocks);
}

/* LDS, of which 97 % can be used, and the SIMDs work side by side; groups share their unit's. */
static void time_waits_for_lds(void **state)
{
    struct perf *perf = *state;
    struct perf_group group = {.dispatch_seq = 1,
                               .waves = 4,
                               .beside = 2,
                               .simd_cycles = 3000,
                               .longest_other_wait = 500,
                               .is_sampled = true,
                               .lds_samples[0] = {.instructions = 10, .cycles = 500}};
    perf_group_count(&group, TALLY_LDS_READ, 100);
    perf_group_time(&group);
    timed_dispatch_begin(perf);
    retire(perf, 0, 0, &group);
    group.is_sampled = false; /* as those of the group before */
    retire(perf, 0, 0, &group);
    group.tally_count = 0;
    retire(perf, 0, 0, &group);
    assert_int_equal(dispatch_cycles(perf), 2 * 5000 * 100 / 97);
}

/* What groups that wait for room are short of: cycles of the array, for each of its units, or their
 * SIMDs, that has none left of it. 8 groups where 2 have room: the last one enters when 6 have
 * left. */
static void waiting_for_room_is_told_by_what_is_short(void **state)
{
    enum { UNITS = 2, GROUPS = 8, BUSY = 4000, WAITING = BUSY * (GROUPS - UNITS) / GROUPS };
    static const struct {
        uint32_t event, select, counter, count;
    } short_of[] = {
        [LIMIT_WAVES] = {103, REG(SPI_PERFCOUNTER0_SELECT), REG(SPI_PERFCOUNTER0_LO),
                         UNITS * 4 * WAITING},
        [LIMIT_VGPRS] = {109, REG(SPI_PERFCOUNTER1_SELECT), REG(SPI_PERFCOUNTER1_LO),
                         UNITS * 4 * WAITING},
        [LIMIT_SGPRS] = {115, REG(SPI_PERFCOUNTER2_SELECT), REG(SPI_PERFCOUNTER2_LO),
                         UNITS * 4 * WAITING},
        [LIMIT_LDS] = {120, REG(SPI_PERFCOUNTER3_SELECT), REG(SPI_PERFCOUNTER3_LO),
                       UNITS * WAITING},
        [LIMIT_BARRIERS] = {123, REG(SPI_PERFCOUNTER4_SELECT), REG(SPI_PERFCOUNTER4_LO),
                            UNITS * WAITING},
        [LIMIT_BULKY] = {125, REG(SPI_PERFCOUNTER4_SELECT), REG(SPI_PERFCOUNTER4_LO),
                         UNITS * WAITING},
    };
    (void)state;
    for (int limit = LIMIT_WAVES; limit <= LIMIT_BULKY; limit++) {
        struct perf *perf;
        uint32_t value;
        assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
        for (int i = LIMIT_WAVES; i <= LIMIT_BARRIERS; i++)
            set(perf, short_of[i].select, short_of[i].event);
        if (limit == LIMIT_BULKY) /* there are six counters; it shares one with barriers */
            set(perf, short_of[limit].select, short_of[limit].event);
        set(perf, REG(SPI_PERFCOUNTER5_SELECT), 85); /* SPI_RA_REQ_NO_ALLOC_CSN */
        timed_dispatch_begin(perf);
        for (uint32_t n = 0; n < GROUPS; n++)
            retire(perf, 0, n % UNITS,
                   &(struct perf_group){.dispatch_seq = 1,
                                        .waves = 1,
                                        .busy_cycles = UNITS * BUSY / GROUPS,
                                        .array_units = UNITS,
                                        .capacity = 1,
                                        .limit = (enum perf_limit)limit});
        assert_int_equal(dispatch_cycles(perf), BUSY);
        set(perf, REG(GRBM_GFX_INDEX), 0x60000000); /* engine 0 */
        assert_true(perf_reg_read(perf, 0, REG(SPI_PERFCOUNTER5_LO), &value));
        assert_int_equal(value, WAITING);
        for (int i = LIMIT_WAVES; i <= LIMIT_BARRIERS; i++) {
            const bool own = short_of[i].counter == short_of[limit].counter;
            assert_true(perf_reg_read(perf, 0, short_of[i].counter, &value));
            assert_int_equal(value, own ? short_of[limit].count : 0);
        }
        perf_destroy(perf);
    }
}

/* Every event's HIT + MISS is REQ, whatever the mix. */
static void requests_are_hits_plus_misses(void **state)
{
    struct perf *perf = *state;
    uint32_t seed = 99;
    memory_selects(perf);
    start(perf);
    perf_dispatch_begin(perf, 1, true);
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        struct perf_line_access access = {.line_va = (uint64_t)(seed >> 8 & 0x3ffff) * 64,
                                          .bytes_mask_lo = 1,
                                          .kind = (uint8_t)(seed >> 28 & 3),
                                          .flags = (uint8_t)(seed >> 30 & 1)};
        retire(
            perf, seed >> 5 & 7, 3,
            &(struct perf_group){
                .dispatch_seq = 1, .wants = PERF_WANT_L2, .accesses = &access, .access_count = 1});
    }
    perf_dispatch_end(perf, 1);
    uint64_t requests = channels_sum(perf, REG(TCC_PERFCOUNTER0_LO));
    uint64_t hits = channels_sum(perf, REG(TCC_PERFCOUNTER1_LO));
    uint64_t misses = channels_sum(perf, REG(TCC_PERFCOUNTER2_LO));
    assert_int_equal(hits + misses, requests);
    assert_true(hits && misses);
}

#define PERF_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_does_not_know_how_many_counters_there_are),
        PERF_TEST(indexed_selects_count_different_events),
        PERF_TEST(per_unit_blocks_see_their_unit),
        PERF_TEST(counting_follows_start_stop_and_gates),
        PERF_TEST(counters_are_64_bits_and_can_be_written),
        PERF_TEST(levels_are_accumulated_by_the_next_counter),
        PERF_TEST(cycles_follow_the_documented_clock),
        PERF_TEST(queues_may_be_left_out),
        PERF_TEST(mc_blocks_keep_their_registers),
        PERF_TEST(unknown_registers_and_events),
        cmocka_unit_test(event_numbers_follow_the_gpu),
        cmocka_unit_test(xccs_have_their_own_counters),
        PERF_TEST(streaming_reads_hit_l2_the_second_time),
        PERF_TEST(written_lines_go_to_memory_once),
        PERF_TEST(requests_are_hits_plus_misses),
        cmocka_unit_test(second_halves_find_their_line),
        PERF_TEST(time_waits_for_memory),
        PERF_TEST(time_waits_for_lds),
        cmocka_unit_test(waiting_for_room_is_told_by_what_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
