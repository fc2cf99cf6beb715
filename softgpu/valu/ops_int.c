/* Integer operations. */
#include "valu/core_int.h"
#include "valu/define.h"
#include "valu/simd.h"
#include "valu/tables.h"

/* Carry operations: the value goes to d, the carry to m (0 or ~0 in each lane). What has a carry is
 * out of range, so that clamp makes it LIMIT. */
#define CARRY(NAME, WIDE, LIMIT)                                                                   \
    CARRY_ROWS(NAME, WIDE, sum) CARRY_ROWS(NAME##_clamped, WIDE, m_[l] ? LIMIT : sum)
#define CARRY_ROWS(NAME, WIDE, RESULT)                                                             \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        LANES                                                                                      \
        {                                                                                          \
            const u32 a = a_[l], b = b_[l];                                                        \
            const u32 sum = (WIDE);                                                                \
            m_[l] = CARRY_OUT;                                                                     \
            d_[l] = (RESULT);                                                                      \
        }                                                                                          \
    }
#define CARRY_OUT (sum < a ? ~0u : 0)
CARRY(V_ADD_CO_U32, a + b, ~0u)
#undef CARRY_OUT
#define CARRY_OUT (a < b ? ~0u : 0)
CARRY(V_SUB_CO_U32, a - b, 0u)
#undef CARRY_OUT
#define CARRY_OUT (b < a ? ~0u : 0)
CARRY(V_SUBREV_CO_U32, b - a, 0u)
#undef CARRY_OUT
/* These have a carry in: c is 0 or ~0, so that subtracting it adds one. */
#define CARRY_OUT ((sum < a) | ((sum == a) & (c_[l] != 0)) ? ~0u : 0)
CARRY(V_ADDC_CO_U32, a + b - c_[l], ~0u)
#undef CARRY_OUT
#define CARRY_OUT ((a < b) | ((a == b) & (c_[l] != 0)) ? ~0u : 0)
CARRY(V_SUBB_CO_U32, a - b + c_[l], 0u)
#undef CARRY_OUT
#define CARRY_OUT ((b < a) | ((a == b) & (c_[l] != 0)) ? ~0u : 0)
CARRY(V_SUBBREV_CO_U32, b - a + c_[l], 0u)
#undef CARRY_OUT

static void V_MAD_U64_U32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    LANES
    {
        const u64 c = LOAD_u64(c_, l);
        const u64 sum = (u64)a_[l] * b_[l] + c;
        m_[l] = sum < c ? ~0u : 0;
        STORE_u64(d_, l, sum);
    }
}
static void V_MAD_I64_I32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    LANES
    {
        const u64 c = LOAD_u64(c_, l);
        const u64 product = (u64)((i64)(i32)a_[l] * (i32)b_[l]);
        const u64 sum = product + c;
        /* It is signed overflow when both addends have the other sign than the sum. */
        m_[l] = (i64)((product ^ sum) & (c ^ sum)) < 0 ? ~0u : 0;
        STORE_u64(d_, l, sum);
    }
}

/* Four sums over a window of 4 bytes that slides through a by one byte. */
#define QSAD(NAME, SAD, FINISH)                                                                    \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        LANES                                                                                      \
        {                                                                                          \
            const u64 a = LOAD_u64(a_, l), c = LOAD_u64(c_, l);                                    \
            u64 r = 0;                                                                             \
            for (int n = 0; n < 4; n++) {                                                          \
                const u64 sum = SAD((u32)(a >> (8 * n)), b_[l]) + (c >> (16 * n) & 0xffff);        \
                r |= (u64)(u16)(FINISH) << (16 * n);                                               \
            }                                                                                      \
            STORE_u64(d_, l, r);                                                                   \
        }                                                                                          \
    }
QSAD(V_QSAD_PK_U16_U8, sad_u8, sum)
QSAD(V_QSAD_PK_U16_U8_clamped, sad_u8, clamp_u16((i64)sum))
QSAD(V_MQSAD_PK_U16_U8, msad_u8, sum)
QSAD(V_MQSAD_PK_U16_U8_clamped, msad_u8, clamp_u16((i64)sum))

#define MQSAD32(NAME, FINISH)                                                                      \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        for (int l = 0; l < WAVE_LANES; l++) {                                                     \
            const u64 a = LOAD_u64(a_, l);                                                         \
            u32 r[4];                                                                              \
            for (int n = 0; n < 4; n++) {                                                          \
                const u64 sum = msad_u8((u32)(a >> (8 * n)), b_[l]) + c_[n * WAVE_LANES + l];      \
                r[n] = FINISH;                                                                     \
            }                                                                                      \
            for (int n = 0; n < 4; n++)                                                            \
                d_[n * WAVE_LANES + l] = r[n];                                                     \
        }                                                                                          \
    }
MQSAD32(V_MQSAD_U32_U8, (u32)sum)
MQSAD32(V_MQSAD_U32_U8_clamped, clamp_u32(sum))

#include "valu/ops_int16.def"
#include "valu/ops_int32.def"

#include "valu/entries.h"
static const struct valu_op entries[] = {
#include "valu/ops_int16.def"
#include "valu/ops_int32.def"
};
const struct valu_table VALU(valu_table_int) = {entries, sizeof entries / sizeof entries[0]};
