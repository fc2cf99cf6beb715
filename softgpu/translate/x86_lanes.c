/* Instructions between lanes and memory, and between vectors, masks and other registers. */
#include "translate/x86_avx2.h"

static const struct x86_option PLAIN;

unsigned x86_mask_scratch(const struct x86 *x)
{
    (void)x;
    return X86_MASK_HOST + AVX2_SECOND;
}

static unsigned vector_of_mask(unsigned k)
{
    return k == X86_MASK_EXEC ? AVX2_EXEC : k - X86_MASK_HOST;
}

void x86_mask_to(struct x86 *x, enum x86_gpr gpr, unsigned k)
{
    if (x->level->vector_masks) {
        x86_vex(x, X86_VMOVMSKPS, gpr, 0, x86_reg(vector_of_mask(k)), PLAIN);
        return;
    }
    const uint8_t kmovw[] = {0xc5, 0xf8, 0x93, (uint8_t)(0xc0 | gpr << 3 | k)}; /* of the lower */
    x86_put(x, kmovw, sizeof kmovw);
}

void x86_gpr_from_vector(struct x86 *x, enum x86_gpr gpr, unsigned source)
{
    x86_vector(x, X86_VMOVD_TO, source, 0, x86_reg(gpr), PLAIN);
}

void x86_broadcast_gpr(struct x86 *x, unsigned dst, enum x86_gpr gpr)
{
    if (!x->level->vector_masks) {
        x86_vector(x, X86_VPBROADCASTD_GPR, dst, 0, x86_reg(gpr), PLAIN);
        return;
    }
    x86_vex(x, X86_VMOVD, dst, 0, x86_reg(gpr), PLAIN);
    x86_vex(x, X86_VPBROADCASTD, dst, 0, x86_reg(dst), PLAIN);
}

/* Bits of register numbers are stored inverted in a prefix. */
static unsigned inverted(unsigned number, unsigned bit)
{
    return ~number >> bit & 1;
}

static void put_vex_gather(struct x86 *x, unsigned dst, unsigned mask, enum x86_gpr base,
                           unsigned offsets)
{
    const uint8_t prefix[] = {
        0xc4,
        (uint8_t)(inverted(dst, 3) << 7 | inverted(offsets, 3) << 6 | inverted(base, 3) << 5 | 2),
        (uint8_t)((~mask & 15) << 3 | 1 << 2 | 1)};
    x86_put(x, prefix, sizeof prefix);
}
static void put_evex_gather(struct x86 *x, unsigned dst, unsigned mask, enum x86_gpr base,
                            unsigned offsets)
{
    const uint8_t prefix[] = {0x62,
                              (uint8_t)(inverted(dst, 3) << 7 | inverted(offsets, 3) << 6 |
                                        inverted(base, 3) << 5 | inverted(dst, 4) << 4 | 2),
                              0x7d, (uint8_t)(2 << 5 | inverted(offsets, 4) << 3 | mask)};
    x86_put(x, prefix, sizeof prefix);
}

void x86_gather(struct x86 *x, unsigned dst, unsigned k, enum x86_gpr base, unsigned offsets,
                int32_t at)
{
    enum { VPGATHERDD = 0x90, WITH_OFFSET = 2 << 6, WITH_INDEX = 4 };
    if (x->level->vector_masks)
        put_vex_gather(x, dst, vector_of_mask(k), base, offsets);
    else
        put_evex_gather(x, dst, k, base, offsets);
    const uint8_t operands[] = {VPGATHERDD, (uint8_t)(WITH_OFFSET | (dst & 7) << 3 | WITH_INDEX),
                                (uint8_t)((offsets & 7) << 3 | (base & 7))};
    x86_put(x, operands, sizeof operands);
    x86_put32(x, (uint32_t)at);
}

void x86_masked_store(struct x86 *x, unsigned source, struct x86_rm to)
{
    if (x->level->vector_masks)
        x86_vex(x, X86_VPMASKMOVD_STORE, source, AVX2_EXEC, to, PLAIN);
    else
        x86_vector(x, X86_VMOVDQU32_STORE, source, 0, to, x86_masked(X86_MASK_EXEC));
}

