/* A series of groups (series.h): what is known of it, and how that is found out. */
#ifndef WAVE_SERIES_PLAN_H
#define WAVE_SERIES_PLAN_H

#include "translate/series.h"
#include "wave/engine.h"

enum { SERIES_LOAD_BYTES = 64, SERIES_SCALARS = 16 };
struct fetch_path;
struct series_probe;
struct series_plan {
    const struct series *series;
    const struct fetch_path *path; /* of the series' run */
    uint64_t dispatch;             /* its sequence; 0: nothing is known */
    uint64_t first, last;          /* groups that it is known of */
    /* Groups before these have been tried in vain: as far as possible, and at all. */
    uint64_t far_end, refused_end;
    uint32_t waves, load_count;
    /* Where the accesses of each wave of `first` begin, and how far behind those of the next
     * group do. */
    struct series_place {
        uint64_t va;
        int64_t step;
    } places[WAVES_PER_GROUP_MAX][SERIES_ACCESSES];
    /* Scalar loads, the same of all waves, and what they found. */
    struct series_load {
        uint64_t va;
        uint32_t bytes;
        uint8_t value[SERIES_LOAD_BYTES] __attribute__((aligned(16)));
    } loads[SERIES_LOADS];
    /* Scalars that strips read, and what they are in each wave. */
    uint32_t scalar_count;
    uint8_t scalars[SERIES_SCALARS];
    uint32_t scalar_values[WAVES_PER_GROUP_MAX][SERIES_SCALARS];
    struct series_probe *probe; /* waves that numbers are tried with */
};

/* Is it so of all groups from the plan's first one to that one, of which each begins as `group`
 * did? That has executed the plan's run, and is the first one. Fills the rest of the plan in. */
bool series_plan_make(struct series_plan *plan, struct workgroup *group, uint64_t last);

/* Dwords of each lane. */
static inline uint32_t dwords_moved(const struct inst *inst)
{
    return inst->flags & IF_LOAD ? inst->dst.dwords : inst->src[1].dwords;
}

/* The group is a later one: have its waves left to strips the scalars that the plan is about? They
 * may have loaded other ones than what is there again now. */
bool series_plan_holds(const struct series_plan *plan, const struct workgroup *group);

#endif
