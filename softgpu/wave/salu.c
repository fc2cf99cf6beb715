/* Scalar ALU: SOP1, SOP2, SOPC and the arithmetic part of SOPK. */
#include <string.h>

#include "isa_ops.h"
#include "wave/group.h"
#include "wave/host_levels.h"

typedef __int128 int128;
typedef unsigned __int128 uint128;

/* `kind` is the operand's, a constant of the handler where it is one that matters. */
ALWAYS_INLINE uint32_t source32_of(const struct wave *w, const struct operand *o, unsigned kind)
{
    if (kind == OPND_SREG)
        return w->s[o->index];
    return kind == OPND_CONST ? (uint32_t)o->value : (uint32_t)wave_source_scalar(w, o);
}

ALWAYS_INLINE uint64_t source64_of(const struct wave *w, const struct operand *o, unsigned kind)
{
    if (kind == OPND_SREG) {
        uint64_t value;
        memcpy(&value, &w->s[o->index], sizeof value);
        return value;
    }
    return kind == OPND_CONST ? o->value : wave_source_scalar(w, o);
}

static uint32_t source32(const struct wave *w, const struct operand *o)
{
    return source32_of(w, o, o->kind);
}

static uint64_t source64(const struct wave *w, const struct operand *o)
{
    return source64_of(w, o, o->kind);
}

static void write64(struct wave *w, const struct operand *o, uint64_t value)
{
    memcpy(&w->s[o->index], &value, sizeof value);
}

/* Bit helpers, in the manual's terms. -1 when there is none. */
static int32_t first_one32(uint32_t v)
{
    return v ? __builtin_ctz(v) : -1;
}
static int32_t first_one64(uint64_t v)
{
    return v ? __builtin_ctzll(v) : -1;
}
static int32_t leading_zeros32(uint32_t v)
{
    return v ? __builtin_clz(v) : -1;
}
static int32_t leading_zeros64(uint64_t v)
{
    return v ? __builtin_clzll(v) : -1;
}
/* Position from the top of the first bit that differs from the sign. */
static int32_t sign_run32(uint32_t v)
{
    return leading_zeros32((int32_t)v < 0 ? ~v : v);
}
static int32_t sign_run64(uint64_t v)
{
    return leading_zeros64((int64_t)v < 0 ? ~v : v);
}

static uint64_t reverse64(uint64_t v)
{
    v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
    v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(v);
}

/* Each quad with any bit set becomes all ones. */
static uint64_t whole_quads(uint64_t v)
{
    v |= v >> 1;
    v = (v | v >> 2) & 0x1111111111111111;
    return v * 15;
}

/* One bit per quad. */
static uint64_t quad_mask(uint64_t v)
{
    uint64_t quads = whole_quads(v), mask = 0;
    for (int i = 0; i < 16; i++)
        mask |= (quads >> (4 * i) & 1) << i;
    return mask;
}

/* Every bit twice. */
static uint64_t replicate_bits(uint32_t v)
{
    uint64_t out = 0;
    for (int i = 0; i < 32; i++)
        out |= (uint64_t)(v >> i & 1) * 3 << (2 * i);
    return out;
}

static uint64_t field_mask(unsigned width)
{
    return width >= 64 ? ~0ull : (1ull << width) - 1;
}

static uint32_t extract_u32(uint32_t v, uint32_t control)
{
    return (uint32_t)((v >> (control & 31)) & field_mask(control >> 16 & 127));
}

static uint64_t extract_u64(uint64_t v, uint32_t control)
{
    return (v >> (control & 63)) & field_mask(control >> 16 & 127);
}

static int64_t extend_from(uint64_t v, unsigned width)
{
    if (width == 0)
        return 0;
    return width >= 64 ? (int64_t)v : (int64_t)(v << (64 - width)) >> (64 - width);
}

static uint32_t extract_i32(uint32_t v, uint32_t control)
{
    unsigned offset = control & 31, width = control >> 16 & 127;
    if (width > 32 - offset)
        width = 32 - offset; /* past the top the sign goes on */
    return (uint32_t)extend_from(v >> offset & field_mask(width), width);
}

