/*
 * Protobuf's wire format into memory. A failed allocation turns the message into nothing: `failed`
 * stays set and later fields are dropped, so that only the end has to check.
 */
#ifndef OUT_PERFETTO_PROTO_H
#define OUT_PERFETTO_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_DELIMITED = 2, PROTO_VARINT_BYTES = 10 };

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

/* A message within the message: what is written between the two calls. `open` is what begin
 * returned. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t open);

/*
 * For messages that come by the million and whose size has a bound: room for `bytes` behind what is
 * there (NULL: no memory), where the functions below put fields and return their end, and then
 * proto_advance() with the last end.
 */
uint8_t *proto_room(struct proto *proto, size_t bytes);

static inline void proto_advance(struct proto *proto, const uint8_t *end)
{
    proto->used = (size_t)(end - proto->bytes);
}

/* From 2^56 on. */
uint8_t *proto_long_at(uint8_t *at, uint64_t value);

/* Stores up to PROTO_VARINT_BYTES, whatever the length. The groups of seven bits are moved apart
 * side by side in one word: a loop over them would end at another place for each value. */
static inline uint8_t *proto_varint_at(uint8_t *at, uint64_t value)
{
    if (value < 128) {
        *at = (uint8_t)value;
        return at + 1;
    }
    if (value >> 56)
        return proto_long_at(at, value);
    unsigned more =
        (unsigned)(63 - __builtin_clzll(value)) / 7; /* bytes with another behind them */
    value = (value & 0x00fffffff0000000) << 4 | (value & 0x000000000fffffff);
    value = (value & 0x0fffc0000fffc000) << 2 | (value & 0x00003fff00003fff);
    value = (value & 0x3f803f803f803f80) << 1 | (value & 0x007f007f007f007f);
    value |= 0x8080808080808080 & ((1ull << 8 * more) - 1);
    memcpy(at, &value, sizeof value);
    return at + more + 1;
}

static inline uint8_t *proto_tag_at(uint8_t *at, uint32_t field, unsigned wire_type)
{
    return proto_varint_at(at, (uint64_t)field << 3 | wire_type);
}

static inline uint8_t *proto_u64_at(uint8_t *at, uint32_t field, uint64_t value)
{
    return proto_varint_at(proto_tag_at(at, field, PROTO_VARINT), value);
}

static inline uint8_t *proto_fixed64_at(uint8_t *at, uint32_t field, uint64_t value)
{
    at = proto_tag_at(at, field, PROTO_FIXED64);
    memcpy(at, &value, sizeof value); /* little-endian, as this machine */
    return at + sizeof value;
}

static inline uint8_t *proto_string_at(uint8_t *at, uint32_t field, const char *text, size_t length)
{
    at = proto_varint_at(proto_tag_at(at, field, PROTO_DELIMITED), length);
    memcpy(at, text, length);
    return at + length;
}

#endif
