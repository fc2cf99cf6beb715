#include "base/clock_pairs.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static bool lies_in(const struct clock_segment *segment, uint64_t ticks)
{
    return ticks >= segment->first_ticks && ticks <= segment->last_ticks;
}

static uint64_t ns_of(const struct clock_segment *segment, uint64_t ticks)
{
    int64_t elapsed = (int64_t)(ticks - segment->base_ticks);
    return segment->base_ns + (uint64_t)(int64_t)((double)elapsed * segment->ns_per_tick);
}

static size_t portable_run(const struct clock_segment *segment, unsigned char *at,
                           size_t stride_bytes, size_t count)
{
    const struct clock_segment here = *segment; /* which no store below changes */
    size_t done = 0;
    for (; done < count; done++, at += stride_bytes) {
        uint64_t *pair = (uint64_t *)at;
        if (!lies_in(&here, pair[0]) || !lies_in(&here, pair[1]))
            break;
        pair[0] = ns_of(&here, pair[0]);
        pair[1] = ns_of(&here, pair[1]);
    }
    return done;
}

#if defined(__x86_64__)

/* ---- AVX-512: it converts whole numbers itself, both of a pair at once */

__attribute__((target("avx512dq,avx512vl"))) static inline __m256i
two_pairs_load(const unsigned char *at, size_t stride_bytes)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)at)),
                                   _mm_loadu_si128((const __m128i *)(at + stride_bytes)), 1);
}

__attribute__((target("avx512dq,avx512vl"))) static inline void
two_pairs_store(unsigned char *at, size_t stride_bytes, __m256i pairs)
{
    _mm_storeu_si128((__m128i *)at, _mm256_castsi256_si128(pairs));
    _mm_storeu_si128((__m128i *)(at + stride_bytes), _mm256_extracti128_si256(pairs, 1));
}

__attribute__((target("avx512dq,avx512vl"))) static size_t
avx512_run(const struct clock_segment *segment, unsigned char *at, size_t stride_bytes,
           size_t count)
{
    const __m256i first = _mm256_set1_epi64x((long long)segment->first_ticks);
    const __m256i length =
        _mm256_set1_epi64x((long long)(segment->last_ticks - segment->first_ticks));
    const __m256i base = _mm256_set1_epi64x((long long)segment->base_ticks);
    const __m256i base_ns = _mm256_set1_epi64x((long long)segment->base_ns);
    const __m256d rate = _mm256_set1_pd(segment->ns_per_tick);
    size_t done = 0;
    for (; done + 2 <= count; done += 2, at += 2 * stride_bytes) {
        __m256i ticks = two_pairs_load(at, stride_bytes);
        if (_mm256_cmpgt_epu64_mask(_mm256_sub_epi64(ticks, first), length))
            break;
        __m256d ns = _mm256_mul_pd(_mm256_cvtepi64_pd(_mm256_sub_epi64(ticks, base)), rate);
        two_pairs_store(at, stride_bytes, _mm256_add_epi64(_mm256_cvttpd_epi64(ns), base_ns));
    }
    return done + portable_run(segment, at, stride_bytes, count - done < 2 ? count - done : 1);
}

/* ---- AVX2: a whole number below 2^51 becomes a fraction, and back, by standing behind a one that
 * fills the fraction's exponent */

static const int64_t magic_bits = 0x4338000000000000; /* of 2^52 + 2^51 */
static const double magic = 0x1.8p52;
static const uint64_t elapsed_max = UINT64_C(1) << 50;

/* The part of the segment that such numbers reach; they are nanoseconds, too, as ticks are not
 * slower than those. */
static bool range_shorten(const struct clock_segment *segment, uint64_t *first, uint64_t *last)
{
    uint64_t base = segment->base_ticks;
    uint64_t low = base > elapsed_max ? base - elapsed_max : 0;
    uint64_t high = base < UINT64_MAX - elapsed_max ? base + elapsed_max : UINT64_MAX;
    *first = segment->first_ticks > low ? segment->first_ticks : low;
    *last = segment->last_ticks < high ? segment->last_ticks : high;
    return *first <= *last && segment->ns_per_tick >= 0 && segment->ns_per_tick <= 1;
}

/* What a segment is for four numbers at once. */
struct avx2_segment {
    __m256i first, length, base, base_ns;
    __m256d rate, one;
};

__attribute__((target("avx2"))) static inline __m256i avx2_load(const unsigned char *at,
                                                                size_t stride_bytes)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)at)),
                                   _mm_loadu_si128((const __m128i *)(at + stride_bytes)), 1);
}

__attribute__((target("avx2"))) static inline __m256i
avx2_beyond(const struct avx2_segment *segment, __m256i ticks)
{
    return _mm256_cmpgt_epi64(_mm256_sub_epi64(ticks, segment->first), segment->length);
}

