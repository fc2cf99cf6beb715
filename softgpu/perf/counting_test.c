/*
 * Counters count from start to stop what counts, whatever is written meanwhile: random accesses and
 * groups against sums that are made one group after another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gfx90a_regs.h"
#include "perf/perf.h"

#define REG(name) REG_GFX90A_##name

enum {
    STEPS = 20000,
    XCCS_MAX = 8,
    ARRAYS_MAX = 32,
    COUNTERS = 3,
    EVENT_WAVES = 4, /* of SQ, the same on all GPUs */
    EVENT_ITEMS = 14,
    EVENT_INSTS = 25,
    CTRL_CS_EN = 1 << 6
};

struct array {
    uint32_t mask, event[COUNTERS];
    bool is_enabled;
    uint64_t values[COUNTERS];
};

/* What the registers say, and what the counters then hold. */
struct expected {
    const struct gpu_model *model;
    struct perf *perf;
    bool is_started[XCCS_MAX], is_counted[XCCS_MAX];
    struct array array[XCCS_MAX][ARRAYS_MAX];
};

static uint32_t random32(uint32_t below)
{
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

static uint32_t arrays_of(const struct gpu_model *model)
{
    return model->se_count * model->sh_per_se;
}

/* A write of what each array has its own of: to one of them, or to all. */
struct reach {
    uint32_t xcc_mask, first, end;
};

static struct reach reach_choose(const struct expected *e)
{
    const struct gpu_model *model = e->model;
    uint32_t all = arrays_of(model), array = random32(all), xcc = random32(model->xcc_count);
    struct reach reach = {(1u << model->xcc_count) - 1, 0, all};
    uint32_t index = 0xe0000000u;
    if (random32(2)) {
        reach = (struct reach){1u << xcc, array, array + 1};
        index = 0x40000000u | array / model->sh_per_se << 16 | array % model->sh_per_se << 8;
    }
    assert_true(perf_reg_write(e->perf, reach.xcc_mask, REG(GRBM_GFX_INDEX), index));
    return reach;
}

#define EACH_ARRAY(e, reach, a)                                                                    \
    for (uint32_t xcc = 0; xcc < (e)->model->xcc_count; xcc++)                                     \
        for (uint32_t at = (reach).first; at < (reach).end; at++)                                  \
            for (struct array *a = (reach).xcc_mask >> xcc & 1 ? &(e)->array[xcc][at] : NULL; a;   \
                 a = NULL)

static void mask_write(struct expected *e)
{
    struct reach reach = reach_choose(e);
    uint32_t mask = random32(3) ? 0xffffffffu : random32(UINT32_MAX);
    assert_true(perf_reg_write(e->perf, reach.xcc_mask, REG(SQ_PERFCOUNTER_MASK), mask));
    EACH_ARRAY(e, reach, a)
    a->mask = mask;
}

static void control_write(struct expected *e)
{
    struct reach reach = reach_choose(e);
    uint32_t control = random32(3) ? 0xffff0057u : 0xffff0057u & ~(uint32_t)CTRL_CS_EN;
    assert_true(perf_reg_write(e->perf, reach.xcc_mask, REG(SQ_PERFCOUNTER_CTRL), control));
    EACH_ARRAY(e, reach, a)
    a->is_enabled = control & CTRL_CS_EN;
}

static void select_write(struct expected *e)
{
    static const uint32_t events[] = {EVENT_WAVES, EVENT_ITEMS, EVENT_INSTS};
    struct reach reach = reach_choose(e);
    uint32_t event = events[random32(3)], counter = random32(COUNTERS);
    uint32_t value = event | (random32(2) ? 0x0f0ff000u : 0);
    assert_true(
        perf_reg_write(e->perf, reach.xcc_mask, REG(SQ_PERFCOUNTER0_SELECT) + counter, value));
    EACH_ARRAY(e, reach, a)
    a->event[counter] = event;
}

static void value_write(struct expected *e)
{
    struct reach reach = reach_choose(e);
    uint32_t value = random32(1000), counter = random32(COUNTERS);
    assert_true(
        perf_reg_write(e->perf, reach.xcc_mask, REG(SQ_PERFCOUNTER0_LO) + 2 * counter, value));
    /* What has been counted since the start comes to it: stopped, it is the value. */
    EACH_ARRAY(e, reach, a)
    a->values[counter] = value;
}

static bool is_any_started(const struct expected *e)
{
    for (uint32_t xcc = 0; xcc < e->model->xcc_count; xcc++)
        if (e->is_started[xcc])
            return true;
    return false;
}

static void perfmon_write(struct expected *e, uint32_t state)
{
    enum { RESET, START };
    uint32_t one = random32(e->model->xcc_count), all = (1u << e->model->xcc_count) - 1;
    uint32_t xcc_mask = random32(2) ? all : 1u << one;
    struct reach reach = {xcc_mask, 0, arrays_of(e->model)};
    assert_true(perf_reg_write(e->perf, xcc_mask, REG(CP_PERFMON_CNTL), state));
    for (uint32_t xcc = 0; xcc < e->model->xcc_count; xcc++)
        if (xcc_mask >> xcc & 1)
            e->is_started[xcc] = state == START;
    EACH_ARRAY(e, reach, a)
    for (int i = 0; i < COUNTERS && state == RESET; i++)
        a->values[i] = 0;
}

static void enable_write(struct expected *e)
{
    uint32_t all = (1u << e->model->xcc_count) - 1, value = random32(3) > 0;
    assert_true(perf_reg_write(e->perf, all, REG(COMPUTE_PERFCOUNT_ENABLE), value));
    for (uint32_t xcc = 0; xcc < e->model->xcc_count; xcc++)
        e->is_counted[xcc] = value;
}

static uint64_t growth_of(uint32_t event, const struct perf_group *group, uint32_t salu)
{
    return event == EVENT_WAVES   ? group->waves
           : event == EVENT_ITEMS ? group->work_items
           : event == EVENT_INSTS ? salu
                                  : 0;
}

/* Of dispatches that run: one that is counted, one that is not. A third never begins. */
enum { SEQ_COUNTED = 1, SEQ_UNCOUNTED, SEQ_NONE, SEQS };

static void dispatches_begin(struct perf *perf)
{
    perf_dispatch_begin(perf, SEQ_COUNTED, true);
    perf_dispatch_begin(perf, SEQ_UNCOUNTED, false);
}

static void dispatches_end(struct perf *perf)
{
    perf_dispatch_end(perf, SEQ_COUNTED);
    perf_dispatch_end(perf, SEQ_UNCOUNTED);
}

static void group_expect(struct expected *e, const struct perf_group *group)
{
    uint32_t array = group->se * e->model->sh_per_se + group->sh;
    struct array *a = &e->array[group->xcc][array];
    bool is_counted = group->dispatch_seq == SEQ_NONE ? e->is_counted[group->xcc]
                                                      : group->dispatch_seq == SEQ_COUNTED;
    if (!e->is_started[group->xcc] || !is_counted || !a->is_enabled ||
        !(a->mask >> (16 * (group->sh & 1) + group->cu) & 1))
        return;
    for (int i = 0; i < COUNTERS; i++)
        a->values[i] += growth_of(a->event[i], group, (uint32_t)group->counts[0]);
}

static const struct perf_group *group_next(void *arg)
{
    const struct perf_group **next = arg;
    return (*next)++;
}

/* Several at once, which mostly did the same, and of some that is known beforehand. */
static void groups_retire(struct expected *e)
{
    enum { MOST = 6, KINDS = 4 };
    const struct gpu_model *model = e->model;
    struct perf_group groups[MOST];
    uint32_t count = 1 + random32(MOST);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = random32(4) ? 0 : random32(KINDS);
        groups[i] = (struct perf_group){.dispatch_seq = 1 + random32(SEQS - 1),
                                        .sums_id = random32(2) ? 1 + kind : 0,
                                        .round = random32(2),
                                        .xcc = random32(model->xcc_count),
                                        .se = random32(model->se_count),
                                        .sh = random32(model->sh_per_se),
                                        .cu = random32(model->cu_per_sh),
                                        .waves = 1 + kind / 2};
        groups[i].work_items = 64 * groups[i].waves - 5 * (kind & 1);
        perf_group_count(&groups[i], TALLY_SALU, 17 + (kind == 3));
        group_expect(e, &groups[i]);
    }
    const struct perf_group *next = groups;
    perf_retire(e->perf,
                &(struct perf_retirement){.next = group_next, .arg = &next, .count = count});
}

