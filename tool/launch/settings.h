/*
 * What to collect and where to put it: filled by the command line, carried to the profiled process
 * in environment variables, read there by libcrocprof-tool.so. option_list.h makes all of it.
 */
#ifndef LAUNCH_SETTINGS_H
#define LAUNCH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "option_list.h"

enum option_id {
#define X(id, ...) OPTION_##id,
    OPTIONS(X)
#undef X
        OPTION_COUNT
};

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_CHOICE,
    OPTION_NUMBER,
    OPTION_LIST,
    OPTION_CHOICES
};

enum option_group {
#define X(id, title) OPTION_GROUP_##id,
    OPTION_GROUPS(X)
#undef X
        OPTION_GROUP_COUNT
};

struct option {
    const char *name; /* NULL: only a variable */
    char letter;      /* 0: none */
    enum option_kind kind;
    const char *value;     /* what it is, for people; of a CHOICE the words, joined by '|' */
    const char *variable;  /* NULL: the command's own concern */
    const char *otherwise; /* the value when nobody says one; may be NULL */
    enum option_group group;
    const char *help;
};
extern const struct option options_table[OPTION_COUNT];

/* What stands between the values of a LIST or CHOICES in one text, as rocprofv3 puts them into the
 * environment. */
const char *option_separator(enum option_id id);

/* NULL: nobody has said anything. Texts belong to whoever filled it. */
struct settings {
    const char *value[OPTION_COUNT];
};

void settings_from_environment(struct settings *settings);
/* Sets the variables of values that there are and leaves the others as they are. 0 or -errno. */
int settings_to_environment(const struct settings *settings);

/* These answer with the option's own value where nobody has said one. */
bool settings_flag(const struct settings *settings, enum option_id id);
const char *settings_text(const struct settings *settings, enum option_id id); /* may be NULL */
uint64_t settings_number(const struct settings *settings, enum option_id id);

/* --replay-mode kernel: one run of the program. */
bool settings_replay_kernels(const struct settings *settings);

/* True and *value for y, yes, t, true, on, 1 and their opposites, in any case. */
bool settings_truth(const char *text, bool *value);

/* Next item of a comma- or space-separated list, copied to `item`; false at the end. An item that
 * does not fit is cut, so it will not be found, which is an error anyway. */
bool settings_list_next(const char **list, char *item, unsigned item_size);

#endif
