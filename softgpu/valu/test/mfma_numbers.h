/*
 * Elements of matrices and addends at random, in the ways that sums are hard in.
 */
#ifndef VALU_MFMA_NUMBERS_H
#define VALU_MFMA_NUMBERS_H

#include <math.h>

#include "valu/test/wave_double.h"

/* How numbers are drawn: of many magnitudes, denormals among them; of ordinary ones, and zeros; of
 * all there are, infinities and NaNs, too; of few magnitudes, many with a negative twin, which
 * cancel out; zeros for the most part; of all magnitudes, which f32 has no room for the products
 * of; of bf16 the smallest and the largest whose products it just has, or one beyond. */
enum spread { MANY, ORDINARY, ALL, TWINS, ZEROS, EXTREME, EDGES, SPREADS };
static enum spread spread;
static uint32_t last; /* the twin */

/* One of a thousand lies beyond, so that some matrices have none. */
static inline uint32_t edge_exponent(uint32_t bits)
{
    const bool is_beyond = random_below(1000) == 0;
    return bits & 3 ? 190 + is_beyond : 71 - is_beyond;
}

static inline uint32_t any_f32(void)
{
    const uint32_t bits = (uint32_t)random_bits();
    uint32_t exponent = 117 + bits % 20;
    if (spread == ZEROS && random_below(8))
        return bits & 0x80000000;
    if (spread == MANY)
        exponent = random_below(8) ? 97 + bits % 60 : 0;
    else if (spread == ALL)
        exponent = random_below(8) ? 127 + bits % 8 : random_below(4) ? bits % 255 : bits % 256;
    else if (spread == TWINS)
        exponent = 125 + bits % 4;
    else if (spread == EXTREME || (spread == ZEROS && bits & 1))
        exponent = bits % 255;
    else if (spread == EDGES)
        exponent = edge_exponent(bits);
    if (spread == TWINS && random_below(3) == 0)
        return last ^ 0x80000000;
    if (spread == ORDINARY && random_below(16) == 0)
        return bits & 0x80000000;
    return last = (bits & 0x807fffff) | exponent << 23;
}
/* Sums are as large as C or not. */
static inline uint32_t any_addend(void)
{
    const uint32_t far = random_below(70);
    const uint32_t x = any_f32(), exponent = (x >> 23 & 0xff) + far - 35;
    if (spread == ZEROS && far < 35) /* zeros and denormals */
        return x & (far < 20 ? 0x80000000 : 0x807fffff);
    return spread == ALL || exponent > 254 ? x : (x & 0x807fffff) | exponent << 23;
}
static inline uint32_t any_f16(void)
{
    const uint32_t bits = (uint32_t)random_bits() & 0xffff, exponent = 10 + bits % 10;
    if (spread == TWINS)
        return random_below(3) ? (last = (bits & 0x83ff) | (13 + bits % 4) << 10)
                               : (last ^ 0x8000) & 0xffff;
    if (spread == ZEROS && random_below(8))
        return bits & 0x8000;
    if (spread == ORDINARY)
        return random_below(16) ? (bits & 0x83ff) | exponent << 10 : bits & 0x8000;
    return (bits & 0x7c00) == 0x7c00 && (spread != ALL || random_below(4)) ? bits & 0x83ff : bits;
}
/* Of both formats: ordinary ones are near enough for whole numbers of 16 bits, twins of fp8 are,
 * but their products not always near enough for none to lose digits. */
static inline uint32_t any_f8(void)
{
    const uint32_t bits = (uint32_t)random_bits(), sign = bits >> 8 & 0x80;
    uint32_t byte = bits & 0xff;
    if (spread == ORDINARY)
        byte = sign | (random_below(16) ? 40 + byte % 48 : 0);
    else if (spread == MANY) /* one exponent too many */
        byte = sign | (8 + byte % 104);
    else if (spread == TWINS)
        byte = random_below(3) == 0 ? last ^ 0x80 : sign | (8 + byte % 96);
    last = spread == ZEROS && random_below(8) ? 0 : byte & 0xff;
    return last == 0x80 && spread != ALL ? 0 : last == 0x80 && random_below(8) ? 1 : last;
}
static inline float half_value(uint32_t h)
{
    const int exponent = h >> 10 & 31, mantissa = h & 0x3ff;
    const float magnitude =
        exponent ? ldexpf((float)(mantissa | 0x400), exponent - 25) : ldexpf((float)mantissa, -24);
    const float value = exponent < 31 ? magnitude : mantissa ? NAN : INFINITY;
    return h & 0x8000 ? -value : value;
}

#endif
