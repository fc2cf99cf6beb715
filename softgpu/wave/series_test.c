/*
 * Series of groups (series.h): random kernels whose groups mostly do the same at addresses that
 * grow by a step, and now and then something else: against an engine that translates nothing.
 * Memory, faults, counters and modelled time are the same.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/all_counted.h"
#include "valu/valu.h"
#include "wave/engine.h"
#include "wave/host_levels.h"
#include "wave/kernel_runner.h"
#include "wave/random_text.h"

enum { WAVE = 64, KERNELS = 60, TIMES = 4 };
enum { ARGUMENTS_AT = 0x100, DATA_AT = 0x4000, DATA_BYTES = 9 << 19, BUFFER_BYTES = 5 << 20 };

/* s[8:15] and s[16:19] of all kernels. */
struct arguments {
    uint64_t from, other, to, count;
    uint32_t scale, group_items, some, mask;
};

static uint64_t seed; /* the program's argument */

/* ---- kernels ---- */

struct kernel {
    unsigned number;        /* the first ones have each way to do otherwise */
    bool alone;             /* groups have nothing to do with each other */
    uint32_t waves, shift;  /* elements are of 1 << shift bytes */
    uint32_t stride;        /* of a group, in its items */
    uint32_t skew;          /* and so many items more */
    bool reversed, guarded; /* reversed: from group `some` down */
    uint64_t far;           /* items are numbered from there on */
};

/* v[0:1] becomes the item's number. */
static void items_put(const struct kernel *k)
{
    put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
        "s_load_dwordx8 s[8:15], s[4:5], 0x100\ns_load_dwordx4 s[16:19], s[4:5], 0x120\n"
        "s_waitcnt lgkmcnt(0)\n");
    put(k->reversed ? "s_sub_u32 s3, s18, s2\n" : "s_mov_b32 s3, s2\n");
    put("s_mul_i32 s20, s3, s17\n");
    if (k->stride > 1)
        put("s_mul_i32 s20, s20, %u\n", k->stride);
    if (k->skew)
        put("s_mul_i32 s21, s3, %u\ns_add_u32 s20, s20, s21\n", k->skew);
    put("v_mov_b32 v1, 0\n");
    switch (below(3)) {
    case 0:
        put("v_add_u32 v0, s20, v0\n");
        break;
    case 1:
        put("v_mov_b32 v3, s20\nv_add_co_u32 v0, vcc, v0, v3\nv_addc_co_u32 v1, vcc, 0, v1, vcc\n");
        break;
    default:
        put("v_mov_b32 v3, s3\ns_and_b32 s21, s17, 0xffff\ns_mul_i32 s21, s21, %u\n"
            "s_add_u32 s21, s21, %u\nv_mad_u64_u32 v[0:1], s[22:23], s21, v3, v[0:1]\n",
            k->stride, k->skew);
        break;
    }
    if (k->far)
        put("v_mov_b32 v3, 0x%x\nv_add_co_u32 v0, vcc, 0x%x, v0\n"
            "v_addc_co_u32 v1, vcc, v3, v1, vcc\n",
            (uint32_t)(k->far >> 32), (uint32_t)k->far);
}

/* Some groups do otherwise, by their number. */
enum { WAYS = 8 };
static void otherwise_put(unsigned way)
{
    static const char *const tests[WAYS] = {"s_and_b32 s21, s2, s19\n",
                                            "s_cmp_eq_u32 s2, s18\n",
                                            "s_lshl_b32 s21, s2, 27\ns_cmp_gt_u32 s21, s18\n",
                                            "s_lshl_b32 s21, s2, 26\ns_cmp_gt_i32 s21, s18\n",
                                            "s_mul_i32 s21, s2, 0x3000001\ns_cmp_lt_u32 s21, s18\n",
                                            "s_cmp_gt_u32 s2, s18\n",
                                            "s_bitcmp1_b32 s2, 7\n",
                                            "s_min_u32 s22, s2, s18\ns_cmp_eq_u32 s22, s18\n"};
    put("%ss_cbranch_scc0 over%zu\nv_add_u32 v12, 3, v12\nover%zu:\n", tests[way], text_length,
        text_length);
}

