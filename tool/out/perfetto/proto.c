#include "proto.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, VARINT_BYTES_MAX = 10, CAPACITY_FIRST = 4096 };

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

static size_t varint(uint8_t *to, uint64_t value)
{
    size_t length = 0;
    for (; value > 127; value >>= 7)
        to[length++] = (uint8_t)(value | 128);
    to[length++] = (uint8_t)value;
    return length;
}

static void put_varint(struct proto *proto, uint64_t value)
{
    proto->used += varint(proto->bytes + proto->used, value);
}

static void put_tag(struct proto *proto, uint32_t field, unsigned wire_type)
{
    put_varint(proto, (uint64_t)field << 3 | wire_type);
}

void proto_u64(struct proto *proto, uint32_t field, uint64_t value)
{
    if (!room(proto, 2 * VARINT_BYTES_MAX))
        return;
    put_tag(proto, field, VARINT);
    put_varint(proto, value);
}

void proto_fixed64(struct proto *proto, uint32_t field, uint64_t value)
{
    if (!room(proto, VARINT_BYTES_MAX + 8))
        return;
    put_tag(proto, field, FIXED64);
    for (unsigned i = 0; i < 8; i++)
        proto->bytes[proto->used++] = (uint8_t)(value >> 8 * i);
}

void proto_string(struct proto *proto, uint32_t field, const char *text)
{
    size_t length = strlen(text);
    if (!room(proto, length + 2 * VARINT_BYTES_MAX))
        return;
    put_tag(proto, field, DELIMITED);
    put_varint(proto, length);
    memcpy(proto->bytes + proto->used, text, length);
    proto->used += length;
}

void proto_pair(struct proto *proto, uint32_t field, const uint32_t fields[2],
                const uint64_t values[2])
{
    if (!room(proto, 6 * VARINT_BYTES_MAX))
        return;
    put_tag(proto, field, DELIMITED);
    size_t open = ++proto->used; /* four varints are always shorter than 128 bytes */
    for (int i = 0; i < 2; i++) {
        put_tag(proto, fields[i], VARINT);
        put_varint(proto, values[i]);
    }
    proto->bytes[open - 1] = (uint8_t)(proto->used - open);
}

size_t proto_begin(struct proto *proto, uint32_t field)
{
    if (!room(proto, VARINT_BYTES_MAX + 1))
        return 0;
    put_tag(proto, field, DELIMITED);
    return ++proto->used; /* one byte for the length: enough for nearly every message */
}

void proto_end(struct proto *proto, size_t open)
{
    uint8_t length[VARINT_BYTES_MAX];
    size_t size = proto->used - open, extra = varint(length, proto->failed ? 0 : size) - 1;
    if (!room(proto, extra))
        return;
    if (extra)
        memmove(proto->bytes + open + extra, proto->bytes + open, size);
    memcpy(proto->bytes + open - 1, length, extra + 1);
    proto->used += extra;
}
