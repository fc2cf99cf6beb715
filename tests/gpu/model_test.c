/*
 * Command buffers executed by a small model of the counter hardware that knows nothing of the
 * builders: every counter of every block, and random sets, on GPUs of every generation.
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
#include "gpu/pmc.h"

/* A model of the counter hardware that knows no block, only what was written where: a value read is
 * a function of the place that it was read from and of the last select that reached that place. */
struct model_write {
    uint64_t reg;
    uint32_t value, index;
};

enum { MODEL_WRITES = 1 << 16, INDEX_REGISTER = 0xc200, PERFMON_REGISTER = 0xd808 };
#define INDEX_ALL 0xe0000000u

struct model {
    const struct gpu_target *target; /* says which select belongs to a value register */
    enum dump_family family;
    uint32_t index, die_mask;
    struct model_write writes[MODEL_WRITES];
    uint32_t write_count;
    uint64_t *result, result_va;
    uint32_t result_bytes;
    uint32_t perfmon; /* CP_PERFMON_CNTL */
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

/* What counting may write: nothing that a kernel or another process could notice. */
static int is_counter_register(const char *name)
{
    static const char *const others[] = {"CP_PERFMON_CNTL", "RLC_PERFMON_CLK_CNTL",
                                         "COMPUTE_PERFCOUNT_ENABLE", "GRBM_GFX_INDEX"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(name, others[i]) == 0)
            return 1;
    }
    return strstr(name, "_PERFCOUNTER") != NULL ||
           (strncmp(name, "SDMA", 4) == 0 &&
            (strstr(name, "_PERFMON_CNTL") != NULL || strstr(name, "_CLK_CTRL") != NULL));
}

/* Registers of the graphics core, which INDEX_REGISTER is for. */
static int is_graphics(uint64_t reg)
{
    enum { FIRST = 0x2000, LAST = 0xffff };
    return reg >= FIRST && reg <= LAST;
}

static void model_write(struct model *m, uint64_t reg, uint32_t value)
{
    const char *name = dump_register_name(m->family, register_of(reg));
    if (!name || !is_counter_register(name))
        fail_msg("register %llx, %s, is written", (unsigned long long)reg, name ? name : "unnamed");
    assert_true(m->write_count < MODEL_WRITES);
    if (reg == INDEX_REGISTER)
        m->index = value;
    else if (reg == PERFMON_REGISTER)
        m->perfmon = value;
    uint32_t index = is_graphics(reg) ? m->index : INDEX_ALL;
    m->writes[m->write_count++] = (struct model_write){reg, value, index};
}

static uint32_t model_last(const struct model *m, uint64_t reg)
{
    for (uint32_t i = m->write_count; i-- > 0;) {
        if (m->writes[i].reg == reg && reaches(m->writes[i].index, m->index))
            return m->writes[i].value;
    }
    fail_msg("register %llx was not written under %08x", (unsigned long long)reg, m->index);
    return 0;
}

/* Of the block: those of each instance, where it has its own; alike on all base dies. */
static uint32_t register_count(const struct gpu_block *block)
{
    uint32_t instances = block->flags & BLOCK_EACH ? block->instances : 1;
    return block->counters * (block->flags & BLOCK_EACH && block->flags & BLOCK_BASE_DIES
                                  ? instances / GPU_BASE_DIES
                                  : instances);
}

/* The select register of the counter whose value `reg` is a half of; 0: none. `field`: the event's
 * place in it, where it selects for all counters of an instance. */
static uint64_t select_find(const struct model *m, uint64_t reg, int *is_low, uint32_t *field)
{
    uint32_t count, value_register = register_of(reg);
    uint64_t base = reg - value_register;
    const struct gpu_block *blocks = gpu_blocks(m->target, &count);
    for (const struct gpu_block *b = blocks; b < blocks + count; b++) {
        const struct gpu_counter_registers *registers = gpu_block_registers(m->target, b);
        for (uint32_t i = 0; i < register_count(b); i++) {
            *is_low = value_register == registers[i].low;
            if (!*is_low && value_register != registers[i].high)
                continue;
            if (b->flags & BLOCK_PERFMON)
                *field = i % b->counters;
            else if (b->flags & (BLOCK_MC | BLOCK_OUTSIDE))
                i = i / b->counters * b->counters +
                    (model_last(m, base + registers[i].control) & 0xff);
            return base + registers[i].select;
        }
    }
    return 0;
}

