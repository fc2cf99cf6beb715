/*
 * Measures loops of vector instructions, without a runtime around them: millions of them a second
 * of processor time on one thread, of kernels whose time nobody sees. CROCGPU_TRANSLATE=0 says what
 * the interpreter alone does. Usage: vector_bench [KERNEL [RUNS]].
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wave/kernel_runner.h"

enum {
    GROUPS = 64,
    GROUP = 256,
    WAVES = GROUPS * GROUP / 64,
    ROUNDS = 100,
    TEXT_BYTES = 16384,
    LDS_BYTES = 4096,
    MEMORY_BYTES = 65536
};

/* v1: where a lane's element of 1 << shift bytes is. */
#define LANES_BY(shift)                                                                            \
    "s_mov_b32 m0, -1\n v_mbcnt_lo_u32_b32 v1, -1, 0\n v_mbcnt_hi_u32_b32 v1, -1, v1\n"            \
    "v_lshlrev_b32 v1, " #shift ", v1\n"

/* Memory from s[4:5] on; lanes' elements in it in no order, in 16 KB. */
#define MEMORY "s_load_dwordx2 s[4:5], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n"
#define SCATTERED(shift)                                                                           \
    MEMORY LANES_BY(0) "v_mul_u32_u24 v1, 0x16ab, v1\n v_and_b32 v1, 0x3ff, v1\n"                  \
                       "v_lshlrev_b32 v1, " #shift ", v1\n"
#define ONE_PLACE "v_mov_b32 v1, 0\n v_mov_b32 v2, 7\n"
/* An image of 64 by 64 texels in s[8:15], words 1 and 3 but for its address; texels of a row, or in
 * no order, in v[2:3]; and where these are for a sampler, in s[16:19], in v[4:5]. */
#define IMAGE(word_1, word_3)                                                                      \
    MEMORY LANES_BY(0) "v_mov_b32 v2, v1\n v_mov_b32 v3, 5\n s_lshr_b64 s[8:9], s[4:5], 8\n"       \
                       "s_or_b32 s9, s9, " word_1                                                  \
                       "\n s_mov_b32 s10, 0xfc03f\n s_mov_b32 s11, " word_3                        \
                       "\n s_mov_b32 s12, 0x7e000\n s_mov_b32 s13, 0\n s_mov_b64 s[14:15], 0\n"
#define IMAGE_APART                                                                                \
    "v_mul_u32_u24 v2, 0x1d, v1\n v_and_b32 v2, 63, v2\n v_mul_u32_u24 v3, 0x2b, v1\n"             \
    "v_and_b32 v3, 63, v3\n"
#define SAMPLER(word_2)                                                                            \
    "s_mov_b32 s16, 0x92\n s_mov_b32 s17, 0xfff000\n s_mov_b32 s18, " word_2                       \
    "\n s_mov_b32 s19, 0\n v_cvt_f32_u32 v4, v2\n v_cvt_f32_u32 v5, v3\n"                          \
    "v_mov_b32 v6, 0x3c800000\n v_mov_b32 v7, 0x3c200000\n v_fma_f32 v4, v4, v6, v7\n"             \
    "v_fma_f32 v5, v5, v6, v7\n"
#define FLOAT4  "0x1ce00000"
#define BYTES4  "0xa00000"
#define LINEAR  "0x90000fac"
#define SWIZZLE "0x90a00fac"

#define HALF_EXEC "s_mov_b32 exec_lo, 0x5a5a5a5a\n s_mov_b32 exec_hi, 0x5a5a5a5a\n"

#define HALVES_AND_QUARTERS                                                                        \
    "v_mov_b32 v0, 0x38003800\n v_mov_b32 v1, 0x34003400\n v_mov_b32 v2, 0\n v_mov_b32 v3, 0\n "   \
    "v_mov_b32 v4, 0\n v_mov_b32 v5, 0\n"

