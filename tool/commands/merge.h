/* Recordings of a job put together, for the commands that do so. */
#ifndef COMMANDS_MERGE_H
#define COMMANDS_MERGE_H

#include "inputs.h"

/* One database, at `path`; ranks are listed on standard output if asked. An exit status, after
 * lines for those that were left out. */
int merge_database(const struct inputs *inputs, const char *path, bool lists_ranks);
/* A list of recordings where they are, or copied beside it: a directory with index.yaml. */
int merge_package(const struct inputs *inputs, const char *directory, bool copies);

#endif
