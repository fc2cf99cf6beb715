/* The command line: launch/option_list.h read by its rules. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "launch/settings.h"

enum cli_command { CLI_RUN, CLI_CHECK, CLI_HELP, CLI_VERSION };

enum { CLI_ERROR_BYTES = 512 };

struct command;

/* A value of a command's own option, by its place in the command's list. */
struct own_value {
    int option;
    char *text;
};

struct cli_options {
    enum cli_command command;
    bool like_rocprofv3; /* called by that name: its defaults */
    bool is_certain;     /* the program stood behind "--": it is no command's name */
    struct settings settings;
    char **program;           /* program and its arguments, NULL-terminated; NULL unless CLI_RUN */
    char *made[OPTION_COUNT]; /* values that are nobody else's */
    /* Of a command's line, by command.h: */
    const struct command *of; /* NULL: it is no command's */
    char **operands;          /* words that are no options; NULL-terminated */
    unsigned operand_count;
    unsigned operands_free; /* those in front of "--"; without it all of them */
    struct own_value *own;
    unsigned own_count;
};

/*
 * Values of one option: "--name=value", "--name value", "-xvalue", "-x value". Where the line has a
 * "--", lists go on until the next option, and a switch may be followed by yes or no, as with
 * rocprofv3; without it, each takes one value, or none: the next word is the program. 0, or -EINVAL
 * with a line for the user in `error`.
 */
int cli_options_parse(struct cli_options *options, int argc, char **argv, char *error,
                      unsigned error_size);

/* One option by its name, from a file: '_' is as good as '-'. Values add up as on the command line.
 * 0, -ENOENT, or -EINVAL, with a line in `error`. */
int cli_option_take(struct cli_options *options, const char *name, const char *value, char *error,
                    unsigned error_size);

/* Puts the value; the text is copied. 0 or -ENOMEM. */
int cli_option_set(struct cli_options *options, enum option_id id, const char *value);

/* A copy with texts of its own: `*to` needs no other. 0 or -ENOMEM. */
int cli_options_copy(struct cli_options *to, const struct cli_options *from);
void cli_options_free(struct cli_options *options);

#endif
