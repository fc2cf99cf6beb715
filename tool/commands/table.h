/*
 * Every command: a row here and a file of its own, which defines `command_NAME`. Help, manual page
 * and completion are made of this list; the order is theirs.
 */
#ifndef COMMANDS_TABLE_H
#define COMMANDS_TABLE_H

#include "cli/command.h"

#define COMMANDS(X)                                                                                \
    X(record)                                                                                      \
    X(attach)                                                                                      \
    X(analyze)                                                                                     \
    X(list)                                                                                        \
    X(stat)                                                                                        \
    X(top)                                                                                         \
    X(report)                                                                                      \
    X(query)                                                                                       \
    X(script)                                                                                      \
    X(convert)                                                                                     \
    X(merge)                                                                                       \
    X(diff)                                                                                        \
    X(check)                                                                                       \
    X(help)

#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

/* Ends with NULL. */
extern const struct command *const commands_table[];

/* Those of the program rocpd; ends with NULL. */
extern const struct command *const rocpd_commands_table[];
/* True: the program is rocpd by name, or one of those that are one of its commands (rocpd2csv ...).
 */
bool rocpd_is(const char *program);
/* A line of rocpd: its commands are called by name. Returns an exit status. */
int rocpd_run(int count, char **words);

/* words[0] is the command's name. */
int command_run(const struct command *command, int count, char **words);

/* What "crocprof" does with a line that names no command: `record`, and what its switches ask for
 * instead of running a program. */
int record_line(struct cli_options *line);

/* The words of a line, words[0] being the name of the program: finds the command and runs it.
 * Returns an exit status. */
int commands_run(int count, char **words);

#endif
