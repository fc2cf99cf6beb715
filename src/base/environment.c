#include "base/environment.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool names(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(entry, name, length) && entry[length] == '=';
}

static bool is_so(const struct environment_variable *variable)
{
    const char *now = getenv(variable->name);
    return variable->value ? now && !strcmp(now, variable->value) : !now;
}

static size_t environment_size(void)
{
    size_t size = 0;
    while (environ && environ[size])
        size++;
    return size;
}

static void entry_remove(char **entries, const char *name)
{
    char **to = entries;
    for (char **from = entries; *from; from++)
        if (!names(*from, name))
            *to++ = *from;
    *to = NULL;
}

/* False: no memory. `entries` has room for one more. */
static bool entry_set(char **entries, const struct environment_variable *variable)
{
    char *entry = NULL;
    entry_remove(entries, variable->name);
    if (!variable->value)
        return true;
    if (asprintf(&entry, "%s=%s", variable->name, variable->value) < 0)
        return false;
    while (*entries)
        entries++;
    entries[0] = entry;
    entries[1] = NULL;
    return true;
}

/* Kept for threads that still read them, also when the program has made environ its own again. */
struct entries {
    struct entries *former;
    char *list[];
};
/* Writers: any (exchange). Nobody reads it: it keeps them reachable. */
static _Atomic(struct entries *) all_entries;

bool environment_change(const struct environment_variable *variables, size_t count)
{
    size_t changes = 0;
    for (size_t i = 0; i < count; i++)
        changes += !is_so(&variables[i]);
    if (changes == 0)
        return true;
    size_t size = environment_size();
    struct entries *made = calloc(1, sizeof *made + (size + count + 1) * sizeof(char *));
    char **entries = made ? made->list : NULL;
    bool complete = made != NULL;
    if (complete && size)
        memcpy(entries, environ, size * sizeof *entries);
    for (size_t i = 0; complete && i < count; i++)
        complete = entry_set(entries, &variables[i]);
    /* Readers: getenv() of any thread; they load the pointer once and find whole strings. */
    if (complete) {
        made->former = atomic_exchange_explicit(&all_entries, made, memory_order_seq_cst);
        __atomic_store_n(&environ, entries, __ATOMIC_RELEASE);
    } else {
        free(made);
    }
    return complete;
}

bool environment_flag(const char *name, bool otherwise)
{
    const char *value = getenv(name);
    if (!value || !*value)
        return otherwise;
    return strcmp(value, "0") && strcasecmp(value, "off") && strcasecmp(value, "false") &&
           strcasecmp(value, "no");
}
