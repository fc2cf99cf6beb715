/*
 * Measures kernels that only move memory, without a runtime around them: GB/s of processor time on
 * one thread, of the wall's on several. Usage: wave_bench [KERNEL [MIB [RUNS [THREADS]]]]; with one
 * run, the difference of two sizes under a tool that counts instructions is what a group costs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wave/kernel_runner.h"

enum { HEADER_BYTES = 4096, ARRAYS = 3, GROUP = 256, WAVE = 64 };
/* The first block of a mapping is always looked at for modelled time: arguments seldom lie there.
 */
enum { ARGUMENTS_AT = 256 };

/* What the kernels read: s[0:1] points to the address of the buffer, where this lies. */
struct arguments {
    uint64_t array[ARRAYS];
    uint64_t count; /* of elements */
    uint64_t group, total;
    uint64_t remainder;
};

#define LOAD_ARGUMENTS                                                                             \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"                                                         \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_load_dwordx8 s[8:15], s[4:5], 0x100\n" /* arrays, count */                                  \
    "s_load_dwordx2 s[16:17], s[4:5], 0x120\n"                                                     \
    "s_load_dwordx4 s[20:23], s[4:5], 0x128\n"                                                     \
    "s_waitcnt lgkmcnt(0)\n"

/* A dword for each item, with the tests and the 64-bit arithmetic that runtimes' copies have. */
static const char copy_text[] = LOAD_ARGUMENTS "s_and_b32 s16, s16, 0xffff\n"
                                               "s_mul_i32 s18, s2, s16\n"
                                               "v_add_u32 v0, s18, v0\n"
                                               "v_mov_b32 v1, 0\n"
                                               "v_add_co_u32 v0, vcc, s23, v0\n"
                                               "v_addc_co_u32 v1, vcc, 0, v1, vcc\n"
                                               "v_cmp_gt_u64 vcc, s[14:15], v[0:1]\n"
                                               "s_and_saveexec_b64 s[24:25], vcc\n"
                                               "s_cbranch_execz end\n"
                                               "s_mov_b64 s[30:31], -1\n"
                                               "s_add_u32 s26, s14, -1\n"
                                               "s_addc_u32 s27, s15, -1\n"
                                               "s_cmp_lg_u32 s22, 8\n"
                                               "s_cbranch_scc0 end\n"
                                               "v_cmp_le_u64 vcc, s[26:27], v[0:1]\n"
                                               "s_and_saveexec_b64 s[28:29], vcc\n"
                                               "s_xor_b64 s[28:29], exec, s[28:29]\n"
                                               "s_cbranch_execz body\n"
                                               "s_cmp_eq_u32 s22, 0\n"
                                               "body:\n"
                                               "s_andn2_saveexec_b64 s[28:29], s[28:29]\n"
                                               "s_or_b64 exec, exec, s[28:29]\n"
                                               "v_lshlrev_b64 v[2:3], 2, v[0:1]\n"
                                               "v_mov_b32 v5, s9\n"
                                               "v_add_co_u32 v4, vcc, s8, v2\n"
                                               "v_addc_co_u32 v5, vcc, v5, v3, vcc\n"
                                               "global_load_dword v4, v[4:5], off\n"
                                               "v_mov_b32 v5, s11\n"
                                               "v_add_co_u32 v2, vcc, s10, v2\n"
                                               "v_addc_co_u32 v3, vcc, v5, v3, vcc\n"
                                               "s_waitcnt vmcnt(0)\n"
                                               "global_store_dword v[2:3], v4, off\n"
                                               "s_or_b64 exec, exec, s[28:29]\n"
                                               "s_mov_b64 s[30:31], 0\n"
                                               "end:\n"
                                               "s_endpgm\n";

#define TRIAD_ELEMENT                                                                              \
    "v_lshlrev_b64 v[8:9], 4, v[0:1]\n"                                                            \
    "v_mov_b32 v2, s9\n"                                                                           \
    "v_add_co_u32 v10, vcc, s8, v8\n"                                                              \
    "v_addc_co_u32 v11, vcc, v2, v9, vcc\n"                                                        \
    "v_mov_b32 v2, s11\n"                                                                          \
    "v_add_co_u32 v12, vcc, s10, v8\n"                                                             \
    "v_addc_co_u32 v13, vcc, v2, v9, vcc\n"                                                        \
    "global_load_dwordx4 v[16:19], v[10:11], off\n"                                                \
    "global_load_dwordx4 v[4:7], v[12:13], off\n"                                                  \
    "v_mov_b32 v10, s13\n"                                                                         \
    "s_waitcnt vmcnt(0)\n"                                                                         \
    "v_pk_fma_f32 v[16:17], v[4:5], 2.0, v[16:17] op_sel_hi:[1,0,1]\n"                             \
    "v_add_co_u32 v4, vcc, s12, v8\n"                                                              \
    "v_pk_fma_f32 v[18:19], v[6:7], 2.0, v[18:19] op_sel_hi:[1,0,1]\n"                             \
    "v_addc_co_u32 v5, vcc, v10, v9, vcc\n"                                                        \
    "global_store_dwordx4 v[4:5], v[16:19], off\n"

