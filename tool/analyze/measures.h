/*
 * What counters mean for one kernel, a launch on average. NaN: what it takes was not counted. For
 * each part of the GPU the fewest cycles that the launch's work takes there, at the part's peak:
 * the part that needs most of the kernel's time is what bounds it.
 */
#ifndef ANALYZE_MEASURES_H
#define ANALYZE_MEASURES_H

#include "kernels.h"

enum part { PART_MEMORY, PART_L2, PART_L1, PART_LDS, PART_VALU, PART_MATRIX, PART_COUNT };

struct measures {
    const struct analyze_kernel *kernel;
    const struct machine *machine;
    double cycles, seconds; /* active, of the GPU's clock */
    double rate_seconds;    /* the same, or what the busiest part takes at least: for rates */
    double part_cycles[PART_COUNT];
    enum part busiest;        /* PART_COUNT: nothing is known */
    double waves, wait_share; /* of the waves' time in which they waited */
    double waves_per_cu;      /* in flight on a compute unit that had any */
    double lanes;             /* active ones of a vector instruction */
    double lines;             /* cache lines that a memory instruction touches */
    double conflict_share;    /* of LDS's busy cycles */
    double l2_hit_share;
    double elsewhere_share; /* of the requests of memory: not for this GPU's own */
    double bytes, flops, flops_f64;
    bool has_occupancy;
    struct occupancy occupancy;
};

struct measures measures_of(const struct analyze_kernels *kernels,
                            const struct analyze_kernel *kernel);

/* Share of the active time that the part needs at least; above 1: the time is shorter than that. */
double measures_share(const struct measures *measures, enum part part);

#endif
