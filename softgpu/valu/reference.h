/*
 * Test oracle: what each operation does to one lane, written from its definition in plain
 * arithmetic on wide integers and with softfloat.h. It shares nothing with the kernels.
 */
#ifndef VALU_REFERENCE_H
#define VALU_REFERENCE_H

#include "valu/softfloat.h"
#include "wave/wave.h"

/*
 * Signatures. u, i: 32-bit integers; w, s: 16-bit; U, I: 64-bit; h, f, d: floats; m: one bit of a
 * lane mask; a: the destination's old value. As destination, W, S and H are 16-bit results that
 * leave the other half alone; > says that a lane mask is written too.
 */
struct reference {
    uint16_t op;
    const char *name, *dst, *src;
    bool clamps; /* the result depends on the clamp bit */
    uint64_t (*value)(const uint64_t *s, int lane, uint32_t mode, bool clamp, bool *mask);
};

static inline int type_bits(char t)
{
    switch (t) {
    case 'w':
    case 's':
    case 'h':
    case 'W':
    case 'S':
    case 'H':
        return 16;
    case 'U':
    case 'I':
    case 'd':
        return 64;
    case 'm':
        return 1;
    default:
        return 32;
    }
}
static inline const struct format *type_format(char t)
{
    return t == 'h' || t == 'H' ? &half_format
           : t == 'd'           ? &double_format
           : t == 'f'           ? &single_format
                                : NULL;
}
static inline bool type_signed(char t)
{
    return t == 'i' || t == 's' || t == 'S' || t == 'I';
}

static inline struct rounding rounding_of(const struct format *f, uint32_t mode)
{
    const bool single = f == &single_format;
    const uint32_t round = mode >> (single ? MODE_ROUND_32_SHIFT : MODE_ROUND_64_SHIFT) & 3;
    const uint32_t denorm = mode >> (single ? MODE_DENORM_32_SHIFT : MODE_DENORM_64_SHIFT) & 3;
    const bool half = f == &half_format;
    return (struct rounding){(int)round, !(denorm & 1), !(denorm & 2), half,
                             half && mode & MODE_FP16_OVFL};
}