static uint64_t extract_i64(uint64_t v, uint32_t control)
{
    unsigned offset = control & 63, width = control >> 16 & 127;
    if (width > 64 - offset)
        width = 64 - offset;
    return (uint64_t)extend_from(v >> offset & field_mask(width), width);
}

static uint32_t absolute_difference(uint32_t a, uint32_t b)
{
    int32_t d = (int32_t)(a - b);
    return d < 0 ? 0u - (uint32_t)d : (uint32_t)d;
}

static bool add_overflows(uint32_t a, uint32_t b)
{
    int32_t r;
    return __builtin_add_overflow((int32_t)a, (int32_t)b, &r);
}

static bool sub_overflows(uint32_t a, uint32_t b)
{
    int32_t r;
    return __builtin_sub_overflow((int32_t)a, (int32_t)b, &r);
}

static uint32_t min_i32(uint32_t a, uint32_t b)
{
    return (int32_t)a < (int32_t)b ? a : b;
}

static uint32_t max_i32(uint32_t a, uint32_t b)
{
    return (int32_t)a > (int32_t)b ? a : b;
}

/* s_lshlN_add: the carry out of the 33..36-bit sum. */
static bool shift_add_carry(uint32_t a, unsigned shift, uint32_t b)
{
    return (((uint64_t)a << shift) + b) >> 32 != 0;
}

enum { KEEP_SCC = 2 };

/*
 * One line per instruction: name, operand widths (destination, sources), result, SCC. In the
 * expressions a and b are the sources, d the result, w the wave.
 */
