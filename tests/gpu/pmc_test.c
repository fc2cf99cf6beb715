/*
 * Command buffers decoded back by the software GPU's disassembler and compared with the programming
 * sequence that AMD's open builder is known to emit for gfx90a (dword counts and registers observed
 * there). model_test.c executes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump/dump.h"
#include "gpu/aql/vendor.h"
#include "gpu/pmc.h"

static const struct gpu_geometry mi210 = {1, 8, 1, 104, 0}, mi300x = {8, 32, 1, 304, 0};

static struct gpu_target target_of(const char *architecture, const struct gpu_geometry *geometry)
{
    struct gpu_target target;
    assert_int_equal(gpu_target_find(architecture, geometry, &target), 0);
    return target;
}

static struct gpu_event event_of(const struct gpu_target *target, const char *block,
                                 uint32_t instance, uint32_t event)
{
    struct gpu_event e = {gpu_block_by_name(target, block), instance, event, GPU_ACCUMULATE_NONE,
                          0};
    assert_non_null(e.block);
    return e;
}

/* Registers' fields, in parentheses, only repeat their values. */
static void compare(enum dump_family family, const struct pm4_stream *stream,
                    const char *const *expected)
{
    uint32_t at = 0, line = 0;
    while (at < stream->count) {
        struct dump_packet packet;
        char text[200];
        uint32_t length = dump_decode(stream->dwords + at, stream->count - at, &packet);
        assert_true(length > 0);
        dump_format(family, &packet, text, sizeof text);
        text[strcspn(text, "(")] = '\0';
        if (text[strlen(text) - 1] == ' ')
            text[strlen(text) - 1] = '\0';
        if (!expected[line])
            fail_msg("one packet too many: %s", text);
        assert_string_equal(text, expected[line]);
        line++;
        at += length;
    }
    assert_null(expected[line]);
}

#define FLUSH     "EVENT_WRITE event=CS_PARTIAL_FLUSH index=4"
#define BROADCAST "SET_UCONFIG_REG GRBM_GFX_INDEX=0xe0000000"

static void start_test(void **state)
{
    static const char *const expected[] = {
        FLUSH,
        BROADCAST,
        "SET_UCONFIG_REG RLC_PERFMON_CLK_CNTL=0x1",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=0x0",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=0xffff007f",
        BROADCAST,
        "SET_UCONFIG_REG SQ_PERFCOUNTER0_SELECT=0xf0ff004",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_MASK=0xffffffff",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=0xffff0057",
        BROADCAST,
        "SET_UCONFIG_REG GRBM_PERFCOUNTER0_SELECT=0x0",
        "SET_UCONFIG_REG GRBM_GFX_INDEX=0xa0000000",
        "SET_UCONFIG_REG TCC_PERFCOUNTER0_SELECT=0x11",
        BROADCAST,
        "SET_SH_REG COMPUTE_PERFCOUNT_ENABLE=0x1",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=0x0",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=0x1",
        FLUSH,
        NULL,
    };
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[] = {event_of(&target, "SQ", 0, 4), event_of(&target, "GRBM", 0, 0),
                                 event_of(&target, "TCC", 0, 17)};
    struct pm4_stream stream = {0};
    assert_int_equal(gpu_pmc_assign(&target, events, 3), GPU_PMC_OK);
    gpu_pmc_start(&stream, &target, events, 3);
    assert_int_equal(stream.count, 52);
    compare(DUMP_GFX9, &stream, expected);
    pm4_stream_free(&stream);
}

enum { CHANNELS = 32 };

/* How often a stream of channel events writes the index, and their select. */
static void selects_count(uint32_t other_channel, uint32_t *indices, uint32_t *selects)
{
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[CHANNELS];
    struct pm4_stream stream = {0};
    for (uint32_t i = 0; i < CHANNELS; i++)
        events[i] = event_of(&target, "TCC", i, i == other_channel ? 19 : 17);
    assert_int_equal(gpu_pmc_assign(&target, events, CHANNELS), GPU_PMC_OK);
    gpu_pmc_start(&stream, &target, events, CHANNELS);
    *indices = *selects = 0;
    for (uint32_t at = 0; at < stream.count;) {
        struct dump_packet packet;
        char text[200];
        at += dump_decode(stream.dwords + at, stream.count - at, &packet);
        dump_format(DUMP_GFX9, &packet, text, sizeof text);
        *indices += strstr(text, "GRBM_GFX_INDEX=") != NULL;
        *selects += strstr(text, "TCC_PERFCOUNTER0_SELECT=") != NULL;
    }
    pm4_stream_free(&stream);
}

