/*
 * Measures the vector ALU by itself: a straight run of one instruction over a few registers, in
 * millions of wave-instructions per second on one thread; matrix instructions in operations, beside
 * those of a bare loop of the host. Usage: valu_bench [build [matrices]]
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "valu/matrix_bench.h"
#include "valu/valu.h"
#include "wave/wave.h"

/* Matrices lie behind the registers of the other instructions, which must stay in the host's cache.
 */
enum { STREAM = 256, REGISTERS = 64, MATRIX_ROWS = 32, PASSES = 150 };

static lane_row registers[REGISTERS + 2 * MATRIX_ROWS + 2];
static struct wave wave;
static struct inst stream[STREAM + 1];

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may be running */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const struct inst *end_of_stream(struct wave *w, const struct inst *i)
{
    (void)w;
    (void)i;
    return NULL;
}

struct bench_case {
    const char *name;
    uint16_t op;
    uint8_t format, sources, dwords;
    uint8_t scalar_first;
    uint8_t modifier;
    uint8_t neg;
    uint16_t control; /* of DPP */
};

static const struct bench_case cases[] = {
    {"v_add_f32 v,v", OP_V_ADD_F32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_add_f32 s,v", OP_V_ADD_F32, FMT_VOP2, 2, 1, 1, 0, 0, 0},
    {"v_add_f32 -v,v", OP_V_ADD_F32, FMT_VOP3, 2, 1, 0, 0, 1, 0},
    {"v_mul_f32", OP_V_MUL_F32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_max_f32", OP_V_MAX_F32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_fmac_f32", OP_V_FMAC_F32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_mac_f32", OP_V_MAC_F32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_fma_f32", OP_V_FMA_F32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_fma_f32 -v", OP_V_FMA_F32, FMT_VOP3, 3, 1, 0, 0, 1, 0},
    {"v_med3_f32", OP_V_MED3_F32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_max3_f32", OP_V_MAX3_F32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_min3_f32", OP_V_MIN3_F32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_ldexp_f32", OP_V_LDEXP_F32, FMT_VOP3, 2, 1, 0, 0, 0, 0},
    {"v_floor_f32", OP_V_FLOOR_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_rndne_f32", OP_V_RNDNE_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_fract_f32", OP_V_FRACT_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_frexp_exp_i32_f32", OP_V_FREXP_EXP_I32_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_frexp_mant_f32", OP_V_FREXP_MANT_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_rcp_f32", OP_V_RCP_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_rsq_f32", OP_V_RSQ_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_sqrt_f32", OP_V_SQRT_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_exp_f32", OP_V_EXP_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_log_f32", OP_V_LOG_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_sin_f32", OP_V_SIN_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cos_f32", OP_V_COS_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_div_scale_f32", OP_V_DIV_SCALE_F32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_div_fmas_f32", OP_V_DIV_FMAS_F32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_div_fixup_f32", OP_V_DIV_FIXUP_F32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_add_u32", OP_V_ADD_U32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_lshlrev_b32", OP_V_LSHLREV_B32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_and_b32", OP_V_AND_B32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_lshl_add_u32", OP_V_LSHL_ADD_U32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_add3_u32", OP_V_ADD3_U32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_bfe_u32", OP_V_BFE_U32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_perm_b32", OP_V_PERM_B32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_med3_i32", OP_V_MED3_I32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_max3_u32", OP_V_MAX3_U32, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_mad_u32_u24", OP_V_MAD_U32_U24, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_mul_lo_u32", OP_V_MUL_LO_U32, FMT_VOP3, 2, 1, 0, 0, 0, 0},
    {"v_mul_hi_u32", OP_V_MUL_HI_U32, FMT_VOP3, 2, 1, 0, 0, 0, 0},
    {"v_mbcnt_lo_u32_b32", OP_V_MBCNT_LO_U32_B32, FMT_VOP3, 2, 1, 0, 0, 0, 0},
    {"v_mad_u64_u32", OP_V_MAD_U64_U32, FMT_VOP3, 3, 2, 0, 0, 0, 0},
    {"v_mad_i64_i32", OP_V_MAD_I64_I32, FMT_VOP3, 3, 2, 0, 0, 0, 0},
    {"v_add_co_u32", OP_V_ADD_CO_U32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_addc_co_u32", OP_V_ADDC_CO_U32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_cndmask_b32", OP_V_CNDMASK_B32, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_cndmask_b32 e64", OP_V_CNDMASK_B32, FMT_VOP3, 2, 1, 0, 0, 0, 0},
    {"v_cmp_lt_f32", OP_V_CMP_LT_F32, FMT_VOPC, 2, 1, 0, 0, 0, 0},
    {"v_cmp_lt_f64", OP_V_CMP_LT_F64, FMT_VOPC, 2, 2, 0, 0, 0, 0},
    {"v_cmp_lt_u64", OP_V_CMP_LT_U64, FMT_VOPC, 2, 2, 0, 0, 0, 0},
    {"v_cmp_class_f32", OP_V_CMP_CLASS_F32, FMT_VOPC, 2, 1, 0, 0, 0, 0},
    {"v_lshlrev_b64", OP_V_LSHLREV_B64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_lshrrev_b64", OP_V_LSHRREV_B64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_ashrrev_i64", OP_V_ASHRREV_I64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_fma_f64", OP_V_FMA_F64, FMT_VOP3, 3, 2, 0, 0, 0, 0},
    {"v_fma_f64 -v", OP_V_FMA_F64, FMT_VOP3, 3, 2, 0, 0, 1, 0},
    {"v_add_f64", OP_V_ADD_F64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_mul_f64", OP_V_MUL_F64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_min_f64", OP_V_MIN_F64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_max_f64", OP_V_MAX_F64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_ldexp_f64", OP_V_LDEXP_F64, FMT_VOP3, 2, 2, 0, 0, 0, 0},
    {"v_rcp_f64", OP_V_RCP_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_rsq_f64", OP_V_RSQ_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_sqrt_f64", OP_V_SQRT_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_floor_f64", OP_V_FLOOR_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_rndne_f64", OP_V_RNDNE_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_fract_f64", OP_V_FRACT_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_frexp_exp_i32_f64", OP_V_FREXP_EXP_I32_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_frexp_mant_f64", OP_V_FREXP_MANT_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_div_scale_f64", OP_V_DIV_SCALE_F64, FMT_VOP3, 3, 2, 0, 0, 0, 0},
    {"v_div_fmas_f64", OP_V_DIV_FMAS_F64, FMT_VOP3, 3, 2, 0, 0, 0, 0},
    {"v_div_fixup_f64", OP_V_DIV_FIXUP_F64, FMT_VOP3, 3, 2, 0, 0, 0, 0},
    {"v_add_f16", OP_V_ADD_F16, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_mul_f16", OP_V_MUL_F16, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_max_f16", OP_V_MAX_F16, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_fma_f16", OP_V_FMA_F16, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_med3_f16", OP_V_MED3_F16, FMT_VOP3, 3, 1, 0, 0, 0, 0},
    {"v_rcp_f16", OP_V_RCP_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_rsq_f16", OP_V_RSQ_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_sqrt_f16", OP_V_SQRT_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_exp_f16", OP_V_EXP_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_log_f16", OP_V_LOG_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_sin_f16", OP_V_SIN_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cos_f16", OP_V_COS_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_floor_f16", OP_V_FLOOR_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_pk_fma_f16", OP_V_PK_FMA_F16, FMT_VOP3P, 3, 1, 0, 0, 0, 0},
    {"v_pk_add_f16", OP_V_PK_ADD_F16, FMT_VOP3P, 2, 1, 0, 0, 0, 0},
    {"v_pk_mul_f16", OP_V_PK_MUL_F16, FMT_VOP3P, 2, 1, 0, 0, 0, 0},
    {"v_pk_max_f16", OP_V_PK_MAX_F16, FMT_VOP3P, 2, 1, 0, 0, 0, 0},
    {"v_pk_add_u16", OP_V_PK_ADD_U16, FMT_VOP3P, 2, 1, 0, 0, 0, 0},
    {"v_pk_mul_lo_u16", OP_V_PK_MUL_LO_U16, FMT_VOP3P, 2, 1, 0, 0, 0, 0},
    {"v_pk_lshlrev_b16", OP_V_PK_LSHLREV_B16, FMT_VOP3P, 2, 1, 0, 0, 0, 0},
    {"v_pk_max_i16", OP_V_PK_MAX_I16, FMT_VOP3P, 2, 1, 0, 0, 0, 0},
    {"v_pk_mad_u16", OP_V_PK_MAD_U16, FMT_VOP3P, 3, 1, 0, 0, 0, 0},
    {"v_dot2_f32_f16", OP_V_DOT2_F32_F16, FMT_VOP3P, 3, 1, 0, 0, 0, 0},
    {"v_dot4_i32_i8", OP_V_DOT4_I32_I8, FMT_VOP3P, 3, 1, 0, 0, 0, 0},
    {"v_fma_mix_f32", OP_V_FMA_MIX_F32, FMT_VOP3P, 3, 1, 0, 0, 0, 0},
    {"v_fma_mixlo_f16", OP_V_FMA_MIXLO_F16, FMT_VOP3P, 3, 1, 0, 0, 0, 0},
    {"v_pk_fma_f32", OP_V_PK_FMA_F32, FMT_VOP3P, 3, 2, 0, 0, 0, 0},
    {"v_pk_add_f32", OP_V_PK_ADD_F32, FMT_VOP3P, 2, 2, 0, 0, 0, 0},
    {"v_pk_mul_f32", OP_V_PK_MUL_F32, FMT_VOP3P, 2, 2, 0, 0, 0, 0},
    {"v_add_u16", OP_V_ADD_U16, FMT_VOP2, 2, 1, 0, 0, 0, 0},
    {"v_mov_b32", OP_V_MOV_B32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_mov row_shr", OP_V_MOV_B32, FMT_VOP1, 1, 1, 0, MOD_DPP, 0, 0x111},
    {"v_add_f32 row_shr", OP_V_ADD_F32, FMT_VOP2, 2, 1, 0, MOD_DPP, 0, 0x111},
    {"v_mov quad_perm", OP_V_MOV_B32, FMT_VOP1, 1, 1, 0, MOD_DPP, 0, 0x0b1},
    {"v_add_f32 quad_perm", OP_V_ADD_F32, FMT_VOP2, 2, 1, 0, MOD_DPP, 0, 0x0b1},
    {"v_mov row_bcast:15", OP_V_MOV_B32, FMT_VOP1, 1, 1, 0, MOD_DPP, 0, 0x142},
    {"v_add_f32 row_bcast:15", OP_V_ADD_F32, FMT_VOP2, 2, 1, 0, MOD_DPP, 0, 0x142},
    {"v_mov row_bcast:31", OP_V_MOV_B32, FMT_VOP1, 1, 1, 0, MOD_DPP, 0, 0x143},
    {"v_add_f32 row_bcast:31", OP_V_ADD_F32, FMT_VOP2, 2, 1, 0, MOD_DPP, 0, 0x143},
    {"v_mov wave_shr", OP_V_MOV_B32, FMT_VOP1, 1, 1, 0, MOD_DPP, 0, 0x138},
    {"v_add_f32 wave_shr", OP_V_ADD_F32, FMT_VOP2, 2, 1, 0, MOD_DPP, 0, 0x138},
    {"v_mov row_mirror", OP_V_MOV_B32, FMT_VOP1, 1, 1, 0, MOD_DPP, 0, 0x140},
    {"v_add_f32 row_mirror", OP_V_ADD_F32, FMT_VOP2, 2, 1, 0, MOD_DPP, 0, 0x140},
    {"v_add_u32 sdwa", OP_V_ADD_U32, FMT_VOP2, 2, 1, 0, MOD_SDWA, 0, 0},
    {"v_readlane_b32", OP_V_READLANE_B32, FMT_VOP3, 2, 1, 0, 0, 0, 0},
    {"v_readfirstlane_b32", OP_V_READFIRSTLANE_B32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_f32_u32", OP_V_CVT_F32_U32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_f32_i32", OP_V_CVT_F32_I32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_u32_f32", OP_V_CVT_U32_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_i32_f32", OP_V_CVT_I32_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_f16_f32", OP_V_CVT_F16_F32, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_f32_f16", OP_V_CVT_F32_F16, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_f32_ubyte0", OP_V_CVT_F32_UBYTE0, FMT_VOP1, 1, 1, 0, 0, 0, 0},
    {"v_cvt_pkrtz_f16_f32", OP_V_CVT_PKRTZ_F16_F32, FMT_VOP3, 2, 1, 0, 0, 0, 0},
    {"v_cvt_f32_f64", OP_V_CVT_F32_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_cvt_f64_f32", OP_V_CVT_F64_F32, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_cvt_f64_i32", OP_V_CVT_F64_I32, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_cvt_f64_u32", OP_V_CVT_F64_U32, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_cvt_i32_f64", OP_V_CVT_I32_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
    {"v_cvt_u32_f64", OP_V_CVT_U32_F64, FMT_VOP1, 1, 2, 0, 0, 0, 0},
};

static struct operand vgpr(int index, uint8_t dwords)
{
    return (struct operand){.kind = OPND_VGPR, .dwords = dwords, .index = (uint16_t)(index & ~1)};
}

static int stream_make(const struct bench_case *c)
{
    for (int n = 0; n < STREAM; n++) {
        struct inst *i = &stream[n];
        *i = (struct inst){.op = c->op, .format = c->format, .dwords = 1, .src_count = c->sources};
        i->dst = vgpr(4 * n + 7, c->dwords);
        i->sdst = (struct operand){.kind = OPND_SREG, .dwords = 2, .index = SREG_VCC};
        for (int s = 0; s < c->sources; s++)
            i->src[s] = vgpr(4 * n + 2 * s, c->dwords);
        if (c->op == OP_V_READLANE_B32) {
            i->dst = (struct operand){.kind = OPND_SREG, .dwords = 1, .index = 3};
            i->src[1] = (struct operand){.kind = OPND_CONST, .dwords = 1, .value = 5};
        }
        for (int s = 0; s < 3; s++)
            i->src[s].index %= REGISTERS - 1;
        i->dst.index %= REGISTERS - 1;
        if (c->sources == 1) /* or functions would be applied to their own results */
            i->dst.index = (uint16_t)(REGISTERS + 4 * n % (2 * MATRIX_ROWS - 4));
        if (c->scalar_first)
            i->src[0] = (struct operand){.kind = OPND_SREG, .dwords = 1, .index = 4};
        i->neg = c->neg;
        i->op_sel_hi = 7;
        i->modifier = c->modifier;
        i->sdwa.dst_sel = i->sdwa.src1_sel = 6; /* whole dwords; the first source is a byte */
        i->dpp.ctrl = c->control;
        i->dpp.row_mask = i->dpp.bank_mask = 0xf;
        i->exec = valu_handler(i);
        if (!i->exec)
            return -1;
    }
    stream[STREAM].exec = end_of_stream;
    return 0;
}

/* Halves of both signs between a half and two, in both parts of each lane. Not all operations take
 * the same time for all values, and those of a long chain would end as zeros or infinities. */
static void halves_set(void)
{
    static lane_row values[REGISTERS];
    uint32_t *word = values[0], state = 1;
    for (int n = 0; !values[REGISTERS - 1][WAVE_LANES - 1] && n < REGISTERS * WAVE_LANES; n++) {
        state = state * 1664525 + 1013904223;
        word[n] = 0x38003800 + (state >> 4 & 0x07ff07ff) + (state << 4 & 0x80008000);
    }
    memcpy(registers, values, sizeof values);
}

static void registers_fill(void)
{
    for (size_t r = 0; r < sizeof registers / sizeof *registers; r++)
        for (size_t l = 0; l < WAVE_LANES; l++)
            registers[r][l] = (0x3f80 + (uint32_t)(r + l) % 64) * 0x10001;
}
/* The same of everything else: registers as they were at first. */
static void values_set(void)
{
    static lane_row values[REGISTERS];
    if (!values[0][0]) {
        registers_fill();
        memcpy(values, registers, sizeof values);
    }
    memcpy(registers, values, sizeof values);
}
/* Elements of matrices: any digits, both signs, eight magnitudes up to 2, as 32 bits hold them. */
static uint32_t matrix_elements(enum matrix_format format)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    const uint32_t r = (uint32_t)(state >> 32);
    switch (format) {
    case MATRIX_F32:
    case MATRIX_F64:
        return (r & 0x83ffffff) | 0x3c000000;
    case MATRIX_F16:
        return (r & 0x9fff9fff) | 0x20002000;
    case MATRIX_BF16:
        return (r & 0x83ff83ff) | 0x3c003c00;
    case MATRIX_FP8: /* of four bits of exponent, whose bias is 8 */
        return ((r & 0x3f3f3f3f) + 0x08080808) | (r & 0x80808080);
    default:
        return r;
    }
}
/* A and B at first, and sums of nothing, as a program's loop over k begins with. */
static lane_row matrices[REGISTERS];
static void matrices_fill(enum matrix_format format)
{
    uint32_t *word = matrices[0];
    for (int n = 0; n < REGISTERS * WAVE_LANES; n++)
        word[n] = matrix_elements(format);
}
static void matrices_set(void)
{
    memcpy(registers, matrices, sizeof matrices);
    memset(registers + REGISTERS, 0, sizeof registers - sizeof matrices);
}

static double rate(int passes, void (*set)(void))
{
    double best = 0;
    for (int round = 0; round < 3; round++) {
        const double start = seconds();
        for (int n = 0; n < passes; n++) {
            set();
            for (const struct inst *i = stream; i; i = i->exec(&wave, i))
                ;
        }
        const double r = (double)passes * STREAM / (seconds() - start) * 1e-6;
        best = r > best ? r : best;
    }
    return best;
}

static void vectors_measure(void)
{
    printf("%s: M wave-instructions/s, one thread\n%-22s %9s %9s\n", valu_isa_name(), "",
           "full EXEC", "half EXEC");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        if (stream_make(&cases[n]) != 0) {
            printf("%-18s no handler\n", cases[n].name);
            continue;
        }
        valu_enter(&wave);
        wave.s64[SREG_EXEC / 2] = ~UINT64_C(0);
        registers_fill();
        void (*set)(void) = strstr(cases[n].name, "f16") ? halves_set : values_set;
        const double full = rate(PASSES, set);
        wave.s64[SREG_EXEC / 2] = UINT64_C(0x5555555555555555);
        printf("%-22s %9.1f %9.1f\n", cases[n].name, full, rate(PASSES, set));
        valu_leave();
    }
}

/* A and B change from one instruction to the next, results add up in two places in turn. */
static int matrix_stream_make(const struct matrix_case *c)
{
    for (int n = 0; n < STREAM; n++) {
        struct inst *i = &stream[n];
        *i = (struct inst){.op = c->op, .format = FMT_VOP3P, .klass = CLASS_MFMA, .dwords = 1};
        i->flags = c->flags;
        i->src[0] = vgpr(4 * n % 32, c->a_dwords);
        i->src[1] = vgpr(32 + 4 * n % 32, c->a_dwords);
        i->src[2] = i->dst = vgpr(REGISTERS + n % 2 * (MATRIX_ROWS + 2), MATRIX_ROWS);
        i->exec = valu_handler(i);
        if (!i->exec)
            return -1;
    }
    stream[STREAM].exec = end_of_stream;
    return 0;
}

static double host_gflops(void)
{
    double best = 0;
    static volatile float sink;
    for (int round = 0; round < 5; round++) {
        float x;
        const double start = seconds();
        const uint64_t operations = host_loop(2000000, &x);
        const double r = (double)operations / (seconds() - start) * 1e-9;
        sink = x;
        best = r > best ? r : best;
    }
    (void)sink;
    return best;
}

static void matrices_measure(void)
{
    const double host = host_gflops();
    printf("\n%-18s %9s %9s   (the host's loop, f32: %.1f; f64 is compared with half of it)\n",
           "v_mfma_", "Gop/s", "of host", host);
    for (size_t n = 0; n < sizeof matrix_cases / sizeof *matrix_cases; n++) {
        const struct matrix_case *c = &matrix_cases[n];
        matrices_fill(c->format);
        if (matrix_stream_make(c) != 0) {
            printf("%-18s no handler\n", c->name);
            continue;
        }
        valu_enter(&wave);
        const double got = rate(200, matrices_set) * c->operations * 1e-3;
        valu_leave();
        printf("%-18s %9.1f %8.0f%%\n", c->name, got,
               100 * got / (c->format == MATRIX_F64 ? host / 2 : host));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && valu_build_select(argv[1]) != 0) {
        fprintf(stderr, "valu_bench: this CPU cannot run the build '%s'\n", argv[1]);
        return 1;
    }
    wave.v = wave.a = registers;
    valu_mode_set(&wave, 0x3f0);
    registers_fill();
    if (argc <= 2)
        vectors_measure();
    matrices_measure();
    return 0;
}
