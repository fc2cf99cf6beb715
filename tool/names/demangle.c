#include "names/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangle_fn)(const char *mangled, char *buffer, size_t *length, int *status);

/* The C++ runtime is in every HIP program; a C program has no mangled names to read. */
static demangle_fn demangler(void)
{
    demangle_fn function;
    *(void **)&function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (function)
        return function;
    /* Where the program's library was opened locally, RTLD_DEFAULT does not find it. */
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        *(void **)&function = dlsym(library, "__cxa_demangle");
    return function;
}

/* Without ".kd". */
static char *name_plain(const char *symbol)
{
    size_t length = strlen(symbol);
    if (length > 3 && strcmp(symbol + length - 3, ".kd") == 0)
        length -= 3;
    return strndup(symbol, length);
}

char *name_demangle(const char *symbol)
{
    char *plain = name_plain(symbol);
    demangle_fn demangle = plain && strncmp(plain, "_Z", 2) == 0 ? demangler() : NULL;
    if (!demangle)
        return plain;
    int status = -1;
    char *pretty = demangle(plain, NULL, NULL, &status);
    if (status != 0 || !pretty)
        return plain;
    free(plain);
    return pretty;
}

static char opening(char closing)
{
    switch (closing) {
    case ')':
        return '(';
    case '>':
        return '<';
    case ']':
        return '[';
    default:
        return 0;
    }
}

/* The name is read from its end: brackets with what is in them and spaces belong to the parameters,
 * the template arguments or a note of the compiler; what comes before them is the name. */
const char *name_short(const char *pretty, size_t *length)
{
    size_t end = strlen(pretty);
    while (end > 0) {
        char close = pretty[end - 1], open = opening(close);
        if (close == ' ') {
            end--;
            continue;
        }
        if (!open)
            break;
        size_t at = end, depth = 0;
        do {
            at--;
            depth += pretty[at] == close;
            depth -= pretty[at] == open;
        } while (at > 0 && depth > 0);
        if (depth > 0) /* unbalanced: nothing to cut */
            break;
        end = at;
    }
    size_t begin = end;
    while (begin > 0 && pretty[begin - 1] != ' ' && pretty[begin - 1] != ':')
        begin--;
    *length = end - begin;
    return pretty + begin;
}

static bool reach(struct demangled *names, uint32_t id)
{
    if (id < names->capacity)
        return true;
    uint32_t capacity = 2 * id + 64;
    char **larger = realloc(names->names, capacity * sizeof *larger);
    if (!larger)
        return false;
    memset(larger + names->capacity, 0, (capacity - names->capacity) * sizeof *larger);
    names->names = larger;
    names->capacity = capacity;
    return true;
}

const char *demangled_name(struct demangled *names, const char *symbol)
{
    bool is_new;
    uint32_t id = texts_id(&names->texts, symbol, &is_new);
    if (id == 0 || !reach(names, id))
        return symbol;
    if (!names->names[id])
        names->names[id] = name_demangle(symbol);
    return names->names[id] ? names->names[id] : symbol;
}

void demangled_free(struct demangled *names)
{
    for (uint32_t i = 0; i < names->capacity; i++)
        free(names->names[i]);
    free(names->names);
    texts_free(&names->texts);
    *names = (struct demangled){0};
}