#define SOP2_OPS(X)                                                                                \
    X(S_ADD_U32, 32, 32, 32, a + b, d < a)                                                         \
    X(S_SUB_U32, 32, 32, 32, a - b, b > a)                                                         \
    X(S_ADD_I32, 32, 32, 32, a + b, add_overflows(a, b))                                           \
    X(S_SUB_I32, 32, 32, 32, a - b, sub_overflows(a, b))                                           \
    X(S_ADDC_U32, 32, 32, 32, a + b + w->scc, ((uint64_t)a + b + w->scc) >> 32 != 0)               \
    X(S_SUBB_U32, 32, 32, 32, a - b - w->scc, (uint64_t)b + w->scc > a)                            \
    X(S_MIN_I32, 32, 32, 32, min_i32(a, b), (int32_t)a < (int32_t)b)                               \
    X(S_MIN_U32, 32, 32, 32, a < b ? a : b, a < b)                                                 \
    X(S_MAX_I32, 32, 32, 32, max_i32(a, b), (int32_t)a > (int32_t)b)                               \
    X(S_MAX_U32, 32, 32, 32, a > b ? a : b, a > b)                                                 \
    X(S_CSELECT_B32, 32, 32, 32, w->scc ? a : b, KEEP_SCC)                                         \
    X(S_CSELECT_B64, 64, 64, 64, w->scc ? a : b, KEEP_SCC)                                         \
    X(S_AND_B32, 32, 32, 32, a &b, d != 0)                                                         \
    X(S_AND_B64, 64, 64, 64, a &b, d != 0)                                                         \
    X(S_OR_B32, 32, 32, 32, a | b, d != 0)                                                         \
    X(S_OR_B64, 64, 64, 64, a | b, d != 0)                                                         \
    X(S_XOR_B32, 32, 32, 32, a ^ b, d != 0)                                                        \
    X(S_XOR_B64, 64, 64, 64, a ^ b, d != 0)                                                        \
    X(S_ANDN2_B32, 32, 32, 32, a & ~b, d != 0)                                                     \
    X(S_ANDN2_B64, 64, 64, 64, a & ~b, d != 0)                                                     \
    X(S_ORN2_B32, 32, 32, 32, a | ~b, d != 0)                                                      \
    X(S_ORN2_B64, 64, 64, 64, a | ~b, d != 0)                                                      \
    X(S_NAND_B32, 32, 32, 32, ~(a & b), d != 0)                                                    \
    X(S_NAND_B64, 64, 64, 64, ~(a & b), d != 0)                                                    \
    X(S_NOR_B32, 32, 32, 32, ~(a | b), d != 0)                                                     \
    X(S_NOR_B64, 64, 64, 64, ~(a | b), d != 0)                                                     \
    X(S_XNOR_B32, 32, 32, 32, ~(a ^ b), d != 0)                                                    \
    X(S_XNOR_B64, 64, 64, 64, ~(a ^ b), d != 0)                                                    \
    X(S_LSHL_B32, 32, 32, 32, a << (b & 31), d != 0)                                               \
    X(S_LSHL_B64, 64, 64, 32, a << (b & 63), d != 0)                                               \
    X(S_LSHR_B32, 32, 32, 32, a >> (b & 31), d != 0)                                               \
    X(S_LSHR_B64, 64, 64, 32, a >> (b & 63), d != 0)                                               \
    X(S_ASHR_I32, 32, 32, 32, (uint32_t)((int32_t)a >> (b & 31)), d != 0)                          \
    X(S_ASHR_I64, 64, 64, 32, (uint64_t)((int64_t)a >> (b & 63)), d != 0)                          \
    X(S_BFM_B32, 32, 32, 32, ((1u << (a & 31)) - 1) << (b & 31), KEEP_SCC)                         \
    X(S_BFM_B64, 64, 32, 32, ((1ull << (a & 63)) - 1) << (b & 63), KEEP_SCC)                       \
    X(S_MUL_I32, 32, 32, 32, a *b, KEEP_SCC)                                                       \
    X(S_BFE_U32, 32, 32, 32, extract_u32(a, b), d != 0)                                            \
    X(S_BFE_I32, 32, 32, 32, extract_i32(a, b), d != 0)                                            \
    X(S_BFE_U64, 64, 64, 32, extract_u64(a, b), d != 0)                                            \
    X(S_BFE_I64, 64, 64, 32, extract_i64(a, b), d != 0)                                            \
    X(S_ABSDIFF_I32, 32, 32, 32, absolute_difference(a, b), d != 0)                                \
    X(S_MUL_HI_U32, 32, 32, 32, (uint32_t)((uint64_t)a * b >> 32), KEEP_SCC)                       \
    X(S_MUL_HI_I32, 32, 32, 32, (uint32_t)((int64_t)(int32_t)a * (int64_t)(int32_t)b >> 32),       \
      KEEP_SCC)                                                                                    \
    X(S_LSHL1_ADD_U32, 32, 32, 32, (a << 1) + b, shift_add_carry(a, 1, b))                         \
    X(S_LSHL2_ADD_U32, 32, 32, 32, (a << 2) + b, shift_add_carry(a, 2, b))                         \
    X(S_LSHL3_ADD_U32, 32, 32, 32, (a << 3) + b, shift_add_carry(a, 3, b))                         \
    X(S_LSHL4_ADD_U32, 32, 32, 32, (a << 4) + b, shift_add_carry(a, 4, b))                         \
    X(S_PACK_LL_B32_B16, 32, 32, 32, (a & 0xffff) | b << 16, KEEP_SCC)                             \
    X(S_PACK_LH_B32_B16, 32, 32, 32, (a & 0xffff) | (b & 0xffff0000), KEEP_SCC)                    \
    X(S_PACK_HH_B32_B16, 32, 32, 32, a >> 16 | (b & 0xffff0000), KEEP_SCC)

