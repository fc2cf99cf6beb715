/*
 * Thread trace: gfx9 against the programming that AMD's open builder is known to emit for one
 * shader engine of gfx90a (values and dword counts observed there, but for the three dwords that
 * let every engine see the header); later generations by the fields of the registers they write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sqtt_texts.h"

static void expect_lines(char *text, const char *const *expected)
{
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (!*expected)
            fail_msg("one line too many: %s", line);
        if (strncmp(line, *expected, strlen(*expected)) != 0)
            fail_msg("%s, not %s", line, *expected);
        expected++;
    }
    assert_null(*expected);
}

#define FLUSH "EVENT_WRITE event=CS_PARTIAL_FLUSH index=4"
#define ALL   "SET_UCONFIG_REG GRBM_GFX_INDEX=0xe0000000"
#define TT    "SET_UCONFIG_REG SQ_THREAD_TRACE_"
#define USER3 "SQ_THREAD_TRACE_USERDATA_3"

static void gfx9_test(void **state)
{
    static const char *const start[] = {
        ALL,
        FLUSH,
        TT "MASK=0xcf81",
        TT "TOKEN_MASK=0xfbc6f",
        TT "MODE=0x2040000",
        TT "HIWATER=0x6",
        "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40020000",
        TT "TOKEN_MASK2=0xffffffff",
        "COPY_DATA 0x0 -> SQ_THREAD_TRACE_STATUS",
        TT "BASE=0xf5566002", /* two pages are those of engines 0 and 1 */
        TT "BASE2=0x7",
        TT "SIZE=0xbfc1", /* 196608 KiB without 63 pages of the others */
        TT "CTRL=0x80000000",
        FLUSH,
        TT "MODE=0x2240000",
        FLUSH,
        ALL,
        TT "USERDATA_2=0x434f5200",
        TT "USERDATA_2=0x80201",
        ALL,
        TT "USERDATA_3=0x5",
        "COPY_DATA 64 gpu_clock -> [0x7f0000002010]",
        "COPY_DATA [0x7f0000002010] -> " USER3,
        "COPY_DATA [0x7f0000002014] -> " USER3,
        "COPY_DATA gpu_clock -> " USER3,
        NULL};
    static const char *const stop[] = {ALL,
                                       FLUSH,
                                       ALL,
                                       TT "USERDATA_3=0x5",
                                       "COPY_DATA 64 gpu_clock -> [0x7f0000002018]",
                                       "COPY_DATA [0x7f0000002018] -> " USER3,
                                       "COPY_DATA [0x7f000000201c] -> " USER3,
                                       "COPY_DATA gpu_clock -> " USER3,
                                       FLUSH,
                                       TT "MODE=0x2040000",
                                       FLUSH,
                                       "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40020000",
                                       "WAIT_REG_MEM SQ_THREAD_TRACE_STATUS & 0x40000000 == 0x0",
                                       "COPY_DATA SQ_THREAD_TRACE_STATUS -> [0x7f0000002040]",
                                       "COPY_DATA SQ_THREAD_TRACE_CNTR -> [0x7f0000002044]",
                                       "COPY_DATA SQ_THREAD_TRACE_WPTR -> [0x7f0000002048]",
                                       ALL,
                                       "ACQUIRE_MEM control=0x28c40000",
                                       TT "SIZE=0x0",
                                       TT "CTRL=0x80000000",
                                       FLUSH,
                                       "ACQUIRE_MEM control=0x28c40000",
                                       FLUSH,
                                       NULL};
    (void)state;
    struct gpu_target target = target_of("gfx90a", (struct gpu_geometry){1, 8, 1, 104, 0});
    struct sqtt_config config = config_of(1 << 2, 1);
    struct pm4_stream streams[2] = {{0}};
    assert_null(sqtt_config_check(&target, &config));
    sqtt_start(&streams[0], &target, &config);
    sqtt_stop(&streams[1], &target, &config);
    assert_int_equal(streams[0].count, 84 + 3);
    assert_int_equal(streams[1].count, 104 - 7); /* the control array is flushed once, not twice */
    const char *const *const expected[] = {start, stop};
    for (int i = 0; i < 2; i++) {
        char *text = text_of(DUMP_GFX9, &streams[i]);
        expect_lines(text, expected[i]);
        free(text);
        pm4_stream_free(&streams[i]);
    }
}

