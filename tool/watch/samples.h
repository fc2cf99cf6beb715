/* One value for each run, of everything that was measured in any of them. */
#ifndef WATCH_SAMPLES_H
#define WATCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshots.h"

struct sample {
    struct snapshot_row row; /* what it is, with texts of its own; its numbers mean nothing */
    double *values;          /* by run: nanoseconds, or the counter's; 0: not in this run */
    double *calls;
};

struct samples {
    unsigned runs;
    double *wall_ns; /* by run */
    struct sample *sample;
    size_t count, room;
    bool lost; /* memory was out */
};

struct samples_figures {
    double mean, deviation, minimum, maximum; /* deviation: 0 of a single value */
};

/* False: memory is out. */
bool samples_begin(struct samples *samples, unsigned runs);
void samples_free(struct samples *samples);

/* Durations and calls of the same name add up within a run; so do counters whose sum means
 * something. Others are means over launches. */
void samples_add(struct samples *samples, unsigned run, const struct snapshot_row *row);

/* Over the first `runs` runs. */
struct samples_figures samples_figures(const double *values, unsigned runs);

/* Modelled times of kernels first, then kernels, counters last; within a kind the greatest mean
 * first. */
void samples_sort(struct samples *samples, unsigned runs);

#endif
