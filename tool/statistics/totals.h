/* What recordings say of each kernel, call, copy and counter: one set of values each. */
#ifndef STATISTICS_TOTALS_H
#define STATISTICS_TOTALS_H

#include <stdbool.h>

#include "moments.h"
#include "recording/recording.h"

enum totals_group {
    TOTALS_MODELLED, /* durations of kernels by the device's own model, where it has one, ns */
    TOTALS_KERNELS,  /* durations, ns */
    TOTALS_COUNTERS, /* values of each launch, by kernel and counter */
    TOTALS_CALLS,    /* durations of API calls */
    TOTALS_COPIES,
    TOTALS_GROUP_COUNT
};

struct total {
    enum totals_group group;
    const char *name;    /* of the kernel, function, direction */
    const char *counter; /* "" but for counters */
    bool is_ratio;       /* a sum of it means nothing */
    uint8_t quality;     /* of crocprof/quality.h, as the recording says */
    struct moments values;
};

struct totals;

/* NULL: no memory. */
struct totals *totals_create(void);
void totals_destroy(struct totals *totals);

/* Adds all of a recording; several add up. 0, or -errno with a line in `error`. */
int totals_add(struct totals *totals, struct recording *recording, const struct recording_ask *ask,
               char *error, size_t error_size);

/* By group, name and counter. */
unsigned totals_count(const struct totals *totals);
const struct total *totals_at(const struct totals *totals, unsigned index);
/* NULL: there is none. */
const struct total *totals_find(const struct totals *totals, enum totals_group group,
                                const char *name, const char *counter);

#endif
