/*
 * Command buffers decoded back by the disassembler and compared with the programming sequence that
 * AMD's open builder is known to emit for gfx90a (dword counts and registers observed there), and
 * executed by a small model of the register file that knows nothing of the builders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/aql/vendor.h"
#include "gpu/pm4/disasm.h"
#include "gpu/pmc.h"

static const struct gpu_geometry mi210 = {1, 8, 1, 104}, mi300x = {8, 32, 1, 304};

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

static void compare(const struct pm4_stream *stream, const char *const *expected)
{
    uint32_t at = 0, line = 0;
    while (at < stream->count) {
        struct pm4_packet packet;
        char text[200];
        uint32_t length = pm4_decode(stream->dwords + at, stream->count - at, &packet);
        assert_true(length > 0);
        pm4_format(&packet, text, sizeof text);
        if (!expected[line])
            fail_msg("one packet too many: %s", text);
        assert_string_equal(text, expected[line]);
        line++;
        at += length;
    }
    assert_null(expected[line]);
}

#define FLUSH     "EVENT_WRITE type 7 index 4"
#define BROADCAST "SET_UCONFIG_REG GRBM_GFX_INDEX=e0000000"

static void start_test(void **state)
{
    static const char *const expected[] = {
        FLUSH,
        BROADCAST,
        "SET_UCONFIG_REG RLC_PERFMON_CLK_CNTL=00000001",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=00000000",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=ffff007f",
        BROADCAST,
        "SET_UCONFIG_REG SQ_PERFCOUNTER0_SELECT=0f0ff004",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_MASK=ffffffff",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=ffff0057",
        BROADCAST,
        "SET_UCONFIG_REG GRBM_PERFCOUNTER0_SELECT=00000000",
        "SET_UCONFIG_REG GRBM_GFX_INDEX=a0000000",
        "SET_UCONFIG_REG TCC_PERFCOUNTER0_SELECT=00000011",
        BROADCAST,
        "SET_SH_REG COMPUTE_PERFCOUNT_ENABLE=00000001",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=00000000",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=00000001",
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
    compare(&stream, expected);
    pm4_stream_free(&stream);
}

static void stop_test(void **state)
{
    static const char *const expected[] = {BROADCAST, "SET_UCONFIG_REG CP_PERFMON_CNTL=00000002",
                                           "SET_UCONFIG_REG RLC_PERFMON_CLK_CNTL=00000000", FLUSH,
                                           NULL};
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[] = {event_of(&target, "SQ", 0, 4)};
    struct pm4_stream stream = {0};
    gpu_pmc_assign(&target, events, 1);
    gpu_pmc_stop(&stream, &target, events, 1);
    assert_int_equal(stream.count, 11);
    compare(&stream, expected);
    pm4_stream_free(&stream);
}

static void read_test(void **state)
{
    enum { RESULT = 0x12345000 };
    static const uint32_t first_copy[] = {0xc0044000, 0x02002500, 0xd1c0, 0, RESULT, 0};
    (void)state;
    struct gpu_target target = target_of("gfx90a", &mi210);
    struct gpu_event events[] = {event_of(&target, "SQ", 0, 4), event_of(&target, "GRBM", 0, 0),
                                 event_of(&target, "TCC", 0, 17)};
    struct pm4_stream stream = {0};
    gpu_pmc_assign(&target, events, 3);
    gpu_pmc_read(&stream, &target, events, 3, RESULT);
    assert_int_equal(stream.count, 177);
    /* CP_PERFMON_CNTL, broadcast, flush, broadcast, index of engine 0, then the first copy. */
    assert_int_equal(stream.dwords[2], 0x401);
    assert_int_equal(stream.dwords[13], 0x60000000);
    assert_memory_equal(stream.dwords + 14, first_copy, sizeof first_copy);
    assert_int_equal(stream.dwords[stream.count - 7], 0xc0055800);
    assert_int_equal(stream.dwords[stream.count - 6], 0x28c40000);
    assert_int_equal(gpu_pmc_result_bytes(&target, events, 3), 10 * 8);
    assert_int_equal(gpu_pmc_result_index(&target, events, 3, 2, 0, 0), 9);
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
    assert_int_equal(stream.count, 738);
    assert_int_equal(stream.dwords[3], 0xc0002300);
    assert_int_equal(stream.dwords[4], 1u << 24 | 89); /* a die's section without PRED_EXEC */
    pm4_stream_free(&stream);
}

