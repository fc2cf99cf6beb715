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

/* A model of the counter hardware that knows no block, only what was written where: a value read is
 * a function of the place that it was read from and of the last select that reached that place. */
struct model_write {
    uint64_t reg;
    uint32_t value, index;
};

enum { MODEL_WRITES = 1 << 16, INDEX_REGISTER = 0xc200, PERFMON_REGISTER = 0xd808 };

struct model {
    const struct gpu_block *block;      /* under test: which select belongs to a value register */
    uint32_t index, die_mask, shown[4]; /* shown: of each base die */
    struct model_write writes[MODEL_WRITES];
    uint32_t write_count;
    uint64_t *result, result_va;
    uint32_t result_bytes;
    int sampled;
};

struct place {
    uint32_t die, engine, array, instance;
};

static uint64_t model_value(const struct place *at, uint32_t select)
{
    return (uint64_t)(select & 0xff) << 32 | at->die << 24 | at->engine << 16 | at->array << 8 |
           at->instance;
}

/* Does a write under `index` reach what is read under `read_index`? */
static int reaches(uint32_t index, uint32_t read_index)
{
    const struct {
        uint32_t broadcast, mask;
    } fields[] = {{1u << 31, 0xff0000}, {1u << 29, 0xff00}, {1u << 30, 0xff}};
    for (int i = 0; i < 3; i++) {
        if (index & fields[i].broadcast)
            continue;
        if (read_index & fields[i].broadcast || (index ^ read_index) & fields[i].mask)
            return 0;
    }
    return 1;
}

static uint32_t base_die(uint64_t reg)
{
    return reg >> 32 ? (uint32_t)(reg >> 30 & 3) : 0;
}

static uint32_t register_of(uint64_t reg)
{
    return (uint32_t)reg & 0x3ffff;
}

static void model_write(struct model *m, uint64_t reg, uint32_t value)
{
    assert_true(m->write_count < MODEL_WRITES);
    if (reg == INDEX_REGISTER)
        m->index = value;
    else if (reg == PERFMON_REGISTER)
        m->sampled |= value >> 10 & 1;
    else
        m->writes[m->write_count++] = (struct model_write){reg, value, m->index};
    if (m->block->flags & (BLOCK_MC | BLOCK_OUTSIDE) && register_of(reg) == m->block->control)
        m->shown[base_die(reg)] = value & 0xff;
}

static uint32_t model_select(const struct model *m, uint64_t reg)
{
    for (uint32_t i = m->write_count; i-- > 0;) {
        if (m->writes[i].reg == reg && reaches(m->writes[i].index, m->index))
            return m->writes[i].value;
    }
    fail_msg("register %llx was not selected under %08x", (unsigned long long)reg, m->index);
    return 0;
}

/* The counter whose value `reg` is a half of. */
static const struct gpu_counter_registers *model_find(const struct model *m, uint64_t wide)
{
    const struct gpu_block *b = m->block;
    uint32_t reg = register_of(wide);
    uint32_t count = b->counters * (b->flags & BLOCK_EACH ? b->instances : 1);
    for (uint32_t i = 0; i < count; i++) {
        if (b->flags & (BLOCK_MC | BLOCK_OUTSIDE) && i != m->shown[base_die(wide)])
            continue;
        if (reg == b->registers[i].low || reg == b->registers[i].high)
            return &b->registers[i];
    }
    return NULL;
}

static uint32_t model_read(const struct model *m, uint64_t reg)
{
    const struct gpu_counter_registers *r = model_find(m, reg);
    if (!r)
        return 0xbad;
    const struct place at = {(uint32_t)__builtin_ctz(m->die_mask),
                             m->index >> 31 ? 0 : m->index >> 16 & 0xff,
                             m->index >> 29 & 1 ? 0 : m->index >> 8 & 0xff,
                             m->index >> 30 & 1 ? base_die(reg) : m->index & 0xff};
    uint64_t value = model_value(&at, model_select(m, reg - register_of(reg) + r->select));
    return (uint32_t)(register_of(reg) == r->low ? value : value >> 32);
}

