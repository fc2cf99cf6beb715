#include "counters/plan.h"

#include <stdbool.h>
#include <stdio.h>
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
    const struct expr_input *input = expr_inputs(counter_program(counter), &inputs);
    for (uint32_t i = 0; i < inputs; i++) {
        struct plan_event event = {input[i].input, input[i].accumulate};
        if (event_add(event, events, count, capacity))
            return -1;
    }
    return 0;
}

/* The block whose registers count the event: blocks that share them are one here. */
static uint32_t holder_of(const struct counter *all, const struct counter_block *blocks,
                          const struct plan_event *event)
{
    return blocks[all[event->counter].block].holder;
}

/* A total takes the register after its level's. */
enum { TOTAL_REGISTERS = 2 };

/* What event i of the list takes: a level that is also accumulated is counted there. */
static uint32_t registers_of(const struct plan_event *events, uint32_t count, uint32_t i)
{
    if (events[i].accumulate != ACCUMULATE_NONE)
        return TOTAL_REGISTERS;
    for (uint32_t k = 0; k < count; k++) {
        if (k != i && events[k].counter == events[i].counter)
            return 0;
    }
    return 1;
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
            if (holder_of(all, blocks, &events[i]) == b)
                used += registers_of(events, count, i);
        }
        if (used > blocks[b].registers) {
            *block_name = blocks[b].name;
            return 0;
        }
    }
    return 1;
}

/* Appends as far as there is room; returns the length so far, as snprintf counts. */
static size_t text_add(char *text, size_t size, size_t length, const char *add)
{
    int more = snprintf(length < size ? text + length : NULL, length < size ? size - length : 0,
                        "%s", add);
    return length + (more > 0 ? (size_t)more : 0);
}

static size_t block_describe(const struct catalog *catalog, const struct plan_event *events,
                             uint32_t count, uint32_t block, char *text, size_t size, size_t length)
{
    uint32_t total, block_count, used = 0;
    const struct counter *all = catalog_counters(catalog, &total);
    const struct counter_block *blocks = catalog_blocks(catalog, &block_count);
    char line[160];
    for (uint32_t i = 0; i < count; i++)
        used += holder_of(all, blocks, &events[i]) == block ? registers_of(events, count, i) : 0;
    if (used <= blocks[block].registers)
        return length;
    snprintf(line, sizeof line, "%sblock %s has %u counter registers, %u are needed (",
             length ? "; " : "", blocks[block].name, blocks[block].registers, used);
    length = text_add(text, size, length, line);
    const char *separator = "";
    for (uint32_t i = 0; i < count; i++) {
        if (holder_of(all, blocks, &events[i]) != block)
            continue;
        snprintf(line, sizeof line, "%s%s%s", separator, all[events[i].counter].name,
                 events[i].accumulate == ACCUMULATE_NONE ? "" : " accumulated");
        length = text_add(text, size, length, line);
        separator = ", ";
    }
    return text_add(text, size, length, ")");
}

size_t plan_describe(const struct catalog *catalog, const struct plan_event *events, uint32_t count,
                     char *text, size_t size)
{
    uint32_t block_count;
    size_t length = 0;
    catalog_blocks(catalog, &block_count);
    if (size)
        text[0] = '\0';
    for (uint32_t b = 0; b < block_count; b++)
        length = block_describe(catalog, events, count, b, text, size, length);
    return length;
}

/* ---- passes */

enum { BLOCKS_MAX = 128, STEPS_MAX = 300000 };

/* The events of a counter: positions in planner.events. */
struct demand {
    uint32_t first, count;
};

/* The other events of an event's counter: a level and its totals. */
enum { OTHERS_MAX = 2 };
struct others {
    uint32_t event[OTHERS_MAX], count;
};

struct pass {
    uint16_t *holders; /* per event: counters of this pass that need it */
    uint32_t used[BLOCKS_MAX];
};

struct planner {
    const struct counter *all;
    const struct counter_block *blocks;
    uint32_t block_count;
    struct plan_event *events; /* of all counters together, each once */
    uint32_t event_count;
    struct others *others; /* of each event */
    struct demand *demands;
    uint32_t *needs; /* what demands point into */
    uint32_t need_count;
    uint32_t count;
    uint32_t *order; /* positions of counters, most demanding first */
    struct pass *passes;
    uint16_t *holders;
    uint32_t *current, *best;
    uint32_t best_count, bound;
    uint32_t steps_left; /* the search gives up on adversarial sets */
};