#define SOP1_OPS(X)                                                                                \
    X(S_MOV_B32, 32, 32, a, KEEP_SCC)                                                              \
    X(S_MOV_B64, 64, 64, a, KEEP_SCC)                                                              \
    X(S_NOT_B32, 32, 32, ~a, d != 0)                                                               \
    X(S_NOT_B64, 64, 64, ~a, d != 0)                                                               \
    X(S_WQM_B32, 32, 32, (uint32_t)whole_quads(a), d != 0)                                         \
    X(S_WQM_B64, 64, 64, whole_quads(a), d != 0)                                                   \
    X(S_BREV_B32, 32, 32, (uint32_t)(reverse64(a) >> 32), KEEP_SCC)                                \
    X(S_BREV_B64, 64, 64, reverse64(a), KEEP_SCC)                                                  \
    X(S_BCNT0_I32_B32, 32, 32, 32 - (uint32_t)__builtin_popcount(a), d != 0)                       \
    X(S_BCNT0_I32_B64, 32, 64, 64 - (uint32_t)__builtin_popcountll(a), d != 0)                     \
    X(S_BCNT1_I32_B32, 32, 32, (uint32_t)__builtin_popcount(a), d != 0)                            \
    X(S_BCNT1_I32_B64, 32, 64, (uint32_t)__builtin_popcountll(a), d != 0)                          \
    X(S_FF0_I32_B32, 32, 32, (uint32_t)first_one32(~a), KEEP_SCC)                                  \
    X(S_FF0_I32_B64, 32, 64, (uint32_t)first_one64(~a), KEEP_SCC)                                  \
    X(S_FF1_I32_B32, 32, 32, (uint32_t)first_one32(a), KEEP_SCC)                                   \
    X(S_FF1_I32_B64, 32, 64, (uint32_t)first_one64(a), KEEP_SCC)                                   \
    X(S_FLBIT_I32_B32, 32, 32, (uint32_t)leading_zeros32(a), KEEP_SCC)                             \
    X(S_FLBIT_I32_B64, 32, 64, (uint32_t)leading_zeros64(a), KEEP_SCC)                             \
    X(S_FLBIT_I32, 32, 32, (uint32_t)sign_run32(a), KEEP_SCC)                                      \
    X(S_FLBIT_I32_I64, 32, 64, (uint32_t)sign_run64(a), KEEP_SCC)                                  \
    X(S_SEXT_I32_I8, 32, 32, (uint32_t)(int8_t)a, KEEP_SCC)                                        \
    X(S_SEXT_I32_I16, 32, 32, (uint32_t)(int16_t)a, KEEP_SCC)                                      \
    X(S_QUADMASK_B32, 32, 32, (uint32_t)quad_mask(a), d != 0)                                      \
    X(S_QUADMASK_B64, 64, 64, quad_mask(a), d != 0)                                                \
    X(S_ABS_I32, 32, 32, (int32_t)a < 0 ? 0u - a : a, d != 0)                                      \
    X(S_BITREPLICATE_B64_B32, 64, 32, replicate_bits(a), KEEP_SCC)                                 \
    X(S_BITSET0_B32, 32, 32, w->s[i->dst.index] & ~(1u << (a & 31)), KEEP_SCC)                     \
    X(S_BITSET1_B32, 32, 32, w->s[i->dst.index] | 1u << (a & 31), KEEP_SCC)                        \
    X(S_BITSET0_B64, 64, 32, source64(w, &i->dst) & ~(1ull << (a & 63)), KEEP_SCC)                 \
    X(S_BITSET1_B64, 64, 32, source64(w, &i->dst) | 1ull << (a & 63), KEEP_SCC)                    \
    X(S_CMOV_B32, 32, 32, w->scc ? a : w->s[i->dst.index], KEEP_SCC)                               \
    X(S_CMOV_B64, 64, 64, w->scc ? a : source64(w, &i->dst), KEEP_SCC)

/* Old EXEC to the destination, new EXEC from the source and the old; SCC: any lane left. */
#define SAVEEXEC_OPS(X)                                                                            \
    X(S_AND_SAVEEXEC_B64, a &exec)                                                                 \
    X(S_OR_SAVEEXEC_B64, a | exec)                                                                 \
    X(S_XOR_SAVEEXEC_B64, a ^ exec)                                                                \
    X(S_ANDN2_SAVEEXEC_B64, a & ~exec)                                                             \
    X(S_ORN2_SAVEEXEC_B64, a | ~exec)                                                              \
    X(S_NAND_SAVEEXEC_B64, ~(a & exec))                                                            \
    X(S_NOR_SAVEEXEC_B64, ~(a | exec))                                                             \
    X(S_XNOR_SAVEEXEC_B64, ~(a ^ exec))                                                            \
    X(S_ANDN1_SAVEEXEC_B64, ~a &exec)                                                              \
    X(S_ORN1_SAVEEXEC_B64, ~a | exec)