void x86_lanes_store(struct x86 *x, int32_t first, int32_t row_bytes, unsigned dwords)
{
    static const uint8_t test_eax[] = {0x85, 0xc0}, lane[] = {0xf3, 0x0f, 0xbc, 0xf0}; /* tzcnt */
    static const uint8_t clear_lowest[] = {0xc4, 0xe2, 0x78, 0xf3, 0xc8};              /* blsr */
    static const uint8_t load_r11[] = {0x44, 0x8b, 0x9c, 0xb4}; /* from RSP + 4 * RSI */
    static const uint8_t load_edi[] = {0x8b, 0xbc, 0xb4};
    size_t loop = x->count;
    x86_put(x, test_eax, sizeof test_eax);
    size_t end = x86_jump_if(x, JUMP_EQUAL);
    x86_put(x, lane, sizeof lane);
    x86_put(x, clear_lowest, sizeof clear_lowest);
    x86_put(x, load_r11, sizeof load_r11);
    x86_put32(x, (uint32_t)first);
    x86_gpr_add(x, R11, R10);
    for (unsigned k = 0; k < dwords; k++) {
        x86_put(x, load_edi, sizeof load_edi);
        x86_put32(x, (uint32_t)(first + row_bytes * (int32_t)(k + 1)));
        x86_store32(x, R11, (int32_t)(4 * k), RDI);
    }
    x86_jump_back(x, loop);
    x86_land(x, end);
}

void x86_store_lane(struct x86 *x, bool wide)
{
    const uint8_t store[] = {wide ? 0x49 : 0x41, 0x89, 0x34, 0x02};
    x86_put(x, store, sizeof store);
}

void x86_mask_test(struct x86 *x, unsigned k)
{
    const uint8_t kortestw[] = {0xc5, 0xf8, 0x98, (uint8_t)(0xc0 | k << 3 | k)};
    x86_put(x, kortestw, sizeof kortestw);
}

void x86_test_bits(struct x86 *x, unsigned a, uint32_t bits, bool masked)
{
    enum { A = AVX2_SCRATCH };
    struct x86_rm these = x86_constant32(x, bits);
    if (masked) {
        x86_vex(x, X86_VPANDD, A, AVX2_EXEC, these, PLAIN);
        these = x86_reg(A);
    }
    x86_vex(x, X86_VPTEST, a, 0, these, PLAIN);
}

void x86_test_differs(struct x86 *x, unsigned a, unsigned b, bool masked)
{
    enum { A = AVX2_SCRATCH };
    x86_vex(x, X86_VPXORD, A, a, x86_reg(b), PLAIN);
    if (masked)
        x86_vex(x, X86_VPANDD, A, A, x86_reg(AVX2_EXEC), PLAIN);
    x86_vex(x, X86_VPTEST, A, 0, x86_reg(A), PLAIN);
}

void x86_gpr_add_shifted(struct x86 *x, enum x86_gpr dst, enum x86_gpr index, unsigned shift)
{
    enum { REX_WIDE = 0x48, REX_INDEX = 0x42, LEA = 0x8d, WITH_INDEX = 4 };
    const uint8_t rex = index >= R8 ? REX_WIDE | REX_INDEX : REX_WIDE;
    x86_put(x,
            (const uint8_t[]){rex, LEA, (uint8_t)(dst << 3 | WITH_INDEX),
                              (uint8_t)(shift << 6 | index % R8 << 3 | dst)},
            4);
}

void x86_prefetch(struct x86 *x, enum x86_gpr base, int32_t offset, unsigned cache)
{
    enum { DISPLACEMENT = 0x80, REX_BASE = 0x41 };
    if (base >= R8)
        x86_put(x, (const uint8_t[]){REX_BASE}, 1);
    x86_put(x, (const uint8_t[]){0x0f, 0x18, (uint8_t)(DISPLACEMENT | cache << 3 | base % R8)}, 3);
    x86_put32(x, (uint32_t)offset);
}
