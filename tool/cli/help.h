/* --help, from launch/option_list.h. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>

void cli_help_print(bool like_rocprofv3);

#endif
