/*
 * Numbers of kinds of records and of their operations, as the SDK gives them, by name. A name that
 * the SDK does not have, of a recording made elsewhere, gets the next number.
 */
#ifndef OUT_KINDS_H
#define OUT_KINDS_H

#include "names/texts.h"
#include "writer.h"

enum { KINDS_CACHED = 256 }; /* a power of two */

struct kinds_number {
    uint32_t kind, operation;
};

struct kinds {
    struct texts names;
    struct kinds_entry {
        const char *name; /* of `names`' */
        struct texts operations;
        const char **operation_names; /* by number */
        uint32_t operation_count, operation_room;
    } * entries; /* by number */
    uint32_t count, room;
    /* What was found lately, by the address of the operation's name. */
    struct kinds_recent {
        const char *kind, *operation; /* ours; NULL: free */
        struct kinds_number number;
    } recent[KINDS_CACHED];
};

/* Of buffered records. */
void kinds_load(struct kinds *kinds);
void kinds_load_callbacks(struct kinds *kinds);
void kinds_free(struct kinds *kinds);

/* NULL is "". Without memory: 0. */
struct kinds_number kinds_find(struct kinds *kinds, const char *kind, const char *operation);

/* [{"kind": "HIP_RUNTIME_API", "operations": [...]}, ...] */
void kinds_write(const struct kinds *kinds, struct writer *writer);

#endif
