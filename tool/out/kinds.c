#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>

#include "json.h"

/* Makes room for one more element. */
static bool room_make(void **elements, uint32_t count, uint32_t *room, size_t element_bytes)
{
    if (count < *room)
        return true;
    uint32_t larger = *room ? 2 * *room : 64;
    void *moved = realloc(*elements, larger * element_bytes);
    if (!moved)
        return false;
    *elements = moved;
    *room = larger;
    return true;
}

static bool operation_add(struct kinds_entry *entry, const char *name)
{
    void *names = entry->operation_names;
    bool ok = room_make(&names, entry->operation_count, &entry->operation_room, sizeof(char *));
    entry->operation_names = names;
    const char *kept = ok ? texts_keep(&entry->operations, name) : NULL;
    if (!kept)
        return false;
    entry->operation_names[entry->operation_count++] = kept;
    return true;
}

static struct kinds_entry *kind_add(struct kinds *kinds, const char *name)
{
    void *entries = kinds->entries;
    bool ok = room_make(&entries, kinds->count, &kinds->room, sizeof *kinds->entries);
    kinds->entries = entries;
    const char *kept = ok ? texts_keep(&kinds->names, name) : NULL;
    if (!kept)
        return NULL;
    struct kinds_entry *entry = &kinds->entries[kinds->count++];
    *entry = (struct kinds_entry){.name = kept};
    return entry;
}

/* A number that has no name gets one, so that the next ones have their own numbers; so does a
 * second one of the same name. */
static const char *name_or_number(struct texts *known, const char *name, uint32_t number,
                                  char made[32])
{
    bool is_new = false;
    if (name && texts_id(known, name, &is_new) != 0 && is_new)
        return name;
    snprintf(made, 32, "(%u)", number);
    return made;
}

typedef const char *(*operation_name)(uint32_t kind, uint32_t operation);

static void operations_load(struct kinds_entry *entry, uint32_t kind, operation_name name_of)
{
    enum { GAP = 8 }; /* more numbers in a row without a name are the end */
    char made[32];
    for (uint32_t operation = 0, named = 0; operation < named + GAP; operation++) {
        const char *name = name_of(kind, operation);
        if (!name)
            continue;
        for (; named <= operation; named++) {
            name = name_of(kind, named);
            if (!operation_add(entry, name_or_number(&entry->operations, name, named, made)))
                return;
        }
    }
}

static const char *buffer_operation(uint32_t kind, uint32_t operation)
{
    const char *name = NULL;
    return rocprofiler_query_buffer_tracing_kind_operation_name(
               (rocprofiler_buffer_tracing_kind_t)kind, (rocprofiler_tracing_operation_t)operation,
               &name, NULL) == ROCPROFILER_STATUS_SUCCESS
               ? name
               : NULL;
}

static const char *callback_operation(uint32_t kind, uint32_t operation)
{
    const char *name = NULL;
    return rocprofiler_query_callback_tracing_kind_operation_name(
               (rocprofiler_callback_tracing_kind_t)kind,
               (rocprofiler_tracing_operation_t)operation, &name,
               NULL) == ROCPROFILER_STATUS_SUCCESS
               ? name
               : NULL;
}

static void kind_load(struct kinds *kinds, uint32_t kind, const char *name, operation_name name_of)
{
    char made[32];
    struct kinds_entry *entry = kind_add(kinds, name_or_number(&kinds->names, name, kind, made));
    if (entry)
        operations_load(entry, kind, name_of);
}

void kinds_load(struct kinds *kinds)
{
    *kinds = (struct kinds){0};
    for (uint32_t kind = 0; kind < ROCPROFILER_BUFFER_TRACING_LAST; kind++) {
        const char *name = NULL;
        rocprofiler_query_buffer_tracing_kind_name((rocprofiler_buffer_tracing_kind_t)kind, &name,
                                                   NULL);
        kind_load(kinds, kind, name, buffer_operation);
    }
}

void kinds_load_callbacks(struct kinds *kinds)
{
    *kinds = (struct kinds){0};
    for (uint32_t kind = 0; kind < ROCPROFILER_CALLBACK_TRACING_LAST; kind++) {
        const char *name = NULL;
        rocprofiler_query_callback_tracing_kind_name((rocprofiler_callback_tracing_kind_t)kind,
                                                     &name, NULL);
        kind_load(kinds, kind, name, callback_operation);
    }
}

void kinds_free(struct kinds *kinds)
{
    for (uint32_t i = 0; i < kinds->count; i++) {
        texts_free(&kinds->entries[i].operations);
        free(kinds->entries[i].operation_names);
    }
    free(kinds->entries);
    texts_free(&kinds->names);
}

static struct kinds_number look_up(struct kinds *kinds, const char *kind, const char *operation)
{
    const struct kinds_number unknown = {0};
    bool is_new;
    uint32_t kind_id = texts_id(&kinds->names, kind, &is_new);
    if (kind_id == 0 || (is_new && !kind_add(kinds, kind)))
        return unknown;
    struct kinds_entry *entry = &kinds->entries[kind_id - 1];
    uint32_t operation_id = texts_id(&entry->operations, operation, &is_new);
    if (operation_id == 0 || (is_new && !operation_add(entry, operation)))
        return unknown;
    return (struct kinds_number){kind_id - 1, operation_id - 1};
}

struct kinds_number kinds_find(struct kinds *kinds, const char *kind, const char *operation)
{
    kind = kind ? kind : "";
    operation = operation ? operation : "";
    struct kinds_recent *recent = &kinds->recent[(uintptr_t)operation >> 3 & (KINDS_CACHED - 1)];
    if (recent->kind && strcmp(recent->operation, operation) == 0 &&
        strcmp(recent->kind, kind) == 0)
        return recent->number;
    struct kinds_number number = look_up(kinds, kind, operation);
    if (number.kind < kinds->count &&
        number.operation < kinds->entries[number.kind].operation_count) {
        recent->kind = kinds->entries[number.kind].name;
        recent->operation = kinds->entries[number.kind].operation_names[number.operation];
        recent->number = number;
    }
    return number;
}

void kinds_write(const struct kinds *kinds, struct writer *writer)
{
    for (uint32_t i = 0; i < kinds->count; i++) {
        const struct kinds_entry *entry = &kinds->entries[i];
        json_raw(writer, i ? ",{\"kind\":" : "[{\"kind\":");
        json_text(writer, entry->name);
        json_raw(writer, ",\"operations\":[");
        for (uint32_t j = 0; j < entry->operation_count; j++) {
            json_raw(writer, j ? "," : "");
            json_text(writer, entry->operation_names[j]);
        }
        json_raw(writer, "]}");
    }
    json_raw(writer, kinds->count ? "]" : "[]");
}