/* One write selects for all channels when they count the same: the first, that one, the last. */
static void broadcast_test(void **state)
{
    uint32_t indices, selects;
    (void)state;
    selects_count(CHANNELS, &indices, &selects);
    assert_int_equal(indices, 3);
    assert_int_equal(selects, 1);
    selects_count(CHANNELS - 1, &indices, &selects);
    assert_int_equal(indices, CHANNELS + 2);
    assert_int_equal(selects, CHANNELS);
}

static void stop_test(void **state)
{
    static const char *const expected[] = {BROADCAST, "SET_UCONFIG_REG CP_PERFMON_CNTL=0x2",
                                           "SET_UCONFIG_REG RLC_PERFMON_CLK_CNTL=0x0", FLUSH, NULL};
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[] = {event_of(&target, "SQ", 0, 4)};
    struct pm4_stream stream = {0};
    gpu_pmc_assign(&target, events, 1);
    gpu_pmc_stop(&stream, &target, events, 1);
    assert_int_equal(stream.count, 11);
    compare(DUMP_GFX9, &stream, expected);
    pm4_stream_free(&stream);
}

static void read_test(void **state)
{
    enum { RESULT = 0x12345000 };
    static const uint32_t first_copy[] = {0xc0044000, 0x02012504, 0xd1c0, 0, RESULT, 0};
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[] = {event_of(&target, "SQ", 0, 4), event_of(&target, "GRBM", 0, 0),
                                 event_of(&target, "TCC", 0, 17)};
    struct pm4_stream stream = {0};
    gpu_pmc_assign(&target, events, 3);
    gpu_pmc_read(&stream, &target, events, 3, RESULT);
    assert_int_equal(stream.count, 108); /* ten counters, of 64 bits each */
    /* CP_PERFMON_CNTL, broadcast, flush, index of engine 0, then the first copy. */
    assert_int_equal(stream.dwords[2], 0x401);
    assert_int_equal(stream.dwords[10], 0x60000000);
    assert_memory_equal(stream.dwords + 11, first_copy, sizeof first_copy);
    assert_int_equal(stream.dwords[stream.count - 7], 0xc0055800);
    assert_int_equal(stream.dwords[stream.count - 6], 0x28c40000);
    assert_int_equal(gpu_pmc_result_bytes(&target, events, 3), 10 * 8);
    assert_int_equal(gpu_pmc_result_index(&target, events, 3, 2, 0, 0), 9);
    pm4_stream_free(&stream);
}

/* What is read at one place follows one write of the index, in any order of the events, and each of
 * the results has a place of its own. */
static void a_place_is_indexed_once(void **state)
{
    (void)state;
    enum {
        TCC_CHANNELS = 32,
        EVENTS = 2 * TCC_CHANNELS + 2,
        ENGINES = 8,
        AROUND = 2,
        RESULT = 0x40000
    };
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[EVENTS];
    uint32_t indexed = 0, copied = 0;
    uint64_t places = 0;
    for (uint32_t i = 0; i < TCC_CHANNELS; i++) {
        events[1 + i] = event_of(&target, "TCC", i, 17);
        events[2 * TCC_CHANNELS - i] = event_of(&target, "TCC", i, 19);
    }
    events[0] = event_of(&target, "SQ", 0, 4);
    events[EVENTS - 1] = event_of(&target, "SQ", 0, 26);
    struct pm4_stream stream = {0};
    gpu_pmc_assign(&target, events, EVENTS);
    gpu_pmc_read(&stream, &target, events, EVENTS, RESULT);
    for (uint32_t at = 0; at < stream.count;) {
        struct dump_packet packet;
        char text[200];
        uint32_t length = dump_decode(stream.dwords + at, stream.count - at, &packet);
        dump_format(DUMP_GFX9, &packet, text, sizeof text);
        indexed += strstr(text, "GRBM_GFX_INDEX") != NULL;
        if (strstr(text, "COPY_DATA")) {
            places += (stream.dwords[at + 4] - RESULT) / sizeof(uint64_t);
            copied++;
        }
        at += length;
    }
    assert_int_equal(indexed, ENGINES + TCC_CHANNELS + AROUND);
    assert_int_equal(copied, 2 * ENGINES + 2 * TCC_CHANNELS);
    assert_int_equal(places, copied * (copied - 1) / 2);
    pm4_stream_free(&stream);
}