static inline int64_t saturate(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}
static inline int64_t saturate_to(char t, int64_t x)
{
    const int bits = type_bits(t);
    if (type_signed(t))
        return saturate(x, -(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1);
    return saturate(x, 0, (INT64_C(1) << bits) - 1);
}
static inline int64_t signed_bits(uint64_t x, int bits)
{
    x &= bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    return bits < 64 && x >> (bits - 1) ? (int64_t)x - (INT64_C(1) << bits) : (int64_t)x;
}
static inline int64_t floor_divide(int64_t x, int log2)
{
    const int64_t divisor = INT64_C(1) << log2;
    return x / divisor - (x % divisor < 0);
}
static inline int ones_below(uint64_t x, int bit)
{
    int n = 0;
    for (int b = 0; b < bit; b++)
        n += x >> b & 1;
    return n;
}
static inline int ones(uint64_t x)
{
    return ones_below(x, 64);
}
static inline uint64_t bits_reversed(uint64_t x)
{
    uint64_t r = 0;
    for (int b = 0; b < 32; b++)
        r |= (x >> b & 1) << (31 - b);
    return r;
}
static inline uint64_t scan_down(uint64_t x)
{
    for (uint64_t n = 0; n < 32; n++)
        if (x >> (31 - n) & 1)
            return n;
    return 0xffffffff;
}
static inline uint64_t scan_up(uint64_t x)
{
    for (uint64_t n = 0; n < 32; n++)
        if (x >> n & 1)
            return n;
    return 0xffffffff;
}
static inline uint64_t scan_sign(uint64_t x)
{
    for (uint64_t n = 1; n < 32; n++)
        if ((x >> (31 - n) & 1) != (x >> 31 & 1))
            return n;
    return 0xffffffff;
}
static inline uint64_t select_bits(uint64_t mask, uint64_t on, uint64_t off)
{
    uint64_t r = 0;
    for (int b = 0; b < 32; b++)
        r |= ((mask >> b & 1 ? on : off) >> b & 1) << b;
    return r;
}
static inline uint64_t bytes_permuted(uint64_t high, uint64_t low, uint64_t selectors)
{
    uint8_t bytes[8], r[4];
    for (int n = 0; n < 8; n++)
        bytes[n] = (uint8_t)((n < 4 ? low : high) >> 8 * (n % 4));
    for (int n = 0; n < 4; n++) {
        const uint8_t selector = (uint8_t)(selectors >> 8 * n);
        if (selector < 8)
            r[n] = bytes[selector];
        else if (selector < 12)
            r[n] = bytes[2 * (selector - 8) + 1] & 0x80 ? 0xff : 0;
        else
            r[n] = selector == 12 ? 0 : 0xff;
    }
    return r[0] | (uint64_t)r[1] << 8 | (uint64_t)r[2] << 16 | (uint64_t)r[3] << 24;
}
/* The n-th smallest of three. */
static inline int64_t nth(int64_t a, int64_t b, int64_t c, int n)
{
    int64_t v[3] = {a, b, c};
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 2; k++)
            if (v[k] > v[k + 1]) {
                const int64_t t = v[k];
                v[k] = v[k + 1];
                v[k + 1] = t;
            }
    return v[n];
}
static inline int64_t differences(uint64_t a, uint64_t b, int bits, bool masked)
{
    const int64_t limit = INT64_C(1) << bits;
    int64_t sum = 0;
    for (int n = 0; n < 32; n += bits) {
        const int64_t x = (int64_t)(a >> n) % limit, y = (int64_t)(b >> n) % limit;
        if (!masked || y)
            sum += x < y ? y - x : x - y;
    }
    return sum;
}
static inline uint64_t quad_differences(uint64_t a, uint64_t b, uint64_t c, bool masked, bool clamp)
{
    uint64_t r = 0;
    for (int n = 0; n < 4; n++) {
        const int64_t sum =
            differences(a >> 8 * n & 0xffffffff, b, 8, masked) + (int64_t)(c >> 16 * n & 0xffff);
        r |= (uint64_t)(uint16_t)(clamp ? saturate(sum, 0, 65535) : sum) << 16 * n;
    }
    return r;
}
static inline uint64_t averages(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t r = 0;
    for (int n = 0; n < 32; n += 8)
        r += ((a >> n) % 256 + (b >> n) % 256 + (c >> n) % 2) / 2 << n;
    return r;
}
static inline int64_t dot(uint64_t a, uint64_t b, int bits, bool is_signed)
{
    int64_t sum = 0;
    for (int n = 0; n < 32; n += bits) {
        const uint64_t x = (a >> n) % (UINT64_C(1) << bits), y = (b >> n) % (UINT64_C(1) << bits);
        sum += is_signed ? signed_bits(x, bits) * signed_bits(y, bits) : (int64_t)(x * y);
    }
    return sum;
}
static inline bool outside_u32(__int128 x)
{
    return x < 0 || x > UINT32_MAX;
}
static inline bool overflows(__int128 x)
{
    return x > INT64_MAX || x < INT64_MIN;
}

static inline struct value negated(struct value v)
{
    v.negative = !v.negative;
    return v;
}
static inline struct value scaled(struct value v, int64_t exponent)
{
    v.exponent += (int)saturate(exponent, -100000, 100000);
    return v;
}
static inline int64_t exponent_of(struct value v)
{
    return v.kind == VALUE_NUMBER && v.mantissa ? top_bit(v.mantissa) + v.exponent + 1 : 0;
}
static inline uint64_t rewritten(const struct format *f, uint64_t u, struct rounding how)
{
    return round_value(f, unpack(f, u, how.flush_in), how);
}