/* Page numbers, so the address beyond 44 bits goes to BASE2 or into the size register. */
static void gfx11_test(void **state)
{
    static const char *const start[] = {
        ALL,
        "COPY_DATA 0x0 -> SQ_THREAD_TRACE_STATUS",
        "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40000000",
        TT "BUF0_SIZE=0x107 (base_hi=7 size=1)",
        TT "BUF0_BASE=0xf5566000",
        TT "MASK=0x30033 (simd_sel=3 wgp_sel=3 wtype_include=64 exclude_nondetail_shaderdata=1)",
        TT "TOKEN_MASK=0xf0007ff (token_exclude=0x7ff inst_exclude=3 reg_exclude=3)",
        TT "CTRL=0xa0423941 (mode=1 hiwater=5 spi_stall_en=1 sq_stall_en=1 util_timer=1 rt_freq=2 "
           "lowater_offset=4 auto_flush_mode=1 draw_event_en=1)",
        "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40010000",
        TT "BUF0_SIZE=0xbfc107 (base_hi=7 size=0xbfc1)",
        TT "BUF0_BASE=0xf5566001",
        TT "MASK=0x30033",
        TT "TOKEN_MASK=0xc080683 (token_exclude=0x683 reg_include=8 reg_exclude=3)",
        TT "CTRL=0xa0423941",
        ALL,
        "SET_SH_REG COMPUTE_THREAD_TRACE_ENABLE=0x1",
        FLUSH,
        ALL,
        TT "USERDATA_2=0x434f5200",
        TT "USERDATA_2=0x80201",
        NULL};
    static const char *const stop[] = {ALL,
                                       FLUSH,
                                       "SET_SH_REG COMPUTE_THREAD_TRACE_ENABLE=0x0",
                                       "WAIT_REG_MEM SQ_THREAD_TRACE_STATUS & 0x3fc == 0x0",
                                       TT "CTRL=0xa0423940",
                                       "WAIT_REG_MEM SQ_THREAD_TRACE_STATUS & 0x2000000 == 0x0",
                                       "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40010000",
                                       "COPY_DATA SQ_THREAD_TRACE_STATUS -> L2[0x7f0000002020]",
                                       "COPY_DATA SQ_THREAD_TRACE_DROPPED_CNTR -> L2[0x7f000",
                                       "COPY_DATA SQ_THREAD_TRACE_WPTR -> L2[0x7f0000002028]",
                                       ALL,
                                       "ACQUIRE_MEM chunks=1 first_chunk=0x20 interval=16 gcr=",
                                       FLUSH,
                                       NULL};
    (void)state;
    struct gpu_target target = target_of("gfx1102", (struct gpu_geometry){1, 2, 2, 32, 0});
    struct sqtt_config config = config_of(1 << 1, 3);
    struct pm4_stream streams[2] = {{0}};
    assert_null(sqtt_config_check(&target, &config));
    sqtt_start(&streams[0], &target, &config);
    sqtt_stop(&streams[1], &target, &config);
    const char *const *const expected[] = {start, stop};
    for (int i = 0; i < 2; i++) {
        char *text = text_of(DUMP_GFX11, &streams[i]);
        expect_lines(text, expected[i]);
        free(text);
        pm4_stream_free(&streams[i]);
    }
}

/* Start and stop as text, for one traced engine (1) of two; the caller frees both. */
static void texts_make(const char *gpu, enum dump_family family, char *texts[2])
{
    struct gpu_target target = target_of(gpu, (struct gpu_geometry){1, 2, 2, 32, 0});
    struct sqtt_config config = config_of(1 << 1, 3);
    struct pm4_stream streams[2] = {{0}};
    assert_null(sqtt_config_check(&target, &config));
    sqtt_start(&streams[0], &target, &config);
    sqtt_stop(&streams[1], &target, &config);
    for (int i = 0; i < 2; i++) {
        texts[i] = text_of(family, &streams[i]);
        pm4_stream_free(&streams[i]);
    }
}

