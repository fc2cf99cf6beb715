/*
 * Recordings of a job's processes in one database: the tables of each as they are, and views over
 * all of them. Times of other machines are put on the first one's clock.
 */
#ifndef RECORDING_MERGE_H
#define RECORDING_MERGE_H

#include "recording.h"

struct merge;

/* What became of one process. */
struct merge_part {
    const char *path, *hostname, *command;
    uint64_t pid;
    int64_t rank, ranks;       /* -1: it says none; of how many, 0: it does not say */
    int64_t shift_ns;          /* of its clock's first time; 0 on the first one's machine */
    double drift;              /* of its clock against the first one's */
    int64_t first_ns, last_ns; /* of its records, on the first one's clock; 0 and 0: none */
    int64_t kernel_ns;         /* all kernels' time */
    int64_t modelled_ns;       /* by their device's own model, of `modelled` of them */
    uint64_t calls, kernels, modelled;
};

/* Makes the file, which must not be there. 0, or -errno with a line in `error`. */
int merge_begin(struct merge **merge, const char *path, char *error, size_t error_size);
/*
 * Adds a recording. 0, or -errno with a line in `error` that names it: nothing of it is in the file
 * then, and others may follow. What is damaged is added as far as it goes: *damage is a line then,
 * the caller's to free, else NULL.
 */
int merge_add(struct merge *merge, const char *path, char **damage, char *error, size_t error_size);
unsigned merge_part_count(const struct merge *merge);
const struct merge_part *merge_part(const struct merge *merge, unsigned index);
/* Makes the views, closes and frees. `keeps`: false removes the file. 0, or -errno with a line. */
int merge_end(struct merge *merge, bool keeps, char *error, size_t error_size);

#endif
