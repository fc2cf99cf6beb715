/* Half precision operations. */
#include "valu/define.h"
#include "valu/half_vector.h"
#include "valu/tables.h"

KERNEL_INLINE f32 fract_f16(f32 x)
{
    const f32 r = x - floor_f32(x);
    return r > 0x1.ffcp-1f ? 0x1.ffcp-1f : r;
}
/* The conversion is exact. Denormals go by way of an integer: as a shifted f32 they would be
 * denormals, too, which MXCSR may flush. */
KERNEL_INLINE f32 f32_of_half(u32 h)
{
    const u32 m = h & 0x7fff;
    const f32 tiny = (f32)(i32)m * 0x1p-24f;
    const u32 normal = (m << 13) + ((127 - 15) << 23);
    const u32 u = m >= 0x7c00 ? (m << 13 | INF32) : m < 0x400 ? bits32(tiny) : normal;
    return f32_of(u | (h & 0x8000) << 16);
}

/* v_mad_f16 rounds twice and always flushes denormals, as v_mad_f32 does. */
static void V_MAD_F16_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    HALF_ROW(fa);
    HALF_ROW(fb);
    HALF_ROW(fc);
    u32 product[WAVE_LANES] __attribute__((aligned(64)));
    half_source(fa, a_, false, ~0u);
    half_source(fb, b_, false, ~0u);
    half_source(fc, c_, false, ~0u);
    LANES fa[l] *= fb[l];
    half_result(product, fa, ~0u, e.bounded16);
    row_of_half(fa, product);
    LANES fa[l] += fc[l];
    half_result(d_, fa, ~0u, e.bounded16);
}

static void V_LDEXP_F16_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    HALF_ROW(fa);
    half_source(fa, a_, false, e.flush16_in);
    LANES fa[l] *= f32_of((u32)(clamp_range((i16)b_[l], -60, 60) + 127) << 23);
    half_result(d_, fa, e.flush16_out, e.bounded16);
}

KERNEL_INLINE u32 div_fixup_f16(u32 a, u32 b, u32 c)
{
    const u32 sign = (b ^ c) & 0x8000, mb = b & 0x7fff, mc = c & 0x7fff;
    u32 r = (a & 0x7fff) | sign;
    r = (mb == 0x7c00) | (mc == 0) ? sign : r;
    r = (mb == 0) | (mc == 0x7c00) ? (0x7c00 | sign) : r;
    r = (mb == mc) & ((mb == 0) | (mb == 0x7c00)) ? 0xfe00 : r;
    r = nan16(b) ? (b | 0x200) : r;
    return nan16(c) ? (c | 0x200) : r;
}

/*
 * Products of halves are exact in f32; the sums round one after the other, from left to right of
 * the manual's a.lo * b.lo + a.hi * b.hi + c. Denormal f32, in and out, are flushed whatever MODE
 * says. CLAMP does nothing (OPF_F32_OUT is not said): ROCm's device library sets it in every
 * __ockl_fdot2(), whatever the caller asks for, and hip-tests wants 14 of one.
 */
static void V_DOT2_F32_F16_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    LANES
    {
        const f32 low = f32_of_half(a_[l] & 0xffff) * f32_of_half(b_[l] & 0xffff);
        const f32 high = f32_of_half(a_[l] >> 16) * f32_of_half(b_[l] >> 16);
        d_[l] = bits32(low + high + f32_of(c_[l]));
    }
}

#define H1(NAME, FLAGS, EXPR) HBODY1(NAME, EXPR) ROWS(NAME) FAST1(NAME, (FLAGS) | OPF_STATE16, 1)
#define T1(NAME, EXPR, VEXPR) HTBODY1(NAME, EXPR, VEXPR) ROWS(NAME) FAST1(NAME, OPF_STATE16, 1)
#define H2(NAME, FLAGS, EXPR) HBODY2(NAME, EXPR) ROWS(NAME) FAST2(NAME, (FLAGS) | OPF_STATE16, 1)
#define H3(NAME, FLAGS, EXPR) HBODY3(NAME, EXPR) ROWS(NAME) FAST3(NAME, (FLAGS) | OPF_STATE16, 1)
#define V2(NAME, FLAGS, EXPR, VEXPR)                                                               \
    HVBODY2(NAME, EXPR, VEXPR) ROWS(NAME) FAST2(NAME, (FLAGS) | OPF_STATE16, 1)
#define V3(NAME, FLAGS, EXPR, VEXPR)                                                               \
    HVBODY3(NAME, EXPR, VEXPR) ROWS(NAME) FAST3(NAME, (FLAGS) | OPF_STATE16, 1)
#define HALIAS2(NAME, OTHER, FLAGS)
#define HALIAS3(NAME, OTHER, FLAGS)
#define PAIRS2(NAME, OTHER, FLAGS, VEXPR) HALF_PAIRS2(NAME, VEXPR)
#define PAIRS3(NAME, OTHER, FLAGS, VEXPR) HALF_PAIRS3(NAME, VEXPR)
#include "valu/ops_f16.def"

#include "valu/entries.h"
#undef H1
#undef T1
#undef H2
#undef H3
#undef HALIAS2
#undef HALIAS3
#undef V2
#undef V3
#undef PAIRS2
#undef PAIRS3
#define HENTRY(NAME, FLAGS, ...)                                                                   \
    ENTRY(NAME, NAME, NULL, NAME##_vv, NAME##_sv, (FLAGS) | OPF_STATE16 | OPF_F16_OUT, __VA_ARGS__)
#define H1(NAME, FLAGS, EXPR)        HENTRY(NAME, FLAGS, 1, 1)
#define T1(NAME, EXPR, VEXPR)        HENTRY(NAME, 0, 1, 1)
#define H2(NAME, FLAGS, EXPR)        HENTRY(NAME, FLAGS, 1, 1, 1)
#define H3(NAME, FLAGS, EXPR)        HENTRY(NAME, FLAGS, 1, 1, 1, 1)
#define V2(NAME, FLAGS, EXPR, VEXPR) HENTRY(NAME, FLAGS, 1, 1, 1)
#define V3(NAME, FLAGS, EXPR, VEXPR) HENTRY(NAME, FLAGS, 1, 1, 1, 1)
/* Packed ones, which have a kernel for both halves at once. */
#define PAIRS_ENTRY(NAME, OTHER, FLAGS, ...)                                                       \
    {.op = OP_##NAME,                                                                              \
     .dwords = {__VA_ARGS__},                                                                      \
     .flags = (FLAGS) | OPF_STATE16,                                                               \
     .kernel = OTHER##_rows,                                                                       \
     .pairs = PAIRS_OF(NAME)},
#define PAIRS2(NAME, OTHER, FLAGS, VEXPR) PAIRS_ENTRY(NAME, OTHER, FLAGS, 1, 1, 1)
#define PAIRS3(NAME, OTHER, FLAGS, VEXPR) PAIRS_ENTRY(NAME, OTHER, FLAGS, 1, 1, 1, 1)
#define HALIAS2(NAME, OTHER, FLAGS)                                                                \
    ENTRY(NAME, OTHER, NULL, NULL, NULL, (FLAGS) | OPF_STATE16, 1, 1, 1)
#define HALIAS3(NAME, OTHER, FLAGS)                                                                \
    ENTRY(NAME, OTHER, NULL, NULL, NULL, (FLAGS) | OPF_STATE16, 1, 1, 1, 1)
static const struct valu_op entries[] = {
#include "valu/ops_f16.def"
};
const struct valu_table VALU(valu_table_f16) = {entries, sizeof entries / sizeof entries[0]};
