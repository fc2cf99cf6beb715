/* What an atomic operation leaves in memory. Always inlined, so that of an operation which is a
 * constant nothing but itself is left. */
#ifndef WAVE_ATOMIC_VALUE_H
#define WAVE_ATOMIC_VALUE_H

#include <math.h>

#include "image/float_bits.h"
#include "wave/access.h"
#include "wave/host_levels.h"

/* An operation, for a switch that chooses a loop of its own. */
#define ATOMIC_KEY(kind, type, bytes) ((unsigned)(kind) << 8 | (unsigned)(type) << 4 | (bytes))

/* IEEE minNum and maxNum with -0 below +0; a NaN loses against a number. */
ALWAYS_INLINE bool float_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

ALWAYS_INLINE double float_select(enum atomic_kind kind, double old, double data)
{
    if (isnan(old))
        return data;
    if (isnan(data))
        return old;
    bool take = kind == ATOMIC_MIN ? float_less(data, old) : float_less(old, data);
    return take ? data : old;
}

ALWAYS_INLINE uint64_t compute_float(const struct atomic_op *op, uint64_t old, uint64_t data,
                                     uint64_t compare)
{
    bool wide = op->bytes == 8;
    double a = wide ? f64_of(old) : f32_of((uint32_t)old),
           b = wide ? f64_of(data) : f32_of((uint32_t)data);
    switch (op->kind) {
    case ATOMIC_ADD:
        return wide ? f64_bits(a + b) : f32_bits(f32_of((uint32_t)old) + f32_of((uint32_t)data));
    case ATOMIC_MIN:
    case ATOMIC_MAX: {
        double r = float_select(op->kind, a, b);
        return wide ? f64_bits(r) : f32_bits((float)r);
    }
    case ATOMIC_CMPSWAP: /* floating-point equality, so -0 matches +0 */
        return (wide ? a == f64_of(compare) : a == (double)f32_of((uint32_t)compare)) ? data : old;
    default:
        return data;
    }
}

ALWAYS_INLINE uint16_t f32_to_bf16(float f)
{
    uint32_t bits = f32_bits(f);
    if (isnan(f))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* atomics.c: sums of two pairs of halves. */
uint32_t atomic_sum_halves(uint32_t a, uint32_t b);

ALWAYS_INLINE uint64_t sum_bf16(uint64_t old, uint64_t data)
{
    uint64_t result = 0;
    for (int half = 0; half < 2; half++) {
        const uint16_t a = (uint16_t)(old >> 16 * half), b = (uint16_t)(data >> 16 * half);
        const uint16_t sum = f32_to_bf16(f32_of((uint32_t)a << 16) + f32_of((uint32_t)b << 16));
        result |= (uint64_t)sum << 16 * half;
    }
    return result;
}

ALWAYS_INLINE int64_t as_signed(const struct atomic_op *op, uint64_t value)
{
    return op->bytes == 8 ? (int64_t)value : (int32_t)value;
}

ALWAYS_INLINE uint64_t compute_minmax(const struct atomic_op *op, uint64_t old, uint64_t data)
{
    bool less = op->type == ATOMIC_INT ? as_signed(op, data) < as_signed(op, old) : data < old;
    bool more = op->type == ATOMIC_INT ? as_signed(op, data) > as_signed(op, old) : data > old;
    return (op->kind == ATOMIC_MIN ? less : more) ? data : old;
}

ALWAYS_INLINE uint64_t atomic_value(const struct atomic_op *op, uint64_t old, uint64_t data,
                                    uint64_t compare)
{
    if (op->type == ATOMIC_FLOAT)
        return compute_float(op, old, data, compare);
    if (op->type == ATOMIC_PK_F16)
        return atomic_sum_halves((uint32_t)old, (uint32_t)data);
    if (op->type == ATOMIC_PK_BF16)
        return sum_bf16(old, data);
    switch (op->kind) {
    case ATOMIC_SWAP:
        return data;
    case ATOMIC_CMPSWAP:
        return old == compare ? data : old;
    case ATOMIC_ADD:
        return old + data;
    case ATOMIC_SUB:
        return old - data;
    case ATOMIC_RSUB:
        return data - old;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        return compute_minmax(op, old, data);
    case ATOMIC_AND:
        return old & data;
    case ATOMIC_OR:
        return old | data;
    case ATOMIC_XOR:
        return old ^ data;
    case ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    case ATOMIC_MSKOR: /* data: bits to clear, compare: bits to set */
        return (old & ~data) | compare;
    case ATOMIC_WRAP:
        return old >= data ? old - data : old + compare;
    default:
        return old;
    }
}

#endif
