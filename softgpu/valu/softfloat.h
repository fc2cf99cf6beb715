/*
 * Test oracle: floating point in integers, one value at a time. Values are sign, 128-bit mantissa
 * and exponent; every result is rounded once by round_value(). It shares nothing with the kernels.
 */
#ifndef VALU_SOFTFLOAT_H
#define VALU_SOFTFLOAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned __int128 u128;

struct format {
    int bits, precision, bias; /* precision counts the hidden bit */
};
static const struct format half_format = {16, 11, 15}, single_format = {32, 24, 127},
                           double_format = {64, 53, 1023};

enum value_kind { VALUE_NUMBER, VALUE_INF, VALUE_NAN };
struct value {
    enum value_kind kind;
    bool negative;
    u128 mantissa; /* value = mantissa * 2^exponent; the lowest bit may stand for lost ones */
    int exponent;
};

struct rounding {
    int mode; /* GPU order: nearest, +inf, -inf, zero */
    bool flush_in, flush_out;
    bool late;    /* flush_out looks at the result after rounding to a denormal */
    bool bounded; /* what is too large becomes the largest number */
};

static inline uint64_t format_sign(const struct format *f)
{
    return UINT64_C(1) << (f->bits - 1);
}
static inline uint64_t format_inf(const struct format *f)
{
    return (uint64_t)(2 * f->bias + 1) << (f->precision - 1);
}
static inline bool is_nan(const struct format *f, uint64_t u)
{
    return (u & (format_sign(f) - 1)) > format_inf(f);
}
static inline bool is_snan(const struct format *f, uint64_t u)
{
    return is_nan(f, u) && !(u >> (f->precision - 2) & 1);
}

static inline struct value unpack(const struct format *f, uint64_t u, bool flush)
{
    const uint64_t fraction = u & ((UINT64_C(1) << (f->precision - 1)) - 1);
    const int field = (int)((u & (format_sign(f) - 1)) >> (f->precision - 1));
    struct value v = {.kind = VALUE_NUMBER, .negative = u & format_sign(f)};
    if (field == 2 * f->bias + 1) {
        v.kind = fraction ? VALUE_NAN : VALUE_INF;
        return v;
    }
    v.mantissa = field ? fraction | UINT64_C(1) << (f->precision - 1) : flush ? 0 : fraction;
    v.exponent = (field ? field : 1) - f->bias - (f->precision - 1);
    return v;
}

static inline int top_bit(u128 x)
{
    int n = -1;
    while (x) {
        x >>= 1;
        n++;
    }
    return n;
}

/* Drops the low `shift` bits, leaving a 1 at the bottom if any of them was set. */
static inline u128 shift_right_sticky(u128 x, int shift)
{
    if (shift <= 0)
        return x;
    if (shift > 127)
        return x != 0;
    const u128 lost = x & (((u128)1 << shift) - 1);
    return x >> shift | (lost != 0);
}

static inline struct value value_nan(void)
{
    return (struct value){.kind = VALUE_NAN};
}

static inline struct value multiply(struct value a, struct value b)
{
    struct value r = {.kind = VALUE_NUMBER, .negative = a.negative != b.negative};
    const bool zero_a = a.kind == VALUE_NUMBER && !a.mantissa;
    const bool zero_b = b.kind == VALUE_NUMBER && !b.mantissa;
    if (a.kind == VALUE_NAN || b.kind == VALUE_NAN)
        return value_nan();
    if (a.kind == VALUE_INF || b.kind == VALUE_INF) {
        r.kind = zero_a || zero_b ? VALUE_NAN : VALUE_INF;
        return r;
    }
    r.mantissa = a.mantissa * b.mantissa;
    r.exponent = a.exponent + b.exponent;
    return r;
}

