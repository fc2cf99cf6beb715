/*
 * Four dwords are a part of 128 bits, of which the host's instructions turn four by four within
 * each part of four registers. Three dwords take three vectors, whose dwords of one register are at
 * as many different positions as there are: they are blended together, and permuted once.
 */
#include "translate/lds_long.h"

#include "translate/lds_code.h"

enum { VECTOR = 64, VECTOR_AVX2 = 32, PART = 16 };
enum { LOW_HALVES = 0x44, HIGH_HALVES = 0xee };           /* of both sources */
enum { LOW_HALVES_AVX2 = 0x20, HIGH_HALVES_AVX2 = 0x31 }; /* likewise */
#define ALIGNED __attribute__((aligned(64)))

static const struct x86_option plain;

static void op(struct x86 *x, enum x86_form form, unsigned dst, unsigned a, unsigned b)
{
    x86_vector(x, form, dst, a, x86_reg(b), plain);
}
static void load(struct x86 *x, unsigned dst, int32_t at)
{
    x86_vector(x, X86_VMOVDQU32_LOAD, dst, 0, lds_memory(at), plain);
}
static void store(struct x86 *x, unsigned source, int32_t at)
{
    x86_vector(x, X86_VMOVDQU32_STORE, source, 0, lds_memory(at), plain);
}
static void copy(struct x86 *x, unsigned dst, unsigned source)
{
    op(x, X86_VMOVDQA32_LOAD, dst, 0, source);
}
static void table_at(struct x86 *x, const uint32_t *table)
{
    x86_gpr_imm64(x, RSI, (uint64_t)(uintptr_t)table);
}
static void table_load(struct x86 *x, unsigned dst, int32_t at)
{
    x86_vector(x, X86_VMOVDQU32_LOAD, dst, 0, x86_memory(RSI, at, false), plain);
}
/* dst: the dwords of it and of another one; the register of indices keeps them. */
static void permute_more(struct x86 *x, unsigned dst, unsigned indices, unsigned b)
{
    op(x, X86_VPERMT2D, dst, indices, b);
}
static void halves(struct x86 *x, unsigned dst, unsigned a, unsigned b, unsigned which)
{
    x86_vector(x, X86_VSHUFI64X2, dst, a, x86_reg(b), x86_imm(which));
}
static void halves_avx2(struct x86 *x, unsigned dst, unsigned a, unsigned b, unsigned which)
{
    x86_vector(x, X86_VPERM2I128, dst, a, x86_reg(b), x86_imm(which));
}

/* ---- four dwords ---- */

static const uint32_t quad_indices[4][16] ALIGNED = {
    /* of eight lanes: dwords 0 and 1, 2 and 3 */
    {0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29},
    {2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31},
    /* back: four lanes each */
    {0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27},
    {4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31},
};
enum { BACK = 2 * VECTOR };

static void quads_load_avx512(struct x86 *x, const uint8_t *hosts, unsigned temporary)
{
    const unsigned scratch = x->level->scratch;
    table_at(x, quad_indices[0]);
    table_load(x, hosts[0], 0);
    table_load(x, hosts[1], VECTOR);
    load(x, temporary, 0);
    load(x, hosts[3], VECTOR);
    copy(x, scratch, temporary);
    permute_more(x, scratch, hosts[0], hosts[3]);
    permute_more(x, temporary, hosts[1], hosts[3]);
    load(x, hosts[3], 2 * VECTOR);
    load(x, hosts[2], 3 * VECTOR);
    op(x, X86_VPERMI2D, hosts[0], hosts[3], hosts[2]);
    permute_more(x, hosts[3], hosts[1], hosts[2]);
    halves(x, hosts[1], scratch, hosts[0], HIGH_HALVES);
    halves(x, hosts[0], scratch, hosts[0], LOW_HALVES);
    halves(x, hosts[2], temporary, hosts[3], LOW_HALVES);
    halves(x, hosts[3], temporary, hosts[3], HIGH_HALVES);
}

static void quads_store_avx512(struct x86 *x, const uint8_t *hosts, const uint8_t *temporaries)
{
    const unsigned first = x->level->scratch, second = temporaries[0], joined = temporaries[1];
    table_at(x, quad_indices[0]);
    for (int32_t n = 0; n < 2; n++)
        table_load(x, temporaries[2 + n], BACK + n * VECTOR);
    for (int32_t high = 0; high < 2; high++) {
        const unsigned which = high ? HIGH_HALVES : LOW_HALVES;
        halves(x, first, hosts[0], hosts[1], which);
        halves(x, second, hosts[2], hosts[3], which);
        copy(x, joined, first);
        permute_more(x, joined, temporaries[2], second);
        store(x, joined, 2 * high * VECTOR);
        permute_more(x, first, temporaries[3], second);
        store(x, first, (2 * high + 1) * VECTOR);
    }
}