/* Configuration space is reached by the perf-counter path only. */
static void gfx10_test(void **state)
{
    static const char *const start[] = {
        ALL,
        "COPY_DATA 0x0 -> perf:SQ_THREAD_TRACE_STATUS",
        "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40000000",
        "COPY_DATA 0x107 -> perf:SQ_THREAD_TRACE_BUF0_SIZE (base_hi=7 size=1)",
        "COPY_DATA 0xf5566000 -> perf:SQ_THREAD_TRACE_BUF0_BASE",
        "COPY_DATA 0x10033 -> perf:SQ_THREAD_TRACE_MASK (simd_sel=3 wgp_sel=3 wtype_include=64)",
        "COPY_DATA 0x30007ff -> perf:SQ_THREAD_TRACE_TOKEN_MASK (token_exclude=0x7ff "
        "inst_exclude=3)",
        "COPY_DATA 0xa0423f41 -> perf:SQ_THREAD_TRACE_CTRL (mode=1 hiwater=5 reg_stall_en=1 "
        "spi_stall_en=1 sq_stall_en=1 reg_drop_on_stall=1 util_timer=1 rt_freq=2 lowater_offset=4 "
        "auto_flush_mode=1 draw_event_en=1)",
        "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40010000",
        "COPY_DATA 0xbfc107 -> perf:SQ_THREAD_TRACE_BUF0_SIZE (base_hi=7 size=0xbfc1)",
        "COPY_DATA 0xf5566001 -> perf:SQ_THREAD_TRACE_BUF0_BASE",
        "COPY_DATA 0x10033 -> perf:SQ_THREAD_TRACE_MASK",
        "COPY_DATA 0x80683 -> perf:SQ_THREAD_TRACE_TOKEN_MASK (token_exclude=0x683 reg_include=8)",
        "COPY_DATA 0xa0423f41 -> perf:SQ_THREAD_TRACE_CTRL",
        ALL,
        "SET_SH_REG COMPUTE_THREAD_TRACE_ENABLE=0x1",
        FLUSH,
        ALL,
        TT "USERDATA_2=0x434f5200",
        TT "USERDATA_2=0x80201",
        NULL};
    static const char *const stop[] = {ALL,
                                       FLUSH,
                                       "SET_SH_REG COMPUTE_THREAD_TRACE_ENABLE=0x0",
                                       "WAIT_REG_MEM SQ_THREAD_TRACE_STATUS & 0x3fc == 0x0",
                                       "COPY_DATA 0xa0423f40 -> perf:SQ_THREAD_TRACE_CTRL",
                                       "WAIT_REG_MEM SQ_THREAD_TRACE_STATUS & 0x2000000 == 0x0",
                                       "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40010000",
                                       "COPY_DATA perf:SQ_THREAD_TRACE_STATUS -> L2[0x7f00000020",
                                       "COPY_DATA perf:SQ_THREAD_TRACE_DROPPED_CNTR -> L2[0x7f000",
                                       "COPY_DATA perf:SQ_THREAD_TRACE_WPTR -> L2[0x7f0000002028]",
                                       ALL,
                                       "ACQUIRE_MEM chunks=1 first_chunk=0x20 interval=16 gcr=",
                                       FLUSH,
                                       NULL};
    char *texts[2];
    (void)state;
    texts_make("gfx1032", DUMP_GFX103, texts);
    expect_lines(texts[0], start);
    expect_lines(texts[1], stop);
    free(texts[0]);
    free(texts[1]);
    /* gfx10.1 cannot flush by itself, and has another kind of token, which is left out. */
    texts_make("gfx1011", DUMP_GFX101, texts);
    assert_non_null(strstr(texts[0], "rt_freq=2 draw_event_en=1)"));
    assert_null(strstr(texts[0], "auto_flush"));
    assert_non_null(strstr(texts[0], "(token_exclude=0xe83 reg_include=8)"));
    free(texts[0]);
    free(texts[1]);
}