static void read_dies_test(void **state)
{
    (void)state;
    struct gpu_target target = target_of("gfx942", &mi300x);
    struct gpu_event events[] = {event_of(&target, "SQ", 0, 4), event_of(&target, "TCC", 0, 17)};
    struct pm4_stream stream = {0};
    gpu_pmc_assign(&target, events, 2);
    gpu_pmc_read(&stream, &target, events, 2, 0x1000);
    assert_int_equal(stream.count, 690);
    assert_int_equal(stream.dwords[3], 0xc0002300);
    assert_int_equal(stream.dwords[4], 1u << 24 | 83); /* a die's section without PRED_EXEC */
    pm4_stream_free(&stream);
}

static void accumulate_test(void **state)
{
    static const char *const expected[] = {
        FLUSH,
        BROADCAST,
        "SET_UCONFIG_REG RLC_PERFMON_CLK_CNTL=0x1",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=0x0",
        BROADCAST,
        "SET_UCONFIG_REG SQ_PERFCOUNTER0_SELECT=0xf0ff004",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_MASK=0xffffffff",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=0xffff0057",
        BROADCAST,
        "SET_UCONFIG_REG SQ_PERFCOUNTER1_SELECT=0xf0ff005",
        "SET_UCONFIG_REG SQ_PERFCOUNTER2_SELECT=0xf0ff0b9",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_MASK=0xffffffff",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=0xffff0057",
        BROADCAST,
        "SET_SH_REG COMPUTE_PERFCOUNT_ENABLE=0x1",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=0x0",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=0x1",
        FLUSH,
        NULL,
    };
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[] = {event_of(&target, "SQ", 0, 4), event_of(&target, "SQ", 0, 5)};
    struct pm4_stream stream = {0};
    events[1].accumulate = GPU_ACCUMULATE_HIGH_RES;
    assert_int_equal(gpu_pmc_assign(&target, events, 2), GPU_PMC_OK);
    gpu_pmc_start(&stream, &target, events, 2);
    compare(DUMP_GFX9, &stream, expected);
    pm4_stream_free(&stream);
}

/* A level beside its total is counted in the register that the total needs before it anyway. */
static void shared_level_test(void **state)
{
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[10];
    for (uint32_t i = 0; i < 8; i++)
        events[i] = event_of(&target, "SQ", 0, 5 + i);
    events[8] = events[9] = events[3];
    events[8].accumulate = GPU_ACCUMULATE_HIGH_RES;
    assert_int_equal(gpu_pmc_assign(&target, events, 9), GPU_PMC_FULL); /* 7 + 2 */
    events[7] = events[8];
    assert_int_equal(gpu_pmc_assign(&target, events, 8), GPU_PMC_OK); /* 6 + 2 */
    assert_int_equal(events[3].slot + 1, events[7].slot);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 8; i++)
        taken |= 1u << events[i].slot;
    assert_int_equal(taken, 0xff);
    events[6] = events[9];
    events[6].accumulate = GPU_ACCUMULATE_LOW_RES; /* a second total needs a level of its own */
    assert_int_equal(gpu_pmc_assign(&target, events, 8), GPU_PMC_FULL);
    assert_int_equal(gpu_pmc_assign(&target, events + 1, 7), GPU_PMC_OK);
}

static void limits_test(void **state)
{
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[9];
    for (uint32_t i = 0; i < 9; i++)
        events[i] = event_of(&target, i < 5 ? "SQ" : "SQ_CS", 0, i + 2);
    assert_int_equal(gpu_pmc_assign(&target, events, 8), GPU_PMC_OK);
    assert_int_equal(gpu_pmc_assign(&target, events, 9), GPU_PMC_FULL); /* one register file */
    events[0] = event_of(&target, "TCC", 32, 17);
    assert_int_equal(gpu_pmc_assign(&target, events, 1), GPU_PMC_BAD_INSTANCE);
    events[0] = event_of(&target, "TCC", 31, 296);
    assert_int_equal(gpu_pmc_assign(&target, events, 1), GPU_PMC_BAD_EVENT);
    events[0].block = NULL;
    assert_int_equal(gpu_pmc_assign(&target, events, 1), GPU_PMC_BAD_BLOCK);
    events[0] = event_of(&target, "TCC", 0, 17);
    events[0].accumulate = GPU_ACCUMULATE_HIGH_RES;
    assert_int_equal(gpu_pmc_assign(&target, events, 1), GPU_PMC_BAD_EVENT);
    assert_int_equal(gpu_target_find("gfx000", &mi210, &target), -1);
}

