/*
 * A command, the first word behind "crocprof": its line is read by the same rules as the options of
 * launch/option_list.h, and knows its own options besides. commands/table.h lists them.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "options.h"

/* An option of one command. A LIST is one that may be repeated. */
struct command_option {
    const char *name;
    char letter; /* 0: none */
    enum option_kind kind;
    const char *value; /* what it is, for people; of a CHOICE the words, joined by '|' */
    const char *help;
};

struct command {
    const char *tool; /* NULL: crocprof */
    const char *name;
    const char *operands;                 /* what follows the options, for people */
    const char *help;                     /* one line */
    const char *text;                     /* the rest of its manual; NULL: that is all */
    const struct command_option *options; /* ends with a nameless one; NULL: none */
    const enum option_id *takes;          /* those of `record`; ends with OPTION_COUNT */
    bool takes_all;                       /* of those of `record` */
    bool takes_program;                   /* the first operand is a program, its words follow */
    bool lists_go_on;                     /* own lists take words until the next option */
    unsigned operands_min, operands_max;
    int (*run)(struct cli_options *line); /* returns an exit status */
};

/* Values of the command's own options, by their place in its list: the last one given; NULL, or
 * `otherwise`, if there is none. They live as long as the line. */
const char *command_text(const struct cli_options *line, int option);
bool command_flag(const struct cli_options *line, int option);
uint64_t command_number(const struct cli_options *line, int option, uint64_t otherwise);
/* One after the other, from *at = 0; NULL behind the last one. */
const char *command_next(const struct cli_options *line, int option, unsigned *at);

/* The name of the program that has this command; NULL is no command, and crocprof's. */
const char *command_tool(const struct command *command);

/* Of a list of commands that ends with NULL; NULL: there is none of that name. */
const struct command *command_find(const struct command *const *commands, const char *name);
/* The name that somebody meant by `name`; NULL if none is near. */
const char *command_nearest(const struct command *const *commands, const char *name);

/* cli_options_parse() for a command's line: words[0] is its name. Words behind the options, or
 * between them, are operands; "--" ends the options. */
int command_parse(struct cli_options *line, const struct command *command, int count, char **words,
                  char *error, unsigned error_size);

#endif
