/* A command and its options as rows of gen/man_page.py. */
#ifndef CLI_COMMAND_ROWS_H
#define CLI_COMMAND_ROWS_H

#include "command.h"

void man_command_rows(const struct command *command);

#endif
