/* The recordings that a line names, and where a command's own words go. */
#ifndef COMMANDS_INPUTS_H
#define COMMANDS_INPUTS_H

#include "cli/command.h"
#include "out/writer.h"
#include "recording/recording.h"

enum { EXIT_FAILED = 1 };

/* Paths of databases, in the order of the words; those of a directory by name. */
struct inputs {
    char **paths;
    unsigned count, missing;
};

/* A word is a database, a directory (its *.db, those of directories below it, too), a package's
 * index.yaml, or a pattern of the shell. 0, or an exit status after a line. */
int inputs_find(struct inputs *inputs, char *const *words);
/* The same, but what is not there is only said, and counted. */
int inputs_find_some(struct inputs *inputs, char *const *words);
void inputs_free(struct inputs *inputs);

/* A line for what was damaged; what was read counts all the same. */
void inputs_damage_tell(const struct recording *recording);

/* `record`'s options on how rows are shown: agents and kernels' names. */
#define INPUTS_SHOWN                                                                               \
    OPTION_AGENT_INDEX, OPTION_MANGLED_KERNELS, OPTION_TRUNCATE_KERNELS, OPTION_KERNEL_RENAME
struct recording_ask inputs_ask(const struct cli_options *line);

/* Ends output that went to `name` (NULL: standard output). A pipe that nobody reads any more is a
 * good end. An exit status, after a line if there is something to say. */
int output_end(struct writer *writer, const char *name);
/* Begins it: a file is replaced. The same. */
int output_begin(struct writer *writer, const char *name);

#endif
