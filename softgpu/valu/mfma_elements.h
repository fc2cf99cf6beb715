/*
 * Elements of gfx942's matrices whose sums are fused (mfma_fused.h): as f32, and their exponents as
 * bytes, of four steps at once.
 */
#ifndef VALU_MFMA_ELEMENTS_H
#define VALU_MFMA_ELEMENTS_H

#include "valu/half.h"
#include "valu/mfma_fused.h"

enum fused_type { FUSED_F16, FUSED_BF16, FUSED_XF32, FUSED_F8 };

/* How a matrix' elements look: `wide` are 8-bit floats with five bits of exponent. */
struct format {
    enum fused_type type;
    bool wide;
};

KERNEL_INLINE int type_steps(const enum fused_type type)
{
    return type == FUSED_F8 ? 8 : type == FUSED_XF32 ? 2 : 4;
}
/* Exponents as f32 has them, of an element whose exponent field is 0, and of one of the largest. */
KERNEL_INLINE int format_zero(const struct format f)
{
    if (f.type == FUSED_F8)
        return f.wide ? BIAS - 16 : BIAS - 8;
    return f.type == FUSED_F16 ? BIAS - 15 : 0;
}
/* Whether all exponents are near enough for bytes; and the largest field. */
KERNEL_INLINE bool format_short(const struct format f)
{
    return f.type == FUSED_F16 || f.type == FUSED_F8;
}
KERNEL_INLINE int format_most(const struct format f)
{
    return f.type == FUSED_F8 ? f.wide ? 31 : 15 : f.type == FUSED_F16 ? 31 : 255;
}

/* Cut to ten bits of mantissa; a NaN stays one. */
KERNEL_INLINE vec_u32 xf32_of_f32(vec_u32 u)
{
    const vec_u32 nan = (vec_u32)((vec_i32)(u & ~SIGN32) > (i32)INF32);
    return (u | (nan & 0x400000)) & ~0x1fffu;
}

/* Step n of what a lane has, from its dword, if it is a number: sign, exponent and digits go where
 * f32 has them, and the difference of the biases is multiplied on, which is right for denormals,
 * too. */
KERNEL_INLINE vec_u32 element_of(vec_u32 dword, int n, const struct format f)
{
    if (f.type == FUSED_XF32)
        return xf32_of_f32(dword);
    if (f.type == FUSED_BF16)
        return (n % 2 ? dword : dword << 16) & 0xffff0000;
    if (f.type == FUSED_F16) {
        const vec_i32 moved = (vec_i32)(n % 2 ? dword : dword << 16) >> 3;
        return (vec_u32)((vec_f32)(moved & (i32)0x8fffe000) * 0x1p112f);
    }
    const vec_i32 moved = (vec_i32)(dword << (24 - 8 * (n % 4))) >> (f.wide ? 3 : 4);
    const u32 kept = f.wide ? 0x8fe00000 : 0x87f00000;
    return (vec_u32)((vec_f32)(moved & (i32)kept) * (f.wide ? 0x1p111f : 0x1p119f));
}

/* Exponent fields of four steps, one in a byte; of halves and 8-bit floats that of a zero is 0 and
 * that of a denormal 1. `first` is the dword of the first step. */
KERNEL_INLINE vec_u32 fields_of(const u32 *first, const struct format f)
{
    const vec_u32 x = vector_load(first), y = vector_load(first + WAVE_LANES);
    if (f.type == FUSED_XF32)
        return (x >> 23 & 0xff) | (y >> 15 & 0xff00);
    if (f.type == FUSED_BF16)
        return (x >> 7 & 0x00ff00ff) | (y << 1 & 0xff00ff00);
    if (f.type == FUSED_F16) {
        const vec_u32 a = x & 0x7fff7fff, b = y & 0x7fff7fff;
        const vec_u32 some = vector_min_i16(a, vector_splat(0x00010001)) |
                             vector_min_i16(b, vector_splat(0x00010001)) << 8;
        return vector_max_u8((a >> 10 & 0x001f001f) | (b >> 2 & 0x1f001f00), some);
    }
    const vec_u32 a = x & 0x7f7f7f7f, some = vector_min_u8(a, vector_splat(0x01010101));
    return vector_max_u8(f.wide ? a >> 2 & 0x1f1f1f1f : a >> 3 & 0x0f0f0f0f, some);
}
/* Fields as bytes beyond `most`, which none is larger than. */
KERNEL_INLINE vec_u32 bytes_of(vec_u32 fields, int most, const struct format f)
{
    const vec_u8 x = (vec_u8)fields, far = (vec_u8)vector_splat(-BYTE_LEAST * 0x01010101u);
    const vec_u8 above = (vec_u8)vector_splat((u32)(most + BYTE_ABOVE) * 0x01010101u);
    const vec_u8 zero = (vec_u8)(x == 0);
    const vec_u8 below = format_short(f)
                             ? (above - x) | (zero & far)
                             : above - (vec_u8)vector_max_u8(fields, vector_splat(0x01010101));
    return (vec_u32)(0 - (vec_u8)vector_min_u8((vec_u32)below, (vec_u32)far));
}

/* What is known of a matrix: the largest field, the least one that is not 0, whether all are
 * numbers. */
