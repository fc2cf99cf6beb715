#include "find.h"

#include <string.h>

static const struct {
    const char *name;
    char letter;
    enum option_id id;
} aliases[] = {
#define X(name, letter, id) {name, letter, OPTION_##id},
    OPTION_ALIASES(X)
#undef X
};

const struct moot_option find_moot[] = {
#define X(name, kind, why) {name, OPTION_##kind, why},
    OPTIONS_MOOT(X)
#undef X
};

const struct missing_option find_missing[] = {
#define X(name, letter, why) {name, letter, why},
    OPTIONS_MISSING(X)
#undef X
};

static const struct {
    const char *name;
    enum cli_command command;
} commands[] = {{"help", CLI_HELP}, {"version", CLI_VERSION}, {"internal-check", CLI_CHECK}};

enum {
    ALIAS_COUNT = sizeof aliases / sizeof aliases[0],
    MOOT_COUNT = sizeof find_moot / sizeof find_moot[0],
    MISSING_COUNT = sizeof find_missing / sizeof find_missing[0],
    COMMAND_COUNT = sizeof commands / sizeof commands[0],
};

/* The first `length` characters of `text` are that name, '_' being as good as '-'. */
static bool is_name(const char *name, const char *text, size_t length)
{
    if (!name || strlen(name) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] != name[i] && !(text[i] == '_' && name[i] == '-'))
            return false;
    return true;
}

#define FIND(table, count, found_kind, condition)                                                  \
    for (int i = 0, end = (int)(count); i < end; i++)                                              \
        if (condition)                                                                             \
            return (struct found){found_kind, i};

bool find_is_taken(const struct cli_options *options, enum option_id id)
{
    const struct command *of = options->of;
    if (!of || of->takes_all)
        return true;
    for (const enum option_id *taken = of->takes; taken && *taken != OPTION_COUNT; taken++)
        if (*taken == id)
            return true;
    return false;
}

int find_own_count(const struct cli_options *options)
{
    int count = 0;
    const struct command_option *own = options->of ? options->of->options : NULL;
    while (own && own[count].name)
        count++;
    return count;
}

struct found find_name(const struct cli_options *options, const char *text, size_t length)
{
    bool takes_all = !options->of || options->of->takes_all;
    FIND(own, find_own_count(options), FOUND_OWN,
         is_name(options->of->options[i].name, text, length))
    for (int i = 0; i < OPTION_COUNT; i++)
        if (find_is_taken(options, (enum option_id)i) &&
            is_name(options_table[i].name, text, length))
            return (struct found){FOUND_OPTION, i};
    for (int i = 0; i < ALIAS_COUNT; i++)
        if (find_is_taken(options, aliases[i].id) && is_name(aliases[i].name, text, length))
            return (struct found){FOUND_OPTION, (int)aliases[i].id};
    FIND(moot, takes_all ? MOOT_COUNT : 0, FOUND_MOOT, is_name(find_moot[i].name, text, length))
    FIND(missing, takes_all ? MISSING_COUNT : 0, FOUND_MISSING,
         is_name(find_missing[i].name, text, length))
    FIND(commands, COMMAND_COUNT, FOUND_COMMAND, is_name(commands[i].name, text, length))
    return (struct found){FOUND_NOTHING, 0};
}

struct found find_letter(const struct cli_options *options, char letter)
{
    bool takes_all = !options->of || options->of->takes_all;
    FIND(own, find_own_count(options), FOUND_OWN, options->of->options[i].letter == letter)
    for (int i = 0; i < OPTION_COUNT; i++)
        if (find_is_taken(options, (enum option_id)i) && options_table[i].letter == letter)
            return (struct found){FOUND_OPTION, i};
    FIND(missing, takes_all ? MISSING_COUNT : 0, FOUND_MISSING, find_missing[i].letter == letter)
    if (letter == 'h')
        return (struct found){FOUND_COMMAND, 0};
    if (letter == 'v')
        return (struct found){FOUND_COMMAND, 1};
    return (struct found){FOUND_NOTHING, 0};
}

enum cli_command find_command(struct found found)
{
    return commands[found.index].command;
}