/* The new EXEC goes to the destination too. */
#define WREXEC_OPS(X)                                                                              \
    X(S_ANDN1_WREXEC_B64, ~a &exec)                                                                \
    X(S_ANDN2_WREXEC_B64, a & ~exec)

#define SOPC_OPS(X)                                                                                \
    X(S_CMP_EQ_I32, 32, 32, a == b)                                                                \
    X(S_CMP_LG_I32, 32, 32, a != b)                                                                \
    X(S_CMP_GT_I32, 32, 32, (int32_t)a > (int32_t)b)                                               \
    X(S_CMP_GE_I32, 32, 32, (int32_t)a >= (int32_t)b)                                              \
    X(S_CMP_LT_I32, 32, 32, (int32_t)a < (int32_t)b)                                               \
    X(S_CMP_LE_I32, 32, 32, (int32_t)a <= (int32_t)b)                                              \
    X(S_CMP_EQ_U32, 32, 32, a == b)                                                                \
    X(S_CMP_LG_U32, 32, 32, a != b)                                                                \
    X(S_CMP_GT_U32, 32, 32, a > b)                                                                 \
    X(S_CMP_GE_U32, 32, 32, a >= b)                                                                \
    X(S_CMP_LT_U32, 32, 32, a < b)                                                                 \
    X(S_CMP_LE_U32, 32, 32, a <= b)                                                                \
    X(S_CMP_EQ_U64, 64, 64, a == b)                                                                \
    X(S_CMP_LG_U64, 64, 64, a != b)                                                                \
    X(S_BITCMP0_B32, 32, 32, (a >> (b & 31) & 1) == 0)                                             \
    X(S_BITCMP1_B32, 32, 32, (a >> (b & 31) & 1) != 0)                                             \
    X(S_BITCMP0_B64, 64, 32, (a >> (b & 63) & 1) == 0)                                             \
    X(S_BITCMP1_B64, 64, 32, (a >> (b & 63) & 1) != 0)

#define SOPK_CMP_OPS(X)                                                                            \
    X(S_CMPK_EQ_I32, (int32_t)a == k)                                                              \
    X(S_CMPK_LG_I32, (int32_t)a != k)                                                              \
    X(S_CMPK_GT_I32, (int32_t)a > k)                                                               \
    X(S_CMPK_GE_I32, (int32_t)a >= k)                                                              \
    X(S_CMPK_LT_I32, (int32_t)a < k)                                                               \
    X(S_CMPK_LE_I32, (int32_t)a <= k)                                                              \
    X(S_CMPK_EQ_U32, a == (uint16_t)k)                                                             \
    X(S_CMPK_LG_U32, a != (uint16_t)k)                                                             \
    X(S_CMPK_GT_U32, a > (uint16_t)k)                                                              \
    X(S_CMPK_GE_U32, a >= (uint16_t)k)                                                             \
    X(S_CMPK_LT_U32, a < (uint16_t)k)                                                              \
    X(S_CMPK_LE_U32, a <= (uint16_t)k)

#define UINT(bits)            uint##bits##_t
#define SOURCE(bits, n, kind) source##bits##_of(w, &i->src[n], kind)
#define WRITE32(value)        w->s[i->dst.index] = (value)
#define WRITE64(value)        write64(w, &i->dst, (value))
#define SET_SCC(value)                                                                             \
    do {                                                                                           \
        uint32_t scc_ = (value);                                                                   \
        if (scc_ != KEEP_SCC)                                                                      \
            w->scc = scc_;                                                                         \
    } while (0)
#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

