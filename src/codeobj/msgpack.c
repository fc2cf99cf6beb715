#include "codeobj/msgpack.h"

#include <string.h>

/* Metadata nests five deep; anything deeper than this is hostile. */
enum { SKIP_DEPTH_MAX = 32 };

struct msgpack_reader msgpack_reader_make(const void *bytes, size_t size_bytes)
{
    return (struct msgpack_reader){.next = bytes, .end = (const uint8_t *)bytes + size_bytes};
}

static size_t bytes_left(const struct msgpack_reader *reader)
{
    return (size_t)(reader->end - reader->next);
}

static bool big_endian_read(struct msgpack_reader *reader, unsigned size_bytes, uint64_t *value)
{
    if (bytes_left(reader) < size_bytes)
        return false;
    *value = 0;
    for (unsigned i = 0; i < size_bytes; i++)
        *value = *value << 8 | reader->next[i];
    reader->next += size_bytes;
    return true;
}

static bool text_take(struct msgpack_reader *reader, struct msgpack_token *token)
{
    if (bytes_left(reader) < token->count)
        return false;
    token->bytes = (const char *)reader->next;
    reader->next += token->count;
    return true;
}

/* A container of n elements needs at least n bytes: rejects counts that the input cannot hold,
   so that no caller loops over four billion promised elements. */
static bool container_check(const struct msgpack_reader *reader, const struct msgpack_token *token)
{
    uint64_t tokens = token->type == MSGPACK_MAP ? 2 * token->count : token->count;
    return tokens <= bytes_left(reader);
}

/* Of a text, an array or a map. */
static bool body_read(struct msgpack_reader *reader, struct msgpack_token *token)
{
    if (token->type == MSGPACK_ARRAY || token->type == MSGPACK_MAP)
        return container_check(reader, token);
    return text_take(reader, token);
}

static void number_set(struct msgpack_token *token, int64_t value)
{
    token->type = value < 0 ? MSGPACK_SIGNED : MSGPACK_UNSIGNED;
    token->number = (uint64_t)value;
}

/* Bytes 0xc0..0xdf: type and width of the number or length that follows. */
enum follow { F_NONE, F_UNSIGNED, F_SIGNED, F_FLOAT, F_LENGTH, F_FIXEXT, F_RESERVED };

static const struct format {
    uint8_t type, follow, width_bytes, number;
} formats[32] = {
    [0x00] = {MSGPACK_NIL, F_NONE, 0, 0},          [0x01] = {0, F_RESERVED, 0, 0},
    [0x02] = {MSGPACK_BOOL, F_NONE, 0, 0},         [0x03] = {MSGPACK_BOOL, F_NONE, 0, 1},
    [0x04] = {MSGPACK_BINARY, F_LENGTH, 1, 0},     [0x05] = {MSGPACK_BINARY, F_LENGTH, 2, 0},
    [0x06] = {MSGPACK_BINARY, F_LENGTH, 4, 0},     [0x07] = {MSGPACK_EXTENSION, F_LENGTH, 1, 0},
    [0x08] = {MSGPACK_EXTENSION, F_LENGTH, 2, 0},  [0x09] = {MSGPACK_EXTENSION, F_LENGTH, 4, 0},
    [0x0a] = {MSGPACK_FLOAT, F_FLOAT, 4, 0},       [0x0b] = {MSGPACK_FLOAT, F_FLOAT, 8, 0},
    [0x0c] = {MSGPACK_UNSIGNED, F_UNSIGNED, 1, 0}, [0x0d] = {MSGPACK_UNSIGNED, F_UNSIGNED, 2, 0},
    [0x0e] = {MSGPACK_UNSIGNED, F_UNSIGNED, 4, 0}, [0x0f] = {MSGPACK_UNSIGNED, F_UNSIGNED, 8, 0},
    [0x10] = {MSGPACK_SIGNED, F_SIGNED, 1, 0},     [0x11] = {MSGPACK_SIGNED, F_SIGNED, 2, 0},
    [0x12] = {MSGPACK_SIGNED, F_SIGNED, 4, 0},     [0x13] = {MSGPACK_SIGNED, F_SIGNED, 8, 0},
    [0x14] = {MSGPACK_EXTENSION, F_FIXEXT, 1, 0},  [0x15] = {MSGPACK_EXTENSION, F_FIXEXT, 2, 0},
    [0x16] = {MSGPACK_EXTENSION, F_FIXEXT, 4, 0},  [0x17] = {MSGPACK_EXTENSION, F_FIXEXT, 8, 0},
    [0x18] = {MSGPACK_EXTENSION, F_FIXEXT, 16, 0}, [0x19] = {MSGPACK_STRING, F_LENGTH, 1, 0},
    [0x1a] = {MSGPACK_STRING, F_LENGTH, 2, 0},     [0x1b] = {MSGPACK_STRING, F_LENGTH, 4, 0},
    [0x1c] = {MSGPACK_ARRAY, F_LENGTH, 2, 0},      [0x1d] = {MSGPACK_ARRAY, F_LENGTH, 4, 0},
    [0x1e] = {MSGPACK_MAP, F_LENGTH, 2, 0},        [0x1f] = {MSGPACK_MAP, F_LENGTH, 4, 0},
};

