#include "counters.h"

#include <stdio.h>
#include <string.h>

const char *const analyze_counters[COUNT_COUNT] = {
#define X(name) #name,
    ANALYZE_COUNTERS(X)
#undef X
};

static const struct {
    enum analyze_counter counter;
    const char *name;
} other_names[] = {
#define X(name, other) {COUNT_##name, #other},
    ANALYZE_OTHER_NAMES(X)
#undef X
};
enum { OTHER_NAMES = sizeof other_names / sizeof other_names[0] };

enum analyze_counter analyze_counter_find(const char *name)
{
    int i = 0;
    for (int other = 0; other < OTHER_NAMES; other++)
        if (strcmp(other_names[other].name, name) == 0)
            return other_names[other].counter;
    while (i < COUNT_COUNT && strcmp(analyze_counters[i], name) != 0)
        i++;
    return (enum analyze_counter)i;
}

void analyze_counters_list(char list[ANALYZE_NAMES_BYTES])
{
    size_t used = 0;
    for (int i = 0; i < COUNT_COUNT; i++)
        used += (size_t)snprintf(list + used, ANALYZE_NAMES_BYTES - used, "%s%s", i ? "," : "",
                                 analyze_counters[i]);
    for (int other = 0; other < OTHER_NAMES; other++)
        used += (size_t)snprintf(list + used, ANALYZE_NAMES_BYTES - used, ",%s",
                                 other_names[other].name);
}

/* Where the list has a name as a whole; NULL: it has not. */
static char *name_in(char *list, const char *name)
{
    size_t length = strlen(name);
    for (char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return at;
    return NULL;
}

void analyze_counters_once(char *list)
{
    for (int other = 0; other < OTHER_NAMES; other++) {
        char *at = name_in(list, other_names[other].name);
        if (!at || !name_in(list, analyze_counters[other_names[other].counter]))
            continue;
        char *end = at + strcspn(at, ",");
        if (*end == ',')
            end++;
        else if (at > list)
            at--;
        memmove(at, end, strlen(end) + 1);
    }
}
