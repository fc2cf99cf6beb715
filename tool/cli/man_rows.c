/* The options of crocprof as rows of gen/man_page.py, which makes the manual page of them. */
#include <stdio.h>

#include "commands/table.h"
#include "out/out.h"

static const char *const groups[] = {
#define X(id, title) #id,
    OPTION_GROUPS(X)
#undef X
};

/* NUL ends a row, so that a text may have several lines. */
static void row(const struct option *option, const char *value)
{
    printf("%s\t%s\t%.*s\t%s\t%s\t%s\t%s%c", groups[option->group], option->name,
           option->letter ? 1 : 0, &option->letter, value, "",
           option->variable ? option->variable : "", option->help, 0);
}

/* A command's text, what else it takes (for gen/completion.py), and its own options and those that
 * it takes of `record`'s. */
static void command_rows(const struct command *command)
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

int main(void)
{
    char formats[200];
    out_names(formats, sizeof formats);
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].name)
            row(&options_table[id], id == OPTION_OUTPUT_FORMAT ? formats
                                    : options_table[id].value  ? options_table[id].value
                                                               : "");
    for (const struct command *const *command = commands_table; *command; command++)
        command_rows(*command);
    printf("OWN\thelp\th\t\t\t\tshows the options%c", 0);
    printf("OWN\tversion\tv\t\t\t\tshows the version%c", 0);
    return ferror(stdout) != 0;
}
