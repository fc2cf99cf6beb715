/*
 * Numbers as they stand in SQLite's files: https://sqlite.org/fileformat.html. For those who read
 * and write its pages themselves.
 */
#ifndef RECORDING_FORMAT_H
#define RECORDING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    FORMAT_HEADER_BYTES = 100,
    FORMAT_DEPTH_MAX = 20,
    FORMAT_LEAF = 13, /* types of pages of a table */
    FORMAT_INTERIOR = 5,
    FORMAT_LEAF_HEAD_BYTES = 8, /* of a page, in front of where its cells are said to be */
    FORMAT_INTERIOR_HEAD_BYTES = 12,
    FORMAT_PAGE_BYTES_MIN = 512
};

/* Types of values; from FORMAT_BLOB on the even ones are bytes, the odd ones texts. */
enum { FORMAT_NULL = 0, FORMAT_REAL = 7, FORMAT_ZERO = 8, FORMAT_ONE = 9, FORMAT_BLOB = 12 };

static inline uint32_t be16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t be32(const uint8_t *at)
{
    return be16(at) << 16 | be16(at + 2);
}

/* NULL: it goes beyond the end. */
static inline const uint8_t *varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t sum = 0;
    for (int i = 0; i < 9 && at < end; i++, at++) {
        if (i == 8) {
            *value = sum << 8 | *at;
            return at + 1;
        }
        sum = sum << 7 | (*at & 0x7f);
        if (!(*at & 0x80)) {
            *value = sum;
            return at + 1;
        }
    }
    return NULL;
}

/* Of 1 to 8 bytes. */
static inline int64_t integer_get(const uint8_t *at, unsigned size)
{
    uint64_t value = at[0] & 0x80 ? UINT64_MAX : 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

/* What a value of that type takes. */
static inline uint64_t content_bytes(uint64_t type)
{
    static const uint8_t sizes[FORMAT_BLOB] = {0, 1, 2, 3, 4, 6, 8, 8};
    return type < FORMAT_BLOB ? sizes[type] : (type - FORMAT_BLOB) / 2;
}

/* How much of a payload stands in the page itself. */
static inline uint64_t local_bytes(uint32_t page_bytes, uint64_t payload)
{
    uint32_t most = page_bytes - 35, least = (page_bytes - 12) * 32 / 255 - 23;
    uint64_t kept = least + (payload - least) % (page_bytes - 4);
    return payload <= most ? payload : kept <= most ? kept : least;
}

/* UTF-8, no write-ahead log, nothing at the ends of pages: all that our readers of pages know. */
static inline bool format_is_known(const uint8_t header[FORMAT_HEADER_BYTES], uint32_t *page_bytes)
{
    *page_bytes = be16(header + 16) == 1 ? 65536 : be16(header + 16);
    return memcmp(header, "SQLite format 3", 16) == 0 && *page_bytes >= FORMAT_PAGE_BYTES_MIN &&
           (*page_bytes & (*page_bytes - 1)) == 0 && header[18] == 1 && header[19] == 1 &&
           header[20] == 0 && be32(header + 56) == 1;
}

#endif
