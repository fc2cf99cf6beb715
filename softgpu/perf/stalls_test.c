/* What waits for what in caches, tag RAMs, data units and the command processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/all_counted.h"

enum { LINE = 64, DUPLICATES = 30, MISS_CYCLES = 600, LAUNCH_CYCLES = 1000 };

static struct perf *perf_start(void)
{
    struct perf *perf;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    all_counted_begin(perf, PERF_WANT_L2);
    return perf;
}

/* A group whose waves read a line of scalars so often, and fetch one of code. */
static void scalars_read(struct perf *perf, uint32_t cu, uint64_t round, uint64_t line,
                         uint64_t times)
{
    const struct perf_line_access lines[] = {
        {.line_va = 0x10000 + LINE * line, .kind = ACCESS_SCALAR_READ, .bytes_mask_lo = 1},
        {.line_va = 0x90000 + LINE * line, .kind = ACCESS_FETCH, .bytes_mask_lo = 1}};
    perf_group_retire(perf, &(struct perf_group){.dispatch_seq = 1,
                                                 .cu = cu,
                                                 .round = round,
                                                 .waves = 4,
                                                 .busy_cycles = 5,
                                                 .wants = PERF_WANT_L2,
                                                 .accesses = lines,
                                                 .access_count = 2,
                                                 .scalar_repeats = times - 1,
                                                 .fetches = 2 * times});
}

static uint64_t units_sum(const struct perf *perf, enum perf_source source)
{
    uint64_t sum = 0;
    for (uint32_t at = 0; at < perf->units; at++)
        sum += perf->cu[at][source];
    return sum;
}

/* Groups of both units that share the caches begin together: of what they ask for while the line is
 * on its way so many are duplicates, and the rest is not taken until it has come. */
static void waves_that_begin_together_ask_for_one_line(void **state)
{
    enum { GROUPS = 8, TIMES = 16 };
    struct perf *perf = perf_start();
    (void)state;
    perf_dispatch_begin(perf, 1, true);
    for (uint32_t n = 0; n < GROUPS; n++) {
        scalars_read(perf, n % 2, 0, 0, TIMES);
        const uint64_t hits = (n + 1) * TIMES - 1, fetch_hits = 2 * (n + 1) * TIMES - 1;
        assert_int_equal(units_sum(perf, SRC_SQC_HIT), hits);
        assert_int_equal(units_sum(perf, SRC_SQC_DUPLICATE), hits < DUPLICATES ? hits : DUPLICATES);
        assert_int_equal(units_sum(perf, SRC_ICACHE_DUPLICATE),
                         fetch_hits < DUPLICATES ? fetch_hits : DUPLICATES);
    }
    assert_int_equal(units_sum(perf, SRC_SQC_MISS), 1);
    assert_int_equal(units_sum(perf, SRC_SQC_REFUSED), 0); /* its time is not known yet */
    perf_dispatch_end(perf, 1);
    assert_int_equal(perf->cu[0][SRC_SQC_REFUSED], MISS_CYCLES);
    assert_int_equal(perf->cu[0][SRC_ICACHE_REFUSED], MISS_CYCLES);
    assert_int_equal(units_sum(perf, SRC_SQC_REFUSED), MISS_CYCLES);
    perf_destroy(perf);
}

/* Those of later rounds come when the line is there; a line of their own they wait for themselves,
 * and are too few to be refused. */
static void later_groups_wait_for_lines_of_their_own(void **state)
{
    struct perf *perf = perf_start();
    (void)state;
    perf_dispatch_begin(perf, 1, true);
    scalars_read(perf, 0, 0, 0, 4);
    assert_int_equal(units_sum(perf, SRC_SQC_DUPLICATE), 3);
    scalars_read(perf, 1, 1, 0, 100); /* of the neighbour: there is room, but nothing on its way */
    assert_int_equal(units_sum(perf, SRC_SQC_DUPLICATE), 3);
    scalars_read(perf, 1, 1, 1, 10);
    assert_int_equal(units_sum(perf, SRC_SQC_DUPLICATE), 3 + 9);
    scalars_read(perf, 1, 2, 2, 100);
    assert_int_equal(units_sum(perf, SRC_SQC_DUPLICATE), 3 + 9 + DUPLICATES);
    perf_dispatch_end(perf, 1);
    assert_int_equal(units_sum(perf, SRC_SQC_REFUSED), 0);
    perf_destroy(perf);
}

