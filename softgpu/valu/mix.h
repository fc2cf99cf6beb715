/* The constants of instructions that mix single and half precision. */
#ifndef VALU_MIX_H
#define VALU_MIX_H

#include <stdint.h>
#include <string.h>

#include "isa/inst.h"

/* Source n's constant as a float: the decoder widened it to the half that it is elsewhere, so it
 * is taken from the encoding again (0 to 64 from 128 on, -1 to -16 from 193 on, eight floats and
 * 1/(2 pi)). */
static inline uint32_t mix_constant(const struct inst *i, int n)
{
    static const float floats[] = {0.5f, -0.5f, 1, -1, 2, -2, 4, -4, 0.15915494f};
    const uint32_t code = i->raw[1] >> (9 * n) & 0x1ff;
    if (code < 240)
        return code <= 192 ? code - 128 : 192 - code;
    uint32_t bits;
    memcpy(&bits, &floats[code - 240], sizeof bits);
    return bits;
}

#endif
