/*
 * Counter registers of the SDMA engines. They lie outside the dies: each engine has its own, one
 * device-wide; GRBM_GFX_INDEX and CP_PERFMON_CNTL are nothing to them. gfx94x repeats the same four
 * on each of its base dies, which bits 30 and 31 of an address choose.
 */
#include "perf/internal.h"
#include "sdma42_regs.h" /* generated */
#include "sdma442_regs.h"
#include "sdma44_regs.h"

enum { REGISTER_MASK = 0x3ffff, BASE_DIE_SHIFT = 30, ENGINES_LISTED_MAX = 8 };

/* Registers of engine 0; those of the others lie as far from their own first one. */
struct engine_layout {
    uint32_t dies, engines; /* base dies, and engines on each */
    uint32_t first[ENGINES_LISTED_MAX];
    uint32_t perfmon;   /* selects for both counters; 0: `config` does, one each */
    uint32_t result[2]; /* of each counter */
    uint32_t config[2], control, low, high;
    uint32_t clock; /* kept on while counting: without effect here */
};

#define SDMA42(name) REG_SDMA42_SDMA##name
#define SDMA42_ALL                                                                                 \
    .first = {SDMA42(0_PERFMON_CNTL), SDMA42(1_PERFMON_CNTL), SDMA42(2_PERFMON_CNTL),              \
              SDMA42(3_PERFMON_CNTL), SDMA42(4_PERFMON_CNTL), SDMA42(5_PERFMON_CNTL),              \
              SDMA42(6_PERFMON_CNTL), SDMA42(7_PERFMON_CNTL)},                                     \
    .perfmon = SDMA42(0_PERFMON_CNTL),                                                             \
    .result = {SDMA42(0_PERFCOUNTER0_RESULT), SDMA42(0_PERFCOUNTER1_RESULT)}

#define FIRST(list, engine) REG_##list##_SDMA##engine##_PERFCNT_PERFCOUNTER0_CFG
#define PERFCNT(list, name) REG_##list##_SDMA0_PERFCNT_PERFCOUNTER##name
#define PERFCNT_ALL(list)                                                                          \
    .config = {PERFCNT(list, 0_CFG), PERFCNT(list, 1_CFG)}, .control = PERFCNT(list, _RSLT_CNTL),  \
    .low = PERFCNT(list, _LO), .high = PERFCNT(list, _HI)

static const struct engine_layout layouts[GPU_GEN_COUNT] = {
    [GPU_GFX906] = {.dies = 1, .engines = 2, SDMA42_ALL},
    [GPU_GFX908] = {.dies = 1, .engines = 8, SDMA42_ALL},
    [GPU_GFX90A] = {.dies = 1,
                    .engines = 5,
                    .first = {FIRST(SDMA44, 0), FIRST(SDMA44, 1), FIRST(SDMA44, 2),
                              FIRST(SDMA44, 3), FIRST(SDMA44, 4)},
                    PERFCNT_ALL(SDMA44)},
    [GPU_GFX942] = {.dies = 4,
                    .engines = 4,
                    .first = {FIRST(SDMA442, 0), FIRST(SDMA442, 1), FIRST(SDMA442, 2),
                              FIRST(SDMA442, 3)},
                    PERFCNT_ALL(SDMA442),
                    .clock = REG_SDMA442_SDMA0_CLK_CTRL},
};

uint32_t engines_of(enum gpu_gen gen)
{
    return layouts[gen].dies * layouts[gen].engines;
}

static const struct engine_layout *layout_of(const struct perf *perf)
{
    return &layouts[perf->model->gen];
}

enum engine_reg { PERFMON, CONFIG, CONTROL, VALUE_LOW, VALUE_HIGH, CLOCK, UNKNOWN };

/* An engine's register, and the counter it is about. */
struct engine_place {
    struct place place;
    enum engine_reg reg;
    uint32_t counter;
};

static bool engine_find(const struct perf *perf, uint32_t offset, struct place *place,
                        uint32_t *reg)
{
    enum { SPAN = 0x40 }; /* of an engine's counter registers, and more */
    const struct engine_layout *layout = layout_of(perf);
    uint32_t die = offset >> BASE_DIE_SHIFT;
    offset &= REGISTER_MASK;
    for (uint32_t i = 0; i < layout->engines && die < layout->dies; i++) {
        if (offset < layout->first[i] || offset >= layout->first[i] + SPAN)
            continue;
        *place = (struct place){.block = BLOCK_SDMA, .unit = die * layout->engines + i};
        *reg = offset - layout->first[i] + layout->first[0];
        return true;
    }
    return false;
}

static struct engine_place place_of(struct perf *perf, uint32_t offset)
{
    enum { SHOWN_MASK = 0xf };
    const struct engine_layout *layout = layout_of(perf);
    struct engine_place at = {.reg = UNKNOWN};
    uint32_t reg;
    if (!engine_find(perf, offset, &at.place, &reg))
        return at;
    for (uint32_t i = 0; i < 2; i++)
        if (reg == layout->result[i] || reg == layout->config[i])
            at.reg = reg == layout->config[i] ? CONFIG : VALUE_LOW, at.counter = i;
    if (reg == layout->low || reg == layout->high) {
        at.reg = reg == layout->low ? VALUE_LOW : VALUE_HIGH;
        at.counter = counter_at(perf, at.place, 0)->control & SHOWN_MASK;
    }
    if (reg == layout->perfmon)
        at.reg = PERFMON;
    if (reg == layout->control)
        at.reg = CONTROL;
    if (reg == layout->clock)
        at.reg = CLOCK;
    return at;
}

static bool counter_exists(const struct engine_place *at)
{
    return at->counter < perf_blocks[BLOCK_SDMA].counter_count;
}

bool engine_reg_write(struct perf *perf, uint32_t offset, uint32_t value)
{
    struct engine_place at = place_of(perf, offset);
    switch (at.reg) {
    case PERFMON:
        counters_perfmon_write(perf, at.place, value);
        return true;
    case CONFIG:
        counter_config_write(perf, at.place, at.counter, value);
        return true;
    case CONTROL:
        counter_control_write(perf, at.place, value);
        return true;
    case VALUE_LOW:
    case VALUE_HIGH:
        if (counter_exists(&at))
            counter_value_write(perf, at.place, at.counter, at.reg == VALUE_HIGH, value);
        return true;
    case CLOCK:
        return true;
    case UNKNOWN:
        return false;
    }
    return false;
}

bool engine_reg_read(struct perf *perf, uint32_t offset, uint32_t *value)
{
    struct engine_place at = place_of(perf, offset);
    *value = 0;
    switch (at.reg) {
    case PERFMON:
    case CONFIG:
        *value = counter_at(perf, at.place, at.counter)->select;
        return true;
    case CONTROL:
        *value = counter_at(perf, at.place, 0)->control;
        return true;
    case VALUE_LOW:
    case VALUE_HIGH:
        if (counter_exists(&at))
            *value = (uint32_t)(counter_value(perf, at.place, at.counter) >>
                                (at.reg == VALUE_HIGH ? 32 : 0));
        return true;
    case CLOCK:
        return true;
    case UNKNOWN:
        return false;
    }
    return false;
}
