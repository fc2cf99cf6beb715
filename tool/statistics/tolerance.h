/*
 * By how much a counter may move between two runs of the same program before somebody should look:
 * a table by what counters count, since what a value is worth depends on that and on the GPU, which
 * a profiler cannot ask.
 */
#ifndef STATISTICS_TOLERANCE_H
#define STATISTICS_TOLERANCE_H

struct tolerance {
    const char *pattern; /* of the shell, in any case */
    double percent;
};
/* The first that matches counts; the last matches everything. */
extern const struct tolerance tolerance_defaults[];
extern const unsigned tolerance_default_count;

double tolerance_default(const char *counter);

#endif
