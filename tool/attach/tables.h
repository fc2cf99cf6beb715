/* The tables that the tool makes in another process, and that people read here. */
#ifndef ATTACH_TABLES_H
#define ATTACH_TABLES_H

#include <limits.h>

#include "cli/options.h"
#include "target.h"

struct attach_tables {
    char path[PATH_MAX]; /* "": the tables go where the user said */
};

/* Makes a file that the process can write to, and tells the tool of it. 0, or an exit status after
 * a line. */
int attach_tables_prepare(struct attach_tables *tables, const struct target *target,
                          struct cli_options *options);

/* Copies it to stderr and removes it. */
void attach_tables_print(const struct attach_tables *tables);

#endif
