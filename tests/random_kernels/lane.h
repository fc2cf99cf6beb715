// What generated kernels are written in, twice: for the GPU as the compiler's own types and
// builtins, for the host as plain arithmetic written from LLVM's and AMD's descriptions of the
// instructions.
#pragma once

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef float f32;
typedef double f64;

#if defined(__HIP__)
#define ON_GPU 1
#define FN     static __attribute__((device))
#define GPU(x) x
#else
#define ON_GPU 0
#define FN     static inline
#endif
#define NOINLINE __attribute__((noinline))
#define PACKED   __attribute__((packed))

// The members have sizes and alignments that fit nowhere.
struct PACKED odd {
    u8 a;
    u32 b;
    u16 c;
    u64 d;
};
struct trio {
    u8 a, b, c;
};
struct mixed {
    u8 a;
    f64 b;
    i16 c;
    u32 d[3];
};

// LDS instructions of 16 and 12 bytes.
struct alignas(16) quad {
    u32 a, b, c, d;
};
struct triple {
    u32 a, b, c;
};

template <class To, class From> FN To bits_as(From x)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    __builtin_memcpy(&to, &x, sizeof to);
    return to;
}

#if ON_GPU
#include "lane_gpu.h"
#else
#include "lane_host.h"
#endif

// NaNs of the host and of the GPU differ in sign and payload, so none is let out.
FN f32 quiet(f32 x)
{
    return x == x ? x : __builtin_nanf("");
}
FN f64 quiet(f64 x)
{
    return x == x ? x : __builtin_nan("");
}
FN half quiet(half x)
{
    return x == x ? x : bits_as<half>((u16)0x7e00);
}
FN half2 quiet(half2 x)
{
    return make_half2(quiet(half(x.x)), quiet(half(x.y)));
}
FN f32 f32_of(u32 x)
{
    return quiet(bits_as<f32>(x));
}
FN f64 f64_of(u64 x)
{
    return quiet(bits_as<f64>(x));
}
FN half half_of(u16 x)
{
    return quiet(bits_as<half>(x));
}
FN half2 half2_of(u32 x)
{
    return quiet(bits_as<half2>(x));
}
FN u32 bits(f32 x)
{
    return bits_as<u32>(quiet(x));
}
FN u64 bits(f64 x)
{
    return bits_as<u64>(quiet(x));
}
FN u16 bits(half x)
{
    return bits_as<u16>(quiet(x));
}
FN u32 bits(half2 x)
{
    return bits_as<u32>(quiet(x));
}
FN u32 bits(short2_t x)
{
    return bits_as<u32>(x);
}
FN u32 bits(ushort2_t x)
{
    return bits_as<u32>(x);
}

// Conversions that C++ leaves undefined outside the target's range.
FN i32 to_i32(f32 x)
{
    return x > -2147483648.0f && x < 2147483648.0f ? (i32)x : 7;
}
FN u32 to_u32(f64 x)
{
    return x > -1.0 && x < 4294967296.0 ? (u32)x : 9;
}
FN i32 to_i32(f64 x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (i32)x : 5;
}
FN u64 to_u64(f32 x)
{
    return x > -1.0f && x < 18446744073709551616.0f ? (u64)x : 3;
}
FN i64 to_i64(f64 x)
{
    return x > -9223372036854775808.0 && x < 9223372036854775808.0 ? (i64)x : 1;
}

// A value that the compiler does not know.
template <class V> FN V hidden(V x)
{
#if ON_GPU
    asm("" : "+v"(x));
#endif
    return x;
}
// What a wave's lanes say of this LLVM 15 asks by v_cmp_neq, which is true of NaNs: hidden from
// that.
FN bool is_finite(f32 x)
{
    return hidden((u32)__builtin_isfinite(x)) != 0;
}
// Division where C++ defines it. LLVM 15 divides in single precision what it believes to have 24
// bits, and believes it of unsigned numbers that are a small negative one, and of some of 32: it is
// not told.
template <class T> FN T dividend(T x)
{
    return sizeof x < 4 ? x : hidden(x);
}
template <class T> FN T divided(T a, T b)
{
    return b == 0 || b == (T)-1 ? (T)(a ^ b) : (T)(dividend(a) / b);
}
template <class T> FN T remainder_of(T a, T b)
{
    return b == 0 || b == (T)-1 ? (T)(a + b) : (T)(dividend(a) % b);
}