/* A model of the counter hardware: registers per die, engine and instance. A value read is a
 * function of where it was read and of what was selected there. */
struct model {
    const struct gpu_target *target;
    uint32_t index, perfmon, die_mask;
    uint32_t selects[8][32][33][8]; /* [die][engine][instance][slot] of the block under test */
    const struct gpu_block *block;
    uint32_t mc_slot;
    uint64_t *result;
    uint64_t result_va;
    int sampled;
};

static uint64_t model_value(uint32_t die, uint32_t engine, uint32_t instance, uint32_t select)
{
    return ((uint64_t)(select & 0xff) << 40) | (uint64_t)die << 24 | (uint64_t)engine << 16 |
           instance;
}

static void model_write(struct model *m, uint32_t reg, uint32_t value)
{
    const char *name = pm4_register_name(reg);
    assert_non_null(name);
    if (strcmp(name, "GRBM_GFX_INDEX") == 0)
        m->index = value;
    if (strcmp(name, "CP_PERFMON_CNTL") == 0) {
        m->perfmon = value;
        m->sampled |= value == 0x401;
    }
    if (reg == m->block->control)
        m->mc_slot = value & 0xff;
    for (uint32_t slot = 0; slot < m->block->counters; slot++) {
        if (reg != m->block->registers[slot].select)
            continue;
        for (uint32_t die = 0; die < 8; die++)
            for (uint32_t engine = 0; engine < 32; engine++)
                for (uint32_t instance = 0; instance < 32; instance++)
                    if ((m->index & 1u << 31 || (m->index >> 16 & 0xff) == engine) &&
                        (m->index & 1u << 30 || (m->index & 0xff) == instance))
                        m->selects[die][engine][instance][slot] = value;
    }
}

static void model_copy(struct model *m, const uint32_t *body)
{
    uint32_t from = body[0] & 15, to = body[0] >> 8 & 15;
    if (from == PM4_COPY_IMMEDIATE) {
        model_write(m, body[3], body[1]);
        return;
    }
    assert_int_equal(to, PM4_COPY_MEMORY);
    uint64_t va = (uint64_t)body[4] << 32 | body[3];
    uint32_t engine = m->index & 1u << 31 ? 0 : m->index >> 16 & 0xff;
    uint32_t instance = m->index & 1u << 30 ? 0 : m->index & 0xff;
    uint32_t die = (uint32_t)__builtin_ctz(m->die_mask);
    for (uint32_t slot = 0; slot < m->block->counters; slot++) {
        const struct gpu_counter_registers *r = &m->block->registers[slot];
        if (m->block->flags & (BLOCK_MC | BLOCK_ATHUB) && slot != m->mc_slot)
            continue;
        uint64_t value =
            model_value(die, engine, instance, m->selects[die][engine][instance][slot]);
        uint32_t *at = (uint32_t *)((char *)m->result + (va - m->result_va));
        if (body[1] == r->low)
            *at = (uint32_t)value;
        if (body[1] == r->high)
            *at = (uint32_t)(value >> 32);
    }
}

static void model_run(struct model *m, const struct pm4_stream *stream)
{
    uint32_t at = 0, predicated_end = 0;
    while (at < stream->count) {
        struct pm4_packet p;
        uint32_t length = pm4_decode(stream->dwords + at, stream->count - at, &p);
        assert_true(length > 0);
        if (at >= predicated_end)
            m->die_mask = 0xff;
        at += length;
        if (p.opcode == PM4_SET_UCONFIG_REG)
            model_write(m, PM4_UCONFIG_START + p.body[0], p.body[1]);
        else if (p.opcode == PM4_COPY_DATA)
            model_copy(m, p.body);
        else if (p.opcode == PM4_PRED_EXEC) {
            m->die_mask = p.body[0] >> 24;
            predicated_end = at + (p.body[0] & 0x3fff);
        }
    }
}