/* v[at:at+1] = array + (item << shift) */
static void address_put(const struct kernel *k, unsigned at, unsigned array)
{
    put("v_lshlrev_b64 v[%u:%u], %u, v[0:1]\nv_mov_b32 v3, s%u\n"
        "v_add_co_u32 v%u, vcc, s%u, v%u\nv_addc_co_u32 v%u, vcc, v3, v%u, vcc\n",
        at, at + 1, k->shift, array + 1, at, array, at, at + 1, at + 1);
}

static const char *width(const struct kernel *k)
{
    static const char *const widths[] = {"dword", "dwordx2", "dwordx4"};
    return widths[k->shift - 2];
}

static void data_put(const struct kernel *k, char *out, unsigned first)
{
    if (k->shift == 2)
        sprintf(out, "v%u", first);
    else
        sprintf(out, "v[%u:%u]", first, first + (1u << (k->shift - 2)) - 1);
}

static void strips_put(const struct kernel *k)
{
    static const char *const ops[] = {
        "v_add_u32 v%u, v%u, v%u\n", "v_xor_b32 v%u, v%u, v%u\n", "v_mul_lo_u32 v%u, v%u, v%u\n",
        "v_sub_u32 v%u, v%u, v%u\n", "v_max_u32 v%u, v%u, v%u\n",
    };
    const unsigned dwords = 1u << (k->shift - 2);
    for (unsigned n = 0; n < dwords; n++) {
        const unsigned a = 12 + below(dwords), b = 16 + below(dwords), to = 12 + n;
        switch (below(12)) {
        case 0:
            put("v_mul_lo_u32 v%u, v%u, s16\n", to, a);
            break;
        case 1:
            put("v_mad_u32_u24 v%u, v%u, 5, v%u\n", to, a, b);
            break;
        case 2: /* what no wave has written */
            put("v_add_u32 v%u, v%u, v30\n", to, a);
            break;
        case 3:
            if (below(3) == 0) /* a number as a value */
                put("v_add_u32 v%u, v%u, v0\n", to, a);
            break;
        case 4:
            if (below(3) == 0) /* what the wave before it has left there, if nobody looks */
                put("v_add_u32 v%u, v%u, v24\nv_add_u32 v24, 1, v%u\n", to, a, b);
            break;
        case 5:
            if (below(2)) /* a scalar that is another one later, or grows */
                put("v_add_u32 v%u, s%u, v%u\n", to, below(2) ? 20u : 18u, a);
            break;
        default:
            put(ops[below(sizeof ops / sizeof *ops)], to, a, b);
            break;
        }
    }
}

static void body_put(const struct kernel *k)
{
    char a[16], b[16];
    data_put(k, a, 12);
    data_put(k, b, 16);
    address_put(k, 4, 8);
    address_put(k, 6, 10);
    put("global_load_%s %s, v[4:5], off\nglobal_load_%s %s, v[6:7], off\n", width(k), a, width(k),
        b);
    if (below(6) == 0)
        put("s_load_dword s16, s[4:5], 0x120\ns_waitcnt lgkmcnt(0)\n");
    put("s_waitcnt vmcnt(0)\n");
    if (k->number < WAYS || below(4) == 0)
        otherwise_put(k->number < WAYS ? k->number : below(WAYS));
    strips_put(k);
    if (below(4) == 0)
        put("s_mov_b32 s18, 7\n");
    address_put(k, 8, 12);
    put("global_store_%s v[8:9], %s, off\n", width(k), a);
    if (below(6) == 0)
        put("s_waitcnt vmcnt(0)\nglobal_load_%s %s, v[4:5], off\ns_waitcnt vmcnt(0)\n"
            "global_store_%s v[8:9], %s, off offset:%u\n",
            width(k), b, width(k), b, k->alone ? 0 : 1u << 6);
}

