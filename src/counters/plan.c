#include "counters/plan.h"

#include <stdlib.h>
#include <string.h>

static int event_add(struct plan_event event, struct plan_event *events, uint32_t *count,
                     uint32_t capacity)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (events[i].counter == event.counter && events[i].accumulate == event.accumulate)
            return 0;
    }
    if (*count == capacity)
        return -1;
    events[(*count)++] = event;
    return 0;
}

int plan_events_add(const struct catalog *catalog, const struct counter *counter,
                    struct plan_event *events, uint32_t *count, uint32_t capacity)
{
    uint32_t total, inputs = 0;
    const struct counter *all = catalog_counters(catalog, &total);
    if (counter->kind == COUNTER_BASIC) {
        struct plan_event event = {(uint32_t)(counter - all), ACCUMULATE_NONE};
        return event_add(event, events, count, capacity);
    }
    if (counter->kind == COUNTER_CONSTANT)
        return 0;
    const struct expr_input *input = expr_inputs(counter->program, &inputs);
    for (uint32_t i = 0; i < inputs; i++) {
        struct plan_event event = {input[i].input, input[i].accumulate};
        if (event_add(event, events, count, capacity))
            return -1;
    }
    return 0;
}

int plan_fits(const struct catalog *catalog, const struct plan_event *events, uint32_t count,
              const char **block_name)
{
    uint32_t total, block_count;
    const struct counter *all = catalog_counters(catalog, &total);
    const struct counter_block *blocks = catalog_blocks(catalog, &block_count);
    for (uint32_t b = 0; b < block_count; b++) {
        uint32_t used = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (all[events[i].counter].block == b)
                used += events[i].accumulate == ACCUMULATE_NONE ? 1 : 2;
        }
        if (used > blocks[b].registers) {
            *block_name = blocks[b].name;
            return 0;
        }
    }
    return 1;
}

struct pass {
    struct plan_event events[PLAN_EVENTS_MAX];
    uint32_t count;
};

struct planner {
    const struct catalog *catalog;
    const struct counter *const *counters;
    uint32_t *order; /* positions, most demanding first */
    uint32_t count;
    struct pass *passes; /* count + 1 of them */
    uint32_t *current, *best;
    uint32_t best_passes;
    uint64_t steps_left; /* the exact search gives up on adversarial sets */
};

static int place(struct planner *p, uint32_t position, struct pass *pass)
{
    const char *full;
    uint32_t before = pass->count;
    if (plan_events_add(p->catalog, p->counters[position], pass->events, &pass->count,
                        PLAN_EVENTS_MAX) == 0 &&
        plan_fits(p->catalog, pass->events, pass->count, &full))
        return 1;
    pass->count = before;
    return 0;
}

/* First fit: the bound that the exact search starts from. */
static void plan_greedy(struct planner *p)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t position = p->order[i], k = 0;
        while (k < used && !place(p, position, &p->passes[k]))
            k++;
        if (k == used) {
            p->passes[used++].count = 0;
            place(p, position, &p->passes[k]);
        }
        p->best[position] = k;
    }
    p->best_passes = used ? used : 1;
}

/* Branch and bound over the passes that exist plus one new one. */
static void plan_exact(struct planner *p, uint32_t i, uint32_t used)
{
    if (used >= p->best_passes || p->steps_left == 0)
        return;
    p->steps_left--;
    if (i == p->count) {
        p->best_passes = used;
        memcpy(p->best, p->current, p->count * sizeof *p->best);
        return;
    }
    uint32_t position = p->order[i];
    for (uint32_t k = 0; k <= used && k + 1 < p->best_passes; k++) {
        if (k == used)
            p->passes[k].count = 0;
        uint32_t before = p->passes[k].count;
        if (!place(p, position, &p->passes[k]))
            continue;
        p->current[position] = k;
        plan_exact(p, i + 1, k == used ? used + 1 : used);
        p->passes[k].count = before;
    }
}

static uint32_t demand(const struct planner *p, uint32_t position)
{
    struct plan_event events[PLAN_EVENTS_MAX];
    uint32_t count = 0;
    plan_events_add(p->catalog, p->counters[position], events, &count, PLAN_EVENTS_MAX);
    return count;
}

static void order_by_demand(struct planner *p, uint32_t *demands)
{
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t k = i;
        for (demands[i] = demand(p, i); k > 0 && demands[p->order[k - 1]] < demands[i]; k--)
            p->order[k] = p->order[k - 1];
        p->order[k] = i;
    }
}

/* 0, or -1 with *culprit when one counter alone is too much. */
static int check_each(struct planner *p, uint32_t *culprit)
{
    for (uint32_t i = 0; i < p->count; i++) {
        p->passes[0].count = 0;
        if (place(p, i, &p->passes[0]))
            continue;
        *culprit = i;
        return -1;
    }
    return 0;
}

int plan_passes(const struct catalog *catalog, const struct counter *const *counters,
                uint32_t count, uint32_t *pass, uint32_t *culprit)
{
    struct planner p = {.catalog = catalog, .counters = counters, .count = count};
    uint32_t *scratch = calloc((size_t)count * 4 + 1, sizeof *scratch);
    int status = -1;
    *culprit = 0;
    p.passes = calloc(count + 1u, sizeof *p.passes);
    if (!scratch || !p.passes)
        goto out;
    p.order = scratch;
    p.current = scratch + count;
    p.best = scratch + 2 * (size_t)count;
    if (check_each(&p, culprit))
        goto out;
    order_by_demand(&p, scratch + 3 * (size_t)count);
    plan_greedy(&p);
    if (count <= PLAN_EXACT_MAX && p.best_passes > 1) {
        p.steps_left = 200000;
        plan_exact(&p, 0, 0);
    }
    memcpy(pass, p.best, count * sizeof *pass);
    status = (int)p.best_passes;
out:
    free(p.passes);
    free(scratch);
    return status;
}
