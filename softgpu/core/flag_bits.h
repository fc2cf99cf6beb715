/* Bytes of 0 or 1, one for each of a wave's 64 lanes, which vectors of the host are turned to more
 * readily than to bits, to a mask. */
#ifndef CORE_FLAG_BITS_H
#define CORE_FLAG_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t flags_to_bits(const uint8_t flags[64])
{
    enum { BYTES = 8, ABOVE = 56, LANES = 64 };
    const uint64_t to_bits = 0x0102040810204080; /* puts them behind each other, in the top byte */
    uint64_t bits = 0;
    for (unsigned lane = 0; lane < LANES; lane += BYTES) {
        uint64_t eight;
        memcpy(&eight, flags + lane, sizeof eight);
        bits |= eight * to_bits >> ABOVE << lane;
    }
    return bits;
}

#endif