void long_turn_begin(const uint8_t *hosts, unsigned temporary, unsigned from[4])
{
    from[0] = hosts[3];
    from[1] = hosts[1];
    from[2] = temporary;
    from[3] = hosts[0];
}
void long_turn(struct x86 *x, const uint8_t *hosts, unsigned temporary)
{
    op(x, X86_VPUNPCKLDQ, hosts[2], hosts[3], hosts[1]);
    op(x, X86_VPUNPCKHDQ, hosts[3], hosts[3], hosts[1]);
    op(x, X86_VPUNPCKLDQ, hosts[1], temporary, hosts[0]);
    op(x, X86_VPUNPCKHDQ, temporary, temporary, hosts[0]);
    op(x, X86_VPUNPCKLQDQ, hosts[0], hosts[2], hosts[1]);
    op(x, X86_VPUNPCKHQDQ, hosts[1], hosts[2], hosts[1]);
    op(x, X86_VPUNPCKLQDQ, hosts[2], hosts[3], temporary);
    op(x, X86_VPUNPCKHQDQ, hosts[3], hosts[3], temporary);
}

static void pair_turn(struct x86 *x, const uint8_t *hosts, unsigned temporary)
{
    op(x, X86_VPUNPCKLDQ, hosts[3], hosts[3], hosts[1]);
    op(x, X86_VPUNPCKLDQ, temporary, temporary, hosts[0]);
    op(x, X86_VPUNPCKLQDQ, hosts[0], hosts[3], temporary);
    op(x, X86_VPUNPCKHQDQ, hosts[1], hosts[3], temporary);
}

void long_turn_back(struct x86 *x, const uint8_t *hosts, const uint8_t *temporaries,
                    unsigned quads[4])
{
    op(x, X86_VPUNPCKLDQ, temporaries[0], hosts[0], hosts[1]);
    op(x, X86_VPUNPCKHDQ, temporaries[1], hosts[0], hosts[1]);
    op(x, X86_VPUNPCKLDQ, temporaries[2], hosts[2], hosts[3]);
    op(x, X86_VPUNPCKHDQ, temporaries[3], hosts[2], hosts[3]);
    quads[0] = x->level->scratch;
    quads[1] = temporaries[2];
    quads[2] = temporaries[0];
    quads[3] = temporaries[3];
    op(x, X86_VPUNPCKLQDQ, quads[0], temporaries[0], temporaries[2]);
    op(x, X86_VPUNPCKHQDQ, quads[1], temporaries[0], temporaries[2]);
    op(x, X86_VPUNPCKLQDQ, quads[2], temporaries[1], temporaries[3]);
    op(x, X86_VPUNPCKHQDQ, quads[3], temporaries[1], temporaries[3]);
}

static void quads_load_avx2(struct x86 *x, const uint8_t *hosts, unsigned temporary)
{
    unsigned from[4];
    long_turn_begin(hosts, temporary, from);
    for (int32_t n = 0; n < 4; n++) {
        load(x, from[n], n * PART);
        x86_vector(x, X86_VINSERTI128, from[n], from[n], lds_memory(2 * VECTOR_AVX2 + n * PART),
                   x86_imm(1));
    }
    long_turn(x, hosts, temporary);
}

static void quads_store_avx2(struct x86 *x, const uint8_t *hosts, const uint8_t *temporaries)
{
    const unsigned joined = temporaries[1];
    unsigned quads[4];
    long_turn_back(x, hosts, temporaries, quads);
    for (int32_t n = 0; n < 2; n++) {
        halves_avx2(x, joined, quads[2 * n], quads[2 * n + 1], LOW_HALVES_AVX2);
        store(x, joined, n * VECTOR_AVX2);
        halves_avx2(x, joined, quads[2 * n], quads[2 * n + 1], HIGH_HALVES_AVX2);
        store(x, joined, (2 + n) * VECTOR_AVX2);
    }
}

static unsigned parts_of(const struct x86 *x)
{
    return x->level->lanes / 4;
}
struct x86_rm lds_lane_emit(struct x86 *x, const struct lds_lanes *lanes, unsigned lane)
{
    x86_load32(x, RAX, (enum x86_gpr)lanes->row.reg, lanes->row.offset + 4 * (int32_t)lane);
    if (lanes->at)
        x86_lea32(x, RAX, RAX, (int32_t)lanes->at);
    return lds_memory(0);
}

