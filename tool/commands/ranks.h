/* What is said of a job's processes: in the terminal, and on a page. */
#ifndef COMMANDS_RANKS_H
#define COMMANDS_RANKS_H

#include "out/out.h"
#include "recording/job.h"

/* A table on standard output, in the order of ranks, and notes. `parts` are put in that order. An
 * exit status. */
int ranks_print(const struct merge_part **parts, unsigned count);
/* Who began later than the rest by a tenth of the job, and whose kernels took a tenth more than the
 * mean. */
void ranks_notes(const struct merge_part *const *parts, unsigned count,
                 void (*say)(void *data, const char *text), void *data);
/* The same for a page's sink. */
void ranks_page(struct job *job, struct out_sink *sink);

#endif
