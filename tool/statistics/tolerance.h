/*
 * By how much a counter may move between two runs of the same program before somebody should look:
 * by what the device said of it (crocprof/quality.h), and where it said nothing, as hardware does,
 * by a table of what counters count.
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
/* `quality` is of crocprof/quality.h. */
double tolerance_of(const char *counter, unsigned quality);

#endif