/* Every die of a device runs the commands. What lies on the network between them is there once, so
 * that each access comes from one die. */
static void check_once(const struct model *m, uint64_t reg)
{
    if (reg >> 32 && m->die_mask != 1)
        fail_msg("register %llx is accessed by the dies %x", (unsigned long long)reg, m->die_mask);
}

static uint32_t model_read(const struct model *m, uint64_t reg)
{
    int is_low = 0;
    uint32_t field = UINT32_MAX;
    check_once(m, reg);
    uint64_t select = select_find(m, reg, &is_low, &field);
    if (!select)
        fail_msg("register %llx is read, which has no counter", (unsigned long long)reg);
    const struct place at = {(uint32_t)__builtin_ctz(m->die_mask),
                             m->index >> 31 ? 0 : m->index >> 16 & 0xff,
                             m->index >> 29 & 1 ? 0 : m->index >> 8 & 0xff,
                             m->index >> 30 & 1 ? base_die(reg) : m->index & 0xff};
    uint32_t selected = model_last(m, select);
    if (field != UINT32_MAX) /* enable, clear, eight bits of event */
        selected = selected >> 10 * field >> 2;
    uint64_t value = model_value(&at, selected);
    return (uint32_t)(is_low ? value : value >> 32);
}

static void model_copy(struct model *m, const uint32_t *body)
{
    uint32_t from = body[0] & 15, to = body[0] >> 8 & 15;
    uint32_t value = from == PM4_COPY_IMMEDIATE ? body[1] : 0;
    if (to == PM4_COPY_REGISTER || to == PM4_COPY_PERFCOUNTERS) {
        assert_int_equal(from, PM4_COPY_IMMEDIATE);
        check_once(m, (uint64_t)body[4] << 32 | body[3]);
        model_write(m, (uint64_t)body[4] << 32 | body[3], value);
        return;
    }
    uint32_t words = body[0] & PM4_COPY_WIDE ? 2 : 1; /* two: of registers side by side */
    uint64_t va = (uint64_t)body[4] << 32 | body[3], reg = (uint64_t)body[2] << 32 | body[1];
    assert_true(va >= m->result_va && va + 4 * words <= m->result_va + m->result_bytes);
    assert_int_equal(va % (4 * words), 0);
    for (uint32_t i = 0; i < words; i++) {
        if (from != PM4_COPY_IMMEDIATE)
            value = model_read(m, reg + i);
        *(uint32_t *)((char *)m->result + (va - m->result_va) + 4 * i) = value;
    }
}

static void model_packet(struct model *m, const struct dump_packet *p)
{
    switch (p->opcode) {
    case PM4_SET_UCONFIG_REG:
        assert_int_equal(p->body_dwords, 2);
        model_write(m, PM4_UCONFIG_START + p->body[0], p->body[1]);
        break;
    case PM4_SET_SH_REG:
        assert_int_equal(p->body_dwords, 2);
        model_write(m, PM4_SH_START + p->body[0], p->body[1]);
        break;
    case PM4_COPY_DATA:
        model_copy(m, p->body);
        break;
    case PM4_EVENT_WRITE:
    case PM4_ACQUIRE_MEM:
    case PM4_PRED_EXEC:
        break;
    default:
        fail_msg("packet %s", p->name);
    }
}

/* Sections under PRED_EXEC must end where a packet ends. */
static void model_run(struct model *m, const struct pm4_stream *stream)
{
    uint32_t at = 0, predicated_end = 0;
    while (at < stream->count) {
        struct dump_packet p;
        uint32_t length = dump_decode(stream->dwords + at, stream->count - at, &p);
        assert_true(length > 0);
        if (at >= predicated_end)
            m->die_mask = 0xff;
        at += length;
        assert_true(at <= predicated_end || at - length >= predicated_end);
        model_packet(m, &p);
        if (p.opcode != PM4_PRED_EXEC)
            continue;
        m->die_mask = p.body[0] >> 24;
        predicated_end = at + (p.body[0] & 0x3fff);
        assert_true(predicated_end <= stream->count);
    }
    assert_int_equal(m->index, INDEX_ALL);
}

