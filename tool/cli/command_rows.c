#include "command_rows.h"

#include <stdio.h>

/* A command's text, what else it takes (for gen/completion.py), and its own options and those that
 * it takes of `record`'s. */
void man_command_rows(const struct command *command)
{
    const struct command_option *own = command->options;
    printf("COMMAND\t%s\t\t%s\t%s%s\t\t%s.%s%s%c", command->name, command->operands,
           command->takes_all ? "all " : "", command->takes_program ? "program" : "", command->help,
           command->text ? " " : "", command->text ? command->text : "", 0);
    for (; own && own->name; own++)
        printf("COMMAND %s\t%s\t%.*s\t%s\t\t\t%s%c", command->name, own->name, own->letter ? 1 : 0,
               &own->letter, own->value && own->kind != OPTION_FLAG ? own->value : "", own->help,
               0);
    for (const enum option_id *taken = command->takes; taken && *taken != OPTION_COUNT; taken++)
        printf("COMMAND %s\t%s\t%.*s\t\t\t\tas above%c", command->name, options_table[*taken].name,
               options_table[*taken].letter ? 1 : 0, &options_table[*taken].letter, 0);
}
