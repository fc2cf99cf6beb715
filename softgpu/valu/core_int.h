/* Integer operations on one lane that need more than an expression. */
#ifndef VALU_CORE_INT_H
#define VALU_CORE_INT_H

#include "valu/kernel.h"

KERNEL_INLINE i32 sext24(u32 x)
{
    return (i32)(x << 8) >> 8;
}
KERNEL_INLINE u32 zext24(u32 x)
{
    return x & 0xffffff;
}
KERNEL_INLINE u32 min_u32(u32 a, u32 b)
{
    return a < b ? a : b;
}
KERNEL_INLINE u32 max_u32(u32 a, u32 b)
{
    return a > b ? a : b;
}
KERNEL_INLINE i32 min_i32(i32 a, i32 b)
{
    return a < b ? a : b;
}
KERNEL_INLINE i32 max_i32(i32 a, i32 b)
{
    return a > b ? a : b;
}
KERNEL_INLINE u32 med_u32(u32 a, u32 b, u32 c)
{
    return max_u32(min_u32(a, b), min_u32(max_u32(a, b), c));
}
KERNEL_INLINE i32 med_i32(i32 a, i32 b, i32 c)
{
    return max_i32(min_i32(a, b), min_i32(max_i32(a, b), c));
}
KERNEL_INLINE u32 clamp_u32(u64 x)
{
    return x > UINT32_MAX ? UINT32_MAX : (u32)x;
}
KERNEL_INLINE i32 clamp_i32(i64 x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (i32)x;
}
KERNEL_INLINE u32 clamp_u16(i64 x)
{
    return x > UINT16_MAX ? UINT16_MAX : x < 0 ? 0 : (u32)x;
}
KERNEL_INLINE i32 clamp_i16(i64 x)
{
    return x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : (i32)x;
}
KERNEL_INLINE u32 sat_sub_u32(u32 a, u32 b)
{
    return a > b ? a - b : 0;
}

KERNEL_INLINE u32 reverse_bits(u32 x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
KERNEL_INLINE u32 popcount(u32 x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101 >> 24;
}
/* Position counted from the top, ~0 when there is no bit. */
KERNEL_INLINE u32 find_high(u32 x)
{
    return x ? (u32)__builtin_clz(x) : UINT32_MAX;
}
KERNEL_INLINE u32 find_low(u32 x)
{
    return x ? popcount((x & (0 - x)) - 1) : UINT32_MAX;
}
KERNEL_INLINE u32 find_sign_change(i32 x)
{
    return find_high((u32)(x ^ (x >> 31)));
}

KERNEL_INLINE u32 field_u32(u32 x, u32 offset, u32 width)
{
    offset &= 31;
    width &= 31;
    return x >> offset & ((1u << width) - 1);
}
KERNEL_INLINE i32 field_i32(i32 x, u32 offset, u32 width)
{
    offset &= 31;
    width &= 31;
    /* A field that reaches past bit 31 is extended from the shifted-in sign, which >> has done. */
    const u32 raw = (u32)(x >> offset) & ((1u << width) - 1);
    const u32 sign = width ? 1u << (width - 1) : 0;
    return (i32)((raw ^ sign) - sign);
}

KERNEL_INLINE u32 byte_of(u32 x, int n)
{
    return x >> (8 * n) & 0xff;
}
KERNEL_INLINE u32 absdiff(u32 a, u32 b)
{
    return a > b ? a - b : b - a;
}
KERNEL_INLINE u64 sad_u8(u32 a, u32 b)
{
    return absdiff(byte_of(a, 0), byte_of(b, 0)) + absdiff(byte_of(a, 1), byte_of(b, 1)) +
           absdiff(byte_of(a, 2), byte_of(b, 2)) + absdiff(byte_of(a, 3), byte_of(b, 3));
}
KERNEL_INLINE u64 sad_u16(u32 a, u32 b)
{
    return (u64)absdiff(a & 0xffff, b & 0xffff) + absdiff(a >> 16, b >> 16);
}
/* Bytes whose reference (b) is zero do not count. */
KERNEL_INLINE u64 msad_u8(u32 a, u32 b)
{
    u32 sum = 0;
    for (int n = 0; n < 4; n++)
        sum += byte_of(b, n) ? absdiff(byte_of(a, n), byte_of(b, n)) : 0;
    return sum;
}
KERNEL_INLINE u32 lerp_u8(u32 a, u32 b, u32 c)
{
    u32 r = 0;
    for (int n = 0; n < 4; n++)
        r |= (byte_of(a, n) + byte_of(b, n) + (byte_of(c, n) & 1)) >> 1 << (8 * n);
    return r;
}

/* v_perm_b32: one result byte; a holds bytes 7..4, b holds bytes 3..0. */
KERNEL_INLINE u32 permute_byte(u32 a, u32 b, u32 select)
{
    const u64 bytes = (u64)a << 32 | b;
    const u32 picked = (u32)(bytes >> (8 * (select & 7))) & 0xff;
    const u32 sign_bit = (u32)(bytes >> (16 * (select & 3) + 15)) & 1;
    const u32 special = select >= 13 ? 0xff : select == 12 ? 0 : (0 - sign_bit) & 0xff;
    return select < 8 ? picked : special;
}
KERNEL_INLINE u32 permute_bytes(u32 a, u32 b, u32 selects)
{
    u32 r = 0;
    for (int n = 0; n < 4; n++)
        r |= permute_byte(a, b, byte_of(selects, n)) << (8 * n);
    return r;
}

KERNEL_INLINE i32 sext_n(u32 x, int bits)
{
    return (i32)(x << (32 - bits)) >> (32 - bits);
}
KERNEL_INLINE i64 dot_signed(u32 a, u32 b, int bits)
{
    i64 sum = 0;
    for (int n = 0; n < 32; n += bits)
        sum += (i64)sext_n(a >> n, bits) * sext_n(b >> n, bits);
    return sum;
}
KERNEL_INLINE u64 dot_unsigned(u32 a, u32 b, int bits)
{
    const u32 low = (u32)((UINT64_C(1) << bits) - 1);
    u64 sum = 0;
    for (int n = 0; n < 32; n += bits)
        sum += (u64)(a >> n & low) * (b >> n & low);
    return sum;
}

KERNEL_INLINE u32 saturate_bytes(u32 a)
{
    const i32 low = sext_n(a, 16), high = (i32)a >> 16;
    const u32 l8 = (u32)(low < 0 ? 0 : low > 255 ? 255 : low);
    const u32 h8 = (u32)(high < 0 ? 0 : high > 255 ? 255 : high);
    return l8 | h8 << 8;
}

#endif