/* Where the value of an event's sample should come from. */
static struct place place_of(const struct gpu_target *target, const struct gpu_event *e,
                             uint32_t die, uint32_t sample)
{
    struct gpu_grid g = gpu_block_grid(target, e->block);
    uint32_t processors = g.processors ? g.processors : 1, arrays = g.arrays ? g.arrays : 1;
    struct place at = {die, sample / processors / arrays, sample / processors % arrays, 0};
    if (e->block->flags & BLOCK_OUTSIDE)
        at.instance =
            target->geometry.xcc_count > 1 ? e->instance * GPU_BASE_DIES / e->block->instances : 0;
    else if (e->block->instances > 1 && !(e->block->flags & BLOCK_EACH))
        at.instance = e->instance;
    if (g.processors)
        at.instance = sample % processors << 2 | e->instance;
    return at;
}

static void check_value(const struct model *m, const struct gpu_event *events, uint32_t count,
                        uint32_t i, uint32_t die, uint32_t sample)
{
    const struct gpu_event *e = &events[i];
    uint64_t got = m->result[gpu_pmc_result_index(m->target, events, count, i, die, sample)];
    struct place at = place_of(m->target, e, die, sample);
    uint32_t event = e->accumulate == GPU_ACCUMULATE_NONE
                         ? e->event
                         : gpu_accumulate_event(m->target, e->accumulate);
    uint64_t expected = model_value(&at, event);
    if (!gpu_block_registers(m->target, e->block)->high)
        expected = (uint32_t)expected;
    if (got != expected)
        fail_msg("%s event %u die %u sample %u: %llx, not %llx", e->block->name, i, die, sample,
                 (unsigned long long)got, (unsigned long long)expected);
}

static void check_values(const struct model *m, const struct gpu_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t dies = gpu_block_dies(m->target, events[i].block);
        uint32_t samples = gpu_block_samples(m->target, events[i].block);
        for (uint32_t die = 0; die < dies; die++)
            for (uint32_t k = 0; k < samples; k++)
                check_value(m, events, count, i, die, k);
    }
}

/* CP_PERFMON_CNTL after start (0), read (1) and stop (2): counters run, run on with a sample taken,
 * stand. Blocks outside the dies do not look at it. */
static void check_state(const struct model *m, int command, int outside)
{
    enum { STATE_MASK = 0xf, RUNS = 1, STANDS = 2, SAMPLE = 1 << 10 };
    if (outside) {
        assert_int_equal(m->perfmon, 0);
        return;
    }
    assert_int_equal(m->perfmon & STATE_MASK, command == 2 ? STANDS : RUNS);
    if (command == 1)
        assert_int_equal(m->perfmon & SAMPLE, SAMPLE);
}

/* The values of all events arrive where the layout says, and every byte of the result is written.
 * Counters are read twice, as device counting does. */
static void check_events(const char *architecture, const struct gpu_target *target,
                         struct gpu_event *events, uint32_t count)
{
    struct model *m = calloc(1, sizeof *m);
    m->target = target;
    m->family = (enum dump_family)dump_family_find(architecture);
    m->result_bytes = gpu_pmc_result_bytes(target, events, count);
    m->result = malloc(m->result_bytes);
    memset(m->result, 0xa5, m->result_bytes);
    m->result_va = 0x7f0000001000;
    struct pm4_stream streams[3] = {{0}};
    gpu_pmc_start(&streams[0], target, events, count);
    gpu_pmc_read(&streams[1], target, events, count, m->result_va);
    gpu_pmc_stop(&streams[2], target, events, count);
    int outside = 1;
    for (uint32_t i = 0; i < count; i++)
        outside = outside && events[i].block->flags & BLOCK_OUTSIDE;
    static const int order[] = {0, 1, 1, 2};
    for (int i = 0; i < 4; i++) {
        assert_false(streams[order[i]].out_of_memory);
        model_run(m, &streams[order[i]]);
        check_state(m, order[i], outside);
    }
    for (int i = 0; i < 3; i++)
        pm4_stream_free(&streams[i]);
    check_values(m, events, count);
    free(m->result);
    free(m);
}

/* Two counters of every instance, different events in each. */
static void check_block(const char *architecture, const struct gpu_target *target,
                        const struct gpu_block *block)
{
    uint32_t instances = gpu_block_instances(target, block), count = 2 * instances;
    struct gpu_event *events = calloc(count, sizeof *events);
    uint32_t last = block->event_max < 255 ? block->event_max : 255;
    for (uint32_t i = 0; i < count; i++)
        events[i] = (struct gpu_event){
            .block = block, .instance = i % instances, .event = (i * 7 + 1) % (last + 1)};
    assert_int_equal(gpu_pmc_assign(target, events, count), GPU_PMC_OK);
    check_events(architecture, target, events, count);
    free(events);
}

