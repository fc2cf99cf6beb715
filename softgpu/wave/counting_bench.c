/*
 * What counting costs kernels that access memory, without a runtime around them: processor time of
 * one thread with and without counters of caches, or of LDS, that count, and with nothing but its
 * modelled time asked for. Usage: counting_bench [KERNEL [plain|timed|counted RUNS]]; with so many
 * runs of one way, the difference of two numbers under a tool that counts instructions is what a
 * launch costs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gfx90a_regs.h"
#include "perf/perf.h"
#include "wave/kernel_runner.h"

enum {
    GROUP = 256,
    HEADER_BYTES = 4096,
    ARRAY_BYTES = 16 << 20,
    ARGUMENTS_AT = 512, /* the first blocks of a mapping are always looked at for modelled time */
    ROUNDS = 7
};

/* v0: the item; s[8:9] and s[10:11]: where the arrays lie; s12: all items; v1 is 0. */
#define BEGIN                                                                                      \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"                                                         \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_load_dwordx4 s[8:11], s[4:5], 0x200\n"                                                      \
    "s_load_dword s12, s[4:5], 0x210\n"                                                            \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_lshl_b32 s13, s2, 8\n"                                                                      \
    "v_add_u32 v0, s13, v0\n"                                                                      \
    "v_mov_b32 v1, 0\n"
#define END "s_endpgm\n"
#define LOOP(times, body)                                                                          \
    "s_movk_i32 s14, " #times "\n"                                                                 \
    "loop:\n" body "s_sub_u32 s14, s14, 1\n"                                                       \
    "s_cmp_lg_u32 s14, 0\n"                                                                        \
    "s_cbranch_scc1 loop\n"

#define COPY(shift, width, data)                                                                   \
    "v_lshlrev_b32 v2, " #shift ", v0\n"                                                           \
    "global_load_dword" width " " data ", v2, s[8:9]\n"                                            \
    "s_waitcnt vmcnt(0)\n"                                                                         \
    "global_store_dword" width " v2, " data ", s[10:11]\n"
#define SCATTER(mask)                                                                              \
    "v_mul_lo_u32 v3, v0, s15\n"                                                                   \
    "v_add_u32 v0, 0x3c6ef35f, v3\n"                                                               \
    "v_and_b32 v2, " mask ", v3\n"                                                                 \
    "v_lshlrev_b32 v2, 2, v2\n"                                                                    \
    "global_load_dword v4, v2, s[8:9]\n"                                                           \
    "s_waitcnt vmcnt(0)\n"                                                                         \
    "v_add_u32 v1, v1, v4\n"
#define MULTIPLIER "s_mov_b32 s15, 0x9e3779b1\n"

static const char copy_text[] = BEGIN COPY(2, "", "v3") END;
static const char copy4_text[] = BEGIN COPY(4, "x4", "v[4:7]") END;
static const char loops_text[] = BEGIN LOOP(64, COPY(2, "", "v3") "v_add_u32 v0, s12, v0\n") END;
static const char shifted_text[] = BEGIN LOOP(64, "v_lshlrev_b32 v2, 2, v0\n"
                                                  "global_load_dword v3, v2, s[8:9] offset:4\n"
                                                  "s_waitcnt vmcnt(0)\n"
                                                  "global_store_dword v2, v3, s[10:11] offset:12\n"
                                                  "v_add_u32 v0, s12, v0\n") END;
static const char scatter_text[] = BEGIN MULTIPLIER LOOP(16, SCATTER("0x3fffff")) END;
static const char gather_text[] = BEGIN MULTIPLIER LOOP(16, SCATTER("0x3fff")) END;
static const char lds_text[] = BEGIN LOOP(64, "v_mul_u32_u24 v2, 12, v0\n"
                                              "v_and_b32 v2, 0x7fc, v2\n"
                                              "ds_read_b32 v3, v2\n"
                                              "s_waitcnt lgkmcnt(0)\n"
                                              "ds_write_b32 v2, v3\n"
                                              "v_add_u32 v0, 1, v0\n") END;
static const char tile_text[] = BEGIN LOOP(64, "v_lshlrev_b32 v2, 2, v0\n"
                                               "v_and_b32 v2, 0x7fc, v2\n"
                                               "ds_read_b32 v3, v2\n"
                                               "s_waitcnt lgkmcnt(0)\n"
                                               "v_add_u32 v3, 1, v3\n"
                                               "ds_write_b32 v2, v3 offset:1024\n") END;
static const char chase_text[] = BEGIN LOOP(512, "v_and_b32 v0, 0xfffff, v0\n"
                                                 "v_lshlrev_b32 v0, 2, v0\n"
                                                 "global_load_dword v0, v0, s[8:9]\n"
                                                 "s_waitcnt vmcnt(0)\n") END;

static const struct bench {
    const char *name, *text;
    uint32_t items, lds_bytes;
} benches[] = {{"copy", copy_text, 65536, 0},       {"copy4", copy4_text, 65536, 0},
               {"stream", copy_text, 1 << 20, 0},   {"stream4", copy4_text, 1 << 20, 0},
               {"loops", loops_text, 16384, 0},     {"shifted", shifted_text, 16384, 0},
               {"scatter", scatter_text, 16384, 0}, {"gather", gather_text, 16384, 0},
               {"lds", lds_text, 16384, 4096},      {"tile", tile_text, 16384, 4096},
               {"chase", chase_text, 64, 0}};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A random cycle's links are what the kernel that chases pointers reads. */