static void kernel_make(struct kernel *k, unsigned number, bool alone)
{
    static const uint64_t fars[] = {0, 0, 0, 0x7fffc000, 0xffffc000, 0x3ffff000, 0x1ffffe000};
    *k = (struct kernel){.number = number,
                         .alone = alone,
                         .waves = 1 + below(4),
                         .shift = 2 + below(3),
                         .stride = below(4) ? 1 : 1 + below(3),
                         .skew = below(4) ? 0 : 4u << below(5),
                         .reversed = below(5) == 0,
                         .guarded = below(3) != 0,
                         .far = fars[below(sizeof fars / sizeof *fars)]};
    text_length = 0;
    items_put(k);
    if (k->guarded)
        put("v_cmp_gt_u64 vcc, s[14:15], v[0:1]\ns_and_saveexec_b64 s[24:25], vcc\n"
            "s_cbranch_execz end\n");
    body_put(k);
    if (k->guarded && below(2))
        put("s_or_b64 exec, exec, s[24:25]\n");
    put("end:\ns_endpgm\n");
}

/* ---- what comes of them ---- */

struct side { /* translates, or does not */
    struct kernel_runner *runner;
    struct dispatch_result result;
};

/* What is counted, and of each: groups that were in series, and repeats among them. */
static const uint32_t wants[] = {0,
                                 PERF_WANT_TIME,
                                 PERF_WANT_L2,
                                 PERF_WANT_L2_TIME,
                                 PERF_WANT_L2_TIME | PERF_WANT_LDS,
                                 PERF_WANT_MEMORY_TIME,
                                 PERF_WANT_LDS | PERF_WANT_TIME,
                                 PERF_WANT_FETCH};
enum { WANTS = sizeof wants / sizeof *wants };
static struct series_count in_series[WANTS];
static uint64_t as_streams[WANTS]; /* and those that passed the caches so (perf/stream.c) */
static const char *const gpus[] = {"gfx906", "gfx908", "gfx90a", "gfx942"};
enum { GPUS = sizeof gpus / sizeof *gpus };

static void side_begin(struct side *side, const char *gpu, int threads, uint64_t hot)
{
    assert_int_equal(kernel_runner_create_on(gpu, threads, BUFFER_BYTES, &side->runner), 0);
    kernel_runner_engine(side->runner)->hot_instructions = hot;
}

/* The same in both, but for where the buffer lies. */
struct trial {
    struct arguments arguments;
    uint32_t groups;
};

static void trial_make(struct trial *trial, const struct kernel *k)
{
    const uint32_t items = k->waves * WAVE, step = items * k->stride + k->skew;
    const uint32_t each = step << k->shift;
    const uint32_t third = DATA_BYTES / 3, most = third / each - 1;
    const uint32_t wanted = below(3) ? 40 + below(1500) : 2 + below(40);
    trial->groups = wanted < most ? wanted : most;
    struct arguments *a = &trial->arguments;
    const uint32_t align = below(2) ? CACHE_BLOCK_BYTES : 16, ends = 1024 / align;
    a->from = DATA_AT + align * below(ends);
    a->other = DATA_AT + third + align * below(ends);
    a->to = DATA_AT + 2 * third + (below(6) ? align : 4) * below(ends);
    if (below(8) == 0 && !k->alone) /* beyond the buffer's end, in some group */
        a->to = BUFFER_BYTES - trial->groups * each / 2;
    if (below(8) == 0 && !k->alone) /* what is read has been written by groups before */
        a->to = a->from + 4 * each;
    a->count =
        k->far + (below(2) ? trial->groups * (uint64_t)step : 1 + below(trial->groups * step));
    a->scale = below(1000);
    a->group_items = items;
    a->some = k->reversed ? trial->groups - 1 : below(trial->groups);
    a->mask = 1u << below(11);
}

