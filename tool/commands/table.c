#include "table.h"

#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/refuse.h"

const struct command *const commands_table[] = {
#define X(name) &command_##name,
    COMMANDS(X)
#undef X
        NULL};

static int version_print(void)
{
    puts("crocprof " CROCPROF_VERSION);
    return 0;
}

int command_run(const struct command *command, int count, char **words)
{
    struct cli_options line;
    char error[CLI_ERROR_BYTES] = "out of memory";
    int status = command_parse(&line, command, count, words, error, sizeof error);
    if (status != 0)
        status = refuse(EXIT_USAGE, "%s", error);
    else if (line.command == CLI_HELP)
        cli_help_command(command);
    else if (line.command == CLI_VERSION)
        status = version_print();
    else
        status = command->run(&line);
    cli_options_free(&line);
    return status;
}

/* The words before the command's name are options of its line: they change places with it. */
static int command_run_at(const struct command *command, int at, int count, char **words)
{
    char *name = words[at];
    memmove(words + 2, words + 1, (size_t)(at - 1) * sizeof *words);
    words[1] = name;
    return command_run(command, count - 1, words + 1);
}

/* The line is one of `record`'s unless its first word that is no option names a command. */
int commands_run(int count, char **words)
{
    struct cli_options line;
    char error[CLI_ERROR_BYTES] = "out of memory";
    int status = cli_options_parse(&line, count, words, error, sizeof error);
    const struct command *command = NULL;
    if (status == 0 && line.program && !line.is_certain && !line.like_rocprofv3)
        command = command_find(commands_table, line.program[0]);
    if (command)
        status = command_run_at(command, (int)(line.program - words), count, words);
    else if (status != 0)
        status = refuse(EXIT_USAGE, "%s", error);
    else if (line.command == CLI_HELP)
        cli_help_print(line.like_rocprofv3 ? NULL : commands_table);
    else if (line.command == CLI_VERSION)
        status = version_print();
    else
        status = record_line(&line);
    cli_options_free(&line);
    return status;
}