static void model_copy(struct model *m, const uint32_t *body)
{
    uint32_t from = body[0] & 15, to = body[0] >> 8 & 15;
    uint32_t value = from == PM4_COPY_IMMEDIATE ? body[1] : 0;
    if (to == PM4_COPY_REGISTER || to == PM4_COPY_PERFCOUNTERS) {
        assert_int_equal(from, PM4_COPY_IMMEDIATE);
        model_write(m, (uint64_t)body[4] << 32 | body[3], value);
        return;
    }
    if (from != PM4_COPY_IMMEDIATE)
        value = model_read(m, (uint64_t)body[2] << 32 | body[1]);
    uint64_t va = (uint64_t)body[4] << 32 | body[3];
    assert_true(va >= m->result_va && va + 4 <= m->result_va + m->result_bytes);
    *(uint32_t *)((char *)m->result + (va - m->result_va)) = value;
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

/* Where the value of an event's sample should come from. */
static struct place place_of(const struct gpu_target *target, const struct gpu_event *e,
                             uint32_t die, uint32_t sample)
{
    struct gpu_grid g = gpu_block_grid(target, e->block);
    uint32_t processors = g.processors ? g.processors : 1, arrays = g.arrays ? g.arrays : 1;
    struct place at = {die, sample / processors / arrays, sample / processors % arrays, 0};
    if (e->block->instances > 1 && !(e->block->flags & BLOCK_EACH))
        at.instance = e->instance;
    if (g.processors)
        at.instance = sample % processors << 2 | e->instance;
    return at;
}

static void check_values(const struct gpu_target *target, const struct model *m,
                         const struct gpu_event *events, uint32_t count)
{
    uint32_t dies = gpu_block_dies(target, m->block);
    uint32_t samples = gpu_block_samples(target, m->block);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t die = 0; die < dies; die++)
            for (uint32_t k = 0; k < samples; k++) {
                uint64_t got = m->result[gpu_pmc_result_index(target, events, count, i, die, k)];
                struct place at = place_of(target, &events[i], die, k);
                uint64_t expected = model_value(&at, events[i].event);
                if (!events[i].block->registers[0].high)
                    expected = (uint32_t)expected;
                if (got != expected)
                    fail_msg("%s event %u die %u sample %u: %llx, not %llx", m->block->name, i, die,
                             k, (unsigned long long)got, (unsigned long long)expected);
            }
}

/* Every counter of every instance arrives where the layout says; different events per instance. */
static void check_block(const struct gpu_target *target, const struct gpu_block *block)
{
    uint32_t instances = gpu_block_instances(target, block);
    uint32_t count = instances * (block->counters < 2 ? 1 : 2);
    struct gpu_event *events = calloc(count, sizeof *events);
    for (uint32_t i = 0; i < count; i++)
        events[i] = event_of(target, block->name, i % instances,
                             (i * 7 + 1) % ((block->event_max < 255 ? block->event_max : 255) + 1));
    assert_int_equal(gpu_pmc_assign(target, events, count), GPU_PMC_OK);
    struct model *m = calloc(1, sizeof *m);
    m->block = block;
    m->result_bytes = gpu_pmc_result_bytes(target, events, count);
    m->result = malloc(m->result_bytes);
    memset(m->result, 0xa5, m->result_bytes);
    m->result_va = 0x7f0000001000;
    struct pm4_stream stream = {0};
    gpu_pmc_start(&stream, target, events, count);
    gpu_pmc_read(&stream, target, events, count, m->result_va);
    gpu_pmc_stop(&stream, target, events, count);
    assert_false(stream.out_of_memory);
    model_run(m, &stream);
    assert_int_equal(m->index, 0xe0000000);
    assert_int_equal(m->sampled, !(block->flags & BLOCK_OUTSIDE));
    check_values(target, m, events, count);
    pm4_stream_free(&stream);
    free(m->result);
    free(m);
    free(events);
}

/* Architectures with the geometry of one of their GPUs. */
static const struct machine {
    const char *architecture;
    struct gpu_geometry geometry;
} machines[] = {
    {"gfx906", {1, 4, 1, 60}},   {"gfx908", {1, 8, 1, 120}},  {"gfx90a", {1, 8, 1, 104}},
    {"gfx942", {8, 32, 1, 304}}, {"gfx950", {8, 32, 1, 256}}, {"gfx1010", {1, 2, 2, 40}},
    {"gfx1012", {1, 1, 2, 22}},  {"gfx1030", {1, 4, 2, 80}},  {"gfx1036", {1, 1, 1, 2}},
    {"gfx1100", {1, 6, 2, 96}},  {"gfx1102", {1, 2, 2, 32}},  {"gfx1151", {1, 2, 2, 40}},
    {"gfx1200", {1, 2, 2, 32}},  {"gfx1201", {1, 4, 2, 64}},
};

static void every_block_test(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct gpu_target target = target_of(machines[i].architecture, &machines[i].geometry);
        uint32_t count;
        const struct gpu_block *blocks = gpu_blocks(&target, &count);
        assert_true(count >= 15);
        for (uint32_t k = 0; k < count; k++)
            check_block(&target, &blocks[k]);
    }
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