static uint32_t inputs_of(const struct counter *counter)
{
    uint32_t inputs = 1;
    if (counter->kind == COUNTER_DERIVED)
        expr_inputs(counter_program(counter), &inputs);
    return inputs;
}

static uint32_t event_position(const struct planner *p, const struct plan_event *event)
{
    uint32_t at = 0;
    while (p->events[at].counter != event->counter || p->events[at].accumulate != event->accumulate)
        at++;
    return at;
}

static int demand_fill(struct planner *p, const struct catalog *catalog,
                       const struct counter *counter, struct demand *demand)
{
    struct plan_event own[PLAN_EVENTS_MAX];
    *demand = (struct demand){p->need_count, 0};
    if (plan_events_add(catalog, counter, own, &demand->count, PLAN_EVENTS_MAX) ||
        plan_events_add(catalog, counter, p->events, &p->event_count, UINT32_MAX))
        return -1;
    for (uint32_t i = 0; i < demand->count; i++)
        p->needs[p->need_count++] = event_position(p, &own[i]);
    return 0;
}

/* What a pass needs more with the event, which it does not have. A level and its first total share
 * a register. */
static uint32_t registers_added(const struct planner *p, const struct pass *pass, uint32_t event)
{
    const struct others *others = &p->others[event];
    bool has_level = false, has_total = false;
    for (uint32_t i = 0; i < others->count; i++) {
        bool has = pass->holders[others->event[i]] > 0;
        if (p->events[others->event[i]].accumulate == ACCUMULATE_NONE)
            has_level |= has;
        else
            has_total |= has;
    }
    if (p->events[event].accumulate == ACCUMULATE_NONE)
        return has_total ? 0 : 1;
    return has_level && !has_total ? TOTAL_REGISTERS - 1 : TOTAL_REGISTERS;
}

static void unplace(struct planner *p, uint32_t position, struct pass *pass, uint32_t needs)
{
    const uint32_t *need = p->needs + p->demands[position].first;
    for (uint32_t i = 0; i < needs; i++) {
        const struct plan_event *event = &p->events[need[i]];
        if (--pass->holders[need[i]] == 0)
            pass->used[holder_of(p->all, p->blocks, event)] -= registers_added(p, pass, need[i]);
    }
}

/* Adds a counter to a pass; 0 and nothing changed when it does not fit. */
static int place(struct planner *p, uint32_t position, struct pass *pass)
{
    const struct demand *demand = &p->demands[position];
    const uint32_t *need = p->needs + demand->first;
    for (uint32_t i = 0; i < demand->count; i++) {
        const struct plan_event *event = &p->events[need[i]];
        uint32_t block = holder_of(p->all, p->blocks, event);
        if (pass->holders[need[i]] == 0)
            pass->used[block] += registers_added(p, pass, need[i]);
        pass->holders[need[i]]++;
        if (pass->used[block] > p->blocks[block].registers) {
            unplace(p, position, pass, i + 1);
            return 0;
        }
    }
    return 1;
}

/* First fit: the bound that the search starts from. */
static void plan_greedy(struct planner *p)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t position = p->order[i], k = 0;
        while (!place(p, position, &p->passes[k]))
            k++; /* an empty pass takes any counter */
        p->best[position] = k;
        used = k + 1 > used ? k + 1 : used;
    }
    p->best_count = used ? used : 1;
    for (uint32_t i = 0; i < p->count; i++)
        unplace(p, i, &p->passes[p->best[i]], p->demands[i].count);
}

/* Branch and bound over the passes in use plus one new one. */
static void plan_search(struct planner *p, uint32_t i, uint32_t used)
{
    if (used >= p->best_count || p->best_count == p->bound || p->steps_left == 0)
        return;
    p->steps_left--;
    if (i == p->count) {
        p->best_count = used;
        memcpy(p->best, p->current, p->count * sizeof *p->best);
        return;
    }
    uint32_t position = p->order[i];
    for (uint32_t k = 0; k <= used && k + 1 < p->best_count; k++) {
        if (!place(p, position, &p->passes[k]))
            continue;
        p->current[position] = k;
        plan_search(p, i + 1, k == used ? used + 1 : used);
        unplace(p, position, &p->passes[k], p->demands[position].count);
    }
}

