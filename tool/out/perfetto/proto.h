/*
 * Protobuf's wire format into memory. A failed allocation turns the message into nothing: `failed`
 * stays set and later fields are dropped, so that only the end has to check.
 */
#ifndef OUT_PERFETTO_PROTO_H
#define OUT_PERFETTO_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto {
    uint8_t *bytes;
    size_t used, capacity; /* bytes */
    bool failed;
};

void proto_free(struct proto *proto);
static inline void proto_reset(struct proto *proto)
{
    proto->used = 0;
    proto->failed = false;
}

void proto_u64(struct proto *proto, uint32_t field, uint64_t value);
void proto_fixed64(struct proto *proto, uint32_t field, uint64_t value);
void proto_string(struct proto *proto, uint32_t field, const char *text);

/* A message of two numbers within the message. */
void proto_pair(struct proto *proto, uint32_t field, const uint32_t fields[2],
                const uint64_t values[2]);

/* A message within the message: what is written between the two calls. `open` is what begin
 * returned. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t open);

#endif
