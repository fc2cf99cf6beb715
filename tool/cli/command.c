#include "command.h"

#include <stdlib.h>
#include <string.h>

#include "names/nearest.h"

const char *command_next(const struct cli_options *line, int option, unsigned *at)
{
    while (*at < line->own_count) {
        const struct own_value *own = &line->own[(*at)++];
        if (own->option == option)
            return own->text;
    }
    return NULL;
}

const char *command_text(const struct cli_options *line, int option)
{
    const char *last = NULL;
    unsigned at = 0;
    for (const char *text; (text = command_next(line, option, &at));)
        last = text;
    return last;
}

bool command_flag(const struct cli_options *line, int option)
{
    const char *text = command_text(line, option);
    return text && strcmp(text, "1") == 0;
}

uint64_t command_number(const struct cli_options *line, int option, uint64_t otherwise)
{
    const char *text = command_text(line, option);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

const char *command_tool(const struct command *command)
{
    return command && command->tool ? command->tool : "crocprof";
}

const struct command *command_find(const struct command *const *commands, const char *name)
{
    while (*commands && strcmp((*commands)->name, name) != 0)
        commands++;
    return *commands;
}

const char *command_nearest(const struct command *const *commands, const char *name)
{
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (; *commands; commands++)
        nearest_add(&nearest, (*commands)->name);
    return nearest.best;
}
