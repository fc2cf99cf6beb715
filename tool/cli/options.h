/* The command line. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "launch/settings.h"

enum cli_command { CLI_RUN, CLI_LIST, CLI_CHECK, CLI_HELP, CLI_VERSION };

struct cli_options {
    enum cli_command command;
    struct settings settings;
    char **program; /* program and its arguments, NULL-terminated; NULL unless CLI_RUN */
};

/* 0, or -EINVAL with a line for the user in `error`. */
int cli_options_parse(struct cli_options *options, int argc, char **argv, char *error,
                      unsigned error_size);
void cli_help_print(void);

#endif
