/* What valu_bench asks of matrix instructions: operations a second, and those of a bare loop of the
 * host's vector unit to compare them with. f16 and bf16 by their older names as an MI200 has them,
 * which flushes denormals. */
#ifndef VALU_MATRIX_BENCH_H
#define VALU_MATRIX_BENCH_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/inst.h"
#include "isa_ops.h"

enum matrix_format { MATRIX_F32, MATRIX_F16, MATRIX_BF16, MATRIX_FP8, MATRIX_I8, MATRIX_F64 };
struct matrix_case {
    const char *name;
    uint16_t op;
    uint8_t a_dwords;
    uint8_t format;      /* enum matrix_format */
    uint32_t operations; /* multiplications and additions of one instruction */
    uint32_t flags;      /* IF_... */
};

static const struct matrix_case matrix_cases[] = {
    {"f32_32x32x1f32", OP_V_MFMA_F32_32X32X1F32, 1, MATRIX_F32, 4096, 0},
    {"f32_32x32x2f32", OP_V_MFMA_F32_32X32X2F32, 1, MATRIX_F32, 4096, 0},
    {"f32_16x16x4f32", OP_V_MFMA_F32_16X16X4F32, 1, MATRIX_F32, 2048, 0},
    {"f32_4x4x1f32", OP_V_MFMA_F32_4X4X1F32, 1, MATRIX_F32, 512, 0},
    {"f32_4x4x4f16", OP_V_MFMA_F32_4X4X4F16, 2, MATRIX_F16, 2048, IF_FLUSH_F16},
    {"f32_4x4x4bf16_1k", OP_V_MFMA_F32_4X4X4BF16_1K, 2, MATRIX_BF16, 2048, IF_FLUSH_F16},
    {"f32_32x32x8f16", OP_V_MFMA_F32_32X32X8F16, 2, MATRIX_F16, 16384, IF_FLUSH_F16},
    {"f32_16x16x16f16", OP_V_MFMA_F32_16X16X16F16, 2, MATRIX_F16, 8192, IF_FLUSH_F16},
    {"f32_32x32x8bf16_1k", OP_V_MFMA_F32_32X32X8BF16_1K, 2, MATRIX_BF16, 16384, IF_FLUSH_F16},
    {"f32_32x32x4bf16", OP_V_MFMA_F32_32X32X4BF16, 1, MATRIX_BF16, 8192, IF_FLUSH_F16},
    {"f32_32x32x8_f16", OP_V_MFMA_F32_32X32X8_F16, 2, MATRIX_F16, 16384, 0},
    {"f32_16x16x16_f16", OP_V_MFMA_F32_16X16X16_F16, 2, MATRIX_F16, 8192, 0},
    {"f32_16x16x16_bf16", OP_V_MFMA_F32_16X16X16_BF16, 2, MATRIX_BF16, 8192, 0},
    {"f32_32x32x8_bf16", OP_V_MFMA_F32_32X32X8_BF16, 2, MATRIX_BF16, 16384, 0},
    {"f32_4x4x4_16b_f16", OP_V_MFMA_F32_4X4X4_16B_F16, 2, MATRIX_F16, 2048, 0},
    {"f32_16x16x8_xf32", OP_V_MFMA_F32_16X16X8_XF32, 2, MATRIX_F32, 4096, 0},
    {"f32_16x16x32_fp8_fp8", OP_V_MFMA_F32_16X16X32_FP8_FP8, 2, MATRIX_FP8, 16384, 0},
    {"f32_32x32x16_bf8_fp8", OP_V_MFMA_F32_32X32X16_BF8_FP8, 2, MATRIX_FP8, 32768, 0},
    {"i32_4x4x4i8", OP_V_MFMA_I32_4X4X4I8, 1, MATRIX_I8, 2048, 0},
    {"i32_32x32x8i8", OP_V_MFMA_I32_32X32X8I8, 1, MATRIX_I8, 16384, 0},
    {"i32_16x16x16i8", OP_V_MFMA_I32_16X16X16I8, 1, MATRIX_I8, 8192, 0},
    {"f64_16x16x4f64", OP_V_MFMA_F64_16X16X4F64, 2, MATRIX_F64, 2048, 0},
    {"f64_4x4x4f64", OP_V_MFMA_F64_4X4X4F64, 2, MATRIX_F64, 512, 0},
};

enum { HOST_CHAINS = 12, HOST_OPERATIONS = 2 * HOST_CHAINS };

/* HOST_CHAINS independent chains of fused multiply-adds; returns lanes * rounds * HOST_OPERATIONS.
 */
__attribute__((target("avx512f"))) static inline uint64_t host_loop_avx512(uint32_t rounds,
                                                                           float *out)
{
    __m512 x[HOST_CHAINS];
    const __m512 factor = _mm512_set1_ps(0.5f), addend = _mm512_set1_ps(1.0f);
    for (int n = 0; n < HOST_CHAINS; n++)
        x[n] = _mm512_set1_ps((float)n);
    for (uint32_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int n = 0; n < HOST_CHAINS; n++)
            x[n] = _mm512_fmadd_ps(x[n], factor, addend);
    for (int n = 1; n < HOST_CHAINS; n++)
        x[0] = _mm512_add_ps(x[0], x[n]);
    *out = _mm512_cvtss_f32(x[0]);
    return (uint64_t)rounds * HOST_OPERATIONS * 16;
}
__attribute__((target("avx2,fma"))) static inline uint64_t host_loop_avx2(uint32_t rounds,
                                                                          float *out)
{
    __m256 x[HOST_CHAINS];
    const __m256 factor = _mm256_set1_ps(0.5f), addend = _mm256_set1_ps(1.0f);
    for (int n = 0; n < HOST_CHAINS; n++)
        x[n] = _mm256_set1_ps((float)n);
    for (uint32_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int n = 0; n < HOST_CHAINS; n++)
            x[n] = _mm256_fmadd_ps(x[n], factor, addend);
    for (int n = 1; n < HOST_CHAINS; n++)
        x[0] = _mm256_add_ps(x[0], x[n]);
    *out = _mm256_cvtss_f32(x[0]);
    return (uint64_t)rounds * HOST_OPERATIONS * 8;
}
static inline uint64_t host_loop_sse(uint32_t rounds, float *out)
{
    __m128 x[HOST_CHAINS];
    const __m128 factor = _mm_set1_ps(0.5f), addend = _mm_set1_ps(1.0f);
    for (int n = 0; n < HOST_CHAINS; n++)
        x[n] = _mm_set1_ps((float)n);
    for (uint32_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int n = 0; n < HOST_CHAINS; n++)
            x[n] = _mm_add_ps(_mm_mul_ps(x[n], factor), addend);
    for (int n = 1; n < HOST_CHAINS; n++)
        x[0] = _mm_add_ps(x[0], x[n]);
    *out = _mm_cvtss_f32(x[0]);
    return (uint64_t)rounds * HOST_OPERATIONS * 4;
}

/* Single precision, with the widest vectors of this CPU whatever build is measured. */
static inline uint64_t host_loop(uint32_t rounds, float *out)
{
    if (__builtin_cpu_supports("avx512f"))
        return host_loop_avx512(rounds, out);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return host_loop_avx2(rounds, out);
    return host_loop_sse(rounds, out);
}

#endif