/* Nothing waits for longer than its dispatch takes; and of one that the sequencers' counters do not
 * see they do not see what waits either. */
static void no_wait_is_longer_than_the_dispatch(void **state)
{
    enum { HOST = HOME_HOST };
    struct perf *perf = perf_start();
    const struct perf_line_access line = {.line_va =
                                              (uint64_t)HOST << VM_PLACE_HOME_SHIFT | 0x10000,
                                          .kind = ACCESS_SCALAR_READ,
                                          .bytes_mask_lo = 1};
    (void)state;
    perf_dispatch_begin(perf, 1, false);
    perf_group_retire(perf, &(struct perf_group){.dispatch_seq = 1,
                                                 .cu = 5,
                                                 .waves = 4,
                                                 .busy_cycles = 5,
                                                 .wants = PERF_WANT_L2,
                                                 .accesses = &line,
                                                 .access_count = 1,
                                                 .scalar_repeats = 100});
    const uint64_t cycles = perf_dispatch_end(perf, 1);
    assert_true(cycles >= LAUNCH_CYCLES && cycles < MISS_CYCLES + link_cycles(HOME_HOST));
    assert_int_equal(perf->cu[4][SRC_SQC_REFUSED], cycles);
    assert_int_equal(perf->hidden_cu[4][SRC_SQC_REFUSED], cycles);
    assert_int_equal(perf->hidden_cu[5][SRC_SQC_DUPLICATE], DUPLICATES);
    /* The next one begins without any of it. */
    perf_dispatch_begin(perf, 2, true);
    assert_int_not_equal(perf_dispatch_end(perf, 2), 0);
    assert_int_equal(units_sum(perf, SRC_SQC_REFUSED), cycles);
    perf_destroy(perf);
}

/* A group whose caches nobody looks at asks for no line, and leaves nothing to the next dispatch.
 */
static void nothing_is_refused_where_no_line_is_waited_for(void **state)
{
    struct perf *perf = perf_start();
    (void)state;
    perf_dispatch_begin(perf, 1, false);
    perf_group_retire(perf, &(struct perf_group){
                                .dispatch_seq = 1, .waves = 4, .busy_cycles = 5, .fetches = 100});
    assert_int_not_equal(perf_dispatch_end(perf, 1), 0);
    perf_dispatch_begin(perf, 1, true);
    scalars_read(perf, 0, 0, 0, DUPLICATES / 2);
    assert_int_not_equal(perf_dispatch_end(perf, 1), 0);
    assert_int_equal(units_sum(perf, SRC_ICACHE_MISS), 1);
    assert_int_equal(units_sum(perf, SRC_ICACHE_REFUSED), 0);
    perf_destroy(perf);
}

/* Vector loads and stores of a group, of which the sampled ones have lines that wait for tags. */
static struct perf_group tags_group(const struct perf_line_access *lines, uint32_t count)
{
    struct perf_group group = {.dispatch_seq = 1,
                               .waves = 4,
                               .beside = 1,
                               .simd_cycles = 100,
                               .is_sampled = true,
                               .accesses = lines,
                               .access_count = count};
    perf_group_count(&group, TALLY_GLOBAL_READ, 300);
    perf_group_count(&group, TALLY_GLOBAL_WRITE, 200);
    perf_group_time(&group);
    return group;
}