static void gfx12_test(void **state)
{
    static const char *const in_start[] = {
        "-> SPI_SQG_EVENT_CTL",
        "COPY_DATA 0xbfc1 -> SQ_THREAD_TRACE_BUF0_SIZE (size=0xbfc1)",
        "COPY_DATA 0xf5566001 -> SQ_THREAD_TRACE_BUF0_BASE_LO",
        "COPY_DATA 0x7 -> SQ_THREAD_TRACE_BUF0_BASE_HI",
        "COPY_DATA 0x0 -> SQ_THREAD_TRACE_WPTR",
        "(token_exclude=3 exclude_barrier_wait=1 reg_include=31 reg_exclude=3 reg_detail_all=1)",
        "(mode=1 hiwater=5 spi_stall_en=1 sq_stall_en=1 util_timer=1 lowater_offset=4 "
        "auto_flush_mode=1 draw_event_en=1)",
    };
    (void)state;
    char *texts[2];
    texts_make("gfx1200", DUMP_GFX12, texts);
    for (size_t i = 0; i < sizeof in_start / sizeof in_start[0]; i++) {
        if (!strstr(texts[0], in_start[i]))
            fail_msg("%s is not in\n%s", in_start[i], texts[0]);
    }
    assert_non_null(strstr(texts[1], "EVENT_WRITE event=THREAD_TRACE_FINISH"));
    free(texts[0]);
    free(texts[1]);
}

/* What the first interface's oldest parameters ask for is what the registers get. */
static void raw_test(void **state)
{
    (void)state;
    struct gpu_target target = target_of("gfx906", (struct gpu_geometry){1, 4, 1, 60, 0});
    struct sqtt_config config = config_of(1, 1);
    struct pm4_stream stream = {0}, concurrent = {0};
    config.has_timestamps = 0;
    config.vm_id_mask = 2;
    config.raw_mask = 0xcf85;
    config.raw_token_mask = 0x1234;
    sqtt_start(&stream, &target, &config);
    char *text = text_of(DUMP_GFX9, &stream); /* two of three: ours */
    assert_non_null(strstr(text, TT "MASK=0xef81"));
    assert_non_null(strstr(text, "TOKEN_MASK=0xfbc6f"));
    free(text);
    config.raw_token_mask2 = 0x77;
    config.is_concurrent = 1;
    sqtt_start(&concurrent, &target, &config);
    text = text_of(DUMP_GFX9, &concurrent);
    assert_non_null(strstr(text, TT "MASK=0xcf85"));
    assert_non_null(strstr(text, TT "TOKEN_MASK=0x1234"));
    assert_non_null(strstr(text, TT "TOKEN_MASK2=0x77"));
    assert_int_equal(stream.count - concurrent.count, 2 * 2); /* two waits */
    free(text);
    pm4_stream_free(&stream);
    pm4_stream_free(&concurrent);
}

/* A read takes the values and changes nothing. */
static void read_test(void **state)
{
    static const char *const expected[] = {ALL,
                                           FLUSH,
                                           "PRED_EXEC xcc_mask=0x4 ",
                                           "SET_UCONFIG_REG GRBM_GFX_INDEX=0x40010000",
                                           "COPY_DATA SQ_THREAD_TRACE_STATUS -> [0x7f0000002120]",
                                           "COPY_DATA SQ_THREAD_TRACE_CNTR -> [0x7f0000002124]",
                                           "COPY_DATA SQ_THREAD_TRACE_WPTR -> [0x7f0000002128]",
                                           ALL,
                                           "ACQUIRE_MEM control=0x28c40000",
                                           "ACQUIRE_MEM control=0x28c40000",
                                           FLUSH,
                                           NULL};
    (void)state;
    struct gpu_target target = target_of("gfx942", (struct gpu_geometry){8, 32, 1, 304, 0});
    struct sqtt_config config = config_of(1 << 9, 1); /* engine 1 of die 2 */
    struct pm4_stream stream = {0};
    sqtt_read(&stream, &target, &config);
    char *text = text_of(DUMP_GFX9, &stream);
    expect_lines(text, expected);
    free(text);
    pm4_stream_free(&stream);
}

static uint64_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 16;
}

/* Parts follow each other inside the buffer; sections of a die end with a packet; nothing but
 * counters, the trace and the index is written. */