/* Instances per block: 8 / 1 / 32 on MI210, 32 / 8 / 128 on MI300X, 4 / 1 / 16 on MI50. */
static void instances_test(void **state)
{
    static const struct gpu_geometry mi50 = {1, 4, 1, 60, 0};
    static const struct {
        const char *architecture;
        const struct gpu_geometry *geometry;
        uint32_t sq, grbm, tcc;
    } known[] = {
        {"gfx90a", &mi210, 8, 1, 32}, {"gfx942", &mi300x, 32, 8, 128}, {"gfx906", &mi50, 4, 1, 16}};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct gpu_target target = target_of(known[i].architecture, known[i].geometry);
        const uint32_t counts[] = {known[i].sq, known[i].grbm, known[i].tcc};
        static const char *const names[] = {"SQ", "GRBM", "TCC"};
        for (unsigned k = 0; k < 3; k++) {
            const struct gpu_block *block = gpu_block_by_name(&target, names[k]);
            assert_int_equal(gpu_block_dies(&target, block) * gpu_block_samples(&target, block) *
                                 gpu_block_instances(&target, block),
                             counts[k]);
        }
    }
}

/* gfx11.5 has fewer instances of the L2 than the largest of gfx11. */
static void instances_gfx115_test(void **state)
{
    static const struct {
        const char *architecture;
        uint32_t arbiters, caches;
    } known[] = {{"gfx1100", 32, 32}, {"gfx1103", 32, 32}, {"gfx1150", 4, 8},
                 {"gfx1151", 4, 8},   {"gfx1152", 4, 8},   {"gfx1153", 4, 8}};
    static const struct gpu_geometry strix = {1, 2, 2, 40, 0};
    (void)state;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct gpu_target target = target_of(known[i].architecture, &strix);
        const struct gpu_block *arbiter = gpu_block_by_name(&target, "GL2A");
        const struct gpu_block *cache = gpu_block_by_name(&target, "GL2C");
        assert_int_equal(gpu_block_instances(&target, arbiter), known[i].arbiters);
        assert_int_equal(gpu_block_instances(&target, cache), known[i].caches);
    }
}

/* Compute units of a shader array: what the topology says; otherwise one more than the active ones
 * of a full array. MI300X: 304 of 320; MI210: 104 of 112; MI50: 60 of 64, 16 being the block's
 * most. */
static void harvested_units_test(void **state)
{
    static const struct {
        const char *architecture;
        struct gpu_geometry geometry;
        uint32_t expected;
    } known[] = {{"gfx942", {8, 32, 1, 304, 10}, 10}, {"gfx942", {8, 32, 1, 304, 0}, 11},
                 {"gfx90a", {1, 8, 1, 104, 14}, 14},  {"gfx90a", {1, 8, 1, 104, 0}, 14},
                 {"gfx906", {1, 4, 1, 60, 16}, 16},   {"gfx906", {1, 4, 1, 64, 0}, 16},
                 {"gfx942", {8, 32, 1, 304, 3}, 11}}; /* 3: cannot be */
    static const char *const names[] = {"TA", "TD", "TCP"};
    (void)state;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct gpu_target target = target_of(known[i].architecture, &known[i].geometry);
        for (unsigned k = 0; k < 3; k++) {
            const struct gpu_block *block = gpu_block_by_name(&target, names[k]);
            assert_int_equal(gpu_block_instances(&target, block), known[i].expected);
        }
    }
}

static void vendor_packet_test(void **state)
{
    struct aql_pm4_packet packet;
    static const uint32_t expected[16] = {1u << 16, 0xc0023f00, 0x89abc000, 0x7f01, 0x10800034, 10};
    (void)state;
    aql_pm4_packet_fill(&packet, 0x7f0189abc000, 52);
    assert_memory_equal(&packet, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_test),
        cmocka_unit_test(broadcast_test),
        cmocka_unit_test(stop_test),
        cmocka_unit_test(read_test),
        cmocka_unit_test(a_place_is_indexed_once),
        cmocka_unit_test(read_dies_test),
        cmocka_unit_test(accumulate_test),
        cmocka_unit_test(shared_level_test),
        cmocka_unit_test(limits_test),
        cmocka_unit_test(instances_test),
        cmocka_unit_test(instances_gfx115_test),
        cmocka_unit_test(harvested_units_test),
        cmocka_unit_test(vendor_packet_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
