/*
 * Recordings of a job's processes, read one after the other: whose clock each is put on, and what
 * each did, when.
 */
#ifndef RECORDING_JOB_H
#define RECORDING_JOB_H

#include "clocks.h"
#include "merge.h"

/* How busy a process was: stretches of time of 2^`width_bits` ns, from `first` on. */
enum { JOB_STRETCHES = 512 };
struct job_activity {
    int64_t first; /* times are divided by the stretch; valid if `count` */
    uint32_t count, width_bits;
    float kernels_ns[JOB_STRETCHES], calls_ns[JOB_STRETCHES], copies_ns[JOB_STRETCHES];
};

struct job;

/* NULL: no memory. */
struct job *job_create(void);
void job_destroy(struct job *job);

/* The next process, whose rows follow, and how its times are moved. 0, or -EEXIST: it was there, or
 * -ENOMEM. */
int job_part_begin(struct job *job, const char *path, struct recording *recording,
                   const struct recording_part *part, struct alignment *alignment);
/* A row, times already moved. */
void job_row(struct job *job, enum out_table_id table, const void *row);
/* All rows came: what was said of it first and last is known. */
void job_part_end(struct job *job);

unsigned job_part_count(const struct job *job);
const struct merge_part *job_part(const struct job *job, unsigned index);
/* At a width that is the same for all. */
void job_activity_level(struct job *job);
const struct job_activity *job_activity(const struct job *job, unsigned index);

#endif