static double float_decode(uint64_t bits, unsigned width_bytes)
{
    if (width_bytes == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t narrow_bits = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow_bits, sizeof value);
    return (double)value;
}

static bool extension_take(struct msgpack_reader *reader, struct msgpack_token *token)
{
    token->count++; /* the extension's type byte comes first */
    return text_take(reader, token);
}

static bool wide_read(struct msgpack_reader *reader, uint8_t byte, struct msgpack_token *token)
{
    const struct format *format = &formats[byte - 0xc0];
    uint64_t value = format->number;
    token->type = (enum msgpack_type)format->type;
    if (format->follow == F_RESERVED)
        return false;
    if (format->follow == F_FIXEXT) {
        token->count = format->width_bytes;
        return extension_take(reader, token);
    }
    if (!big_endian_read(reader, format->width_bytes, &value) && format->follow != F_NONE)
        return false;
    switch (format->follow) {
    case F_NONE:
        token->number = format->number;
        return true;
    case F_UNSIGNED:
        token->number = value;
        return true;
    case F_SIGNED: {
        unsigned unused_bits = 64 - 8u * format->width_bytes;
        number_set(token, (int64_t)(value << unused_bits) >> unused_bits);
        return true;
    }
    case F_FLOAT:
        token->real = float_decode(value, format->width_bytes);
        return true;
    default:
        token->count = value;
        return token->type == MSGPACK_EXTENSION ? extension_take(reader, token)
                                                : body_read(reader, token);
    }
}

bool msgpack_next(struct msgpack_reader *reader, struct msgpack_token *token)
{
    *token = (struct msgpack_token){.type = MSGPACK_NIL};
    if (reader->next >= reader->end)
        return false;

    uint8_t byte = *reader->next++;
    if (byte <= 0x7f) {
        number_set(token, byte);
        return true;
    }
    if (byte >= 0xe0) {
        number_set(token, (int8_t)byte);
        return true;
    }
    if (byte >= 0xc0)
        return wide_read(reader, byte, token);
    if (byte >= 0xa0) {
        token->type = MSGPACK_STRING;
        token->count = byte & 0x1f;
    } else {
        token->type = byte >= 0x90 ? MSGPACK_ARRAY : MSGPACK_MAP;
        token->count = byte & 0x0f;
    }
    return body_read(reader, token);
}

static bool elements_skip(struct msgpack_reader *reader, const struct msgpack_token *token,
                          int depth_left)
{
    uint64_t elements = token->type == MSGPACK_MAP ? 2 * token->count : token->count;
    if (token->type != MSGPACK_MAP && token->type != MSGPACK_ARRAY)
        return true;
    if (depth_left == 0)
        return false;
    for (uint64_t i = 0; i < elements; i++) {
        struct msgpack_token element;
        if (!msgpack_next(reader, &element) || !elements_skip(reader, &element, depth_left - 1))
            return false;
    }
    return true;
}

bool msgpack_skip(struct msgpack_reader *reader, const struct msgpack_token *token)
{
    return elements_skip(reader, token, SKIP_DEPTH_MAX);
}

bool msgpack_text_equal(const struct msgpack_token *token, const char *text)
{
    size_t length = strlen(text);
    return token->type == MSGPACK_STRING && token->count == length &&
           memcmp(token->bytes, text, length) == 0;
}
