/*
 * Data-parallel primitives: which lane each lane reads under a DPP control, for all 512 controls.
 * The maps are made once by dpp_init().
 */
#ifndef VALU_DPP_H
#define VALU_DPP_H

#include "valu/simd.h"

enum { DPP_CONTROLS = 512 };

enum dpp_shape {
    DPP_SHAPE_ANY,
    DPP_SHAPE_ROWS,     /* every row of 16 lanes is permuted alike */
    DPP_SHAPE_BROADCAST /* the lanes of a row that read any read the same one */
};
struct dpp_map {
    u64 valid;     /* lanes whose source lies inside the row or wave */
    bool defined;  /* the control exists on gfx9 */
    uint8_t shape; /* enum dpp_shape */
    uint8_t from[WAVE_LANES];
    u32 row_from[16] __attribute__((aligned(64))); /* DPP_SHAPE_ROWS: in the first row */
};
extern struct dpp_map dpp_maps[DPP_CONTROLS];

void dpp_init(void);

/* d[l] = s[from[l]] in the lanes that are valid; d is another row. */
KERNEL_INLINE void dpp_gather(u32 *d, const u32 *s, const struct dpp_map *map)
{
    if (__builtin_expect(map->shape == DPP_SHAPE_BROADCAST, 0)) {
        const u32 x[4] = {s[map->from[0]], s[map->from[16]], s[map->from[32]], s[map->from[48]]};
        for (int row = 0; row < 4; row++)
            for (int l = 0; l < 16; l++)
                d[16 * row + l] = x[row];
        return;
    }
#if defined(__AVX512F__)
    if (map->shape == DPP_SHAPE_ROWS) {
        const __m512i from = _mm512_load_si512(map->row_from);
        for (int l = 0; l < WAVE_LANES; l += 16)
            _mm512_store_si512(d + l, _mm512_permutexvar_epi32(from, _mm512_load_si512(s + l)));
        return;
    }
#elif defined(__AVX2__)
    if (map->shape == DPP_SHAPE_ROWS) {
        for (int half = 0; half < 16; half += 8) {
            const __m256i from = _mm256_load_si256((const __m256i *)(map->row_from + half));
            const __m256 upper = (__m256)_mm256_slli_epi32(from, 28); /* lane 8 and up: a sign */
            for (int row = 0; row < WAVE_LANES; row += 16) {
                const __m256 low = _mm256_load_ps((const float *)s + row);
                const __m256 high = _mm256_load_ps((const float *)s + row + 8);
                const __m256 r = _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, from),
                                                  _mm256_permutevar8x32_ps(high, from), upper);
                _mm256_store_ps((float *)d + row + half, r);
            }
        }
        return;
    }
#endif
    row_gather(d, s, map->from);
}

/* Lanes that read a lane inside bounds and enabled in EXEC. */
KERNEL_INLINE u64 dpp_readable(uint16_t ctrl, u64 exec)
{
    const struct dpp_map *map = &dpp_maps[ctrl % DPP_CONTROLS];
    if (exec == ~UINT64_C(0))
        return map->valid;
    lane_row enabled, moved;
    row_of_mask(enabled, exec);
    dpp_gather(moved, enabled, map);
    return map->valid & mask_of_row(moved);
}

/* Unreadable lanes give zero, which bound_ctrl asks for; without it they are not written. */
KERNEL_INLINE void dpp_permute(u32 *d, const u32 *s, const struct inst *i, u64 exec)
{
    const struct dpp_map *map = &dpp_maps[i->dpp.ctrl % DPP_CONTROLS];
    dpp_gather(d, s, map);
    if (!(i->flags & IF_DPP_BOUND_CTRL))
        return;
    const u64 readable = dpp_readable(i->dpp.ctrl, exec);
    if (readable != ~UINT64_C(0))
        row_keep(d, d, readable);
}

/* Lanes the instruction writes. */
KERNEL_INLINE u64 dpp_written(const struct inst *i, u64 exec)
{
    /* A row has 16 lanes, a bank four of each row: their bits, four times or sixteen times over. */
    static const u64 nibbles[16] = {0x0000, 0x000f, 0x00f0, 0x00ff, 0x0f00, 0x0f0f, 0x0ff0, 0x0fff,
                                    0xf000, 0xf00f, 0xf0f0, 0xf0ff, 0xff00, 0xff0f, 0xfff0, 0xffff};
    const u64 rows = nibbles[i->dpp.row_mask & 15], banks = nibbles[i->dpp.bank_mask & 15];
    u64 lanes = ~UINT64_C(0);
    if (__builtin_expect((i->dpp.row_mask & i->dpp.bank_mask & 15) != 15, 0)) {
        lanes = 0;
        for (int row = 0; row < 4; row++)
            lanes |= rows >> (4 * row) & 1 ? banks << (16 * row) : 0;
    }
    if (!(i->flags & IF_DPP_BOUND_CTRL))
        lanes &= dpp_readable(i->dpp.ctrl, exec);
    return lanes & exec;
}

#endif
