/*
 * Values of several runs put together, launch by launch. Values belong together when kernel, device
 * and number of the launch agree: the third launch of a kernel on a device is the third in every
 * run. Runs come about in the same order, so that the files are read along with the launches, and
 * only what is out of order is kept in memory, up to a limit. Single thread.
 */
#ifndef COLLECT_PASS_MERGE_H
#define COLLECT_PASS_MERGE_H

#include "pass_file.h"

struct pass_merge;

/* What did not fit together. */
struct pass_merge_differences {
    uint64_t unused;       /* values of launches that nobody asked for */
    uint64_t unmatched;    /* launches that were asked for and in none of the files */
    uint64_t reshaped;     /* launches that had another size */
    unsigned missing;      /* files that were not there */
    uint32_t missing_pass; /* the first of these */
};

/* Of the process of that number, the passes from `first` to before `end`. NULL: no memory. */
struct pass_merge *pass_merge_create(const char *directory, uint32_t process, uint32_t first,
                                     uint32_t end);
/* Calls `add` with what there is for the launch, in the order of the passes. */
void pass_merge_read(struct pass_merge *merge, const struct passes_launch *launch,
                     void (*add)(const struct passes_value *value, void *data), void *data);
void pass_merge_destroy(struct pass_merge *merge, struct pass_merge_differences *differences);
/* In a forked child: the files' positions are shared with its parent, and are left alone. */
void pass_merge_abandon(struct pass_merge *merge);

#endif
