// The host's side: what each operation does, in integers and double precision, from its
// description.
#pragma once

// One half. Every operation is exact in double, or rounded to odd there, and rounded once to half.
struct half {
    u16 u;
    half() = default;
    half(int x);
    half(double x);
    half(const half &) = default;
    half &operator=(const half &) = default;
    operator double() const;
};

FN double half_value(u16 h)
{
    const int field = h >> 10 & 31, fraction = h & 1023;
    double x = field == 31 ? (fraction ? __builtin_nan("") : __builtin_inf())
               : field     ? __builtin_ldexp(1024 + fraction, field - 25)
                           : __builtin_ldexp(fraction, -24);
    return h & 0x8000 ? -x : x;
}
FN u16 half_bits(double x)
{
    const u16 sign = bits_as<u64>(x) >> 63 ? 0x8000 : 0;
    const double m = __builtin_fabs(x);
    if (x != x)
        return 0x7e00;
    if (m >= 65520)
        return sign | 0x7c00;
    int exponent = m >= 0x1p-14 ? __builtin_ilogb(m) : -14;
    const double unit = __builtin_ldexp(1, exponent - 10);
    const double count = m / unit; // exact: a power of two
    double whole = __builtin_floor(count);
    const double rest = count - whole;
    if (rest > 0.5 || (rest == 0.5 && __builtin_fmod(whole, 2) == 1))
        whole += 1;
    const u32 n = (u32)whole; // 2048 carries into the exponent by itself
    return sign | (m >= 0x1p-14 ? (u32)((exponent + 14) << 10) + n : n);
}
inline half::half(int x) : u(half_bits(x)) {}
inline half::half(double x) : u(half_bits(x)) {}
inline half::operator double() const
{
    return half_value(u);
}
FN half operator+(half a, half b)
{
    return half((double)a + (double)b);
}
FN half operator-(half a, half b)
{
    return half((double)a - (double)b);
}
FN half operator*(half a, half b)
{
    return half((double)a * (double)b);
}
FN half operator-(half a)
{
    a.u ^= 0x8000;
    return a;
}
FN bool operator<(half a, half b)
{
    return (double)a < (double)b;
}
FN bool operator>(half a, half b)
{
    return (double)a > (double)b;
}
FN bool operator==(half a, half b)
{
    return (double)a == (double)b;
}
FN bool operator!=(half a, half b)
{
    return (double)a != (double)b;
}

template <class T> struct two {
    T x, y;
};
typedef two<i16> short2_t;
typedef two<u16> ushort2_t;
typedef two<half> half2;
#define TWO(OP)                                                                                    \
    template <class T> FN two<T> operator OP(two<T> a, two<T> b)                                   \
    {                                                                                              \
        return two<T>{(T)(a.x OP b.x), (T)(a.y OP b.y)};                                           \
    }
TWO(+)
TWO(-)
TWO(*)
TWO(&)
TWO(|)
TWO(^)
TWO(<<)
TWO(>>)
template <class T> FN two<T> operator-(two<T> a)
{
    return two<T>{(T)-a.x, (T)-a.y};
}
FN half2 make_half2(half x, half y)
{
    return half2{x, y};
}
FN short2_t make_short2(i16 x, i16 y)
{
    return short2_t{x, y};
}
FN ushort2_t make_ushort2(u16 x, u16 y)
{
    return ushort2_t{x, y};
}