static void trial_run(struct side *side, const struct trial *trial, const struct kernel *k)
{
    uint8_t *buffer = kernel_runner_buffer(side->runner);
    struct arguments a = trial->arguments;
    const uint64_t self = (uint64_t)(uintptr_t)buffer;
    uint64_t *const arrays[] = {&a.from, &a.other, &a.to};
    for (unsigned n = 0; n < 3; n++)
        *arrays[n] += self - (k->far << k->shift);
    memcpy(buffer + ARGUMENTS_AT, &a, sizeof a);
    const struct kernel_geometry geometry = {trial->groups * a.group_items, a.group_items, 0, 0};
    assert_int_equal(kernel_runner_start(side->runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(side->runner, &side->result));
    memset(buffer + ARGUMENTS_AT, 0, sizeof a);
}

/* In the buffer or beside it, or where a number has led that was read in the place of an address.
 */
static bool faults_same(const struct dispatch_result *x, const struct dispatch_result *y,
                        const uint8_t *a, const uint8_t *b)
{
    const uint64_t apart = (uint64_t)(uintptr_t)a - (uint64_t)(uintptr_t)b;
    return x->fault == y->fault && (x->fault == FAULT_NONE || x->fault_va == y->fault_va ||
                                    x->fault_va == y->fault_va + apart);
}

static void sides_compare(struct side sides[2], unsigned kernel, unsigned time)
{
    const uint8_t *a = kernel_runner_buffer(sides[0].runner);
    const uint8_t *b = kernel_runner_buffer(sides[1].runner);
    const struct dispatch_result *x = &sides[0].result, *y = &sides[1].result;
    bool same = faults_same(x, y, a, b);
    if (!x->fault)
        same &= x->model_cycles == y->model_cycles &&
                all_counted_same(kernel_runner_perf(sides[0].runner),
                                 kernel_runner_perf(sides[1].runner));
    const bool same_data = !memcmp(a + DATA_AT, b + DATA_AT, BUFFER_BYTES - DATA_AT - 8);
    if (same && same_data)
        return;
    fputs(text, stderr);
    fail_msg("kernel %u, launch %u, level %d: data %d, cycles %lu and %lu, faults %d at %lx, %d at "
             "%lx",
             kernel, time, host_level, same_data, (unsigned long)x->model_cycles,
             (unsigned long)y->model_cycles, x->fault,
             (unsigned long)(x->fault_va - (uint64_t)(uintptr_t)a), y->fault,
             (unsigned long)(y->fault_va - (uint64_t)(uintptr_t)b));
}

static void data_fill(struct side sides[2], unsigned number)
{
    uint8_t *a = kernel_runner_buffer(sides[0].runner), *b = kernel_runner_buffer(sides[1].runner);
    uint32_t *words = (uint32_t *)(void *)(a + DATA_AT);
    for (uint32_t n = 0; n < (BUFFER_BYTES - DATA_AT - 8) / 4; n++)
        words[n] = (n + number) * 2654435761u;
    memcpy(b + DATA_AT, a + DATA_AT, BUFFER_BYTES - DATA_AT - 8);
}

static void in_series_note(const struct side *side, unsigned kind)
{
    struct streams *streams = &kernel_runner_perf(side->runner)->memory.streams;
    struct series_count *count = &kernel_runner_engine(side->runner)->in_series;
    in_series[kind].groups += count->groups;
    in_series[kind].repeats += count->repeats;
    as_streams[kind] += streams->groups;
    *count = (struct series_count){0, 0};
    streams->groups = 0;
}

static void kernel_try(unsigned number, int threads)
{
    struct side sides[2];
    struct kernel kernel;
    struct trial trial;
    kernel_make(&kernel, number, threads > 1);
    const char *gpu = gpus[below(GPUS)];
    side_begin(&sides[0], gpu, threads, 1);
    side_begin(&sides[1], gpu, 1, UINT64_MAX);
    data_fill(sides, number);
    for (unsigned n = 0; n < 2; n++)
        assert_int_equal(kernel_runner_load(sides[n].runner, 0, text), 0);
    for (unsigned time = 0; time < TIMES; time++) {
        trial_make(&trial, &kernel);
        const unsigned kind = below(WANTS);
        const bool timed = below(2);
        for (unsigned n = 0; n < 2; n++) {
            kernel_runner_set_timed(sides[n].runner, timed);
            all_counted_begin(kernel_runner_perf(sides[n].runner), wants[kind]);
            trial_run(&sides[n], &trial, &kernel);
        }
        sides_compare(sides, number, time);
        in_series_note(&sides[0], kind);
        if (sides[0].result.fault)
            break;
    }
    for (unsigned n = 0; n < 2; n++)
        kernel_runner_destroy(sides[n].runner);
}

/* All ways to be executed and counted were taken. */
static void ways_check(void)
{
    uint64_t counted = 0, repeats = 0, streams = 0;
    for (unsigned kind = 1; kind < WANTS; kind++) {
        if (!(wants[kind] & PERF_WANT_L2))
            continue;
        counted += in_series[kind].groups;
        repeats += in_series[kind].repeats;
        streams += as_streams[kind];
    }
    assert_true(in_series[0].groups > 0 && in_series[0].repeats > 0);
    assert_true(counted > 0 && repeats > 0 && streams > 0);
}

static void level_try(enum host_level level, const char *name, uint64_t begin)
{
    const enum host_level before = host_level;
    if (valu_build_select(name) < 0)
        return; /* not this CPU */
    host_level = level;
    random_state = begin;
    memset(in_series, 0, sizeof in_series);
    memset(as_streams, 0, sizeof as_streams);
    for (unsigned n = 0; n < KERNELS; n++)
        kernel_try(n, 1 + (n % 4 == 3));
    ways_check();
    host_level = before;
}

static void series_do_what_groups_do(void **state)
{
    (void)state;
    level_try(LEVEL_AVX2, "avx2", seed);
    level_try(LEVEL_AVX512, "avx512", seed + 1);
}

/* ---- arguments that change meanwhile ---- */

/* Stores what it has been told, for each item, besides what it loads there. */
static const char told_text[] = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                "s_waitcnt lgkmcnt(0)\n"
                                "s_load_dwordx4 s[12:15], s[4:5], 0x100\n"
                                "s_lshl_b32 s7, s2, 10\n"
                                "v_add_u32 v0, s7, v0\n"
                                "v_lshlrev_b32 v1, 4, v0\n"
                                "s_add_u32 s4, s4, 0x4000\n"
                                "s_addc_u32 s5, s5, 0\n"
                                "global_load_dwordx4 v[4:7], v1, s[4:5]\n"
                                "s_waitcnt lgkmcnt(0)\n"
                                "s_waitcnt vmcnt(0)\n"
                                "v_add_u32 v4, s14, v4\n"
                                "global_store_dwordx4 v1, v[4:7], s[4:5]\n"
                                "s_endpgm\n";

enum {
    TOLD_GROUPS = 256,
    TOLD_ITEMS = 1024,
    TOLD_DWORDS = 4,
    TELLS = 1 << 16,
    TOLD_AT = ARGUMENTS_AT + 8
};
struct teller {
    uint32_t *place;
    const uint32_t *data;
    uint32_t count;        /* what was told last */
    uint32_t until[TELLS]; /* groups that may have begun before that was told */
    atomic_bool over; /* written by the test, read by the thread; relaxed, nothing depends on it */
};

static void *tell(void *arg)
{
    struct teller *teller = arg;
    uint32_t ended = 0;
    while (!atomic_load_explicit(&teller->over, memory_order_relaxed) &&
           teller->count + 1 < TELLS) {
        __atomic_store_n(teller->place, ++teller->count, __ATOMIC_SEQ_CST);
        while (ended < TOLD_GROUPS &&
               __atomic_load_n(&teller->data[ended * TOLD_ITEMS * TOLD_DWORDS], __ATOMIC_SEQ_CST))
            ended++;
        teller->until[teller->count] = ended + 1;
    }
    return NULL;
}

/* A wave's items have been told the same, nothing older than waves before it, and what was told
 * before its group began, or something newer. */
static void told_check(const struct teller *teller)
{
    enum { WAVES = TOLD_ITEMS / WAVE };
    uint32_t before = 0, told = 0;
    for (uint32_t wave = 0; wave < TOLD_GROUPS * WAVES; wave++) {
        const uint32_t *items = teller->data + (size_t)wave * WAVE * TOLD_DWORDS;
        while (told < teller->count && teller->until[told + 1] < wave / WAVES)
            told++;
        before = before > told ? before : told;
        for (uint32_t item = 1; item < WAVE; item++)
            assert_int_equal(items[item * TOLD_DWORDS], items[0]);
        assert_in_range(items[0], before, teller->count);
        before = items[0];
    }
}

static void launch_tell(struct kernel_runner *runner, struct teller *teller)
{
    uint8_t *buffer = kernel_runner_buffer(runner);
    const struct kernel_geometry geometry = {TOLD_GROUPS * TOLD_ITEMS, TOLD_ITEMS, 0, 0};
    struct dispatch_result result;
    pthread_t thread;
    *teller = (struct teller){.place = (uint32_t *)(void *)(buffer + TOLD_AT),
                              .data = (uint32_t *)(void *)(buffer + DATA_AT)};
    memset(buffer + DATA_AT, 0, (size_t)TOLD_GROUPS * TOLD_ITEMS * TOLD_DWORDS * 4);
    *teller->place = ++teller->count;
    assert_int_equal(pthread_create(&thread, NULL, tell, teller), 0);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    atomic_store_explicit(&teller->over, true, memory_order_relaxed);
    pthread_join(thread, NULL);
    assert_int_equal(result.fault, FAULT_NONE);
    told_check(teller);
}

static void arguments_are_read_again(void **state)
{
    enum { LAUNCHES = 30 };
    static struct teller teller;
    struct kernel_runner *runner;
    (void)state;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, told_text), 0);
    for (unsigned n = 0; n < LAUNCHES; n++)
        launch_tell(runner, &teller);
    kernel_runner_destroy(runner);
}

