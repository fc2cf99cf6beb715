/*
 * Series of groups (series.h) whose accesses meet: kernels with loads and stores of any width, one
 * behind the other or with waits in between, of places that begin some lanes apart or at the same
 * one, so that lanes load what others store. Strips of one access must not come before strips of
 * another one then. Each is held against an engine that translates nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wave/random_text.h"
#include "wave/two_engines.h"

enum { KERNELS = 60, ALIGNED = 16, FIRST_DATA = 8, DATA_REGISTERS = 4 };

struct kernel {
    uint32_t dwords, waves;
    unsigned loaded; /* sets of data registers */
};

static const char *width(const struct kernel *k)
{
    static const char *const widths[] = {"dword", "dwordx2", "dwordx3", "dwordx4"};
    return widths[k->dwords - 1];
}

/* A set of data registers, as an operand. */
static const char *data(const struct kernel *k, unsigned set)
{
    static char out[32];
    const unsigned first = FIRST_DATA + DATA_REGISTERS * set;
    if (k->dwords == 1)
        snprintf(out, sizeof out, "v%u", first);
    else
        snprintf(out, sizeof out, "v[%u:%u]", first, first + k->dwords - 1);
    return out;
}

/* s[30:31]: one of the two arrays, or some lanes before or behind its begin. Returns what has to be
 * added: a group's elements follow those of the one before, or lie further away, so that groups
 * come to meet. */
static const char *place_put(const struct kernel *k)
{
    enum { FURTHER = 24 };
    const uint32_t wave_bytes = WAVE * 4 * k->dwords;
    const uint32_t base = below(2) ? 8 : 10;
    const bool further = below(4) == 0;
    int32_t apart = 0;
    if (further)
        apart = -(int32_t)(below(FURTHER) * wave_bytes);
    else if (below(3)) /* a multiple of the lanes' elements, or across them */
        apart = (int32_t)below(2 * wave_bytes / ALIGNED) * ALIGNED - (int32_t)wave_bytes;
    put("s_add_u32 s30, s%u, 0x%x\ns_addc_u32 s31, s%u, %s\n", base, (uint32_t)apart, base + 1,
        apart < 0 ? "-1" : "0");
    return further ? "v2" : "v1";
}

static void wait_put(void)
{
    if (below(2))
        put("s_waitcnt vmcnt(0)\n");
}

static void load_put(struct kernel *k)
{
    const char *place = place_put(k);
    put("global_load_%s %s, %s, s[30:31]\n", width(k), data(k, k->loaded++), place);
    wait_put();
}

/* What was loaded last, with something done to it. */
static void store_put(const struct kernel *k)
{
    const unsigned set = below(k->loaded);
    const unsigned row = FIRST_DATA + DATA_REGISTERS * set + below(k->dwords);
    const char *place = place_put(k);
    put("s_waitcnt vmcnt(0)\n");
    if (below(2))
        put("v_add_u32 v%u, %u, v%u\n", row, below(64), row);
    if (below(3) == 0) /* a number of the item that nothing has overwritten */
        put("v_xor_b32 v%u, v0, v%u\n", row, row);
    put("global_store_%s %s, %s, s[30:31]\n", width(k), place, data(k, set));
    wait_put();
}

static void kernel_put(struct kernel *k)
{
    enum { SETS = 4, STEPS = 5 };
    text_length = 0;
    put(BEGIN "s_mul_i32 s25, s2, %u\nv_mul_lo_u32 v1, v0, %u\nv_add_u32 v1, s25, v1\n"
              "s_mul_i32 s26, s2, %u\nv_add_u32 v2, s26, v1\n",
        k->waves * WAVE * 4 * k->dwords, 4 * k->dwords, below(8) * ALIGNED);
    load_put(k);
    for (uint32_t n = below(STEPS); n-- > 0;) {
        if (below(2) && k->loaded < SETS)
            load_put(k);
        else
            store_put(k);
    }
    store_put(k);
    put("s_endpgm\n");
}

static void accesses_meet(void **state)
{
    const uint64_t seed = random_state;
    (void)state;
    for (unsigned n = 0; n < KERNELS; n++) {
        struct kernel k = {.dwords = 1 + below(4), .waves = below(3) ? 1 : 4};
        char name[64];
        const uint32_t groups = THIRD / 2 / (k.waves * WAVE * 4 * k.dwords);
        const struct trial trial = {
            .groups = groups < GROUPS ? groups : GROUPS,
            .waves = k.waves,
            .arguments = {.from = FROM_AT + THIRD / 4, .to = TO_AT + THIRD / 4}};
        kernel_put(&k);
        snprintf(name, sizeof name, "seed %lu, kernel %u", (unsigned long)seed, n);
        text_try(name, text, &trial);
    }
}

/* The argument is the seed. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accesses_meet)};
    if (argc > 1)
        random_state = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