/* Every instance, engine and die of a block arrives where the layout says. */
static void check_block(const char *architecture, const struct gpu_geometry *geometry,
                        const char *name)
{
    struct gpu_target target = target_of(architecture, geometry);
    const struct gpu_block *block = gpu_block_by_name(&target, name);
    uint32_t instances = gpu_block_instances(&target, block);
    uint32_t dies = gpu_block_dies(&target, block), samples = gpu_block_samples(&target, block);
    struct gpu_event *events = calloc(2 * instances, sizeof *events);
    for (uint32_t i = 0; i < 2 * instances; i++)
        events[i] = event_of(&target, name, i % instances, 1 + i / instances);
    assert_int_equal(gpu_pmc_assign(&target, events, 2 * instances), GPU_PMC_OK);
    uint32_t bytes = gpu_pmc_result_bytes(&target, events, 2 * instances);
    struct model *m = calloc(1, sizeof *m);
    m->target = &target;
    m->block = block;
    m->result = calloc(1, bytes);
    m->result_va = 0x7f0000001000;
    struct pm4_stream stream = {0};
    gpu_pmc_start(&stream, &target, events, 2 * instances);
    gpu_pmc_read(&stream, &target, events, 2 * instances, m->result_va);
    gpu_pmc_stop(&stream, &target, events, 2 * instances);
    assert_false(stream.out_of_memory);
    model_run(m, &stream);
    for (uint32_t i = 0; i < 2 * instances; i++)
        for (uint32_t die = 0; die < dies; die++)
            for (uint32_t k = 0; k < samples; k++) {
                uint64_t got =
                    m->result[gpu_pmc_result_index(&target, events, 2 * instances, i, die, k)];
                uint64_t expected =
                    model_value(die, samples > 1 ? k : 0, i % instances, 1 + i / instances);
                if (got != expected)
                    fail_msg("%s %s event %u die %u sample %u: %llx, not %llx", architecture, name,
                             i, die, k, (unsigned long long)got, (unsigned long long)expected);
            }
    pm4_stream_free(&stream);
    free(m->result);
    free(m);
    free(events);
}

static void every_block_test(void **state)
{
    static const char *const blocks[] = {"SQ",  "SQ_CS", "GRBM",    "SPI",    "SX",    "TA",
                                         "TD",  "TCP",   "TCC",     "TCA",    "CPC",   "CPF",
                                         "GDS", "GCEA",  "GRBM_SE", "MCVML2", "ATCL2", NULL};
    (void)state;
    for (int i = 0; blocks[i]; i++) {
        check_block("gfx90a", &mi210, blocks[i]);
        check_block("gfx942", &mi300x, blocks[i]);
    }
    check_block("gfx90a", &mi210, "ATC");
    check_block("gfx90a", &mi210, "RPB");
}

static void accumulate_test(void **state)
{
    static const char *const expected[] = {
        FLUSH,
        BROADCAST,
        "SET_UCONFIG_REG RLC_PERFMON_CLK_CNTL=00000001",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=00000000",
        BROADCAST,
        "SET_UCONFIG_REG SQ_PERFCOUNTER0_SELECT=0f0ff004",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_MASK=ffffffff",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=ffff0057",
        BROADCAST,
        "SET_UCONFIG_REG SQ_PERFCOUNTER1_SELECT=0f0ff005",
        "SET_UCONFIG_REG SQ_PERFCOUNTER2_SELECT=0f0ff0b9",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_MASK=ffffffff",
        "SET_UCONFIG_REG SQ_PERFCOUNTER_CTRL=ffff0057",
        BROADCAST,
        "SET_SH_REG COMPUTE_PERFCOUNT_ENABLE=00000001",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=00000000",
        "SET_UCONFIG_REG CP_PERFMON_CNTL=00000001",
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
    compare(&stream, expected);
    pm4_stream_free(&stream);
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
    static const struct gpu_geometry mi50 = {1, 4, 1, 60};
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

static void vendor_packet_test(void **state)
{
    struct aql_pm4_packet packet;
    static const uint32_t expected[16] = {1u << 16, 0xc0023f00, 0x89abc000, 0x7f01, 0x10800034, 10};
    (void)state;
    aql_pm4_packet_fill(&packet, 0x7f0189abc000, 52);
    assert_memory_equal(&packet, expected, sizeof expected);
}

static void decode_test(void **state)
{
    struct pm4_packet packet;
    const uint32_t bad[][2] = {{0x80000000, 0}, {0xc0001000 | 0x2000000, 0}, {0xc000ff00, 0}};
    (void)state;
    assert_int_equal(pm4_decode(NULL, 0, &packet), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pm4_decode(bad[i], 2, &packet), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_test),         cmocka_unit_test(stop_test),
        cmocka_unit_test(read_test),          cmocka_unit_test(read_dies_test),
        cmocka_unit_test(every_block_test),   cmocka_unit_test(accumulate_test),
        cmocka_unit_test(limits_test),        cmocka_unit_test(instances_test),
        cmocka_unit_test(vendor_packet_test), cmocka_unit_test(decode_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
