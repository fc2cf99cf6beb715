/* --help, from launch/option_list.h and commands' own lists. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

/* NULL: that of rocprofv3, which has no commands. */
void cli_help_print(const struct command *const *commands);
void cli_help_command(const struct command *command);

#endif