static void buffer_fill(struct kernel_runner *runner, const struct bench *bench)
{
    uint8_t *buffer = kernel_runner_buffer(runner);
    struct {
        uint64_t array[2];
        uint32_t items;
    } arguments = {{0}, bench->items};
    uint32_t *words = (uint32_t *)(void *)(buffer + HEADER_BYTES);
    for (int i = 0; i < 2; i++)
        arguments.array[i] = (uint64_t)(uintptr_t)(buffer + HEADER_BYTES) + i * ARRAY_BYTES;
    memcpy(buffer + ARGUMENTS_AT, &arguments, sizeof arguments);
    for (uint32_t i = 0; i < ARRAY_BYTES / 4; i++)
        words[i] = i * 1664525u + 1013904223u;
}

/* Hits of the L2 and of the instruction cache, and conflicts of LDS banks. */
static void counting_set(struct perf *perf, bool counting)
{
    enum { TCC_HIT = 17, SQC_ICACHE_HITS = 271, SQ_LDS_BANK_CONFLICT = 121, CTRL = 0xffff0057 };
    perf_reg_write(perf, 1, REG_GFX90A_GRBM_GFX_INDEX, 0xe0000000u);
    perf_reg_write(perf, 1, REG_GFX90A_CP_PERFMON_CNTL, 0);
    perf_reg_write(perf, 1, REG_GFX90A_TCC_PERFCOUNTER0_SELECT, TCC_HIT);
    perf_reg_write(perf, 1, REG_GFX90A_SQ_PERFCOUNTER0_SELECT, SQC_ICACHE_HITS);
    perf_reg_write(perf, 1, REG_GFX90A_SQ_PERFCOUNTER1_SELECT, SQ_LDS_BANK_CONFLICT);
    perf_reg_write(perf, 1, REG_GFX90A_SQ_PERFCOUNTER_CTRL, (uint32_t)CTRL);
    perf_reg_write(perf, 1, REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE, 1);
    perf_reg_write(perf, 1, REG_GFX90A_CP_PERFMON_CNTL, counting);
}

enum way { PLAIN, TIMED, COUNTED, WAYS };
static const char *const ways[WAYS] = {"plain", "timed", "counted"};

/* What a launch takes; less than 0: it failed. */
static double launch(struct kernel_runner *runner, const struct bench *bench, enum way way)
{
    struct kernel_geometry geometry = {bench->items, bench->items < GROUP ? bench->items : GROUP,
                                       bench->lds_bytes, 0};
    struct dispatch_result result;
    counting_set(kernel_runner_perf(runner), way == COUNTED);
    kernel_runner_set_timed(runner, way != PLAIN);
    double start = seconds();
    bool good = kernel_runner_start(runner, 0, geometry) == 0 &&
                kernel_runner_wait(runner, &result) && result.fault == 0;
    return good ? seconds() - start : -1;
}

/* All ways in turns, the best of each. */
static bool compare(struct kernel_runner *runner, const struct bench *bench)
{
    double best[WAYS] = {1e30, 1e30, 1e30};
    for (int round = 0; round < WAYS * ROUNDS; round++) {
        double took = launch(runner, bench, (enum way)(round % WAYS));
        if (took < 0)
            return false;
        best[round % WAYS] = took < best[round % WAYS] ? took : best[round % WAYS];
    }
    printf("%-8s %8.3f ms, timed %8.3f ms: %5.2f, counted %8.3f ms: %5.2f\n", bench->name,
           best[PLAIN] * 1e3, best[TIMED] * 1e3, best[TIMED] / best[PLAIN], best[COUNTED] * 1e3,
           best[COUNTED] / best[PLAIN]);
    return true;
}

static enum way way_of(const char *name)
{
    for (int way = 0; way < WAYS; way++)
        if (!strcmp(name, ways[way]))
            return (enum way)way;
    return WAYS;
}

static bool measure(const struct bench *bench, const char *way, int runs)
{
    struct kernel_runner *runner;
    if (kernel_runner_create(1, HEADER_BYTES + 2 * ARRAY_BYTES + HEADER_BYTES, &runner) < 0)
        return false;
    kernel_runner_set_vgprs(runner, 8);
    buffer_fill(runner, bench);
    bool good = kernel_runner_load(runner, 0, bench->text) == 0 && (!way || way_of(way) != WAYS);
    if (good && !way)
        good = compare(runner, bench);
    for (int run = 0; good && way && run < runs; run++)
        good = launch(runner, bench, way_of(way)) >= 0;
    kernel_runner_destroy(runner);
    if (!good)
        printf("%-8s FAILED\n", bench->name);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        if (argc < 2 || !strcmp(argv[1], benches[i].name))
            good &= measure(&benches[i], argc > 2 ? argv[2] : NULL, argc > 3 ? atoi(argv[3]) : 1);
    return good ? 0 : 1;
}
