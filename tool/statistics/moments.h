/* Numbers of a set of values, and whether two sets differ by more than chance. */
#ifndef STATISTICS_MOMENTS_H
#define STATISTICS_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t count;
    double sum, mean, squares; /* squares: of distances from the mean (Welford) */
    double min, max;
};

void moments_add(struct moments *moments, double value);
/* Of the values as a sample of what there could be; 0 below two of them. */
double moments_variance(const struct moments *moments);
double moments_deviation(const struct moments *moments);

/*
 * Welch's t-test, which needs no equal variances: how likely a difference of means this large, or
 * larger, would be if there were none, from 0 to 1. Below two values in a set nothing can be said:
 * NaN. Where neither set varies: 1 if they are equal, else 0.
 */
double moments_welch(const struct moments *a, const struct moments *b);

/* Two-sided, of Student's t with that many degrees of freedom. */
double student_p(double t, double degrees);

#endif