template <class T> FN T lower(T a, T b)
{
    return a < b ? a : b;
}
template <class T> FN T upper(T a, T b)
{
    return a > b ? a : b;
}
template <class T> FN T between(T a, T b, T c)
{
    return upper(lower(a, b), lower(upper(a, b), c));
}
FN i32 magnitude(i32 x)
{
    return x < 0 ? -x : x;
}

// Minimum and maximum may give either zero: the sum with +0 is +0 for both.
FN f32 least(f32 a, f32 b)
{
    return __builtin_fminf(a, b) + 0.0f;
}
FN f32 most(f32 a, f32 b)
{
    return __builtin_fmaxf(a, b) + 0.0f;
}
FN f64 least(f64 a, f64 b)
{
    return __builtin_fmin(a, b) + 0.0;
}
FN f64 most(f64 a, f64 b)
{
    return __builtin_fmax(a, b) + 0.0;
}

// Halves of packed values, which the compiler turns into op_sel, op_sel_hi, neg_lo and neg_hi.
template <class V> FN V swapped(V x)
{
    V r = x;
    r.x = x.y;
    r.y = x.x;
    return r;
}
template <class V> FN V low_twice(V x)
{
    V r = x;
    r.y = x.x;
    return r;
}
template <class V> FN V high_twice(V x)
{
    V r = x;
    r.x = x.y;
    return r;
}
template <class V> FN V joined(V x, V y, u32 halves)
{
    V r = x;
    r.x = halves & 1 ? x.y : x.x;
    r.y = halves & 2 ? y.y : y.x;
    return r;
}
// LLVM 15 takes a constant -0 in the upper half of a pair for +0: a constant is hidden before.
FN half2 negatable(half2 x)
{
    return __builtin_constant_p(x.x) || __builtin_constant_p(x.y) ? hidden(x) : x;
}
FN half2 neg_low(half2 x)
{
    x = negatable(x);
    return make_half2(-x.x, x.y);
}
FN half2 neg_high(half2 x)
{
    x = negatable(x);
    return make_half2(x.x, -x.y);
}

template <class V> FN V in_dot(V x)
{
#if defined(__gfx940__)
    return hidden(x);
#else
    return x;
#endif
}

// What a thread knows about its place, and the memory it may use.
struct env {
    const u32 *in;      // IN_WORDS words, the same for every thread
    const u32 *uniform; // 16 words
    u8 *scratch;        // SCRATCH_BYTES of its own, at an odd address
    u32 index, thread, group;
};
enum { IN_WORDS = 4096, SCRATCH_BYTES = 97 };

// The compiler knows that it is the same in all lanes. LLVM 15 makes one readfirstlane of those of
// two branches, of words that differ then: not where something stands behind it. At O0, which does
// not, it cannot copy the word into the assembler's register.
FN u32 uniform_word(const env &e, u32 n)
{
#if ON_GPU
    u32 word = (u32)__builtin_amdgcn_readfirstlane((int)e.uniform[n]);
#ifdef __OPTIMIZE__
    __asm__("" : "+s"(word));
#endif
    return word;
#else
    return e.uniform[n];
#endif
}

// Both halves are unknown: of a number whose high half is 0 LLVM 15 loses the ones that its
// complement has there, ~(u64)a, and takes whatever a register holds.
FN u64 uniform_pair(const env &e, u32 n)
{
    return (u64)uniform_word(e, n ^ 1) << 32 | uniform_word(e, n);
}

template <class T> FN T loaded(const env &e, u32 byte)
{
    T x;
    __builtin_memcpy(&x, (const u8 *)e.in + byte % (4 * IN_WORDS - 64), sizeof x);
    return x;
}
template <class T> FN void stored(const env &e, u32 byte, T x)
{
    __builtin_memcpy(e.scratch + byte % (SCRATCH_BYTES - 32), &x, sizeof x);
}

FN u64 spread(u64 x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15ul;
    return x ^ x >> 29;
}