/*
 * An instruction has a handler for what its sources mostly are, registers and constants, and one
 * for whatever they are.
 */
enum source_form { FORM_ANY, FORM_SS, FORM_SC, FORM_CS, FORM_COUNT };
#define EACH_FORM(name)                                                                            \
    EXEC_FORM(name, ANY, i->src[0].kind, i->src[1].kind)                                           \
    EXEC_FORM(name, SS, OPND_SREG, OPND_SREG)                                                      \
    EXEC_FORM(name, SC, OPND_SREG, OPND_CONST)                                                     \
    EXEC_FORM(name, CS, OPND_CONST, OPND_SREG)
#define EXEC_FORM(name, form, akind, bkind)                                                        \
    EXEC_FN(name##_##form)                                                                         \
    {                                                                                              \
        do_##name(w, i, akind, bkind);                                                             \
        return inst_next(i);                                                                       \
    }
#define DO_FN(name)                                                                                \
    ALWAYS_INLINE void do_##name(struct wave *w, const struct inst *i, unsigned akind,             \
                                 unsigned bkind)

/* SCC is worked out before the write, since the destination may be a source of its expression. */
#define DEFINE_SOP2(name, dbits, abits, bbits, expression, scc_expression)                         \
    DO_FN(name)                                                                                    \
    {                                                                                              \
        UINT(abits) a = SOURCE(abits, 0, akind);                                                   \
        UINT(bbits) b = SOURCE(bbits, 1, bkind);                                                   \
        UINT(dbits) d = (expression);                                                              \
        SET_SCC(scc_expression);                                                                   \
        WRITE##dbits(d);                                                                           \
    }                                                                                              \
    EACH_FORM(name)
#define DEFINE_SOP1(name, dbits, abits, expression, scc_expression)                                \
    DO_FN(name)                                                                                    \
    {                                                                                              \
        (void)bkind;                                                                               \
        UINT(abits) a = SOURCE(abits, 0, akind);                                                   \
        UINT(dbits) d = (expression);                                                              \
        SET_SCC(scc_expression);                                                                   \
        WRITE##dbits(d);                                                                           \
    }                                                                                              \
    EACH_FORM(name)
#define DEFINE_SAVEEXEC(name, expression)                                                          \
    DO_FN(name)                                                                                    \
    {                                                                                              \
        (void)bkind;                                                                               \
        uint64_t a = SOURCE(64, 0, akind), exec = wave_exec(w), left = (expression);               \
        WRITE64(exec);                                                                             \
        w->s64[SREG_EXEC / 2] = left;                                                              \
        w->scc = left != 0;                                                                        \
    }                                                                                              \
    EACH_FORM(name)
#define DEFINE_WREXEC(name, expression)                                                            \
    EXEC_FN(name)                                                                                  \
    {                                                                                              \
        uint64_t a = source64(w, &i->src[0]), exec = wave_exec(w);                                 \
        w->s64[SREG_EXEC / 2] = (expression);                                                      \
        WRITE64(wave_exec(w));                                                                     \
        w->scc = wave_exec(w) != 0;                                                                \
        return inst_next(i);                                                                       \
    }
#define DEFINE_SOPC(name, abits, bbits, expression)                                                \
    DO_FN(name)                                                                                    \
    {                                                                                              \
        UINT(abits) a = SOURCE(abits, 0, akind);                                                   \
        UINT(bbits) b = SOURCE(bbits, 1, bkind);                                                   \
        w->scc = (expression);                                                                     \
    }                                                                                              \
    EACH_FORM(name)
#define DEFINE_SOPK_CMP(name, expression)                                                          \
    EXEC_FN(name)                                                                                  \
    {                                                                                              \
        uint32_t a = w->s[i->src[0].index];                                                        \
        int32_t k = i->offset;                                                                     \
        w->scc = (expression);                                                                     \
        return inst_next(i);                                                                       \
    }

