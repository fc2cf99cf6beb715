/* How rows, and what they point to, lie in a journal: structs, whose pointers are numbers there. */
#ifndef OUT_JOURNAL_SHAPES_H
#define OUT_JOURNAL_SHAPES_H

#include "rows.h"

enum journal_thing {
    JOURNAL_CODE_OBJECT,
    JOURNAL_KERNEL,
    JOURNAL_COUNTER,
    JOURNAL_PROCESS,
    JOURNAL_THINGS,
    JOURNAL_TEXT = JOURNAL_THINGS,
    JOURNAL_ARRAY, /* of one row; follows no number */
};

struct journal_member {
    uint8_t thing;   /* enum journal_thing */
    uint16_t offset; /* of the pointer */
    uint16_t count;  /* of an array: where its count is, of 32 bits */
    uint16_t bytes;  /* of an array: of one element */
};

enum { JOURNAL_MEMBERS_MAX = 11, JOURNAL_WORDS_MAX = 48 };

struct journal_shape {
    uint16_t bytes, member_count; /* bytes: a multiple of eight */
    struct journal_member members[JOURNAL_MEMBERS_MAX];
};

extern const struct journal_shape journal_things[JOURNAL_THINGS];
/* NULL: rows of this table are not kept. */
const struct journal_shape *journal_shape_of(enum out_table_id table);

/* The first bytes of a file: a sentence for people, and what the structs look like. */
extern const char journal_head[];
enum { JOURNAL_HEAD_BYTES = 128 };

/* What a record begins with. */
enum journal_record {
    JOURNAL_RECORD_TEXT = 'T',  /* size (32 bits), bytes with their zero; numbered from 1 */
    JOURNAL_RECORD_ARRAY = 'A', /* size (32 bits), bytes */
    JOURNAL_RECORD_THING = 'D', /* which, its struct; numbered from 1, each kind for itself */
    JOURNAL_RECORD_ROW = 'R'    /* table, a bit for each word that differs (64 bits), those words */
};

#endif
