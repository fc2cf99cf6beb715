#include "proto.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 4096 };

void proto_free(struct proto *proto)
{
    free(proto->bytes);
    *proto = (struct proto){0};
}

static bool grow(struct proto *proto, size_t bytes)
{
    size_t capacity = proto->capacity ? proto->capacity : CAPACITY_FIRST;
    while (capacity - proto->used < bytes)
        capacity *= 2;
    uint8_t *larger = realloc(proto->bytes, capacity);
    if (!larger) {
        proto->failed = true;
        return false;
    }
    proto->bytes = larger;
    proto->capacity = capacity;
    return true;
}

static bool room(struct proto *proto, size_t bytes)
{
    if (proto->failed)
        return false;
    return proto->capacity - proto->used >= bytes || grow(proto, bytes);
}

uint8_t *proto_room(struct proto *proto, size_t bytes)
{
    return room(proto, bytes) ? proto->bytes + proto->used : NULL;
}

uint8_t *proto_long_at(uint8_t *at, uint64_t value)
{
    for (; value > 127; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

void proto_u64(struct proto *proto, uint32_t field, uint64_t value)
{
    uint8_t *at = proto_room(proto, 2 * PROTO_VARINT_BYTES);
    if (at)
        proto_advance(proto, proto_u64_at(at, field, value));
}

void proto_fixed64(struct proto *proto, uint32_t field, uint64_t value)
{
    uint8_t *at = proto_room(proto, PROTO_VARINT_BYTES + sizeof value);
    if (at)
        proto_advance(proto, proto_fixed64_at(at, field, value));
}

void proto_string(struct proto *proto, uint32_t field, const char *text)
{
    size_t length = strlen(text);
    uint8_t *at = proto_room(proto, length + 2 * PROTO_VARINT_BYTES);
    if (at)
        proto_advance(proto, proto_string_at(at, field, text, length));
}

size_t proto_begin(struct proto *proto, uint32_t field)
{
    uint8_t *at = proto_room(proto, PROTO_VARINT_BYTES + 1);
    if (!at)
        return 0;
    proto_advance(proto, proto_tag_at(at, field, PROTO_DELIMITED));
    return ++proto->used; /* one byte for the length: enough for nearly every message */
}

void proto_end(struct proto *proto, size_t open)
{
    uint8_t length[PROTO_VARINT_BYTES];
    size_t size = proto->failed ? 0 : proto->used - open;
    size_t extra = (size_t)(proto_varint_at(length, size) - length) - 1;
    if (!room(proto, extra))
        return;
    if (extra)
        memmove(proto->bytes + open + extra, proto->bytes + open, size);
    memcpy(proto->bytes + open - 1, length, extra + 1);
    proto->used += extra;
}