static void random_test(void **state)
{
    static const struct {
        const char *architecture;
        struct gpu_geometry geometry;
    } machines[] = {{"gfx906", {1, 4, 1, 60, 0}},   {"gfx90a", {1, 8, 1, 104, 0}},
                    {"gfx942", {8, 32, 1, 304, 0}}, {"gfx1010", {1, 2, 2, 40, 0}},
                    {"gfx1030", {1, 4, 2, 80, 0}},  {"gfx1100", {1, 6, 2, 96, 0}},
                    {"gfx1201", {1, 4, 2, 64, 0}}};
    uint64_t seed = 99;
    (void)state;
    for (int round = 0; round < 500; round++) {
        size_t i = (size_t)round % (sizeof machines / sizeof machines[0]);
        struct gpu_target target = target_of(machines[i].architecture, machines[i].geometry);
        struct sqtt_config config = config_of(random_next(&seed), random_next(&seed) % 16);
        uint32_t engines = target.geometry.se_count;
        config.engine_mask &= (1ull << engines) - 1;
        config.buffer_bytes = (random_next(&seed) % 4000) << 17;
        config.is_occupancy = random_next(&seed) % 2 != 0;
        config.counter_count = i < 3 ? random_next(&seed) % 9 : 0; /* gfx9 only */
        if (sqtt_config_check(&target, &config)) {
            assert_true(config.buffer_bytes < sqtt_buffer_bytes_min(&target, &config) ||
                        !config.engine_mask || config.buffer_bytes >> 29);
            continue;
        }
        assert_true(config.buffer_bytes >= sqtt_buffer_bytes_min(&target, &config));
        uint64_t end = 0;
        for (uint32_t k = 0; k < engines; k++) {
            struct sqtt_part part = sqtt_part(&target, &config, k);
            assert_true(part.offset_bytes == end && part.size_bytes % SQTT_PAGE_BYTES == 0);
            assert_int_equal(part.is_traced, config.engine_mask >> k & 1);
            end += part.size_bytes;
        }
        assert_true(end <= config.buffer_bytes);
        struct pm4_stream streams[2] = {{0}};
        sqtt_start(&streams[0], &target, &config);
        sqtt_stop(&streams[1], &target, &config);
        for (int s = 0; s < 2; s++) {
            uint32_t predicated_end = 0;
            for (uint32_t at = 0; at < streams[s].count;) {
                struct dump_packet p;
                uint32_t begin = at;
                at += dump_decode(streams[s].dwords + at, streams[s].count - at, &p);
                assert_true(at > begin);
                assert_true(at <= predicated_end || begin >= predicated_end);
                if (p.opcode == PM4_PRED_EXEC)
                    predicated_end = at + (p.body[0] & 0x3fff);
                uint32_t reg = PM4_UCONFIG_START + p.body[0];
                if (p.opcode == PM4_COPY_DATA && (p.body[0] & 15) == PM4_COPY_IMMEDIATE)
                    reg = p.body[3];
                else if (p.opcode != PM4_SET_UCONFIG_REG)
                    continue;
                const char *name = dump_register_name(
                    (enum dump_family)dump_family_find(machines[i].architecture), reg);
                assert_non_null(name);
                assert_true(strstr(name, "THREAD_TRACE") || strstr(name, "PERFCOUNTER") ||
                            strstr(name, "PERFMON") || strcmp(name, "GRBM_GFX_INDEX") == 0 ||
                            strcmp(name, "SPI_SQG_EVENT_CTL") == 0);
            }
            pm4_stream_free(&streams[s]);
        }
    }
}

static void limits_test(void **state)
{
    (void)state;
    struct gpu_target target = target_of("gfx90a", (struct gpu_geometry){1, 8, 1, 104, 0});
    struct gpu_target gfx11 = target_of("gfx1100", (struct gpu_geometry){1, 6, 2, 96, 0});
    struct sqtt_config good = config_of(1, 0), bad;
    assert_null(sqtt_config_check(&target, &good));
    bad = good, bad.engine_mask = 1 << 8;
    assert_non_null(sqtt_config_check(&target, &bad));
    bad = good, bad.target = 16;
    assert_non_null(sqtt_config_check(&target, &bad));
    bad = good, bad.buffer_bytes = 0;
    assert_non_null(sqtt_config_check(&target, &bad));
    bad = good, bad.buffer_bytes = 63 * 4096 + SQTT_PART_BYTES_MIN - 1;
    assert_non_null(sqtt_config_check(&target, &bad));
    bad.buffer_bytes++;
    assert_null(sqtt_config_check(&target, &bad));
    assert_int_equal(bad.buffer_bytes, sqtt_buffer_bytes_min(&target, &bad));
    bad = good, bad.buffer_bytes = (1ull << 29) + 64 * 4096;
    assert_null(sqtt_config_check(&target, &bad));
    assert_non_null(sqtt_config_check(&gfx11, &bad));
    bad = good, bad.counter_count = 1;
    assert_null(sqtt_config_check(&target, &bad));
    assert_non_null(sqtt_config_check(&gfx11, &bad));
}

