/* Numbers of 1, 2, 4 or 8 bytes, somewhere in memory, as the widest of their kind. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of a wider one, the low eight bytes. */
static inline uint64_t number_unsigned(const void *value, size_t size_bytes)
{
    uint64_t number = 0;
    memcpy(&number, value, size_bytes < 8 ? size_bytes : 8);
    return number;
}

static inline int64_t number_signed(const void *value, size_t size_bytes)
{
    unsigned spare_bits = 64 - 8 * (unsigned)(size_bytes < 8 ? size_bytes : 8);
    return (int64_t)(number_unsigned(value, size_bytes) << spare_bits) >> spare_bits;
}

static inline double number_float(const void *value, size_t size_bytes)
{
    float narrow;
    double wide;
    if (size_bytes == sizeof narrow) {
        memcpy(&narrow, value, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, value, sizeof wide);
    return wide;
}

#endif
