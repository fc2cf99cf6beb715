/*
 * Accesses to memory that other threads, processes and devices use at the same time: each is one
 * access of the host, at the place where it stands in the program. Aligned values of 2, 4, 8 and 16
 * bytes are read and written whole; a misaligned one's aligned parts of 4 bytes are. Loads stay in
 * order among themselves, so do stores, and no store overtakes a load: what x86 does by itself
 * while the compiler leaves the accesses alone. docs/decisions/0010-memory-model.md has the rest.
 */
#ifndef MEM_SINGLE_COPY_H
#define MEM_SINGLE_COPY_H

#include <emmintrin.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t quad __attribute__((vector_size(16)));

/* In registers: through memory it would be two stores and a load that must wait for both. */
static inline quad quad_of(uint64_t low, uint64_t high)
{
    return (quad)_mm_unpacklo_epi64(_mm_cvtsi64_si128((long long)low),
                                    _mm_cvtsi64_si128((long long)high));
}
static inline uint64_t quad_low(quad value)
{
    return (uint64_t)_mm_cvtsi128_si64((__m128i)value);
}
static inline uint64_t quad_high(quad value)
{
    return quad_low((quad)_mm_unpackhi_epi64((__m128i)value, (__m128i)value));
}

#define DEFINE_SINGLE(name, type)                                                                  \
    typedef type single_##name __attribute__((aligned(1), may_alias));                             \
    static inline type single_load_##name(const void *at)                                          \
    {                                                                                              \
        return *(const volatile single_##name *)at;                                                \
    }                                                                                              \
    static inline void single_store_##name(void *at, type value)                                   \
    {                                                                                              \
        *(volatile single_##name *)at = value;                                                     \
    }
DEFINE_SINGLE(16, uint16_t)
DEFINE_SINGLE(32, uint32_t)
DEFINE_SINGLE(64, uint64_t)
/* One access wherever there is AVX: Intel and AMD promise it of 16 aligned bytes. */
DEFINE_SINGLE(quad, quad)

static inline uint8_t single_load_8(const void *at)
{
    return *(const volatile uint8_t *)at;
}
static inline void single_store_8(void *at, uint8_t value)
{
    *(volatile uint8_t *)at = value;
}

/* Loads and stores that the program made before are done, for everybody, before those behind. */
static inline void single_fence(void)
{
#ifdef __SANITIZE_THREAD__ /* which does not know the other one, and GCC says so */
    _mm_mfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* A value of any size, in the largest pieces that its address and size allow. */
void single_read(void *to, const void *from, uint32_t size_bytes);
void single_write(void *to, const void *from, uint32_t size_bytes);

#endif
