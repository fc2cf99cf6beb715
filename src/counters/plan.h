/*
 * Which counters can be collected together. A pass is one run of the kernel: every block instance
 * counts at most `registers` events in it. A computed counter's operands stay in one pass.
 */
#ifndef COUNTERS_PLAN_H
#define COUNTERS_PLAN_H

#include <stdint.h>

#include "counters/catalog.h"

/* A counter register in use: the event, and for an accumulated level the register after it. */
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

/* Distributes `count` counters over passes: pass[i] is the pass of ids[i], from 0. Returns the
 * number of passes; -1 when one counter alone does not fit, with its position in *culprit. The
 * result is minimal for up to PLAN_EXACT_MAX counters that differ, first-fit-decreasing beyond. */
enum { PLAN_EXACT_MAX = 12, PLAN_EVENTS_MAX = 512 };
int plan_passes(const struct catalog *catalog, const struct counter *const *counters,
                uint32_t count, uint32_t *pass, uint32_t *culprit);

#endif
