#include "variables.h"

#include <stdio.h>
#include <string.h>

#include "out/out.h"

static bool is_word_of(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

static void formats_check(const char *variable, const char *formats)
{
    char name[32], known[200] = "";
    while (settings_list_next(&formats, name, sizeof name))
        if (strcmp(name, OUT_NO_FORMAT) != 0 && !out_find(name)) {
            out_names(known, sizeof known);
            fprintf(stderr, "crocprof: %s: unknown format %s (known: %s)\n", variable, name, known);
        }
}

void variables_check(const struct settings *settings)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option *option = &options_table[id];
        const char *value = settings->value[id];
        if (!value || !option->variable)
            continue;
        if (option->kind == OPTION_CHOICE && !is_word_of(option->value, value))
            fprintf(stderr, "crocprof: %s: %s is none of %s\n", option->variable, value,
                    option->value);
        else if (option->kind == OPTION_NUMBER && value[strspn(value, "0123456789")])
            fprintf(stderr, "crocprof: %s: %s is not a number\n", option->variable, value);
        else if (id == OPTION_OUTPUT_FORMAT)
            formats_check(option->variable, value);
    }
}