SOP2_OPS(DEFINE_SOP2)
SOP1_OPS(DEFINE_SOP1)
SAVEEXEC_OPS(DEFINE_SAVEEXEC)
WREXEC_OPS(DEFINE_WREXEC)
SOPC_OPS(DEFINE_SOPC)
SOPK_CMP_OPS(DEFINE_SOPK_CMP)

EXEC_FN(S_MOVK_I32)
{
    w->s[i->dst.index] = (uint32_t)i->offset;
    return inst_next(i);
}

EXEC_FN(S_CMOVK_I32)
{
    if (w->scc)
        w->s[i->dst.index] = (uint32_t)i->offset;
    return inst_next(i);
}

EXEC_FN(S_ADDK_I32)
{
    uint32_t a = w->s[i->dst.index], b = (uint32_t)i->offset;
    w->scc = add_overflows(a, b);
    w->s[i->dst.index] = a + b;
    return inst_next(i);
}

EXEC_FN(S_MULK_I32)
{
    w->s[i->dst.index] *= (uint32_t)i->offset;
    return inst_next(i);
}

/* M0-relative moves: outside the file they read 0 and write nothing. */
static uint32_t relative_index(const struct wave *w, const struct operand *o)
{
    uint64_t index = (uint64_t)o->index + w->s[SREG_M0];
    return index + o->dwords <= SREG_COUNT ? (uint32_t)index : SREG_COUNT;
}

EXEC_FN(S_MOVRELS_B32)
{
    uint32_t from = relative_index(w, &i->src[0]);
    w->s[i->dst.index] = from < SREG_COUNT ? w->s[from] : 0;
    return inst_next(i);
}

EXEC_FN(S_MOVRELS_B64)
{
    uint32_t from = relative_index(w, &i->src[0]);
    uint64_t value = 0;
    if (from < SREG_COUNT)
        memcpy(&value, &w->s[from], sizeof value);
    write64(w, &i->dst, value);
    return inst_next(i);
}

EXEC_FN(S_MOVRELD_B32)
{
    uint32_t to = relative_index(w, &i->dst);
    if (to < SREG_COUNT)
        w->s[to] = source32(w, &i->src[0]);
    return inst_next(i);
}

EXEC_FN(S_MOVRELD_B64)
{
    uint32_t to = relative_index(w, &i->dst);
    uint64_t value = source64(w, &i->src[0]);
    if (to < SREG_COUNT)
        memcpy(&w->s[to], &value, sizeof value);
    return inst_next(i);
}

#define ENTRY(name, ...) [OP_##name] = {exec_##name, NULL, NULL, NULL},
#define ENTRIES(name, ...)                                                                         \
    [OP_##name] = {exec_##name##_ANY, exec_##name##_SS, exec_##name##_SC, exec_##name##_CS},
static inst_exec_fn *const handlers[OP_COUNT][FORM_COUNT] = {
    SOP2_OPS(ENTRIES) SOP1_OPS(ENTRIES) SAVEEXEC_OPS(ENTRIES) WREXEC_OPS(ENTRY) SOPC_OPS(ENTRIES)
        SOPK_CMP_OPS(ENTRY) ENTRY(S_MOVK_I32) ENTRY(S_CMOVK_I32) ENTRY(S_ADDK_I32) ENTRY(S_MULK_I32)
            ENTRY(S_MOVRELS_B32) ENTRY(S_MOVRELS_B64) ENTRY(S_MOVRELD_B32) ENTRY(S_MOVRELD_B64)};

inst_exec_fn *salu_handler(const struct inst *inst)
{
    inst_exec_fn *const *forms = handlers[inst->op];
    unsigned first = inst->src[0].kind,
             second = inst->src_count > 1 ? inst->src[1].kind : OPND_SREG;
    enum source_form form = FORM_ANY;
    if (first == OPND_SREG && second == OPND_SREG)
        form = FORM_SS;
    else if (first == OPND_SREG && second == OPND_CONST)
        form = FORM_SC;
    else if (first == OPND_CONST && second == OPND_SREG)
        form = FORM_CS;
    return forms[form] ? forms[form] : forms[FORM_ANY];
}
