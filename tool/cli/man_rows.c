/* The options of crocprof as rows of gen/man_page.py, which makes the manual page of them. */
#include <stdio.h>

#include "command_rows.h"
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

int main(void)
{
    char formats[200];
    out_names(formats, sizeof formats);
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].name)
            row(&options_table[id], id == OPTION_OUTPUT_FORMAT ? formats
                                    : options_table[id].kind == OPTION_FLAG
                                        ? "" /* words may follow */
                                    : options_table[id].value ? options_table[id].value
                                                              : "");
    for (const struct command *const *command = commands_table; *command; command++)
        man_command_rows(*command);
    printf("OWN\thelp\th\t\t\t\tshows the options%c", 0);
    printf("OWN\tversion\tv\t\t\t\tshows the version%c", 0);
    return ferror(stdout) != 0;
}