/* Each has a select register of its own: the event in bits 0 to 8, its SIMDs in bits 24 to 27.
 * Those that nobody wants count nothing. */
static void counters_test(void **state)
{
    static const char *const selects[SQTT_COUNTERS_MAX] = {
        "0=0xf000004", "1=0x500001a", "2=0x0", "3=0x0", "4=0x0", "5=0x0", "6=0x0", "7=0x0"};
    (void)state;
    struct gpu_target target = target_of("gfx90a", (struct gpu_geometry){1, 8, 1, 104, 0});
    struct sqtt_config config = config_of(1, 0);
    struct pm4_stream stream = {0};
    assert_null(sqtt_counter_add(&config, 4, 0xf));
    assert_null(sqtt_counter_add(&config, 26, 0x5));
    assert_null(sqtt_config_check(&target, &config));
    sqtt_start(&stream, &target, &config);
    char *text = text_of(DUMP_GFX9, &stream), expected[64];
    for (int i = 0; i < SQTT_COUNTERS_MAX; i++) {
        snprintf(expected, sizeof expected, "SQ_PERFCOUNTER%c_SELECT%s", selects[i][0],
                 selects[i] + 1);
        const char *found = strstr(text, expected);
        if (!found || !strchr(" \n", found[strlen(expected)]))
            fail_msg("%s is not in %s", expected, text);
    }
    free(text);
    pm4_stream_free(&stream);
}

static void written_test(void **state)
{
    (void)state;
    struct gpu_target gfx9 = target_of("gfx90a", (struct gpu_geometry){1, 8, 1, 104, 0});
    struct gpu_target gfx11 = target_of("gfx1100", (struct gpu_geometry){1, 6, 2, 96, 0});
    struct sqtt_config config = config_of(0x3, 5);
    enum sqtt_outcome outcome;
    uint64_t prefix = 0;
    struct sqtt_control control = {.write_pointer = 0x40000000 | 7};
    assert_int_equal(sqtt_written_bytes(&gfx9, &config, 1, &control, &outcome), 7 * 32);
    assert_int_equal(outcome, SQTT_COMPLETE);
    control.status = 1u << 31;
    sqtt_written_bytes(&gfx9, &config, 1, &control, &outcome);
    assert_int_equal(outcome, SQTT_FULL);
    control.status = 1 << 28;
    sqtt_written_bytes(&gfx9, &config, 1, &control, &outcome);
    assert_int_equal(outcome, SQTT_MEMORY_ERROR);
    control = (struct sqtt_control){.write_pointer = 0x3fffffff};
    struct sqtt_part part = sqtt_part(&gfx9, &config, 1);
    assert_int_equal(sqtt_written_bytes(&gfx9, &config, 1, &control, &outcome), part.size_bytes);
    assert_int_equal(outcome, SQTT_FULL);
    /* Here the pointer has the address's low bits. */
    part = sqtt_part(&gfx11, &config, 1);
    control.write_pointer = (uint32_t)((BUFFER + part.offset_bytes + 320) / 32) & 0x1fffffff;
    assert_int_equal(sqtt_written_bytes(&gfx11, &config, 1, &control, &outcome), 320);
    assert_int_equal(outcome, SQTT_COMPLETE);
    assert_int_equal(sqtt_prefix(&gfx11, &config, 1, &prefix), 0);
    assert_int_equal(sqtt_prefix(&gfx9, &config, 1, &prefix), 8);
    assert_int_equal(prefix, 0x11 | 4 << 13 | 0xf << 16 | 5 << 20 | 1 << 26);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gfx9_test),    cmocka_unit_test(gfx11_test),
        cmocka_unit_test(gfx10_test),   cmocka_unit_test(gfx12_test),
        cmocka_unit_test(raw_test),     cmocka_unit_test(read_test),
        cmocka_unit_test(random_test),  cmocka_unit_test(limits_test),
        cmocka_unit_test(written_test), cmocka_unit_test(counters_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
