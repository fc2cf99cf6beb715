/* `list`: the counters of the machine's GPUs. */
#include <limits.h>
#include <stddef.h>

#include "cli/ask.h"
#include "cli/complete.h"
#include "cli/refuse.h"
#include "table.h"

static int list_run(struct cli_options *line)
{
    struct launch launch;
    char error[PATH_MAX + CLI_ERROR_BYTES];
    if (cli_options_complete(line, error, sizeof error) != 0)
        return refuse(EXIT_USAGE, "%s", error);
    if (launch_prepare(&launch, NULL, error, sizeof error) != 0)
        return refuse(EXIT_NOT_STARTED, "%s", error);
    return ask_list(&launch, &line->settings);
}

static const enum option_id takes[] = {OPTION_EXTRA_COUNTERS, OPTION_LOG_LEVEL, OPTION_COUNT};

const struct command command_list = {
    .name = "list",
    .operands = "",
    .help = "the counters of the machine's GPUs, with what each one counts",
    .takes = takes,
    .run = list_run,
};