/* ---- arguments that groups store to ---- */

/* Loads a number, adds it to its items and stores these 16 bytes behind where the group before it
 * did: some groups store over the number. */
static const char over_text[] = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                "s_waitcnt lgkmcnt(0)\n"
                                "s_load_dword s14, s[4:5], 0xe0000\n"
                                "s_lshl_b32 s6, s2, 8\n"
                                "s_lshl_b32 s7, s2, 4\n"
                                "v_lshlrev_b32 v0, 2, v0\n"
                                "v_add_u32 v1, s6, v0\n"
                                "v_add_u32 v2, s7, v0\n"
                                "s_add_u32 s8, s4, 0x4000\n"
                                "s_addc_u32 s9, s5, 0\n"
                                "global_load_dword v4, v1, s[8:9]\n"
                                "s_add_u32 s10, s4, 0xde000\n"
                                "s_addc_u32 s11, s5, 0\n"
                                "s_waitcnt lgkmcnt(0)\n"
                                "s_waitcnt vmcnt(0)\n"
                                "v_add_u32 v4, s14, v4\n"
                                "global_store_dword v2, v4, s[10:11]\n"
                                "s_endpgm\n";

/* The last one of those stores what the number was at first, and has loaded another one: groups
 * behind it find nothing changed in memory, but find registers as that one has left them. */
