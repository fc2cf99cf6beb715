/* A dispatch's modelled time does not depend on the one before it, whatever that did. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/perf.h"
#include "perf/sample.h"
#include "perf/transfers.h"

enum { BLOCKS = 20000, LINES = 200, GROUPS = 40, CU_COUNT = 4 };

static struct perf_block blocks[BLOCKS];
static struct perf_line_access lines[LINES], mixed[2 * LINES];

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

/* What they cost together depends on how many there were of each. */
static struct perf_group loads_and_cheap_stores(void)
{
    struct perf_group group = loads();
    perf_group_count(&group, TALLY_GLOBAL_WRITE, LINES);
    for (uint32_t i = 0; i < LINES; i++) {
        mixed[2 * i] = mixed[2 * i + 1] = lines[i];
        mixed[2 * i + 1].kind = ACCESS_WRITE;
        mixed[2 * i + 1].tally = TALLY_GLOBAL_WRITE;
        mixed[2 * i + 1].tags = 1;
    }
    group.accesses = mixed;
    group.access_count = 2 * LINES;
    return group;
}

/* Between these loads others that are there for counters alone, and cheaper: no time is learnt from
 * them. */
static struct perf_group loads_among_others(void)
{
    struct perf_group group = loads();
    for (uint32_t i = 0; i < LINES; i++) {
        mixed[2 * i] = mixed[2 * i + 1] = lines[i];
        mixed[2 * i + 1].tags = 1;
        mixed[2 * i + 1].flags = ACCESS_FIRST;
    }
    group.accesses = mixed;
    group.access_count = 2 * LINES;
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

/* Nothing was looked at: the model takes what it assumes. */
static struct perf_group unseen_loads(void)
{
    struct perf_group group = plain;
    perf_group_count(&group, TALLY_GLOBAL_READ, LINES);
    return group;
}

static struct perf_group unseen_lds(void)
{
    struct perf_group group = plain;
    perf_group_count(&group, TALLY_LDS_READ, 100);
    return group;
}

static struct perf_group nothing(void)
{
    return plain;
}

static struct perf_group (*const sorts[])(void) = {
    stores, loads, loads_and_cheap_stores, shared, unseen_loads, unseen_lds, nothing};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

static uint64_t cycles_of(struct perf *perf, struct perf_group group)
{
    perf_group_time(&group);
    perf_dispatch_begin(perf, 1, true);
    for (uint32_t i = 0; i < GROUPS; i++) {
        group.cu = i % CU_COUNT;
        perf_group_retire(perf, &group);
    }
    return perf_dispatch_end(perf, 1);
}

static uint64_t dispatch_cycles(struct perf *perf, uint32_t sort)
{
    return cycles_of(perf, sorts[sort]());
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

/* One XCC's group reads a block, of which all are sampled. */
static void block_read(struct dispatch_sample *sample, uint32_t xcc, uint64_t number)
{
    const struct perf_block block = {.va = number * SAMPLE_BLOCK_BYTES,
                                     .number = (uint32_t)number,
                                     .position =
                                         (uint16_t)sample_position(number * SAMPLE_BLOCK_BYTES),
                                     .kind = ACCESS_READ,
                                     .sectors = 15};
    const struct perf_group group = {.blocks = &block, .block_count = 1};
    dispatch_sample_group(sample, &group, xcc * sample->units);
}

/* What another XCC has read, or what no L2 holds any more, comes from the cache in front of the
 * memory, where there is one. */
static void memory_is_read_once_where_a_cache_is_before_it(void **state)
{
    enum { BLOCKS_READ = 100, APART = SAMPLE_REGION_BLOCKS, WAYS = 16 };
    struct dispatch_sample *sample = dispatch_sample_create(gpu_model_find("gfx942"), false);
    const uint64_t bytes = BLOCKS_READ * SAMPLE_BLOCK_BYTES, round = WAYS * SAMPLE_BLOCK_BYTES;
    (void)state;
    assert_non_null(sample);
    dispatch_sample_begin(sample);
    for (uint32_t xcc = 0; xcc < 3; xcc++)
        for (uint64_t n = 0; n < BLOCKS_READ; n++)
            block_read(sample, xcc, n);
    assert_int_equal(sample->homes[HOME_OWN].read_bytes, 3 * bytes);
    assert_int_equal(sample->side_bytes, 2 * bytes);
    dispatch_sample_begin(sample);
    assert_int_equal(sample->side_bytes, 0);
    /* Blocks of one set: as many as it has ways stay, one more and none does. */
    for (uint32_t turn = 0; turn < 3; turn++)
        for (uint64_t n = 0; n < WAYS; n++)
            block_read(sample, turn, n * APART);
    assert_int_equal(sample->side_bytes, 2 * round);
    dispatch_sample_begin(sample);
    for (uint32_t turn = 0; turn < 3; turn++)
        for (uint64_t n = 0; n <= WAYS; n++)
            block_read(sample, turn, n * APART);
    assert_int_equal(sample->side_bytes, 0);
    dispatch_sample_destroy(sample);
}

static void without_one_nothing_is_held_before_memory(void **state)
{
    struct dispatch_sample *sample = dispatch_sample_create(gpu_model_find("gfx90a"), false);
    (void)state;
    assert_non_null(sample);
    dispatch_sample_begin(sample);
    for (uint64_t n = 0; n < 40; n++)
        block_read(sample, 0, n % 20 * SAMPLE_REGION_BLOCKS);
    assert_int_equal(sample->homes[HOME_OWN].read_bytes, 40 * SAMPLE_BLOCK_BYTES);
    assert_int_equal(sample->side_bytes, 0);
    dispatch_sample_destroy(sample);
}

/* Bytes that one part moves, as cycles of an MI300X. */
static void each_part_has_its_rate(void **state)
{
    const struct gpu_model *model = gpu_model_find("gfx942");
    struct dispatch_sample sample = {.model = model};
    const uint64_t gb = 1000000000;
    (void)state;
    sample.homes[HOME_OWN] = (struct home_sample){.read_bytes = 3 * gb, .write_bytes = 1 * gb};
    double memory = 4 / (5324.8 * 0.85) * 2.1e9, side = 4 / (17203.2 * 0.85) * 2.1e9;
    assert_true(fabs((double)transfers_cycles(&sample, HOME_OWN) / memory - 1) < 1e-3);
    sample.side_bytes = gb;
    assert_true(fabs((double)transfers_cycles(&sample, HOME_OWN) / (memory * 3 / 4) - 1) < 1e-3);
    sample.homes[HOME_OWN] = (struct home_sample){.read_bytes = 4 * gb};
    sample.side_bytes = 4 * gb;
    assert_true(fabs((double)transfers_cycles(&sample, HOME_OWN) / side - 1) < 1e-3);
    sample.homes[HOME_HOST] = (struct home_sample){.read_bytes = 1 * gb, .write_bytes = 2 * gb};
    double host = 2 / (63.015 * 0.85) * 2.1e9;
    assert_true(fabs((double)transfers_cycles(&sample, HOME_HOST) / host - 1) < 1e-3);
    assert_int_equal(transfers_cycles(&sample, HOME_PEER), 0);
}

static void what_is_not_sampled_changes_no_time(void **state)
{
    (void)state;
    struct perf *perf = perf_new();
    uint64_t alone = cycles_of(perf, loads());
    assert_int_equal(cycles_of(perf, loads_among_others()), alone);
    perf_destroy(perf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_before_changes_no_time),
        cmocka_unit_test(memory_is_read_once_where_a_cache_is_before_it),
        cmocka_unit_test(without_one_nothing_is_held_before_memory),
        cmocka_unit_test(each_part_has_its_rate),
        cmocka_unit_test(what_is_not_sampled_changes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
