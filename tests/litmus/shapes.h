// What the parties of a litmus test do, on the device one lane each, on the host all lanes in turn.
// docs/decisions/0010-memory-model.md says what must come out.
#pragma once
#include "common.h"

#ifndef __HIP_DEVICE_COMPILE__
#include <chrono>
#include <emmintrin.h>
#endif

enum { LANES = 64, ROUNDS = 512, PARTIES_MAX = 4 };

// Free-running shapes: a writer counts up, a reader looks. Then those of rounds.
enum Shape { TORN_2, TORN_4, TORN_8, TORN_16, LL, LL128, MESSAGE, STORE_BUFFER, LOAD_BUFFER, IRIW };
// Where a lane's element lies: one behind the other, the same one element further on, in another
// order, and with a quarter of the lanes switched off.
enum Pattern { CONTIGUOUS, SHIFTED, SCATTERED, PARTIAL };

struct Test {
    Shape shape;
    Pattern pattern;
    unsigned wanted; // new values in each lane
    unsigned limit_ms;
    unsigned host_parity; // of the parties that the host plays where it takes part

    __host__ __device__ unsigned rounds() const
    {
        return wanted < ROUNDS / 4 ? 4 * wanted : ROUNDS;
    }
};

struct Counts {
    unsigned long long fresh, wrong, other_first, own_first;
};

// What all parties share. Each line of 128 bytes has one writer, except for `slot`.
struct Shared {
    alignas(128) unsigned char slot[LANES * 16 + 128];
    alignas(128) unsigned flag[LANES];
    struct alignas(128) {
        volatile unsigned value;
    } arrived[PARTIES_MAX], stop;
    alignas(128) volatile unsigned x[ROUNDS][LANES], y[ROUNDS][LANES];
    alignas(128) unsigned char seen[PARTIES_MAX][ROUNDS][LANES]; // bit 0: first load, 1: second
    alignas(128) Counts counts;
};

#define BOTH __host__ __device__ inline

BOTH unsigned long long now_ms()
{
#ifdef __HIP_DEVICE_COMPILE__
    return __builtin_amdgcn_s_memrealtime() / 100000; // 100 MHz
#else
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
#endif
}

BOTH void fence()
{
#ifdef __HIP_DEVICE_COMPILE__
    __threadfence_system();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

struct alignas(16) Quad {
    unsigned word[4];
};

BOTH void quad_store(void *at, unsigned value)
{
#ifdef __HIP_DEVICE_COMPILE__
    typedef unsigned vector __attribute__((ext_vector_type(4)));
    vector v = value;
    asm volatile("global_store_dwordx4 %0, %1, off" : : "v"(at), "v"(v) : "memory");
#else
    asm volatile("movdqa %1, %0" : "=m"(*(Quad *)at) : "x"(_mm_set1_epi32((int)value)));
#endif
}

BOTH Quad quad_load(const void *at)
{
    Quad q;
#ifdef __HIP_DEVICE_COMPILE__
    typedef unsigned vector __attribute__((ext_vector_type(4)));
    vector v;
    asm volatile("global_load_dwordx4 %0, %1, off\ns_waitcnt vmcnt(0)"
                 : "=&v"(v)
                 : "v"(at)
                 : "memory");
    q = Quad{{v.x, v.y, v.z, v.w}};
#else
    __m128i v;
    asm volatile("movdqa %1, %0" : "=x"(v) : "m"(*(const Quad *)at));
    _mm_store_si128((__m128i *)&q, v);
#endif
    return q;
}

BOTH bool lane_takes_part(Pattern pattern, unsigned lane)
{
    return pattern != PARTIAL || lane % 4 != 3;
}

BOTH unsigned char *element(Shared *s, const Test &t, unsigned lane)
{
    unsigned bytes = t.shape == TORN_2 ? 2 : t.shape == TORN_4 ? 4 : t.shape == TORN_8 ? 8 : 16;
    unsigned index = t.pattern == SCATTERED ? lane * 37 % LANES
                     : t.pattern == SHIFTED ? lane + 1
                                            : lane;
    return s->slot + index * bytes;
}

BOTH void put(Shared *s, const Test &t, unsigned lane, unsigned k)
{
    unsigned char *at = element(s, t, lane);
    unsigned long long twice = k | (unsigned long long)k << 32;
    switch (t.shape) {
    case TORN_2:
        *(volatile unsigned short *)at = (unsigned short)((k & 0xff) * 0x101);
        break;
    case TORN_4:
        *(volatile unsigned *)at = (k & 0xffff) * 0x10001;
        break;
    case TORN_8:
        *(volatile unsigned long long *)at = twice;
        break;
    case LL:
        ((volatile unsigned long long *)at)[0] = twice;
        ((volatile unsigned long long *)at)[1] = twice;
        break;
    case MESSAGE:
        *(volatile unsigned *)at = k;
        fence();
        *(volatile unsigned *)&s->flag[lane] = k;
        break;
    default:
        quad_store(at, k);
        break;
    }
}

// The value seen, and whether it is whole. What another lane must have seen comes after.
struct Seen {
    unsigned value, newest; // newest: the last dword, LL128's flag
    bool whole;
};

BOTH Seen get(Shared *s, const Test &t, unsigned lane)
{
    const unsigned char *at = element(s, t, lane);
    switch (t.shape) {
    case TORN_2: {
        unsigned v = *(const volatile unsigned short *)at;
        return {v & 0xff, v & 0xff, (v >> 8) == (v & 0xff)};
    }
    case TORN_4: {
        unsigned v = *(const volatile unsigned *)at;
        return {v & 0xffff, v & 0xffff, v >> 16 == (v & 0xffff)};
    }
    case TORN_8: {
        unsigned long long v = *(const volatile unsigned long long *)at;
        return {(unsigned)v, (unsigned)v, v >> 32 == (unsigned)v};
    }
    case LL: { // two values with a flag each
        unsigned long long v = ((const volatile unsigned long long *)at)[0];
        unsigned long long w = ((const volatile unsigned long long *)at)[1];
        return {(unsigned)v, (unsigned)w, v >> 32 == (unsigned)v && w >> 32 == (unsigned)w};
    }
    case MESSAGE: {
        unsigned flag = *(volatile unsigned *)&s->flag[lane];
        fence();
        unsigned data = *(const volatile unsigned *)at;
        return {flag, flag, (int)(data - flag) >= 0};
    }
    default: {
        Quad q = quad_load(at);
        bool whole = q.word[0] == q.word[1] && q.word[0] == q.word[2] && q.word[0] == q.word[3];
        return {q.word[0], q.word[3], whole};
    }
    }
}

// Between rounds of two or four parties: each lane has its own place.
BOTH unsigned round_play(Shared *s, Shape shape, unsigned party, unsigned round, unsigned lane)
{
    volatile unsigned *x = &s->x[round][lane], *y = &s->y[round][lane];
    volatile unsigned *mine = party & 1 ? y : x, *other = party & 1 ? x : y;
    unsigned first = 0, second = 0;
    if (shape == STORE_BUFFER) {
        *mine = 1;
        fence();
        first = *other;
    } else if (shape == LOAD_BUFFER) {
        first = *other;
        *mine = 1;
    } else if (party < 2) {
        *mine = 1;
    } else {
        first = *mine;
        fence();
        second = *other;
    }
    return first | second << 1;
}