void lds_long_collect(struct x86 *x, unsigned dwords, const struct lds_lanes *lanes,
                      const uint8_t *hosts, unsigned temporary)
{
    unsigned from[4];
    long_turn_begin(hosts, temporary, from);
    for (unsigned n = 0; n < 4; n++) {
        x86_vector(x, X86_VBROADCASTI128, from[n], 0, lds_lane_emit(x, lanes, n), plain);
        for (unsigned part = 1; part < parts_of(x); part++)
            x86_vector(x, X86_VINSERTI128, from[n], from[n], lds_lane_emit(x, lanes, 4 * part + n),
                       x86_imm(part));
    }
    (dwords == 2 ? pair_turn : long_turn)(x, hosts, temporary);
}

void lds_long_scatter(struct x86 *x, const struct lds_lanes *lanes, const uint8_t *hosts,
                      const uint8_t *temporaries)
{
    unsigned quads[4];
    long_turn_back(x, hosts, temporaries, quads);
    for (unsigned lane = 0; lane < x->level->lanes; lane++)
        x86_vector(x, X86_VEXTRACTI128, quads[lane % 4], 0, lds_lane_emit(x, lanes, lane),
                   x86_imm(lane / 4));
}

/* ---- three dwords ---- */

/* Dword k of lane n of all is number 3 * n + k, so that of three vectors each position has, for
 * each k, one: they are blended, by the positions whose remainder is 0, and is 1, and one
 * permutation each puts them in order. Permutations are what the host does least of (Zen 4: one of
 * 512 bits a cycle; two for each were 101 M/s of reads and 88 of writes there). */
static const uint16_t triple_positions[2] = {0x9249, 0x2492};
static const uint32_t triple_indices[3][16] ALIGNED = {
    {0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13},
    {1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14},
    {2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15},
};
/* Back: to where it goes to in that of the three vectors that is its own. */
static const uint32_t triple_back[3][16] ALIGNED = {
    {0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5},
    {5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10},
    {10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15},
};
/* Where dword k of each lane is once they are blended, and where they go to be. */
static const uint32_t triple_indices_avx2[3][8] ALIGNED = {
    {0, 3, 6, 1, 4, 7, 2, 5}, {1, 4, 7, 2, 5, 0, 3, 6}, {2, 5, 0, 3, 6, 1, 4, 7}};
static const uint32_t triple_back_avx2[3][8] ALIGNED = {
    {0, 3, 6, 1, 4, 7, 2, 5}, {5, 0, 3, 6, 1, 4, 7, 2}, {2, 5, 0, 3, 6, 1, 4, 7}};

/* The mask: positions of that remainder. RSI is gone. */
static void positions_set(struct x86 *x, unsigned mask, unsigned remainder)
{
    x86_gpr_imm32(x, RSI, triple_positions[remainder]);
    x86_mask_from(x, mask, RSI);
}
/* dst: a's dwords, and b's where the mask is set. */
static void positions_of(struct x86 *x, unsigned dst, unsigned a, unsigned b, unsigned mask)
{
    x86_vector(x, X86_VPBLENDMD, dst, a, x86_reg(b), x86_masked(mask));
}

static void triples_load_avx512(struct x86 *x, const uint8_t *hosts, unsigned temporary,
                                unsigned mask)
{
    const unsigned from[3] = {x->level->scratch, temporary, hosts[3]};
    for (int32_t n = 0; n < 3; n++)
        load(x, from[n], n * VECTOR);
    /* Vector n has dwords k where the remainder is that of k - n. */
    positions_set(x, mask, 0);
    for (unsigned k = 0; k < 3; k++)
        positions_of(x, hosts[k], from[(k + 1) % 3], from[k], mask);
    positions_set(x, mask, 1);
    for (unsigned k = 0; k < 3; k++)
        positions_of(x, hosts[k], hosts[k], from[(k + 2) % 3], mask);
    table_at(x, triple_indices[0]);
    for (unsigned k = 0; k < 3; k++) {
        table_load(x, from[k], (int32_t)k * VECTOR);
        op(x, X86_VPERMD, hosts[k], from[k], hosts[k]);
    }
}