FN half half_from(f32 x)
{
    return half((double)x);
}
FN half half_from(i16 x)
{
    return half((int)x);
}
FN f32 f32_from(half x)
{
    return (f32)(double)x;
}
// The product of halves is exact in double; the sum is rounded to odd, so that rounding again is
// right.
FN half fused(half a, half b, half c)
{
    const double p = (double)a * (double)b, q = c, s = p + q;
    const double t = s - p, error = (p - (s - t)) + (q - t);
    u64 u = bits_as<u64>(s);
    if (error == error && error != 0 && !(u & 1) && s - s == 0)
        u += (error > 0) == (s > 0) ? 1 : -1ul;
    return half(bits_as<double>(u));
}
FN f32 fused(f32 a, f32 b, f32 c)
{
    return __builtin_fmaf(a, b, c);
}
FN f64 fused(f64 a, f64 b, f64 c)
{
    return __builtin_fma(a, b, c);
}
FN half2 fused(half2 a, half2 b, half2 c)
{
    return half2{fused(a.x, b.x, c.x), fused(a.y, b.y, c.y)};
}
FN half least(half a, half b)
{
    return half(__builtin_fmin((double)a, (double)b)) + half(0);
}
FN half most(half a, half b)
{
    return half(__builtin_fmax((double)a, (double)b)) + half(0);
}
FN half2 least(half2 a, half2 b)
{
    return half2{least(a.x, b.x), least(a.y, b.y)};
}
FN half2 most(half2 a, half2 b)
{
    return half2{most(a.x, b.x), most(a.y, b.y)};
}
template <class T> FN two<T> least2(two<T> a, two<T> b)
{
    return two<T>{a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y};
}
template <class T> FN two<T> most2(two<T> a, two<T> b)
{
    return two<T>{a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y};
}
FN i64 bounded(i64 x, i64 low, i64 high)
{
    return x < low ? low : x > high ? high : x;
}
FN i64 bounded(i64 x, short2_t)
{
    return bounded(x, -32768, 32767);
}
FN i64 bounded(i64 x, ushort2_t)
{
    return bounded(x, 0, 65535);
}
template <class T> FN two<T> add_saturated(two<T> a, two<T> b)
{
    return two<T>{(T)bounded((i64)a.x + b.x, a), (T)bounded((i64)a.y + b.y, a)};
}
template <class T> FN two<T> sub_saturated(two<T> a, two<T> b)
{
    return two<T>{(T)bounded((i64)a.x - b.x, a), (T)bounded((i64)a.y - b.y, a)};
}

// D = a.lo * b.lo + a.hi * b.hi + c; clamp: to the range of the result's type.
FN i64 dot2_exact(short2_t a, short2_t b, i32 c)
{
    return (i64)a.x * b.x + (i64)a.y * b.y + c;
}
FN i64 dot2_exact(ushort2_t a, ushort2_t b, u32 c)
{
    return (i64)a.x * b.x + (i64)a.y * b.y + c;
}
FN i32 dot2(short2_t a, short2_t b, i32 c)
{
    return (i32)dot2_exact(a, b, c);
}
FN i32 dot2_clamped(short2_t a, short2_t b, i32 c)
{
    return (i32)bounded(dot2_exact(a, b, c), -2147483648l, 2147483647l);
}
FN u32 dot2(ushort2_t a, ushort2_t b, u32 c)
{
    return (u32)dot2_exact(a, b, c);
}
FN u32 dot2_clamped(ushort2_t a, ushort2_t b, u32 c)
{
    return (u32)bounded(dot2_exact(a, b, c), 0, 4294967295l);
}
// The generator gives it small numbers only, whose sums are exact in any order.
FN f32 dot2(half2 a, half2 b, f32 c)
{
    return (f32)((double)a.x * (double)b.x + (double)a.y * (double)b.y + c);
}
/* As it is: ROCm's device library asks for the clamp in each __ockl_fdot2(). */
FN f32 dot2_clamped(half2 a, half2 b, f32 c)
{
    return dot2(a, b, c);
}
FN i64 dot_exact(u32 a, u32 b, int width, bool is_signed)
{
    i64 sum = 0;
    for (int at = 0; at < 32; at += width) {
        i64 x = a >> at & ((1u << width) - 1), y = b >> at & ((1u << width) - 1);
        if (is_signed) {
            x -= x >> (width - 1) << width;
            y -= y >> (width - 1) << width;
        }
        sum += x * y;
    }
    return sum;
}
#define DOT(NAME, T, WIDTH, SIGNED, LOW, HIGH)                                                     \
    FN T NAME(u32 a, u32 b, T c)                                                                   \
    {                                                                                              \
        return (T)(dot_exact(a, b, WIDTH, SIGNED) + c);                                            \
    }                                                                                              \
    FN T NAME##_clamped(u32 a, u32 b, T c)                                                         \
    {                                                                                              \
        return (T)bounded(dot_exact(a, b, WIDTH, SIGNED) + c, LOW, HIGH);                          \
    }
