#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct option_text {
    const char *name;
    char letter;
    const char *value;
    size_t field;
    const char *help;
};
struct option_bool {
    const char *name;
    size_t field;
    bool otherwise;
    const char *help;
};

static const struct option_text texts[] = {
#define X(field, option, letter, value, variable, help)                                            \
    {option, letter, value, offsetof(struct settings, field), help},
    SETTINGS_TEXT(X)
#undef X
};
static const struct option_bool bools[] = {
#define X(field, option, variable, value, help)                                                    \
    {option, offsetof(struct settings, field), value, help},
    SETTINGS_BOOL(X)
#undef X
};
enum { TEXT_COUNT = sizeof texts / sizeof texts[0], BOOL_COUNT = sizeof bools / sizeof bools[0] };

void cli_help_print(void)
{
    puts("usage: crocprof [options] [--] program [arguments]\n"
         "       crocprof list            counters of the machine's GPUs\n\n"
         "Runs the program and tells what its GPU did. Without a GPU in the machine the program\n"
         "runs on the software GPU. The exit status is the program's own.\n");
    for (int i = 0; i < TEXT_COUNT; i++) {
        const struct option_text *text = &texts[i];
        char short_form[] = {'-', text->letter, ',', ' ', 0};
        printf("  %4s--%-17s %-11s %s\n", text->letter ? short_form : "", text->name, text->value,
               text->help);
    }
    puts("");
    for (int i = 0; i < BOOL_COUNT; i++)
        printf("      --[no-]%-24s%s (%s)\n", bools[i].name, bools[i].help,
               bools[i].otherwise ? "on" : "off");
    puts("\n  -h, --help                          this text\n"
         "      --version                       the version");
}

/* "--name=value", "--name value", "-xvalue", "-x value". Returns words used, 0 when not ours,
 * -EINVAL when the value is missing. */
static int text_option(struct settings *settings, char **words, const char **value_of)
{
    const char *word = words[0];
    for (int i = 0; i < TEXT_COUNT; i++) {
        size_t length = strlen(texts[i].name);
        const char *value = NULL;
        int used = 1;
        if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, texts[i].name, length) == 0 &&
            (word[2 + length] == '=' || !word[2 + length]))
            value = word[2 + length] ? word + 3 + length : NULL;
        else if (texts[i].letter && word[0] == '-' && word[1] == texts[i].letter)
            value = word[2] ? word + 2 : NULL;
        else
            continue;
        if (!value) {
            value = words[1];
            used = 2;
        }
        *value_of = texts[i].name;
        if (!value || !*value)
            return -EINVAL;
        memcpy((char *)settings + texts[i].field, &value, sizeof value);
        return used;
    }
    return 0;
}

static bool bool_option(struct settings *settings, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return false;
    bool value = strncmp(word + 2, "no-", 3) != 0;
    const char *name = word + (value ? 2 : 5);
    for (int i = 0; i < BOOL_COUNT; i++)
        if (strcmp(bools[i].name, name) == 0) {
            memcpy((char *)settings + bools[i].field, &value, sizeof value);
            return true;
        }
    return false;
}

static bool command_option(struct cli_options *options, const char *word)
{
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
        options->command = CLI_HELP;
    else if (strcmp(word, "--version") == 0 || strcmp(word, "-v") == 0)
        options->command = CLI_VERSION;
    else if (strcmp(word, "--internal-check") == 0)
        options->command = CLI_CHECK;
    else
        return false;
    return true;
}

int cli_options_parse(struct cli_options *options, int argc, char **argv, char *error,
                      unsigned error_size)
{
    *options = (struct cli_options){.command = CLI_RUN};
    settings_default(&options->settings);
    int at = 1;
    while (at < argc && argv[at][0] == '-' && strcmp(argv[at], "--") != 0) {
        const char *name = argv[at];
        int used = text_option(&options->settings, argv + at, &name);
        if (used < 0) {
            snprintf(error, error_size, "--%s needs a value", name);
            return -EINVAL;
        }
        if (used == 0 && !bool_option(&options->settings, argv[at]) &&
            !command_option(options, argv[at])) {
            snprintf(error, error_size, "unknown option %s (see crocprof --help)", argv[at]);
            return -EINVAL;
        }
        at += used ? used : 1;
    }
    bool dashes = at < argc && strcmp(argv[at], "--") == 0;
    at += dashes;
    if (options->command != CLI_RUN)
        return 0;
    if (at == argc) {
        snprintf(error, error_size, "which program? (see crocprof --help)");
        return -EINVAL;
    }
    if (dashes || strcmp(argv[at], "list") != 0) {
        options->program = argv + at;
        return 0;
    }
    options->command = CLI_LIST;
    if (at + 1 == argc)
        return 0;
    snprintf(error, error_size, "list takes no arguments; a program of that name goes after --");
    return -EINVAL;
}