static void triples_store_avx512(struct x86 *x, const uint8_t *hosts, const uint8_t *temporaries,
                                 unsigned mask)
{
    const unsigned joined[2] = {temporaries[3], x->level->scratch};
    const uint8_t *const parts = temporaries;
    table_at(x, triple_back[0]);
    for (unsigned k = 0; k < 3; k++) {
        table_load(x, parts[k], (int32_t)k * VECTOR);
        op(x, X86_VPERMD, parts[k], parts[k], hosts[k]);
    }
    /* Vector n takes dwords k where the remainder is that of k - n: n, n + 1, and the rest. */
    positions_set(x, mask, 0);
    for (unsigned n = 0; n < 2; n++)
        positions_of(x, joined[n], parts[(n + 2) % 3], parts[n], mask);
    positions_set(x, mask, 1);
    for (unsigned n = 0; n < 2; n++) {
        positions_of(x, joined[n], joined[n], parts[n + 1], mask);
        store(x, joined[n], (int32_t)n * VECTOR);
    }
    positions_of(x, joined[0], parts[1], parts[0], mask);
    positions_set(x, mask, 0);
    positions_of(x, joined[0], joined[0], parts[2], mask);
    store(x, joined[0], 2 * VECTOR);
}

/* Dwords of the vector whose number, in the element, is k: of vector n, position p is that of dword
 * 8 * n + p of all. */
static unsigned triple_lanes(unsigned n, unsigned k)
{
    unsigned lanes = 0;
    for (unsigned p = 0; p < 8; p++)
        lanes |= ((8 * n + p) % 3 == k) << p;
    return lanes;
}

static void triple_blend(struct x86 *x, unsigned dst, unsigned a, unsigned b, unsigned lanes)
{
    x86_vector(x, X86_VPBLENDD, dst, a, x86_reg(b), x86_imm(lanes));
}

static void triples_load_avx2(struct x86 *x, const uint8_t *hosts, unsigned temporary)
{
    const unsigned first = x->level->scratch, second = temporary, third = hosts[3];
    table_at(x, triple_indices_avx2[0]);
    load(x, first, 0);
    load(x, second, VECTOR_AVX2);
    load(x, third, 2 * VECTOR_AVX2);
    for (unsigned k = 0; k < 3; k++) {
        const unsigned indices = k < 2 ? hosts[k + 1] : first;
        triple_blend(x, hosts[k], first, second, triple_lanes(1, k));
        triple_blend(x, hosts[k], hosts[k], third, triple_lanes(2, k));
        table_load(x, indices, (int32_t)k * VECTOR_AVX2);
        op(x, X86_VPERMD, hosts[k], indices, hosts[k]);
    }
}

static void triples_store_avx2(struct x86 *x, const uint8_t *hosts, const uint8_t *temporaries)
{
    const unsigned joined = temporaries[3];
    table_at(x, triple_back_avx2[0]);
    for (unsigned k = 0; k < 3; k++) {
        table_load(x, temporaries[k], (int32_t)k * VECTOR_AVX2);
        op(x, X86_VPERMD, temporaries[k], temporaries[k], hosts[k]);
    }
    for (unsigned n = 0; n < 3; n++) {
        triple_blend(x, joined, temporaries[0], temporaries[1], triple_lanes(n, 1));
        triple_blend(x, joined, joined, temporaries[2], triple_lanes(n, 2));
        store(x, joined, (int32_t)n * VECTOR_AVX2);
    }
}

/* ---- either ---- */

void lds_long_load(struct x86 *x, unsigned dwords, const uint8_t *hosts, unsigned temporary,
                   unsigned mask)
{
    if (x->level->vector_masks)
        (dwords == 3 ? triples_load_avx2 : quads_load_avx2)(x, hosts, temporary);
    else if (dwords == 3)
        triples_load_avx512(x, hosts, temporary, mask);
    else
        quads_load_avx512(x, hosts, temporary);
}

void lds_long_store(struct x86 *x, unsigned dwords, const uint8_t *hosts,
                    const uint8_t *temporaries, unsigned mask)
{
    if (x->level->vector_masks)
        (dwords == 3 ? triples_store_avx2 : quads_store_avx2)(x, hosts, temporaries);
    else if (dwords == 3)
        triples_store_avx512(x, hosts, temporaries, mask);
    else
        quads_store_avx512(x, hosts, temporaries);
}

void lds_long_broadcast(struct x86 *x, unsigned dwords, const uint8_t *hosts)
{
    x86_gpr_from_vector(x, RAX, hosts[0]);
    for (unsigned k = 0; k < dwords; k++)
        x86_vector(x, X86_VPBROADCASTD, hosts[k], 0, lds_memory((int32_t)(4 * k)), plain);
}