/* Architectures with the geometry of one of their GPUs. */
static const struct machine {
    const char *architecture;
    struct gpu_geometry geometry;
} machines[] = {
    {"gfx906", {1, 4, 1, 60, 0}},   {"gfx908", {1, 8, 1, 120, 0}},  {"gfx90a", {1, 8, 1, 104, 0}},
    {"gfx942", {8, 32, 1, 304, 0}}, {"gfx950", {8, 32, 1, 256, 0}}, {"gfx1010", {1, 2, 2, 40, 0}},
    {"gfx1012", {1, 1, 2, 22, 0}},  {"gfx1030", {1, 4, 2, 80, 0}},  {"gfx1036", {1, 1, 1, 2, 0}},
    {"gfx1100", {1, 6, 2, 96, 0}},  {"gfx1102", {1, 2, 2, 32, 0}},  {"gfx1151", {1, 2, 2, 40, 0}},
    {"gfx1200", {1, 2, 2, 32, 0}},  {"gfx1201", {1, 4, 2, 64, 0}},
};

static struct gpu_target target_of(const struct machine *machine)
{
    struct gpu_target target;
    assert_int_equal(gpu_target_find(machine->architecture, &machine->geometry, &target), 0);
    return target;
}

static void every_block_test(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct gpu_target target = target_of(&machines[i]);
        uint32_t count;
        const struct gpu_block *blocks = gpu_blocks(&target, &count);
        assert_true(count >= 15);
        for (uint32_t k = 0; k < count; k++)
            check_block(machines[i].architecture, &target, &blocks[k]);
    }
}

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % limit);
}

static struct gpu_event event_random(const struct gpu_target *target, uint64_t *seed)
{
    uint32_t count;
    const struct gpu_block *blocks = gpu_blocks(target, &count);
    struct gpu_event e = {.block = &blocks[random_below(seed, count)]};
    e.instance = random_below(seed, gpu_block_instances(target, e.block));
    e.event = random_below(seed, e.block->event_max + 1);
    if (random_below(seed, 4) == 0 && e.block->flags & BLOCK_ACCUMULATES)
        e.accumulate = random_below(seed, 2) ? GPU_ACCUMULATE_LOW_RES : GPU_ACCUMULATE_HIGH_RES;
    return e;
}

/* Sets of up to 40 counters over all blocks, as many of each as fit. */
static void random_sets_test(void **state)
{
    enum { ROUNDS = 40, EVENTS = 40 };
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct gpu_target target = target_of(&machines[i]);
        for (int round = 0; round < ROUNDS; round++) {
            struct gpu_event events[EVENTS];
            uint32_t count = 0, wanted = 1 + random_below(&seed, EVENTS);
            for (uint32_t k = 0; k < wanted; k++) {
                events[count] = event_random(&target, &seed);
                if (gpu_pmc_assign(&target, events, count + 1) == GPU_PMC_OK)
                    count++;
            }
            if (count)
                check_events(machines[i].architecture, &target, events, count);
        }
    }
}

/* Counter registers as other projects know them: see the file's head. */
static void registers_test(void **state)
{
    char architecture[16], name[16];
    unsigned counter, select, low, high, checked = 0;
    char line[200];
    (void)state;
    FILE *file = fopen(REGISTERS, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        static const struct gpu_geometry geometry = {1, 2, 2, 32, 0};
        struct gpu_target target;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%15s %15s %u %x %x %x", architecture, name, &counter,
                                &select, &low, &high),
                         6);
        assert_int_equal(gpu_target_find(architecture, &geometry, &target), 0);
        const struct gpu_block *block = gpu_block_by_name(&target, name);
        assert_non_null(block);
        assert_true(counter < block->counters);
        const struct gpu_counter_registers *r = &gpu_block_registers(&target, block)[counter];
        if (r->select != select || r->low != low || r->high != high)
            fail_msg("%s: %x %x %x", line, r->select, r->low, r->high);
        checked++;
    }
    fclose(file);
    assert_true(checked > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_test),
        cmocka_unit_test(random_sets_test),
        cmocka_unit_test(registers_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
