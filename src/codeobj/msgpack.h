/*
 * A MessagePack pull reader: one token at a time, containers announce their element count and the
 * caller reads that many tokens. No allocation, no recursion except msgpack_skip's bounded depth.
 */
#ifndef CODEOBJ_MSGPACK_H
#define CODEOBJ_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum msgpack_type {
    MSGPACK_NIL,
    MSGPACK_BOOL,
    MSGPACK_UNSIGNED,
    MSGPACK_SIGNED, /* negative numbers only */
    MSGPACK_FLOAT,
    MSGPACK_STRING,
    MSGPACK_BINARY,
    MSGPACK_ARRAY,
    MSGPACK_MAP,
    MSGPACK_EXTENSION,
};

struct msgpack_reader {
    const uint8_t *next;
    const uint8_t *end;
};

struct msgpack_token {
    enum msgpack_type type;
    uint64_t number;   /* NIL, BOOL, UNSIGNED; SIGNED as two's complement */
    double real;       /* FLOAT */
    const char *bytes; /* STRING, BINARY, EXTENSION: points into the input */
    uint64_t count;    /* bytes of text, elements of an ARRAY, pairs of a MAP */
};

struct msgpack_reader msgpack_reader_make(const void *bytes, size_t size_bytes);

/* False at the end of the input, on the reserved byte 0xc1 and on a token cut short. */
bool msgpack_next(struct msgpack_reader *reader, struct msgpack_token *token);

/* Skips the elements of a container whose token was just read; a scalar has none. */
bool msgpack_skip(struct msgpack_reader *reader, const struct msgpack_token *token);

bool msgpack_text_equal(const struct msgpack_token *token, const char *text);

#endif