static void what_groups_load_is_stored_back(void **state)
{
    enum { GROUPS = 3000, STEP = 16, NUMBER_AT = 0xe0000, TO = 0xde000, FIRST = 1, OTHER = 5 };
    enum { LAST_OVER = (NUMBER_AT - TO) / STEP, FIRST_OVER = LAST_OVER - WAVE * 4 / STEP + 1 };
    struct kernel_runner *runner;
    struct dispatch_result result;
    (void)state;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    kernel_runner_engine(runner)->hot_instructions = 1;
    assert_int_equal(kernel_runner_load(runner, 0, over_text), 0);
    uint8_t *buffer = kernel_runner_buffer(runner);
    uint32_t *number = (uint32_t *)(void *)(buffer + NUMBER_AT);
    const struct kernel_geometry geometry = {GROUPS * WAVE, WAVE, 0, 0};
    for (unsigned time = 0; time < TIMES; time++) {
        memset(buffer, 0, BUFFER_BYTES - 8);
        for (uint32_t group = FIRST_OVER; group <= LAST_OVER; group++) {
            uint32_t *items = (uint32_t *)(void *)(buffer + DATA_AT + group * WAVE * 4);
            const uint32_t before = group == FIRST_OVER ? FIRST : OTHER;
            items[(NUMBER_AT - TO - group * STEP) / 4] =
                (group == LAST_OVER ? FIRST : OTHER) - before;
        }
        *number = FIRST;
        assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
        assert_true(kernel_runner_wait(runner, &result));
        assert_int_equal(result.fault, FAULT_NONE);
        for (uint32_t group = 0; group < GROUPS; group++) {
            const bool over = group > FIRST_OVER && group <= LAST_OVER;
            const uint32_t at = TO + group * STEP + (group == LAST_OVER ? 4 : 0);
            assert_int_equal(*(uint32_t *)(void *)(buffer + at), over ? OTHER : FIRST);
        }
    }
    kernel_runner_destroy(runner);
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(series_do_what_groups_do),
                                       cmocka_unit_test(arguments_are_read_again),
                                       cmocka_unit_test(what_groups_load_is_stored_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