/* mode: the sign of an exact zero from x - x depends on it. */
static inline struct value add(struct value a, struct value b, int mode)
{
    if (a.kind == VALUE_NAN || b.kind == VALUE_NAN)
        return value_nan();
    if (a.kind == VALUE_INF && b.kind == VALUE_INF && a.negative != b.negative)
        return value_nan();
    if (a.kind == VALUE_INF || b.kind == VALUE_INF)
        return a.kind == VALUE_INF ? a : b;
    if (!a.mantissa && !b.mantissa) {
        a.negative = a.negative == b.negative ? a.negative : mode == 2;
        return a;
    }
    if (!a.mantissa || !b.mantissa)
        return a.mantissa ? a : b;
    if (top_bit(a.mantissa) + a.exponent < top_bit(b.mantissa) + b.exponent) {
        const struct value t = a;
        a = b;
        b = t;
    }
    const int up = 125 - top_bit(a.mantissa);
    a.mantissa <<= up;
    a.exponent -= up;
    if (b.exponent < a.exponent) {
        b.mantissa = shift_right_sticky(b.mantissa, a.exponent - b.exponent);
    } else {
        b.mantissa <<= b.exponent - a.exponent;
    }
    struct value r = {VALUE_NUMBER, a.negative, a.mantissa + b.mantissa, a.exponent};
    if (a.negative != b.negative) {
        r.mantissa = a.mantissa - b.mantissa;
        if (a.mantissa < b.mantissa) {
            r.mantissa = b.mantissa - a.mantissa;
            r.negative = b.negative;
        }
        if (!r.mantissa)
            r.negative = mode == 2;
    }
    return r;
}

/* Mantissa / 2^drop rounded to an integer. */
static inline u128 round_integer(u128 mantissa, int drop, bool negative, int mode)
{
    if (drop <= 0)
        return mantissa << -drop;
    if (drop > 127) {
        mantissa = mantissa != 0;
        drop = 126;
    }
    const u128 kept = mantissa >> drop, lost = mantissa - (kept << drop);
    const u128 tie = (u128)1 << (drop - 1);
    bool up = false;
    if (mode == 0)
        up = lost > tie || (lost == tie && (kept & 1));
    else if (mode == 1)
        up = lost && !negative;
    else if (mode == 2)
        up = lost && negative;
    return kept + up;
}

static inline uint64_t round_value(const struct format *f, struct value v, struct rounding how)
{
    const uint64_t sign = v.negative ? format_sign(f) : 0;
    if (v.kind == VALUE_NAN)
        return format_inf(f) | UINT64_C(1) << (f->precision - 2);
    if (v.kind == VALUE_INF)
        return format_inf(f) | sign;
    if (!v.mantissa)
        return sign;
    const int lowest = 1 - f->bias - (f->precision - 1); /* exponent of a denormal's last bit */
    int unit = top_bit(v.mantissa) + v.exponent - (f->precision - 1);
    if (!how.late && how.flush_out) { /* tiny after rounding to full precision */
        const u128 full = round_integer(v.mantissa, unit - v.exponent, v.negative, how.mode);
        if (top_bit(full) + unit < 1 - f->bias)
            return sign;
    }
    unit = unit < lowest ? lowest : unit;
    const u128 m = round_integer(v.mantissa, unit - v.exponent, v.negative, how.mode);
    const int hidden = f->precision - 1;
    /* A carry out of the mantissa moves the exponent field by itself. */
    const u128 magnitude = ((u128)(unsigned)(unit - lowest) << hidden) + m;
    if (how.late && how.flush_out && magnitude >> hidden == 0)
        return sign;
    if (magnitude >= format_inf(f)) {
        const bool to_max = how.bounded || how.mode == 3 || (how.mode == 1 && v.negative) ||
                            (how.mode == 2 && !v.negative);
        return (format_inf(f) - to_max) | sign;
    }
    return (uint64_t)magnitude | sign;
}

/* Floor, ceiling, truncation or nearest-even of a value: `mode` as above. */
static inline struct value to_integral(struct value v, int mode)
{
    if (v.kind != VALUE_NUMBER || v.exponent >= 0)
        return v;
    v.mantissa = round_integer(v.mantissa, -v.exponent, v.negative, mode);
    v.exponent = 0;
    return v;
}

/* Truncates and saturates to an integer range; NaN gives 0. */
static inline int64_t to_clamped(struct value v, int64_t low, int64_t high, int mode)
{
    if (v.kind == VALUE_NAN)
        return 0;
    if (v.kind == VALUE_INF || top_bit(v.mantissa) + v.exponent > 40)
        return v.negative ? low : high;
    v = to_integral(v, mode);
    const u128 m = v.exponent >= 0 ? v.mantissa << v.exponent : v.mantissa;
    const int64_t i = v.negative ? -(int64_t)m : (int64_t)m;
    return i < low ? low : i > high ? high : i;
}

static inline struct value from_integer(int64_t i)
{
    return (struct value){VALUE_NUMBER, i < 0, i < 0 ? (u128) - (__int128)i : (u128)i, 0};
}

#endif