DOT(dot4_signed, i32, 8, true, -2147483648l, 2147483647l)
DOT(dot8_signed, i32, 4, true, -2147483648l, 2147483647l)
DOT(dot4_unsigned, u32, 8, false, 0, 4294967295l)
DOT(dot8_unsigned, u32, 4, false, 0, 4294967295l)

// Bytes 0 to 3 of the pair are b, 4 to 7 are a; 8 to 11 repeat a sign, 12 is 0, the rest 0xff.
FN u32 permuted_bytes(u32 a, u32 b, u32 selectors)
{
    const u64 pair = (u64)a << 32 | b;
    u32 r = 0;
    for (int n = 0; n < 4; n++) {
        const u32 s = selectors >> 8 * n & 255;
        const u32 byte = s < 8    ? (u32)(pair >> 8 * s) & 255
                         : s < 12 ? (pair >> (16 * (s - 8) + 15) & 1) * 255
                         : s > 12 ? 255
                                  : 0;
        r |= byte << 8 * n;
    }
    return r;
}
FN u32 field_u32(u32 x, u32 at, u32 width)
{
    return x >> (at & 31) & (u32)((1ul << (width & 31)) - 1);
}
FN i32 field_i32(u32 x, u32 at, u32 width)
{
    i64 field = (i64)(i32)x >> (at & 31);
    const u32 w = width & 31;
    if (!w)
        return 0;
    return (i32)((i64)((u64)field << (64 - w)) >> (64 - w));
}
FN u32 shifted_pair(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)a << 32 | b) >> (n & 31));
}
FN u32 shifted_bytes(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)a << 32 | b) >> 8 * (n & 3));
}
FN u32 averaged(u32 a, u32 b, u32 c)
{
    u32 r = 0;
    for (int at = 0; at < 32; at += 8)
        r |= ((a >> at & 255) + (b >> at & 255) + (c >> at & 1)) >> 1 << at;
    return r;
}
FN u32 differences(u32 a, u32 b, int width, bool masked)
{
    const u32 ones = (1u << width) - 1;
    u32 sum = 0;
    for (int at = 0; at < 32; at += width) {
        const u32 x = a >> at & ones, y = b >> at & ones;
        if (!masked || y)
            sum += x > y ? x - y : y - x;
    }
    return sum;
}
#define differences8(a, b, c)  (differences(a, b, 8, false) + (c))
#define differences8h(a, b, c) ((differences(a, b, 8, false) << 16) + (c))
#define differences16(a, b, c) (differences(a, b, 16, false) + (c))
#define differences8m(a, b, c) (differences(a, b, 8, true) + (c))
FN u64 sliding(u64 a, u32 b, u64 c, bool masked)
{
    u64 r = 0;
    for (int n = 0; n < 4; n++)
        r |= (u64)(u16)(differences((u32)(a >> 8 * n), b, 8, masked) + (c >> 16 * n)) << 16 * n;
    return r;
}
#define window(a, b, c)        sliding(a, b, c, false)
#define window_masked(a, b, c) sliding(a, b, c, true)
FN u32 half_rtz(f32 x)
{
    half h((double)x); // nearest, then back towards zero
    if (__builtin_fabs((double)h) > __builtin_fabs((double)x))
        h.u--;
    return x == x ? h.u : 0x7e00;
}
FN u32 halves_rtz(f32 a, f32 b)
{
    return half_rtz(a) | half_rtz(b) << 16;
}
FN u32 packed_i16(i32 a, i32 b)
{
    return (u16)bounded(a, -32768, 32767) | (u32)(u16)bounded(b, -32768, 32767) << 16;
}
FN u32 packed_u16(u32 a, u32 b)
{
    return (u32)bounded(a, 0, 65535) | (u32)bounded(b, 0, 65535) << 16;
}

