#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct option options_table[OPTION_COUNT] = {
#define X(id, name, letter, kind, value, variable, otherwise, group, help)                         \
    [OPTION_##id] = {name,     letter,    OPTION_##kind,        value,                             \
                     variable, otherwise, OPTION_GROUP_##group, help},
    OPTIONS(X)
#undef X
};

const char *option_separator(enum option_id id)
{
    switch (id) {
    case OPTION_PMC: /* each --pmc is a line */
        return "\n";
    case OPTION_SUMMARY_GROUPS:
        return "##@@##";
    case OPTION_KERNEL_ITERATION_RANGE:
        return ", ";
    case OPTION_PRELOAD:
        return ":";
    case OPTION_COLLECTION_PERIOD:
        return ";";
    default:
        return ",";
    }
}

void settings_from_environment(struct settings *settings)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *variable = options_table[id].variable;
        const char *value =
            variable ? secure_getenv(variable) : NULL; /* among them what is written */
        settings->value[id] = value && *value ? value : NULL;
    }
}

int settings_to_environment(const struct settings *settings)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *variable = options_table[id].variable;
        if (variable && settings->value[id] && setenv(variable, settings->value[id], 1) != 0)
            return -errno;
    }
    return 0;
}

const char *settings_text(const struct settings *settings, enum option_id id)
{
    return settings->value[id] ? settings->value[id] : options_table[id].otherwise;
}

bool settings_truth(const char *text, bool *value)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"y", true},  {"yes", true},    {"t", true},    {"true", true},
                 {"on", true}, {"1", true},      {"n", false},   {"no", false},
                 {"f", false}, {"false", false}, {"off", false}, {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i].word) == 0) {
            *value = words[i].value;
            return true;
        }
    return false;
}

bool settings_replay_kernels(const struct settings *settings)
{
    const char *mode = settings_text(settings, OPTION_REPLAY_MODE);
    return mode && strcmp(mode, "kernel") == 0;
}

bool settings_flag(const struct settings *settings, enum option_id id)
{
    const char *text = settings_text(settings, id);
    bool value = false;
    if (text && !settings_truth(text, &value))
        value = true; /* a variable that is set to something means it */
    return value;
}

uint64_t settings_number(const struct settings *settings, enum option_id id)
{
    const char *text = settings_text(settings, id);
    return text ? strtoull(text, NULL, 10) : 0;
}

bool settings_list_next(const char **list, char *item, unsigned item_size)
{
    const char *at = *list + strspn(*list, ", \t");
    size_t length = strcspn(at, ", \t");
    *list = at + length;
    if (length == 0)
        return false;
    size_t kept = length < item_size ? length : item_size - 1;
    memcpy(item, at, kept);
    item[kept] = 0;
    return true;
}