/* -1, 0, 1, and 2 for unordered; the zeros are equal. */
static inline int compared(const struct format *f, uint64_t a, uint64_t b, bool flush)
{
    if (is_nan(f, a) || is_nan(f, b))
        return 2;
    const struct value x = unpack(f, a, flush), y = unpack(f, b, flush);
    if (x.kind == VALUE_NUMBER && y.kind == VALUE_NUMBER) {
        const struct value d = add(x, negated(y), 0);
        return !d.mantissa ? 0 : d.negative ? -1 : 1;
    }
    const int rank_x = x.kind == VALUE_INF ? (x.negative ? -1 : 1) : 0;
    const int rank_y = y.kind == VALUE_INF ? (y.negative ? -1 : 1) : 0;
    return rank_x < rank_y ? -1 : rank_x > rank_y;
}
static inline uint64_t extreme(const struct format *f, uint64_t a, uint64_t b, bool largest,
                               uint32_t mode, struct rounding how)
{
    const uint64_t quiet = UINT64_C(1) << (f->precision - 2);
    if (mode & MODE_IEEE && is_snan(f, a))
        return a | quiet;
    if (mode & MODE_IEEE && is_snan(f, b))
        return b | quiet;
    if (is_nan(f, a))
        return rewritten(f, b, how);
    if (is_nan(f, b))
        return rewritten(f, a, how);
    const int order = compared(f, a, b, false);
    const bool first = order ? (order > 0) == largest : ((a & format_sign(f)) != 0) != largest;
    how.flush_in |= how.flush_out;
    return rewritten(f, first ? a : b, how);
}
static inline uint64_t median(const struct format *f, const uint64_t *s, uint32_t mode,
                              struct rounding how)
{
    const uint64_t low = extreme(f, s[0], s[1], false, mode, how);
    if (is_nan(f, s[0]) || is_nan(f, s[1]) || is_nan(f, s[2]))
        return extreme(f, low, s[2], false, mode, how);
    const uint64_t high = extreme(f, s[0], s[1], true, mode, how);
    const uint64_t most = extreme(f, high, s[2], true, mode, how);
    const bool flush = how.flush_in || how.flush_out;
    if (!compared(f, most, s[0], flush))
        return extreme(f, s[1], s[2], true, mode, how);
    return !compared(f, most, s[1], flush) ? extreme(f, s[0], s[2], true, mode, how) : high;
}
/* v_mad, v_mac: the product is rounded too, denormals are flushed everywhere. */
static inline uint64_t unfused(const struct format *f, const uint64_t *s, struct rounding mode)
{
    const struct rounding how = {mode.mode, true, true, f == &half_format, mode.bounded};
    const uint64_t product =
        round_value(f, multiply(unpack(f, s[0], true), unpack(f, s[1], true)), how);
    return round_value(f, add(unpack(f, product, true), unpack(f, s[2], true), how.mode), how);
}
static inline uint64_t to_half_rtz(uint64_t u, uint32_t mode)
{
    struct rounding how = rounding_of(&half_format, mode);
    how.mode = 3;
    if (is_nan(&single_format, u))
        return (u >> 16 & 0x8000) | 0x7e00 | (u >> 13 & 0x3ff);
    return round_value(&half_format, unpack(&single_format, u, false), how);
}
/* Clamp of a result that is two halves. */
static inline uint64_t half_bounded(uint64_t h, uint32_t mode)
{
    const uint64_t one = 0x3c00;
    if (is_nan(&half_format, h))
        return mode & MODE_DX10_CLAMP ? 0 : h;
    return h & 0x8000 ? 0 : h > one ? one : h;
}
static inline uint64_t halves_bounded(uint64_t x, uint32_t mode)
{
    return half_bounded(x & 0xffff, mode) | half_bounded(x >> 16, mode) << 16;
}
/* v_div_fixup: quotient s[0] of numerator s[2] by denominator s[1]. */
static inline uint64_t fixed_up(const struct format *f, const uint64_t *s, uint32_t mode,
                                struct rounding how, int least)
{
    const uint64_t sign = (s[1] ^ s[2]) & format_sign(f), inf = format_inf(f);
    const uint64_t b = s[1] & ~format_sign(f), c = s[2] & ~format_sign(f);
    const bool flush = f->bits > 16 && how.flush_in;
    const bool zero_b = !b || (flush && b < UINT64_C(1) << (f->precision - 1));
    const bool zero_c = !c || (flush && c < UINT64_C(1) << (f->precision - 1));
    (void)mode;
    if (b > inf || c > inf || (zero_b && zero_c) || (b == inf && c == inf))
        return inf + 1;
    if (zero_b || c == inf)
        return inf | sign;
    if (b == inf || zero_c)
        return sign;
    if ((int)(c >> (f->precision - 1)) - (int)(b >> (f->precision - 1)) < least) {
        const bool away = (how.mode == 1 && !sign) || (how.mode == 2 && sign);
        return sign | (away && !how.flush_out);
    }
    if (f->bits > 16 && is_nan(f, s[0])) /* Newton steps that overflowed */
        return round_value(f, (struct value){VALUE_NUMBER, sign != 0, 1, 10000}, how);
    return (s[0] & ~format_sign(f)) | sign;
}

#endif
