/*
 * Instructions that move dwords between lanes through LDS's crossbar (ds_swizzle, ds_permute,
 * ds_bpermute) in every mode, with lanes that are switched off, against AMD's description of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wave/kernel_runner.h"

enum { LANES = 64, BUFFER_BYTES = 0x20000, PATTERNS = 64, TEXT_BYTES = 0x8000 };
enum { DATA_AT = 0x1000, PLACES_AT = 0x1100, OUT_AT = 0x2000, BEFORE = 0x5a };

/* v4 data, v5 places; v8 goes out, where it stays as it was in lanes that are off. */
#define PROLOGUE                                                                                   \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"          \
    "v_lshlrev_b32 v1, 2, v0\n"                                                                    \
    "s_add_u32 s6, s4, 0x1000\ns_addc_u32 s7, s5, 0\nglobal_load_dword v4, v1, s[6:7]\n"           \
    "global_load_dword v5, v1, s[6:7] offset:256\ns_add_u32 s8, s4, 0x2000\n"                      \
    "s_addc_u32 s9, s5, 0\ns_mov_b64 s[20:21], exec\ns_waitcnt vmcnt(0)\n"
#define BEGIN "v_mov_b32 v8, 0x5a\ns_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n"
#define END                                                                                        \
    "\ns_waitcnt lgkmcnt(0)\ns_mov_b64 exec, s[20:21]\nglobal_store_dword v1, v8, s[8:9]\n"        \
    "s_add_u32 s8, s8, 0x100\ns_addc_u32 s9, s9, 0\n"

/* From which lane of the wave, as the documents have it. */
static unsigned source_of(unsigned i, unsigned offset)
{
    static const unsigned reversed4[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    const unsigned mask = offset & 31, half = i & 32, low = i & 31;
    if (offset >= 0xe000) {
        unsigned count = 0, reversed = reversed4[low & 15] << 1 | low >> 4;
        for (unsigned bits = mask; bits; bits &= bits - 1)
            count++;
        return half | reversed >> count | (low & mask);
    }
    if (offset >= 0xc000) {
        const int by = (int)(offset >> 5 & 31) * (offset & 1 << 10 ? -1 : 1);
        return half | (low & mask) | ((unsigned)((int)low + by + 32) % 32 & ~mask);
    }
    if (offset & 0x8000) {
        const unsigned quad[4] = {offset & 3, offset >> 2 & 3, offset >> 4 & 3, offset >> 6 & 3};
        return i / 4 * 4 + quad[i % 4];
    }
    return half | (((low & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
}

struct lanes {
    uint32_t data[LANES], places[LANES];
    uint64_t exec;
};

static void swizzle_want(const struct lanes *l, unsigned offset, uint32_t *want)
{
    for (unsigned i = 0; i < LANES; i++) {
        const unsigned from = source_of(i, offset);
        want[i] = l->exec >> i & 1 ? (l->exec >> from & 1 ? l->data[from] : 0) : BEFORE;
    }
}

/* Lanes that are off neither send nor receive; of those that send to one place the last is kept. */
static void permute_want(const struct lanes *l, unsigned offset, uint32_t *want)
{
    for (unsigned i = 0; i < LANES; i++)
        want[i] = l->exec >> i & 1 ? 0 : BEFORE;
    for (unsigned i = 0; i < LANES; i++) {
        const unsigned to = (l->places[i] + offset) / 4 % LANES;
        if (l->exec >> i & 1 && l->exec >> to & 1)
            want[to] = l->data[i];
    }
}

static void bpermute_want(const struct lanes *l, unsigned offset, uint32_t *want)
{
    for (unsigned i = 0; i < LANES; i++) {
        const unsigned from = (l->places[i] + offset) / 4 % LANES;
        want[i] = l->exec >> i & 1 ? (l->exec >> from & 1 ? l->data[from] : 0) : BEFORE;
    }
}

static const struct kind {
    const char *format;
    void (*want)(const struct lanes *l, unsigned offset, uint32_t *want);
} kinds[] = {{"ds_swizzle_b32 v8, v4 offset:%u", swizzle_want},
             {"ds_permute_b32 v8, v5, v4 offset:%u", permute_want},
             {"ds_bpermute_b32 v8, v5, v4 offset:%u", bpermute_want},
             /* over what they read */
             {"v_mov_b32 v8, v4\nds_swizzle_b32 v8, v8 offset:%u", swizzle_want},
             {"v_mov_b32 v8, v5\nds_bpermute_b32 v8, v8, v4 offset:%u", bpermute_want},
             {"v_mov_b32 v8, v4\nds_bpermute_b32 v8, v5, v8 offset:%u", bpermute_want}};

/* Modes of a swizzle take turns. */
static unsigned offset_drawn(const struct kind *kind, unsigned n)
{
    static const unsigned bases[4] = {0, 0x8000, 0xc000, 0xe000};
    const unsigned bits[4] = {0x7fff, 0xff, 0x7ff, 0x1f};
    if (kind->want != swizzle_want)
        return (unsigned)rand() % 64 * 4;
    return bases[n % 4] | ((unsigned)rand() & bits[n % 4]);
}

static void kind_check(const char *gpu, const struct kind *kind, uint64_t exec)
{
    static char text[TEXT_BYTES];
    struct kernel_runner *runner;
    struct dispatch_result result;
    struct lanes lanes = {.exec = exec};
    unsigned offsets[PATTERNS];
    const struct kernel_geometry geometry = {LANES, LANES, 0, 0};
    char *at = text + sprintf(text, PROLOGUE);
    for (unsigned n = 0; n < PATTERNS; n++) {
        offsets[n] = offset_drawn(kind, n);
        at += sprintf(at, BEGIN, (uint32_t)lanes.exec, (uint32_t)(lanes.exec >> 32));
        at += sprintf(at, kind->format, offsets[n]);
        at += sprintf(at, END);
    }
    strcpy(at, "s_endpgm\n");
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    for (unsigned i = 0; i < LANES; i++) {
        lanes.data[i] = (uint32_t)rand();
        lanes.places[i] = (uint32_t)rand();
    }
    memcpy(memory + DATA_AT, lanes.data, sizeof lanes.data);
    memcpy(memory + PLACES_AT, lanes.places, sizeof lanes.places);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result) && result.fault == FAULT_NONE);
    for (unsigned n = 0; n < PATTERNS; n++) {
        uint32_t want[LANES];
        kind->want(&lanes, offsets[n], want);
        if (memcmp(memory + OUT_AT + 256 * n, want, sizeof want) != 0)
            fail_msg("%s %s, offset 0x%x", gpu, kind->format, offsets[n]);
    }
    kernel_runner_destroy(runner);
}

static void as_the_documents_say(void **state)
{
    static const char *const gpus[] = {"gfx906", "gfx908", "gfx90a"};
    (void)state;
    srand(7);
    for (size_t g = 0; g < sizeof gpus / sizeof gpus[0]; g++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            kind_check(gpus[g], &kinds[k], ~UINT64_C(0));
            kind_check(gpus[g], &kinds[k],
                       (uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand());
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_documents_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