struct matrix {
    int most, least;
    bool finite;
};

/* Fields of all steps, four in a dword. */
KERNEL_INLINE struct matrix fields_load(struct elements *e, const u32 *rows, const struct format f)
{
    vec_u32 most = {0}, nan = {0}, least = {0}; /* the negative of it, as all bytes wrap around */
    for (int n = 0; n < type_steps(f.type); n += 4)
        UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES)
        {
            const u32 *first = rows + n / 4 * WAVE_LANES + l;
            const vec_u32 fields = fields_of(first, f);
            most = vector_max_u8(most, fields);
            if (f.type == FUSED_F8) {
                nan |= (vec_u32)((vec_u8)vector_load(first) == 0x80);
                least = vector_max_u8(least, (vec_u32)(0 - (vec_u8)fields));
            }
            vector_store(e->bytes[n / 4] + l, fields);
        }
    const int largest = (int)vector_most_u8(most);
    const bool numbers = f.type == FUSED_F8 ? !vector_any(nan) : largest < format_most(f);
    const int smallest = f.type == FUSED_F8 ? 256 - (int)vector_most_u8(least) : 0;
    return (struct matrix){largest, smallest, numbers};
}
KERNEL_INLINE void elements_load(struct elements *e, const u32 *rows, const struct format f)
{
    for (int n = 0; n < type_steps(f.type); n++) {
        const int bits = f.type == FUSED_XF32 ? 32 : f.type == FUSED_F8 ? 8 : 16;
        UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) vector_store(
            e->row[n] + l, element_of(vector_load(rows + n * bits / 32 * WAVE_LANES + l), n, f));
    }
}

/* Digits behind the point of an 8-bit float; whether all of a matrix are whole numbers of 16 bits,
 * of units of the least one's last digit. */
KERNEL_INLINE int format_digits(const struct format f)
{
    return f.wide ? 2 : 3;
}
KERNEL_INLINE bool matrix_is_whole(struct matrix m, const struct format f)
{
    const int most = 15 - 1 - format_digits(f); /* fields above the least one */
    return f.type == FUSED_F8 && m.finite && m.most - m.least <= most;
}
/* Those numbers, two steps in a dword. What they were made of is kept. */
KERNEL_INLINE void pairs_load(struct elements *e, const u32 *rows, const struct format f, int least)
{
    const int power = BIAS - format_zero(f) + format_digits(f) - least;
    const vec_f32 scale = (vec_f32)vector_splat((u32)(BIAS + power) << FRACTION);
    for (int n = 0; n < type_steps(f.type); n += 2)
        UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES)
        {
            const vec_u32 x = vector_load(rows + n / 4 * WAVE_LANES + l);
            const vec_f32 even = (vec_f32)element_of(x, n, f),
                          odd = (vec_f32)element_of(x, n + 1, f);
            const vec_u32 low = (vec_u32)vector_truncate(even * scale) & 0xffff;
            vector_store(e->pairs[n / 2] + l, low | (vec_u32)vector_truncate(odd * scale) << 16);
            if (n % 4 == 0)
                vector_store(e->raw[n / 4] + l, x);
        }
}

/* Where there are infinities or NaNs: rows, the largest field of a number, and bytes. */
static __attribute__((noinline)) int rows_special(struct elements *e, const u32 *rows,
                                                  const struct format f)
{
    int most = 0;
    for (int n = 0; n < type_steps(f.type); n++) {
        const int bits = f.type == FUSED_XF32 ? 32 : f.type == FUSED_F8 ? 8 : 16;
        const u32 *row = rows + n * bits / 32 * WAVE_LANES;
        for (int l = 0; l < WAVE_LANES; l++) {
            const u32 x = row[l] >> n * bits % 32;
            u32 *to = &e->row[n][l];
            if (f.type == FUSED_F8)
                *to = (x & 255) == 128 ? 0x7fc00000 : *to;
            if (f.type == FUSED_F16 && (x & 0x7c00) == 0x7c00)
                *to |= INF32;
            const int field = (int)(*to >> FRACTION & 255);
            most = field < 255 && field > most ? field : most;
        }
    }
    return most;
}
static __attribute__((noinline)) void bytes_special(struct elements *e, const int steps,
                                                    const bool quads)
{
    for (int n = 0; n < steps; n++)
        for (int l = 0; l < WAVE_LANES; l++) {
            const int quad = l / 4 * 16 + n % 4 * 4 + l % 4, own = 4 * l + byte_of_step(n, steps);
            uint8_t *bytes = (uint8_t *)e->bytes[n / 4];
            if ((e->row[n][l] & INF32) == INF32)
                bytes[quads ? quad : own] = BYTE_SPECIAL;
        }
}

/* Bytes; of A a step's of four lanes in a dword. */
KERNEL_INLINE void bytes_load(struct elements *e, int most, const struct format f, const bool quads)
{
    const int steps = type_steps(f.type);
    for (int n = 0; n < steps; n += 4)
        UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES)
        {
            const vec_u32 x = bytes_of(vector_load(e->bytes[n / 4] + l), most, f);
            vector_store(e->bytes[n / 4] + l, quads ? vector_bytes_turned(x, steps == 4) : x);
        }
}

#endif
