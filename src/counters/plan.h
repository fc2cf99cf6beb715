/*
 * Which counters can be collected together. A pass is one run of the kernel: every block instance
 * counts at most `registers` events in it. A computed counter's operands stay in one pass.
 */
#ifndef COUNTERS_PLAN_H
#define COUNTERS_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "counters/catalog.h"

/* What a register counts: an event, or the total of a level, which lies in the register after the
 * level's. A level and its total share the first of the two. */
struct plan_event {
    uint32_t counter; /* position in the catalog */
    enum expr_accumulate accumulate;
};

/* Adds the events that `counter` needs to events[0 .. *count), leaving out what is there already.
 * Returns 0, or -1 when `capacity` does not suffice. */
int plan_events_add(const struct catalog *catalog, const struct counter *counter,
                    struct plan_event *events, uint32_t *count, uint32_t capacity);

/* Whether the events fit into the registers together; *block_name: the first block that is full. */
int plan_fits(const struct catalog *catalog, const struct plan_event *events, uint32_t count,
              const char **block_name);

/* In words, which blocks are full, how full, and of what; "" when all fits. Cut at `size`; returns
 * the length of the whole text. */
size_t plan_describe(const struct catalog *catalog, const struct plan_event *events, uint32_t count,
                     char *text, size_t size);

/* Distributes `count` counters over passes: pass[i] is the pass of counters[i], from 0. Returns the
 * number of passes, or PLAN_TOO_MUCH when one counter alone does not fit, with its position in
 * *culprit, or PLAN_NO_MEMORY. The number is the smallest possible, but for sets so hard to pack
 * that the search gives up. */
enum { PLAN_TOO_MUCH = -1, PLAN_NO_MEMORY = -2, PLAN_EVENTS_MAX = 512 };
int plan_passes(const struct catalog *catalog, const struct counter *const *counters,
                uint32_t count, uint32_t *pass, uint32_t *culprit);

#endif
