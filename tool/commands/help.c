/* `help`: the command's own text, or that of all. */
#include "cli/help.h"

#include "cli/refuse.h"
#include "table.h"

static int help_run(struct cli_options *line)
{
    if (line->operand_count == 0) {
        cli_help_print(commands_table);
        return 0;
    }
    const char *name = line->operands[0];
    const struct command *command = command_find(commands_table, name);
    const char *nearest = command_nearest(commands_table, name);
    if (!command && nearest)
        return refuse(EXIT_USAGE, "there is no command %s (did you mean %s?)", name, nearest);
    if (!command)
        return refuse(EXIT_USAGE, "there is no command %s (see crocprof --help)", name);
    cli_help_command(command);
    return 0;
}

const struct command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .help = "what a command does and its options",
    .operands_max = 1,
    .run = help_run,
};