/* No plan has fewer passes: each block needs its registers for all its events. */
static uint32_t lower_bound(const struct planner *p)
{
    uint32_t bound = 1;
    for (uint32_t b = 0; b < p->block_count; b++) {
        uint32_t used = 0;
        for (uint32_t i = 0; i < p->event_count; i++)
            used += holder_of(p->all, p->blocks, &p->events[i]) == b
                        ? registers_of(p->events, p->event_count, i)
                        : 0;
        uint32_t passes = used ? (used - 1) / p->blocks[b].registers + 1 : 0;
        bound = passes > bound ? passes : bound;
    }
    return bound;
}

static void order_by_demand(struct planner *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t k = i;
        for (; k > 0 && p->demands[p->order[k - 1]].count < p->demands[i].count; k--)
            p->order[k] = p->order[k - 1];
        p->order[k] = i;
    }
}

/* 0, or -1 with *culprit when one counter alone is too much. */
static int check_each(struct planner *p, uint32_t *culprit)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (!place(p, i, &p->passes[0])) {
            *culprit = i;
            return -1;
        }
        unplace(p, i, &p->passes[0], p->demands[i].count);
    }
    return 0;
}

static void planner_free(struct planner *p)
{
    free(p->events);
    free(p->others);
    free(p->demands);
    free(p->needs);
    free(p->order);
    free(p->passes);
    free(p->holders);
    free(p->current);
}

static int others_fill(struct planner *p)
{
    p->others = calloc(p->event_count + (size_t)1, sizeof *p->others);
    if (!p->others)
        return -1;
    for (uint32_t i = 0; i < p->event_count; i++) {
        struct others *others = &p->others[i];
        for (uint32_t k = 0; k < p->event_count && others->count < OTHERS_MAX; k++)
            if (k != i && p->events[k].counter == p->events[i].counter)
                others->event[others->count++] = k;
    }
    return 0;
}

static int planner_fill(struct planner *p, const struct catalog *catalog,
                        const struct counter *const *counters)
{
    uint32_t needs = 1;
    for (uint32_t i = 0; i < p->count; i++)
        needs += inputs_of(counters[i]);
    p->events = calloc(needs, sizeof *p->events);
    p->needs = calloc(needs, sizeof *p->needs);
    p->demands = calloc(p->count + 1u, sizeof *p->demands);
    p->order = calloc(p->count + 1u, sizeof *p->order);
    p->current = calloc(p->count + 1u, sizeof *p->current);
    p->passes = calloc(p->count + 1u, sizeof *p->passes);
    if (!p->events || !p->needs || !p->demands || !p->order || !p->current || !p->passes)
        return -1;
    for (uint32_t i = 0; i < p->count; i++)
        if (demand_fill(p, catalog, counters[i], &p->demands[i]))
            return -1;
    if (others_fill(p))
        return -1;
    p->holders = calloc((p->count + 1u) * (p->event_count + (size_t)1), sizeof *p->holders);
    for (uint32_t i = 0; p->holders && i <= p->count; i++)
        p->passes[i].holders = p->holders + i * (p->event_count + (size_t)1);
    return p->holders ? 0 : -1;
}

int plan_passes(const struct catalog *catalog, const struct counter *const *counters,
                uint32_t count, uint32_t *pass, uint32_t *culprit)
{
    struct planner p = {.count = count, .best = pass, .steps_left = STEPS_MAX};
    uint32_t total;
    int status = PLAN_NO_MEMORY;
    *culprit = 0;
    p.all = catalog_counters(catalog, &total);
    p.blocks = catalog_blocks(catalog, &p.block_count);
    if (p.block_count > BLOCKS_MAX || planner_fill(&p, catalog, counters) != 0)
        goto out;
    status = PLAN_TOO_MUCH;
    if (check_each(&p, culprit) != 0)
        goto out;
    order_by_demand(&p);
    p.bound = lower_bound(&p);
    plan_greedy(&p);
    plan_search(&p, 0, 0);
    status = (int)p.best_count;
out:
    planner_free(&p);
    return status;
}
