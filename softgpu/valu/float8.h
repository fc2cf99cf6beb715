/*
 * gfx942's 8-bit floats: fp8 has four bits of exponent and a bias of 8, bf8 five and 16. There is
 * no infinity and no negative zero, whose code is the one NaN. All by integers, since the wave's
 * mode may flush what lies between.
 */
#ifndef VALU_FLOAT8_H
#define VALU_FLOAT8_H

#include "valu/core_float.h"

enum { FLOAT8_NAN = 0x80, FLOAT8_MAX = 0x7f };

/* Of the low byte. */
KERNEL_INLINE u32 f32_of_f8(u32 byte, const bool wide)
{
    const u32 magnitude = byte & 0x7f, sign = (byte & 0x80) << 24;
    const u32 mantissa_bits = wide ? 2 : 3, bias = wide ? 16 : 8;
    const u32 normal = (magnitude << (23 - mantissa_bits)) + ((127 - bias) << 23);
    const u32 denormal = bits32((f32)(i32)magnitude * (wide ? 0x1p-17f : 0x1p-10f));
    const u32 value = magnitude >> mantissa_bits ? normal : denormal;
    return (byte & 0xff) == FLOAT8_NAN ? 0x7fc00000 : value | sign;
}

/* The byte of a magnitude that was rounded to the code `code`, which may be too large; `above` is
 * what numbers beyond the largest become. Infinities have no code of their own. */
KERNEL_INLINE u32 f8_of_code(u32 f, u32 code, u32 above)
{
    const u32 sign = f >> 24 & 0x80;
    const u32 special = (f & ~SIGN32) >= INF32;
    const u32 large = above == FLOAT8_NAN ? above : above | sign;
    const u32 finite = code > FLOAT8_MAX ? large : code ? code | sign : 0;
    return special ? FLOAT8_NAN : finite;
}

/* By how many digits more than a normal number a denormal is cut; no more than leaves nothing. */
KERNEL_INLINE u32 f8_alignment(u32 exponent, const u32 lowest)
{
    const u32 below = exponent < lowest ? lowest - exponent : 0;
    return below > 8 ? 8 : below;
}

/* To nearest even. */
KERNEL_INLINE u32 f8_of_f32(u32 f, const bool wide, u32 above)
{
    const u32 digits = wide ? 2 : 3, lowest = wide ? 112 : 120; /* exponent of the least normal */
    const u32 exponent = f >> 23 & 0xff, from = exponent < lowest ? lowest : exponent;
    const u32 shift = 23 - digits + f8_alignment(exponent, lowest);
    const u32 mantissa = (f & 0x7fffff) | 0x800000;
    const u32 half = ((1u << shift) >> 1) - 1 + (mantissa >> shift & 1);
    const u32 rounded = (mantissa + half) >> shift;
    return f8_of_code(f, ((from - lowest) << digits) + rounded, above);
}

/* Up or down by chance: as many of the seed's high bits as get lost are added before that. A
 * denormal is cut to the least normal number's digits first. */
KERNEL_INLINE u32 f8_stochastic(u32 f, u32 seed, const bool wide, u32 above)
{
    const u32 digits = wide ? 2 : 3, lowest = wide ? 112 : 120;
    const u32 exponent = f >> 23 & 0xff, from = exponent < lowest ? lowest : exponent;
    const u32 below = from - exponent, cut = below > 24 ? 24 : below;
    const u32 mantissa = ((f & 0x7fffff) | 0x800000) >> cut;
    const u32 rounded = (mantissa + (seed >> (9 + digits))) >> (23 - digits);
    return f8_of_code(f, ((from - lowest) << digits) + rounded, above);
}

#endif
