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

void cli_help_print(bool like_rocprofv3)
{
    puts(like_rocprofv3 ? "usage: rocprofv3 [options] -- program [arguments]\n"
                        : "usage: crocprof [options] [--] program [arguments]\n"
                          "       crocprof list            counters of the machine's GPUs\n");
    puts("Runs the program and tells what its GPU did. Without a GPU in the machine the program\n"
         "runs on the software GPU. The exit status is the program's own. Every switch can be\n"
         "turned off by --no-NAME or --NAME=no.");
    if (!like_rocprofv3)
        puts("Kernels, copies, HIP calls and markers are traced and the tables printed unless\n"
             "switched off; called by the name rocprofv3 it does nothing that is not asked for.");
    for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
        printf("\n%s\n", titles[group]);
        for (int id = 0; id < OPTION_COUNT; id++)
            if (options_table[id].name && options_table[id].group == (enum option_group)group)
                option_print((enum option_id)id);
    }
    puts("\n   -h, --help                      this text\n"
         "   -v, --version                   the version");
}
