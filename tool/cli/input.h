/* Jobs from a file: .txt with lines "pmc: A B", or jobs: [{option: value, ...}, ...] in YAML or
 * JSON, which is YAML. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "options.h"

enum { JOBS_MAX = 1024 };

struct job {
    struct cli_options options; /* the line's and this job's */
    char subdirectory[32];      /* below the output directory; "" for none */
};

struct jobs {
    struct job *job;
    unsigned count;
};

/* Each job begins as a copy of `line`. An option that both name with different values is a mistake,
 * counters aside: those of the line make the first job. 0, or -errno with a line in `error`. */
int input_read(struct jobs *jobs, const struct cli_options *line, const char *path, char *error,
               unsigned error_size);

/* The jobs of a line without a file. */
int input_none(struct jobs *jobs, const struct cli_options *line, char *error, unsigned error_size);

void input_free(struct jobs *jobs);

#endif
