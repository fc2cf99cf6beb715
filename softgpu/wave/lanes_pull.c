#include "wave/lanes_pull.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "wave/host_levels.h"
#include "wave/lanes.h"

enum { PLACE_SHIFT = 2 }; /* a place is a lane's number as that of a byte */

#ifdef __x86_64__
/* A permutation has two vectors to choose from, which is half a row: both halves are asked, and the
 * number's bit 5 says which one is meant. */
__attribute__((target("avx512f,prefer-vector-width=512"))) static void
pull_avx512(uint32_t *dst, const uint32_t *data, const uint32_t *places, uint32_t offset,
            uint64_t exec)
{
    enum { LANES = 16, VECTORS = WAVE_LANES / LANES };
    const __m512i upper_half = _mm512_set1_epi32(WAVE_LANES / 2);
    __m512i row[VECTORS];
    for (unsigned n = 0; n < VECTORS; n++)
        row[n] = _mm512_maskz_loadu_epi32((__mmask16)(exec >> n * LANES), data + n * LANES);
    for (unsigned n = 0; n < VECTORS; n++) {
        const __m512i place = _mm512_add_epi32(_mm512_loadu_si512(places + n * LANES),
                                               _mm512_set1_epi32((int)offset));
        const __m512i from = _mm512_srli_epi32(place, PLACE_SHIFT);
        const __m512i pulled =
            _mm512_mask_blend_epi32(_mm512_test_epi32_mask(from, upper_half),
                                    _mm512_permutex2var_epi32(row[0], from, row[1]),
                                    _mm512_permutex2var_epi32(row[2], from, row[3]));
        _mm512_mask_storeu_epi32(dst + n * LANES, (__mmask16)(exec >> n * LANES), pulled);
    }
}
#endif

static void pull_each(uint32_t *dst, const uint32_t *data, const uint32_t *places, uint32_t offset,
                      uint64_t exec)
{
    uint32_t row[WAVE_LANES], pulled[WAVE_LANES];
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        row[lane] = exec >> lane & 1 ? data[lane] : 0;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        pulled[lane] = row[(places[lane] + offset) >> PLACE_SHIFT & (WAVE_LANES - 1)];
    if (exec == ~UINT64_C(0)) {
        memcpy(dst, pulled, sizeof pulled);
        return;
    }
    for (uint64_t left = exec; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        dst[lane] = pulled[lane];
    }
}

void lanes_pull(uint32_t *dst, const uint32_t *data, const uint32_t *places, uint32_t offset,
                uint64_t exec)
{
#ifdef __x86_64__
    if (host_level == LEVEL_AVX512) {
        pull_avx512(dst, data, places, offset, exec);
        return;
    }
#endif
    pull_each(dst, data, places, offset, exec);
}
