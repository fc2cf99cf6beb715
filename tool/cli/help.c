#include "help.h"

#include <stdio.h>
#include <string.h>

#include "launch/settings.h"
#include "out/out.h"

enum { LEFT_COLUMNS = 34, LINE_COLUMNS = 100 };

static const char *const titles[] = {
#define X(id, title) title,
    OPTION_GROUPS(X)
#undef X
};

/* Text in lines behind the left columns, of which `used` are. */
static void text_print(int used, const char *text)
{
    if (used >= LEFT_COLUMNS) {
        putchar('\n');
        used = 0;
    }
    printf("%*s", LEFT_COLUMNS - used, "");
    int column = LEFT_COLUMNS;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > LEFT_COLUMNS && column + 1 + length > LINE_COLUMNS) {
            printf("\n%*s", LEFT_COLUMNS, "");
            column = LEFT_COLUMNS;
        }
        column += printf("%s%.*s", column > LEFT_COLUMNS ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void value_name(enum option_id id, char *text, size_t size)
{
    const struct option *option = &options_table[id];
    if (option->kind == OPTION_FLAG)
        *text = 0;
    else if (id == OPTION_OUTPUT_FORMAT)
        out_names(text, size);
    else
        snprintf(text, size, "%s", option->value);
}

static void option_print(enum option_id id)
{
    const struct option *option = &options_table[id];
    char letter[] = {'-', option->letter, ',', 0}, value[200];
    value_name(id, value, sizeof value);
    int used = printf("  %3s --%s%s%s", option->letter ? letter : "", option->name,
                      *value ? " " : "", value);
    text_print(used, option->help);
}

static void own_option_print(const struct command_option *option)
{
    char letter[] = {'-', option->letter, ',', 0};
    bool has_value = option->kind != OPTION_FLAG && option->value;
    int used = printf("  %3s --%s%s%s", option->letter ? letter : "", option->name,
                      has_value ? " " : "", has_value ? option->value : "");
    text_print(used, option->help);
}

static void groups_print(void)
{
    for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
        printf("\n%s\n", titles[group]);
        for (int id = 0; id < OPTION_COUNT; id++)
            if (options_table[id].name && options_table[id].group == (enum option_group)group)
                option_print((enum option_id)id);
    }
}

void cli_help_print(const struct command *const *commands)
{
    puts(!commands ? "usage: rocprofv3 [options] -- program [arguments]\n"
                   : "usage: crocprof [options] [--] program [arguments]\n"
                     "       crocprof command [options] ...\n");
    puts("Runs the program and tells what its GPU did. Without a GPU in the machine the program\n"
         "runs on the software GPU. The exit status is the program's own. Every switch can be\n"
         "turned off by --no-NAME or --NAME=no.");
    if (commands)
        puts("Kernels, copies, HIP calls and markers are traced and the tables printed unless\n"
             "switched off; called by the name rocprofv3 it does nothing that is not asked for.\n"
             "\nCommands ('crocprof help COMMAND'; a program of that name goes behind --)");
    for (; commands && *commands; commands++)
        text_print(printf("  %s", (*commands)->name), (*commands)->help);
    groups_print();
    puts("\n   -h, --help                      this text\n"
         "   -v, --version                   the version");
}

void cli_help_command(const struct command *command)
{
    printf("usage: %s %s [options]%s%s\n\n%s\n", command_tool(command), command->name,
           *command->operands ? " " : "", command->operands, command->help);
    if (command->text)
        printf("\n%s\n", command->text);
    const struct command_option *own = command->options;
    if ((own && own->name) || (command->takes && *command->takes != OPTION_COUNT))
        puts("\nOptions");
    for (; own && own->name; own++)
        own_option_print(own);
    for (const enum option_id *taken = command->takes; taken && *taken != OPTION_COUNT; taken++)
        option_print(*taken);
    if (command->takes_all)
        groups_print();
}