__attribute__((target("avx2"))) static inline void
avx2_put(const struct avx2_segment *segment, __m256i ticks, unsigned char *at, size_t stride_bytes)
{
    __m256d ns = _mm256_castsi256_pd(_mm256_add_epi64(ticks, segment->base));
    ns = _mm256_mul_pd(_mm256_sub_pd(ns, segment->one), segment->rate);
    ns = _mm256_round_pd(ns, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    __m256i whole = _mm256_castpd_si256(_mm256_add_pd(ns, segment->one));
    whole = _mm256_add_epi64(whole, segment->base_ns);
    _mm_storeu_si128((__m128i *)at, _mm256_castsi256_si128(whole));
    _mm_storeu_si128((__m128i *)(at + stride_bytes), _mm256_extracti128_si256(whole, 1));
}

__attribute__((target("avx2"))) static size_t
avx2_run(const struct clock_segment *segment, unsigned char *at, size_t stride_bytes, size_t count)
{
    enum { AT_ONCE = 4 };
    uint64_t first_ticks, last_ticks;
    if (!range_shorten(segment, &first_ticks, &last_ticks))
        return portable_run(segment, at, stride_bytes, count);
    /* There are signed comparisons only: the sign is turned over. */
    const uint64_t sign = UINT64_C(1) << 63;
    const struct avx2_segment four = {
        .first = _mm256_set1_epi64x((long long)(first_ticks - sign)),
        .length = _mm256_set1_epi64x((long long)((last_ticks - first_ticks) ^ sign)),
        /* What makes a whole number a fraction is added together with what is taken away, and
         * back. */
        .base = _mm256_set1_epi64x(magic_bits - (long long)segment->base_ticks),
        .base_ns = _mm256_set1_epi64x((long long)segment->base_ns - magic_bits),
        .rate = _mm256_set1_pd(segment->ns_per_tick),
        .one = _mm256_set1_pd(magic)};
    size_t done = 0;
    for (; done + AT_ONCE <= count; done += AT_ONCE, at += AT_ONCE * stride_bytes) {
        unsigned char *behind = at + 2 * stride_bytes;
        __m256i ticks = avx2_load(at, stride_bytes), others = avx2_load(behind, stride_bytes);
        __m256i beyond = _mm256_or_si256(avx2_beyond(&four, ticks), avx2_beyond(&four, others));
        if (!_mm256_testz_si256(beyond, beyond))
            break;
        avx2_put(&four, ticks, at, stride_bytes);
        avx2_put(&four, others, behind, stride_bytes);
    }
    size_t left = count - done < AT_ONCE ? count - done : AT_ONCE;
    return done + portable_run(segment, at, stride_bytes, left);
}

clock_pairs_run *clock_pairs_way(enum clock_pairs_way way)
{
    __builtin_cpu_init();
    if (way == CLOCK_PAIRS_AVX512 && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return avx512_run;
    if (way == CLOCK_PAIRS_AVX2 && __builtin_cpu_supports("avx2"))
        return avx2_run;
    return way == CLOCK_PAIRS_PORTABLE ? portable_run : NULL;
}

#else

clock_pairs_run *clock_pairs_way(enum clock_pairs_way way)
{
    return way == CLOCK_PAIRS_PORTABLE ? portable_run : NULL;
}

#endif

/* Writer: clock_pairs_init, once, before any reader starts. */
static clock_pairs_run *best_run = portable_run;

void clock_pairs_init(void)
{
    for (int way = 0; way < CLOCK_PAIRS_WAYS; way++)
        if (clock_pairs_way((enum clock_pairs_way)way))
            best_run = clock_pairs_way((enum clock_pairs_way)way);
}

static bool segment_for(struct clock_segment *segment, uint64_t ticks, bool may_wait)
{
    if (lies_in(segment, ticks) && segment->last_ticks != 0)
        return true;
    if (!may_wait)
        return clock_segment_try(ticks, segment);
    *segment = clock_segment_find(ticks);
    return true;
}

/* A pair that does not lie in the segment: both are converted, or none. */
static bool pair_convert(struct clock_segment *segment, uint64_t pair[2], bool may_wait)
{
    if (!segment_for(segment, pair[0], may_wait))
        return false;
    uint64_t begin_ns = ns_of(segment, pair[0]);
    if (!segment_for(segment, pair[1], may_wait))
        return false;
    pair[1] = ns_of(segment, pair[1]);
    pair[0] = begin_ns;
    return true;
}

size_t clock_pairs_to_ns(struct clock_segment *segment, void *pairs, size_t stride_bytes,
                         size_t count, bool may_wait)
{
    unsigned char *at = pairs;
    size_t done = 0;
    for (;;) {
        done += best_run(segment, at + done * stride_bytes, stride_bytes, count - done);
        if (done == count ||
            !pair_convert(segment, (uint64_t *)(at + done * stride_bytes), may_wait))
            return done;
        done++;
    }
}