/* One by one, or in a row. */
static void values_check(const struct expected *e)
{
    const struct gpu_model *model = e->model;
    uint64_t value;
    if (random32(2))
        perf_registers_hold(e->perf);
    for (uint32_t xcc = 0; xcc < model->xcc_count; xcc++)
        for (uint32_t at = 0; at < arrays_of(model); at++) {
            uint32_t index = at / model->sh_per_se << 16 | at % model->sh_per_se << 8;
            assert_true(perf_reg_write(e->perf, 1u << xcc, REG(GRBM_GFX_INDEX), index));
            for (uint32_t i = 0; i < COUNTERS; i++) {
                assert_true(
                    perf_counter_read(e->perf, xcc, REG(SQ_PERFCOUNTER0_LO) + 2 * i, &value));
                assert_int_equal(value, e->array[xcc][at].values[i]);
            }
        }
    perf_registers_release(e->perf);
}

static void step(struct expected *e)
{
    switch (random32(16)) {
    case 0:
        mask_write(e);
        break;
    case 1:
        control_write(e);
        break;
    case 2:
        select_write(e);
        break;
    case 3:
        perfmon_write(e, random32(3)); /* reset, start, stop */
        break;
    case 4:
        perfmon_write(e, 1);
        break;
    case 5:
        enable_write(e);
        break;
    case 6:
        if (!is_any_started(e))
            value_write(e);
        break;
    case 7:
        values_check(e);
        break;
    case 8:
        if (random32(8))
            break;
        dispatches_end(e->perf);
        dispatches_begin(e->perf);
        break;
    default:
        groups_retire(e);
        break;
    }
}

static void what_counts_is_counted(const char *gpu)
{
    struct expected e = {.model = gpu_model_find(gpu)};
    assert_int_equal(perf_create(e.model, &e.perf), 0);
    assert_true(e.model->xcc_count <= XCCS_MAX && arrays_of(e.model) <= ARRAYS_MAX);
    for (uint32_t xcc = 0; xcc < e.model->xcc_count; xcc++)
        for (uint32_t at = 0; at < arrays_of(e.model); at++)
            e.array[xcc][at].mask = UINT32_MAX;
    dispatches_begin(e.perf);
    for (int i = 0; i < STEPS; i++)
        step(&e);
    dispatches_end(e.perf);
    values_check(&e);
    perf_destroy(e.perf);
}

static void on_one_die(void **state)
{
    (void)state;
    what_counts_is_counted("gfx90a");
    what_counts_is_counted("gfx906");
}

static void on_eight_dies(void **state)
{
    (void)state;
    what_counts_is_counted("gfx942");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_one_die),
        cmocka_unit_test(on_eight_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