// One wave: what its active lanes bring along. Inactive lanes give 0 to whoever reads them, but DPP
// leaves such readers their old value unless bound_ctrl says 0.
struct wave {
    u64 active;
    u32 x[64], index[64], old[64];
};
FN bool lane_active(const wave &w, int lane)
{
    return lane >= 0 && lane < 64 && (w.active >> lane & 1);
}
FN u32 lane_value(const wave &w, int lane)
{
    return lane_active(w, lane) ? w.x[lane] : 0;
}
FN u32 lanes_gather(const wave &w, int lane)
{
    return lane_value(w, w.index[lane] & 63);
}
// Lanes have different targets; a lane that nobody writes to gets 0.
FN u32 lanes_scatter(const wave &w, int lane)
{
    u32 r = 0;
    for (int from = 0; from < 64; from++)
        if (lane_active(w, from) && (int)(w.index[from] & 63) == lane)
            r = w.x[from];
    return r;
}
FN u32 lanes_swizzle(const wave &w, int lane, int how)
{
    if (how & 0x8000)
        return lane_value(w, (lane & ~3) | (how >> 2 * (lane & 3) & 3));
    const int in = lane & 31;
    const int from = ((in & (how & 31)) | (how >> 5 & 31)) ^ (how >> 10 & 31);
    return lane_value(w, (lane & 32) | from);
}
FN u32 lanes_first(const wave &w, int)
{
    return w.x[__builtin_ctzl(w.active)];
}
FN u32 lanes_read(const wave &w, int, int from)
{
    return w.x[from];
}
FN u64 lanes_where(const wave &w, int)
{
    u64 r = 0;
    for (int lane = 0; lane < 64; lane++)
        r |= (u64)(lane_active(w, lane) && w.x[lane]) << lane;
    return r;
}
FN u32 lanes_below(const wave &w, int lane)
{
    return (u32)__builtin_popcountl(lanes_where(w, lane) & ((1ul << lane) - 1)) + w.index[lane];
}
// The lane that DPP reads for `lane`, or -1.
FN int dpp_source(int lane, int control)
{
    const int row = lane & ~15, in = lane & 15, n = control & 15;
    if (control < 0x100)
        return (lane & ~3) | (control >> 2 * (lane & 3) & 3);
    switch (control >> 4) {
    case 0x10: // row_shl
        return in + n < 16 ? lane + n : -1;
    case 0x11: // row_shr
        return in - n >= 0 ? lane - n : -1;
    case 0x12: // row_ror
        return row | ((in - n) & 15);
    }
    switch (control) {
    case 0x130: // wave_shl
        return lane < 63 ? lane + 1 : -1;
    case 0x134: // wave_rol
        return (lane + 1) & 63;
    case 0x138: // wave_shr
        return lane - 1;
    case 0x13c: // wave_ror
        return (lane - 1) & 63;
    case 0x140: // row_mirror
        return row | (15 - in);
    case 0x141: // row_half_mirror
        return (lane & ~7) | (7 - (lane & 7));
    case 0x142: // row_bcast:15, to the next row
        return row - 1;
    default: // row_bcast:31, to the rows 2 and 3
        return lane < 32 ? -1 : 31;
    }
}
FN u32 lanes_dpp(const wave &w, int lane, int control, int rows, int banks, bool bound)
{
    const int from = dpp_source(lane, control);
    if (!(rows >> lane / 16 & 1) || !(banks >> (lane & 15) / 4 & 1))
        return w.old[lane];
    return lane_active(w, from) ? w.x[from] : bound ? 0 : w.old[lane];
}

template <class T> FN T atomic_add(T *p, T x)
{
    const T old = *p;
    *p = old + x;
    return old;
}
template <class T> FN T atomic_and(T *p, T x)
{
    const T old = *p;
    *p = old & x;
    return old;
}
template <class T> FN T atomic_or(T *p, T x)
{
    const T old = *p;
    *p = old | x;
    return old;
}
template <class T> FN T atomic_xor(T *p, T x)
{
    const T old = *p;
    *p = old ^ x;
    return old;
}
template <class T> FN T atomic_min(T *p, T x)
{
    const T old = *p;
    *p = x < old ? x : old;
    return old;
}
template <class T> FN T atomic_max(T *p, T x)
{
    const T old = *p;
    *p = x > old ? x : old;
    return old;
}
template <class T> FN T atomic_swap(T *p, T x)
{
    const T old = *p;
    *p = x;
    return old;
}
template <class T> FN T atomic_replace(T *p, T expected, T x)
{
    const T old = *p;
    if (old == expected)
        *p = x;
    return old;
}
