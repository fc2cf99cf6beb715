/* What a program's counters were when they were right: a JSON file that people may edit. */
#ifndef COMMANDS_BASELINE_H
#define COMMANDS_BASELINE_H

#include <stddef.h>
#include <stdint.h>

/* A counter of a kernel, or its time: `metric` "time", in nanoseconds. */
struct baseline_value {
    char *kernel, *metric;
    uint64_t launches;
    double mean;    /* of a launch */
    double percent; /* by which it may move; 0: not at all */
};

struct baseline {
    struct baseline_value *values;
    unsigned count, room;
};

/* 0 or -ENOMEM. */
int baseline_add(struct baseline *baseline, const char *kernel, const char *metric,
                 uint64_t launches, double mean, double percent);
void baseline_free(struct baseline *baseline);

/* 0, or -errno with a line in `error`. Writing replaces the file, and leaves the old one if it
 * fails. */
int baseline_write(const struct baseline *baseline, const char *path, char *error,
                   size_t error_size);
int baseline_read(struct baseline *baseline, const char *path, char *error, size_t error_size);

#endif
