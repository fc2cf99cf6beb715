#include "counters/definition.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "counters/builtin.h"

/* Strings live in chunks that never move, so that definitions can point into them. */
struct text_chunk {
    struct text_chunk *next;
    size_t used, capacity;
    char text[];
};

struct definition_set {
    int overrides_shipped;
    struct counter_definition *items;
    uint32_t count, capacity;
    struct text_chunk *texts;
    char problem[512];
};

enum { TEXT_CHUNK_BYTES = 16384 };

struct definition_set *definitions_create(void)
{
    return calloc(1, sizeof(struct definition_set));
}

struct definition_set *definitions_clone(const struct definition_set *set)
{
    struct definition_set *clone = definitions_create();
    struct counter_definition *items = calloc(set->count + 1u, sizeof *items);
    if (!clone || !items) {
        free(clone);
        free(items);
        return NULL;
    }
    if (set->count)
        memcpy(items, set->items, set->count * sizeof *items);
    clone->overrides_shipped = set->overrides_shipped;
    clone->items = items;
    clone->count = set->count;
    clone->capacity = set->count + 1;
    return clone;
}

void definitions_destroy(struct definition_set *set)
{
    if (!set)
        return;
    for (struct text_chunk *chunk = set->texts, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(set->items);
    free(set);
}

const struct counter_definition *definitions_all(const struct definition_set *set, uint32_t *count)
{
    *count = set->count;
    return set->items;
}

const char *definitions_problem(const struct definition_set *set)
{
    return set->problem;
}

void definitions_report(struct definition_set *set, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(set->problem, sizeof set->problem, format, args);
    va_end(args);
    log_warning("counters", "%s", set->problem);
}

static const char *text_copy(struct definition_set *set, const char *text, size_t length)
{
    struct text_chunk *chunk = set->texts;
    if (!chunk || chunk->capacity - chunk->used <= length) {
        size_t capacity = length + 1 > TEXT_CHUNK_BYTES ? length + 1 : TEXT_CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + capacity);
        if (!chunk)
            return NULL;
        *chunk = (struct text_chunk){.next = set->texts, .capacity = capacity};
        set->texts = chunk;
    }
    char *copy = chunk->text + chunk->used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    chunk->used += length + 1;
    return copy;
}

/* Whether the first `length` bytes of list, a '/' list, contain the architecture. */
static int list_contains(const char *list, const char *architecture, size_t length)
{
    for (const char *at = list; *at;) {
        size_t part = strcspn(at, "/");
        if (part == length && memcmp(at, architecture, length) == 0)
            return 1;
        at += part + (at[part] == '/');
    }
    return 0;
}

int definition_applies(const struct counter_definition *definition, const char *architecture)
{
    return list_contains(definition->architectures, architecture, strlen(architecture));
}

/* Takes the architectures of `newer` away from an older definition of the same name. */
static int narrow(struct definition_set *set, struct counter_definition *older, const char *newer)
{
    char kept[1024];
    size_t used = 0;
    for (const char *at = older->architectures; *at;) {
        size_t part = strcspn(at, "/");
        if (!list_contains(newer, at, part) && used + part + 2 < sizeof kept) {
            if (used)
                kept[used++] = '/';
            memcpy(kept + used, at, part);
            used += part;
        }
        at += part + (at[part] == '/');
    }
    if (used == strlen(older->architectures))
        return 0;
    set->overrides_shipped |= older->is_shipped;
    older->architectures = text_copy(set, kept, used);
    return older->architectures ? 0 : -1;
}

static int set_reserve(struct definition_set *set)
{
    if (set->count < set->capacity)
        return 0;
    uint32_t capacity = set->capacity ? set->capacity * 2 : 256;
    struct counter_definition *items = realloc(set->items, capacity * sizeof *items);
    if (!items)
        return -1;
    set->items = items;
    set->capacity = capacity;
    return 0;
}

int definitions_add(struct definition_set *set, const struct counter_definition *definition)
{
    struct counter_definition copy = {.event = definition->event, .line = definition->line};
    const struct {
        const char *from;
        const char **to;
    } texts[] = {
        {definition->name, &copy.name},
        {definition->architectures, &copy.architectures},
        {definition->block, &copy.block},
        {definition->expression, &copy.expression},
        {definition->description, &copy.description},
    };
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!texts[i].from)
            continue;
        *texts[i].to = text_copy(set, texts[i].from, strlen(texts[i].from));
        if (!*texts[i].to)
            return -1;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].name, copy.name) == 0 &&
            narrow(set, &set->items[i], copy.architectures))
            return -1;
    }
    if (set_reserve(set))
        return -1;
    set->items[set->count++] = copy;
    return 0;
}

void definitions_remove_last(struct definition_set *set)
{
    if (set->count)
        set->count--;
}

/* The compiled-in rows are unique by construction and live as long as the library, so they are
 * neither copied nor compared: a third of a millisecond less at start-up. */
int definitions_add_builtin(struct definition_set *set)
{
    for (uint32_t i = 0; i < builtin_definition_count; i++) {
        const struct builtin_definition *row = &builtin_definitions[i];
        const char *text = builtin_text;
        if (set_reserve(set))
            return -1;
        set->items[set->count++] = (struct counter_definition){
            .name = text + row->name,
            .architectures = text + row->architectures,
            .block = row->block ? text + row->block : NULL,
            .expression = row->expression ? text + row->expression : NULL,
            .description = text + row->description,
            .event = row->event,
            .is_shipped = 1,
        };
    }
    return 0;
}

int definitions_override_shipped(const struct definition_set *set)
{
    return set->overrides_shipped;
}

const struct counter_definition *definition_find(const struct definition_set *set, const char *name,
                                                 const char *architecture)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].name, name) == 0 &&
            definition_applies(&set->items[i], architecture))
            return &set->items[i];
    }
    return NULL;
}