/* Four floats for each item. */
static const char triad_text[] = LOAD_ARGUMENTS "v_mov_b32 v1, 0\n"
                                                "v_mov_b32 v2, s2\n"
                                                "s_and_b32 s16, s16, 0xffff\n"
                                                "v_mad_u64_u32 v[0:1], s[16:17], s16, v2, v[0:1]\n"
                                                "v_cmp_gt_u64 vcc, s[14:15], v[0:1]\n"
                                                "s_and_saveexec_b64 s[24:25], vcc\n"
                                                "s_cbranch_execz end\n" TRIAD_ELEMENT "end:\n"
                                                "s_endpgm\n";

/* The same as a loop: each item goes on with the element that lies all items further. */
static const char loop_text[] =
    LOAD_ARGUMENTS "v_mov_b32 v1, 0\n"
                   "v_mov_b32 v2, s2\n"
                   "s_and_b32 s16, s16, 0xffff\n"
                   "v_mad_u64_u32 v[0:1], s[18:19], s16, v2, v[0:1]\n"
                   "s_mov_b64 s[24:25], 0\n"
                   "v_mov_b32 v3, s21\n"
                   "loop:\n" TRIAD_ELEMENT "v_add_co_u32 v0, vcc, s20, v0\n"
                   "v_addc_co_u32 v1, vcc, v1, v3, vcc\n"
                   "v_cmp_le_u64 vcc, s[14:15], v[0:1]\n"
                   "s_or_b64 s[24:25], vcc, s[24:25]\n"
                   "s_andn2_b64 exec, exec, s[24:25]\n"
                   "s_cbranch_execnz loop\n"
                   "s_endpgm\n";

static const struct bench {
    const char *name, *text;
    uint32_t element_bytes, arrays, vgprs, group, loop_groups;
} benches[] = {{"copy", copy_text, 4, 2, 8, GROUP, 0},
               {"copy_by_waves", copy_text, 4, 2, 8, WAVE, 0},
               {"triad", triad_text, 16, 3, 24, GROUP, 0},
               {"triad_loop", loop_text, 16, 3, 24, GROUP, 64}};

static double seconds(int threads)
{
    struct timespec t;
    clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void arguments_set(struct kernel_runner *runner, const struct bench *bench, size_t bytes,
                          uint32_t groups)
{
    uint8_t *buffer = kernel_runner_buffer(runner);
    struct arguments *arguments = (struct arguments *)(void *)(buffer + ARGUMENTS_AT);
    for (uint32_t i = 0; i < ARRAYS; i++)
        arguments->array[i] = (uint64_t)(uintptr_t)(buffer + HEADER_BYTES + i * bytes);
    arguments->count = bytes / bench->element_bytes;
    arguments->group = bench->group;
    arguments->total = (uint64_t)groups * bench->group;
    arguments->remainder = 4;
}

static int measure(const struct bench *bench, size_t bytes, int runs, int threads)
{
    struct kernel_runner *runner;
    struct dispatch_result result;
    uint32_t groups = (uint32_t)(bytes / bench->element_bytes / bench->group);
    double best = 1e30;
    if (bench->loop_groups)
        groups = bench->loop_groups;
    if (kernel_runner_create(threads, HEADER_BYTES + ARRAYS * bytes + 8, &runner) < 0)
        return -1;
    kernel_runner_set_vgprs(runner, bench->vgprs);
    /* Pages that nobody has written are all one. */
    memset((uint8_t *)kernel_runner_buffer(runner) + HEADER_BYTES, 1, ARRAYS * bytes);
    arguments_set(runner, bench, bytes, groups);
    bool good = kernel_runner_load(runner, 0, bench->text) == 0;
    for (int run = 0; good && run < runs; run++) {
        double start = seconds(threads);
        kernel_runner_start(runner, 0,
                            (struct kernel_geometry){groups * bench->group, bench->group, 0, 0});
        good = kernel_runner_wait(runner, &result) && result.fault == 0;
        double took = seconds(threads) - start;
        best = took < best ? took : best;
    }
    kernel_runner_destroy(runner);
    printf("%-13s %8.3f GB/s%s\n", bench->name, (double)(bench->arrays * bytes) / best * 1e-9,
           good ? "" : " FAILED");
    return good ? 0 : -1;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : NULL;
    size_t bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : 16) << 20;
    int runs = argc > 3 ? atoi(argv[3]) : 7, status = 0;
    int threads = argc > 4 ? atoi(argv[4]) : 1;
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        if (!wanted || !strcmp(wanted, benches[i].name))
            status |= measure(&benches[i], bytes, runs, threads > 0 ? threads : 1);
    return status ? 1 : 0;
}