/* A hundredth of the instructions was looked at. */
static void tags_are_waited_for_as_samples_say(void **state)
{
    const struct perf_line_access lines[] = {
        {.kind = ACCESS_READ, .tally = TALLY_GLOBAL_READ, .tags = 16, .conflicts = 7},
        {.kind = ACCESS_READ, .tally = TALLY_GLOBAL_READ, .tags = 16},
        {.kind = ACCESS_READ, .tally = TALLY_GLOBAL_READ, .tags = 16, .conflicts = 2},
        {.kind = ACCESS_WRITE, .tally = TALLY_GLOBAL_WRITE, .tags = 16, .conflicts = 5},
        {.kind = ACCESS_WRITE, .tally = TALLY_GLOBAL_WRITE, .tags = 16}};
    enum { COUNT = sizeof lines / sizeof lines[0] };
    struct perf_line_access sampled[COUNT];
    struct perf *perf;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    for (uint32_t n = 0; n < COUNT; n++) {
        sampled[n] = lines[n];
        sampled[n].line_va = 0x40000 + 4096 * (uint64_t)n;
        sampled[n].flags = ACCESS_FIRST | ACCESS_SAMPLED;
    }
    const struct perf_group group = tags_group(sampled, COUNT);
    perf_dispatch_begin(perf, 1, true);
    perf_group_retire(perf, &group);
    assert_int_not_equal(perf_dispatch_end(perf, 1), 0);
    const uint64_t *cu = perf->cu[0];
    assert_int_equal(cu[SRC_TCP_READ_TAGS], 900);
    assert_int_equal(cu[SRC_TCP_WRITE_TAGS], 500);
    assert_int_equal(cu[SRC_TA_CYCLES] >= 500 * 16, 1);
    /* 300 loads of 16 look-ups and a line each, while waves write four registers. */
    const uint64_t busy = cu[SRC_CU_BUSY];
    assert_int_equal(cu[SRC_TD_REGISTER_STALL], UINT64_C(4) * 300 * 16 / (busy * 4));
    assert_int_equal(cu[SRC_TD_BURSTS], UINT64_C(300) * 300 / (2 * busy));
    assert_int_not_equal(cu[SRC_TD_BURSTS], 0);
    perf_destroy(perf);
}

/* What its interfaces do not work they are idle. */
static void the_command_processor_works_for_launches(void **state)
{
    static const char *const pairs[][2] = {{"CPC_CPC_TCIU_BUSY", "CPC_CPC_TCIU_IDLE"},
                                           {"CPC_CPC_UTCL2IU_BUSY", "CPC_CPC_UTCL2IU_IDLE"},
                                           {"CPF_CPF_TCIU_BUSY", "CPF_CPF_TCIU_IDLE"}};
    (void)state;
    for (size_t n = 0; n < sizeof pairs / sizeof pairs[0]; n++) {
        struct perf *perf = perf_start();
        const bool fetcher = pairs[n][0][2] == 'F';
        const uint32_t selects[] = {
            fetcher ? REG_GFX90A_CPF_PERFCOUNTER0_SELECT : REG_GFX90A_CPC_PERFCOUNTER0_SELECT,
            fetcher ? REG_GFX90A_CPF_PERFCOUNTER1_SELECT : REG_GFX90A_CPC_PERFCOUNTER1_SELECT};
        const uint32_t values[] = {
            fetcher ? REG_GFX90A_CPF_PERFCOUNTER0_LO : REG_GFX90A_CPC_PERFCOUNTER0_LO,
            fetcher ? REG_GFX90A_CPF_PERFCOUNTER1_LO : REG_GFX90A_CPC_PERFCOUNTER1_LO};
        uint64_t counted[2], cycles = 0;
        perf_reg_write(perf, 1, REG_GFX90A_CP_PERFMON_CNTL, 0);
        for (int i = 0; i < 2; i++)
            perf_reg_write(perf, 1, selects[i], all_counted_event(perf, pairs[n][i]));
        perf_reg_write(perf, 1, REG_GFX90A_CP_PERFMON_CNTL, 1);
        for (uint64_t seq = 1; seq <= 3; seq++) {
            perf_dispatch_begin(perf, seq, true);
            cycles += perf_dispatch_end(perf, seq);
        }
        for (int i = 0; i < 2; i++)
            assert_true(perf_counter_read(perf, 0, values[i], &counted[i]));
        assert_int_equal(counted[0] + counted[1], cycles);
        assert_true(counted[0] && counted[0] < cycles);
        perf_destroy(perf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_that_begin_together_ask_for_one_line),
        cmocka_unit_test(later_groups_wait_for_lines_of_their_own),
        cmocka_unit_test(no_wait_is_longer_than_the_dispatch),
        cmocka_unit_test(nothing_is_refused_where_no_line_is_waited_for),
        cmocka_unit_test(tags_are_waited_for_as_samples_say),
        cmocka_unit_test(the_command_processor_works_for_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