static const struct bench {
    const char *name, *begin, *body; /* the body stands `times` times in a loop */
    unsigned times, instructions;    /* of one */
} benches[] = {
    {"f32", "",
     "v_fma_f32 v2, v0, v1, v2\n v_fma_f32 v3, v0, v1, v3\n v_mul_f32 v4, v2, v3\n"
     "v_sub_f32 v5, v4, v2\n v_fma_f32 v6, -v5, v0, 1.0\n v_max_f32 v7, v6, v7\n",
     4, 6},
    {"packed_f32", "",
     "v_pk_fma_f32 v[2:3], v[0:1], v[4:5], v[2:3]\n v_pk_mul_f32 v[6:7], v[2:3], v[4:5]\n", 8, 2},
    {"f64", "",
     "v_fma_f64 v[2:3], v[0:1], v[4:5], v[2:3]\n v_mul_f64 v[6:7], v[2:3], v[4:5]\n"
     "v_add_f64 v[8:9], v[6:7], v[2:3]\n",
     6, 3},
    {"md5", "",
     "v_bfi_b32 v5, v1, v2, v3\n v_add3_u32 v4, v5, v0, s9\n v_alignbit_b32 v4, v4, v4, "
     "25\n"
     "v_add_u32 v0, v4, v1\n v_xor_b32 v6, v0, v2\n v_add_u32 v3, v6, v3\n",
     4, 6},
    {"address", "",
     "v_lshlrev_b64 v[2:3], 2, v[0:1]\n v_mov_b32 v5, s9\n v_add_co_u32 v4, vcc, s8, v2\n"
     "v_addc_co_u32 v5, vcc, v5, v3, vcc\n v_mad_u64_u32 v[0:1], s[18:19], s8, v2, v[0:1]\n"
     "v_cmp_gt_u64 vcc, s[10:11], v[0:1]\n v_cndmask_b32 v6, v4, v5, vcc\n",
     4, 7},
    {"divergent", "s_mov_b64 exec, 0x7\n",
     "v_fma_f32 v2, v0, v1, v2\n v_add_u32 v3, v0, v3\n v_mul_f32 v4, v2, v3\n v_xor_b32 v5, v4, "
     "v2\n",
     6, 4},
    /* Sums of all lanes of a row and those before; unpacking of bytes and words. */
    {"dpp", "",
     "v_mov_b32_dpp v2, v1 row_shr:1 row_mask:0xf bank_mask:0xf\n v_add_u32 v1, v1, v2\n"
     "v_mov_b32_dpp v3, v1 row_shr:4 row_mask:0xf bank_mask:0xe\n v_add_u32 v1, v1, v3\n"
     "v_add_u32_dpp v4, v1, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0\n",
     4, 5},
    {"sdwa", "",
     "v_or_b32_sdwa v2, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD\n"
     "v_cvt_f32_i32_sdwa v3, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1\n"
     "v_add_u32_sdwa v4, v3, v4 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 "
     "src1_sel:WORD_1\n",
     6, 3},
    /* Of numbers that stay ordinary ones. */
    {"f16", HALVES_AND_QUARTERS,
     "v_fma_f16 v2, v0, v2, v1\n v_fma_f16 v3, v0, v3, v1\n v_fma_f16 v4, v1, v4, v0\n"
     "v_fma_f16 v5, v1, v5, v0\n v_mul_f16 v6, v2, v1\n v_add_f16 v7, v3, v1\n"
     "v_min_f16 v8, v4, v5\n",
     3, 7},
    {"packed_f16", HALVES_AND_QUARTERS,
     "v_pk_fma_f16 v2, v0, v2, v1\n v_pk_fma_f16 v3, v0, v3, v1 op_sel_hi:[0,1,1]\n"
     "v_pk_fma_f16 v4, v1, v4, v0\n v_pk_fma_f16 v5, v1, v5, v0\n v_pk_mul_f16 v6, v2, v1\n"
     "v_pk_add_f16 v7, v3, v1\n v_pk_max_f16 v8, v4, v5\n",
     3, 7},
    {"order_f16", HALVES_AND_QUARTERS,
     "v_pk_max_f16 v2, v0, v1\n v_pk_min_f16 v3, v1, v0\n v_max_f16 v4, v2, v3\n"
     "v_med3_f16 v5, v2, v3, v4\n v_cmp_lt_f16 vcc, v2, v3\n",
     3, 5},
    /* What sums of halves in single precision begin and end with. */
    {"mixed_f16", HALVES_AND_QUARTERS,
     "v_fma_mix_f32 v2, v0, v1, v2 op_sel_hi:[1,1,0]\n v_cvt_f32_f16 v3, v0\n"
     "v_fma_f32 v4, v3, v4, v2\n v_cvt_f16_f32 v5, v3\n v_pack_b32_f16 v6, v5, v0\n",
     4, 5},
    {"words", "",
     "v_pk_add_u16 v2, v0, v2\n v_lshlrev_b16 v3, 3, v2\n v_mul_lo_u16 v4, v3, v1\n"
     "v_pk_max_i16 v5, v4, v2\n v_cmp_lt_u16 vcc, v5, v4\n",
     4, 5},
    {"bits", "",
     "v_mbcnt_lo_u32_b32 v2, -1, v0\n v_mbcnt_hi_u32_b32 v2, -1, v2\n v_bcnt_u32_b32 v3, v2, v3\n"
     "v_bfrev_b32 v4, v3\n v_ffbl_b32 v5, v4\n v_cmp_class_f64 vcc, v[4:5], 3\n",
     4, 6},
    {"trans", HALVES_AND_QUARTERS,
     "v_exp_f32 v2, v0\n v_log_f32 v3, v1\n v_sin_f32 v4, v0\n v_cos_f32 v5, v1\n"
     "v_rsq_f32 v6, v0\n v_rcp_f32 v7, v1\n",
     3, 6},
    {"f64_others", "v_cvt_f64_i32 v[2:3], v0\n",
     "v_cvt_i32_f64 v4, v[2:3]\n v_cvt_f64_f32 v[6:7], v4\n v_max_f64 v[8:9], v[6:7], v[2:3]\n"
     "v_floor_f64 v[10:11], v[2:3]\n v_ldexp_f64 v[12:13], v[2:3], v4\n v_rcp_f64 v[14:15], "
     "v[2:3]\n",
     3, 6},
    {"dot", "",
     "v_dot4_i32_i8 v2, v0, v1, v2\n v_dot4_i32_i8 v3, v1, v0, v3\n v_mac_f32 v4, v0, v1\n"
     "v_mac_f32 v5, v1, v0\n v_mac_f32 v6, v1, v1\n v_mac_f32 v7, v0, v0\n"
     "v_dot2c_f32_f16 v8, v0, v1\n",
     3, 7},
    /* v0 / v1, v[8:9] / v[10:11], as compilers write them. */
    {"division", HALVES_AND_QUARTERS,
     "v_div_scale_f32 v2, s[18:19], v1, v1, v0\n v_rcp_f32 v3, v2\n v_fma_f32 v4, -v2, v3, 1.0\n"
     "v_fma_f32 v3, v4, v3, v3\n v_div_scale_f32 v4, vcc, v0, v1, v0\n v_mul_f32 v5, v4, v3\n"
     "v_fma_f32 v6, -v2, v5, v4\n v_fma_f32 v5, v6, v3, v5\n v_fma_f32 v2, -v2, v5, v4\n"
     "v_div_fmas_f32 v2, v2, v3, v5\n v_div_fixup_f32 v7, v2, v1, v0\n",
     2, 11},
    {"division_f64", HALVES_AND_QUARTERS "v_cvt_f64_f32 v[8:9], v0\n v_cvt_f64_f32 v[10:11], v1\n",
     "v_div_scale_f64 v[2:3], s[18:19], v[10:11], v[10:11], v[8:9]\n v_rcp_f64 v[4:5], v[2:3]\n"
     "v_fma_f64 v[6:7], -v[2:3], v[4:5], 1.0\n v_fma_f64 v[4:5], v[4:5], v[6:7], v[4:5]\n"
     "v_fma_f64 v[6:7], -v[2:3], v[4:5], 1.0\n v_fma_f64 v[4:5], v[4:5], v[6:7], v[4:5]\n"
     "v_div_scale_f64 v[6:7], vcc, v[8:9], v[10:11], v[8:9]\n v_mul_f64 v[12:13], v[6:7], v[4:5]\n"
     "v_fma_f64 v[2:3], -v[2:3], v[12:13], v[6:7]\n"
     "v_div_fmas_f64 v[2:3], v[2:3], v[4:5], v[12:13]\n"
     "v_div_fixup_f64 v[14:15], v[2:3], v[10:11], v[8:9]\n",
     2, 11},
    /* A loop of one, as compilers leave it, and of eight, as libraries do. */
    {"matrix_f32", "", "v_mfma_f32_32x32x2f32 v[16:31], v0, v1, v[16:31]\n", 1, 1},
    {"matrix_f32_16_2", "",
     "v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]\n v_mfma_f32_16x16x4f32 a[4:7], v0, v2, a[4:7]\n"
     "v_mfma_f32_16x16x4f32 a[0:3], v3, v4, a[0:3]\n v_mfma_f32_16x16x4f32 a[4:7], v3, v5, "
     "a[4:7]\n",
     4, 4},
    {"matrix_f64", "", "v_mfma_f64_16x16x4f64 v[16:23], v[0:1], v[2:3], v[16:23]\n", 1, 1},
    {"matrix_f64_8", "", "v_mfma_f64_16x16x4f64 v[16:23], v[0:1], v[2:3], v[16:23]\n", 8, 1},
    {"matrix_f16", HALVES_AND_QUARTERS,
     "v_mfma_f32_32x32x8f16 v[16:31], v[0:1], v[0:1], v[16:31]\n", 1, 1},
    {"lds_broadcast", "v_mov_b32 v1, 64\n", "ds_read_b32 v2, v1\n ds_read_b32 v3, v1 offset:4\n", 8,
     2},
    {"lds_contiguous", LANES_BY(2), "ds_read_b32 v2, v1\n ds_read_b32 v3, v1 offset:256\n", 8, 2},
    /* Of a tile of 16 by 16, what its product reads. */
    {"lds_tile",
     LANES_BY(2) "v_and_b32 v8, 60, v1\n v_lshlrev_b32 v9, 2, v1\n v_and_b32 v9, 0xff00, v9\n",
     "ds_read2_b32 v[2:3], v9 offset1:1\n ds_read2_b32 v[4:5], v8 offset1:16\n", 8, 2},
    {"lds_scattered", LANES_BY(2) "v_mul_u32_u24 v1, 25, v1\n v_and_b32 v1, 0x7fc, v1\n",
     "ds_read_b32 v2, v1\n ds_read_b32 v3, v1 offset:256\n", 8, 2},
    {"lds_b64", LANES_BY(3), "ds_read_b64 v[2:3], v1\n", 8, 1},
    {"lds_b96", LANES_BY(2) "v_mul_u32_u24 v1, 3, v1\n", "ds_read_b96 v[2:4], v1\n", 8, 1},
    {"lds_b128", LANES_BY(4), "ds_read_b128 v[2:5], v1\n", 8, 1},
    {"lds_b128_broadcast", "v_mov_b32 v1, 64\n", "ds_read_b128 v[2:5], v1\n", 8, 1},
    {"lds_b128_apart", LANES_BY(4) "v_mul_u32_u24 v1, 3, v1\n", "ds_read_b128 v[2:5], v1\n", 8, 1},
    {"lds_both", LANES_BY(2), "ds_write_b32 v1, v2\n ds_read_b32 v2, v1\n", 8, 2},
    {"lds_write", LANES_BY(2), "ds_write_b32 v1, v2\n ds_write_b32 v1, v3 offset:256\n", 8, 2},
    {"lds_write_b64", LANES_BY(3), "ds_write_b64 v1, v[2:3]\n", 8, 1},
    {"lds_write_b96", LANES_BY(2) "v_mul_u32_u24 v1, 3, v1\n", "ds_write_b96 v1, v[2:4]\n", 8, 1},
    {"lds_write_b128", LANES_BY(4), "ds_write_b128 v1, v[2:5]\n", 8, 1},
    {"lds_write_b128_apart", LANES_BY(4) "v_mul_u32_u24 v1, 3, v1\n", "ds_write_b128 v1, v[2:5]\n",
     8, 1},
    /* Memory that the host's first cache has. */
    {"gather", SCATTERED(2), "global_load_dword v2, v1, s[4:5]\n", 8, 1},
    {"gather_half", SCATTERED(2) HALF_EXEC, "global_load_dword v2, v1, s[4:5]\n", 8, 1},
    {"gather_b64", SCATTERED(3), "global_load_dwordx2 v[2:3], v1, s[4:5]\n", 8, 1},
    {"gather_b128", SCATTERED(4), "global_load_dwordx4 v[2:5], v1, s[4:5]\n", 8, 1},
    {"gather_bytes", SCATTERED(0), "global_load_ubyte v2, v1, s[4:5]\n", 8, 1},
    {"bytes", MEMORY LANES_BY(0), "global_load_ubyte v2, v1, s[4:5] offset:3\n", 8, 1},
    {"scatter", SCATTERED(2), "global_store_dword v1, v2, s[4:5]\n", 8, 1},
    {"scatter_b64", SCATTERED(3), "global_store_dwordx2 v1, v[2:3], s[4:5]\n", 8, 1},
    {"scatter_bytes", SCATTERED(0), "global_store_byte v1, v2, s[4:5]\n", 8, 1},
    {"atomic_add", SCATTERED(2), "global_atomic_add v1, v2, s[4:5]\n", 8, 1},
    {"atomic_add_f32", SCATTERED(2), "global_atomic_add_f32 v1, v2, s[4:5]\n", 8, 1},
    {"atomic_max", SCATTERED(2), "global_atomic_smax v1, v2, s[4:5]\n", 8, 1},
    /* All lanes in one place, and four in each of sixteen. */
    {"atomic_add_one", MEMORY ONE_PLACE, "global_atomic_add v1, v2, s[4:5]\n", 8, 1},
    {"atomic_inc_one", MEMORY ONE_PLACE, "global_atomic_inc v3, v1, v2, s[4:5] glc\n", 8, 1},
    {"atomic_f32_one", MEMORY ONE_PLACE, "global_atomic_add_f32 v1, v2, s[4:5]\n", 8, 1},
    {"atomic_add_16", MEMORY LANES_BY(2) "v_and_b32 v1, 60, v1\n",
     "global_atomic_add v1, v2, s[4:5]\n", 8, 1},
    {"image_load", IMAGE(FLOAT4, LINEAR), "image_load v[8:11], v[2:3], s[8:15] dmask:0xf unorm\n",
     4, 1},
    {"image_swizzled", IMAGE(FLOAT4, SWIZZLE) IMAGE_APART,
     "image_load v[8:11], v[2:3], s[8:15] dmask:0xf unorm\n", 4, 1},
    {"image_bytes", IMAGE(BYTES4, LINEAR) IMAGE_APART,
     "image_load v[8:11], v[2:3], s[8:15] dmask:0xf unorm\n", 4, 1},
    {"image_store", IMAGE(BYTES4, LINEAR), "image_store v[8:11], v[2:3], s[8:15] dmask:0xf unorm\n",
     4, 1},
    {"sample_nearest", IMAGE(FLOAT4, SWIZZLE) IMAGE_APART SAMPLER("0"),
     "image_sample v[8:11], v[4:5], s[8:15], s[16:19] dmask:0xf\n", 4, 1},
    {"sample_linear", IMAGE(BYTES4, SWIZZLE) IMAGE_APART SAMPLER("0x500000"),
     "image_sample v[8:11], v[4:5], s[8:15], s[16:19] dmask:0xf\n", 4, 1},
    {"sample_one", IMAGE("0x1c400000", SWIZZLE) IMAGE_APART SAMPLER("0x500000"),
     "image_sample v8, v[4:5], s[8:15], s[16:19] dmask:0x1\n", 4, 1},
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void program_write(const struct bench *bench, char text[TEXT_BYTES])
{
    int length = snprintf(text, TEXT_BYTES, "%s s_mov_b32 s20, %d\nloop:\n", bench->begin, ROUNDS);
    for (unsigned n = 0; n < bench->times; n++)
        length += snprintf(text + length, (size_t)(TEXT_BYTES - length), "%s", bench->body);
    snprintf(text + length, (size_t)(TEXT_BYTES - length),
             "s_sub_i32 s20, s20, 1\n s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 loop\n s_endpgm\n");
}

static int measure(const struct bench *bench, int runs)
{
    static char text[TEXT_BYTES];
    struct kernel_runner *runner;
    struct dispatch_result result;
    double best = 1e30;
    program_write(bench, text);
    if (kernel_runner_create(1, MEMORY_BYTES, &runner) < 0)
        return -1;
    kernel_runner_set_timed(runner, false);
    bool good = kernel_runner_load(runner, 0, text) == 0;
    for (int run = 0; good && run < runs; run++) {
        double start = seconds();
        kernel_runner_start(runner, 0,
                            (struct kernel_geometry){GROUPS * GROUP, GROUP, LDS_BYTES, 0});
        good = kernel_runner_wait(runner, &result) && result.fault == 0;
        double took = seconds() - start;
        best = took < best ? took : best;
    }
    kernel_runner_destroy(runner);
    double count = (double)WAVES * ROUNDS * bench->times * bench->instructions;
    printf("%-12s %8.2f M wave-instructions/s%s\n", bench->name, count / best * 1e-6,
           good ? "" : " FAILED");
    return good ? 0 : -1;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : NULL;
    int runs = argc > 2 ? atoi(argv[2]) : 9, status = 0;
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        if (!wanted || !strcmp(wanted, benches[i].name))
            status |= measure(&benches[i], runs);
    return status ? 1 : 0;
}
