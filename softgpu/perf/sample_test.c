/* A dispatch's modelled time does not depend on the one before it, whatever that did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/perf.h"
#include "perf/sampling.h"

enum { BLOCKS = 20000, LINES = 200, GROUPS = 40, CU_COUNT = 4 };

static struct perf_block blocks[BLOCKS];
static struct perf_line_access lines[LINES];

/* Groups of each sort take so long by what was looked at that it shows in the dispatch's time. */
static const struct perf_group plain = {
    .dispatch_seq = 1, .waves = 4, .beside = 1, .simd_cycles = 100, .longest_other_wait = 10};

static struct perf_group stores(void)
{
    struct perf_group group = plain;
    perf_group_count(&group, TALLY_GLOBAL_WRITE, 1); /* so that memory takes longest */
    for (uint32_t i = 0; i < BLOCKS; i++)
        blocks[i] = (struct perf_block){.va = 0x40000000 + 256 * (uint64_t)i,
                                        .number = i,
                                        .position = (uint16_t)sample_position(256 * (uint64_t)i),
                                        .kind = ACCESS_WRITE,
                                        .sectors = 15,
                                        .halves = 255};
    group.blocks = blocks;
    group.block_count = BLOCKS;
    return group;
}

static struct perf_group loads(void)
{
    struct perf_group group = plain;
    perf_group_count(&group, TALLY_GLOBAL_READ, LINES);
    group.longest_load_wait = group.load_wait_cycles = 500;
    for (uint32_t i = 0; i < LINES; i++)
        lines[i] = (struct perf_line_access){.line_va = 0x40000000 + 64 * (uint64_t)i,
                                             .kind = ACCESS_READ,
                                             .tally = TALLY_GLOBAL_READ,
                                             .tags = 64,
                                             .flags = ACCESS_SAMPLED | ACCESS_FIRST};
    group.accesses = lines;
    group.access_count = LINES;
    group.is_sampled = true;
    return group;
}

static struct perf_group shared(void)
{
    struct perf_group group = plain;
    perf_group_count(&group, TALLY_LDS_READ, 100);
    group.is_sampled = true;
    group.lds_samples[0] = (struct perf_lds_sample){.instructions = 10, .cycles = 500};
    return group;
}

/* As loads, but nothing was looked at: the model takes what it assumes. */
static struct perf_group unseen(void)
{
    struct perf_group group = plain;
    perf_group_count(&group, TALLY_GLOBAL_READ, LINES);
    perf_group_count(&group, TALLY_LDS_READ, 100);
    return group;
}

static struct perf_group nothing(void)
{
    return plain;
}

static struct perf_group (*const sorts[])(void) = {stores, loads, shared, unseen, nothing};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

static uint64_t dispatch_cycles(struct perf *perf, uint32_t sort)
{
    struct perf_group group = sorts[sort]();
    perf_group_time(&group);
    perf_dispatch_begin(perf, 1, true);
    for (uint32_t i = 0; i < GROUPS; i++) {
        group.cu = i % CU_COUNT;
        perf_group_retire(perf, &group);
    }
    return perf_dispatch_end(perf, 1);
}

static struct perf *perf_new(void)
{
    struct perf *perf;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    return perf;
}

static void what_ran_before_changes_no_time(void **state)
{
    uint64_t alone[SORTS];
    (void)state;
    for (uint32_t sort = 0; sort < SORTS; sort++) {
        struct perf *perf = perf_new();
        alone[sort] = dispatch_cycles(perf, sort);
        perf_destroy(perf);
    }
    struct perf *perf = perf_new();
    for (uint32_t before = 0; before < SORTS; before++)
        for (uint32_t sort = 0; sort < SORTS; sort++) {
            dispatch_cycles(perf, before);
            assert_int_equal(dispatch_cycles(perf, sort), alone[sort]);
        }
    perf_destroy(perf);
    for (uint32_t sort = 0; sort + 1 < SORTS; sort++) /* each has something of its own */
        assert_true(alone[sort] > alone[SORTS - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_ran_before_changes_no_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
