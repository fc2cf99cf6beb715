/* Every way of converting gives what one tick at a time gives, and the chain of pieces is one
 * function of ticks, whoever asks and whenever. */
#include "base/clock_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

enum { WORDS = 8, RECORDS = 64, ROUNDS = 20000, AT = 5 };

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Of any magnitude. */
static uint64_t random_below(unsigned bits)
{
    return random_word() >> (64 - 1 - random_word() % bits);
}

static struct clock_segment random_segment(void)
{
    struct clock_segment segment = {.first_ticks = random_below(62), .base_ns = random_below(62)};
    segment.last_ticks = segment.first_ticks + random_below(48);
    segment.base_ticks = segment.first_ticks;
    if (random_word() % 4 == 0) /* the first piece of a chain begins before its base */
        segment.base_ticks += random_below(40);
    segment.ns_per_tick = (double)(random_word() >> 11) * 0x1p-53;
    if (random_word() % 8 == 0)
        segment.ns_per_tick = 1.0 + segment.ns_per_tick;
    return segment;
}

static uint64_t random_tick(const struct clock_segment *segment)
{
    uint64_t span = segment->last_ticks - segment->first_ticks;
    switch (random_word() % 16) {
    case 0:
        return segment->first_ticks;
    case 1:
        return segment->last_ticks;
    default:
        return segment->first_ticks + (span ? random_word() % span : 0);
    }
}

static void fill(uint64_t records[RECORDS][WORDS], const struct clock_segment *segment)
{
    for (int i = 0; i < RECORDS; i++)
        for (int w = 0; w < WORDS; w++)
            records[i][w] = w == AT || w == AT + 1 ? random_tick(segment) : random_word();
}

static void every_way_gives_the_same_nanoseconds(void **state)
{
    (void)state;
    static uint64_t before[RECORDS][WORDS], after[RECORDS][WORDS];
    int ways = 0;
    for (int way = 0; way < CLOCK_PAIRS_WAYS; way++) {
        clock_pairs_run *run = clock_pairs_way((enum clock_pairs_way)way);
        ways += run != NULL;
        for (int round = 0; run && round < ROUNDS; round++) {
            struct clock_segment segment = random_segment();
            size_t count = random_word() % (RECORDS + 1);
            fill(before, &segment);
            memcpy(after, before, sizeof after);
            assert_int_equal(run(&segment, (unsigned char *)&after[0][AT], sizeof after[0], count),
                             count);
            for (size_t i = 0; i < count; i++)
                for (int w = AT; w <= AT + 1; w++)
                    before[i][w] = clock_ticks_to_ns(&segment, before[i][w]);
            assert_memory_equal(after, before, sizeof after);
        }
    }
    printf("%d of %d ways are there\n", ways, CLOCK_PAIRS_WAYS);
}

/* One tick outside of the segment, first or second of its pair, below or above. */
static void every_way_stops_before_another_segment(void **state)
{
    (void)state;
    static uint64_t before[RECORDS][WORDS], after[RECORDS][WORDS];
    for (int way = 0; way < CLOCK_PAIRS_WAYS; way++) {
        clock_pairs_run *run = clock_pairs_way((enum clock_pairs_way)way);
        for (int round = 0; run && round < ROUNDS; round++) {
            struct clock_segment segment = random_segment();
            size_t stranger = random_word() % RECORDS;
            uint64_t far = random_word() % 2 ? 1 : random_below(63);
            uint64_t tick =
                random_word() % 2 ? segment.last_ticks + far : segment.first_ticks - far;
            fill(before, &segment);
            before[stranger][AT + random_word() % 2] = tick;
            memcpy(after, before, sizeof after);
            if (tick >= segment.first_ticks && tick <= segment.last_ticks)
                continue; /* once around */
            assert_int_equal(
                run(&segment, (unsigned char *)&after[0][AT], sizeof after[0], RECORDS), stranger);
            assert_memory_equal(after[stranger], before[stranger],
                                sizeof after - stranger * sizeof after[0]);
        }
    }
}

/* ---- the chain */

enum { SAMPLES = 4000, CONVERTERS = 3, TOLERANCE_NS = 20000 };

static _Atomic bool stop;

static void *others_convert(void *unused)
{
    uint64_t pair[2];
    struct clock_segment segment = {0};
    while (!stop) {
        pair[0] = pair[1] = clock_ticks();
        if (clock_pairs_to_ns(&segment, pair, sizeof pair, 1, false) == 0)
            clock_segment_now();
    }
    return unused;
}

/* A tick that was converted early, by whoever does not wait, has the same time for ever, is not
 * after a later one, and is what the clock said. */
static void a_time_never_changes(void **state)
{
    (void)state;
    static uint64_t ticks[SAMPLES], early[SAMPLES], clock_ns[SAMPLES];
    pthread_t threads[CONVERTERS];
    struct clock_segment segment = {0};
    int known = 0;
    clock_segment_now();
    for (int i = 0; i < CONVERTERS; i++)
        pthread_create(&threads[i], NULL, others_convert, NULL);
    for (int i = 0; i < SAMPLES; i++) {
        clock_ns[i] = clock_now_ns();
        uint64_t pair[2] = {clock_ticks(), clock_ticks()};
        ticks[i] = pair[0];
        early[i] = clock_pairs_to_ns(&segment, pair, sizeof pair, 1, false) ? pair[0] : 0;
        known += early[i] != 0;
    }
    stop = true;
    for (int i = 0; i < CONVERTERS; i++)
        pthread_join(threads[i], NULL);
    uint64_t last_ns = 0;
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t pair[2] = {ticks[i], ticks[i]};
        struct clock_segment fresh = {0};
        assert_int_equal(clock_pairs_to_ns(&fresh, pair, sizeof pair, 1, true), 1);
        assert_true(pair[0] == pair[1] && pair[0] >= last_ns);
        assert_true(!early[i] || early[i] == pair[0]);
        assert_true(pair[0] + TOLERANCE_NS >= clock_ns[i]);
        last_ns = pair[0];
    }
    assert_true(known > SAMPLES / 4);
}

static void what_is_too_old_is_left_alone(void **state)
{
    (void)state;
    clock_segment_now();
    uint64_t now = clock_ticks();
    uint64_t pairs[3][2] = {{now, now}, {1, now}, {now, now}};
    struct clock_segment segment = {0};
    assert_int_equal(clock_pairs_to_ns(&segment, pairs, sizeof pairs[0], 3, false), 1);
    assert_true(pairs[1][0] == 1 && pairs[1][1] == now && pairs[2][0] == now);
    assert_int_equal(clock_pairs_to_ns(&segment, pairs[1], sizeof pairs[0], 2, true), 2);
    assert_true((int64_t)(pairs[1][1] - pairs[1][0]) > 0 && pairs[1][1] == pairs[2][0]);
}

int main(void)
{
    clock_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_the_same_nanoseconds),
        cmocka_unit_test(every_way_stops_before_another_segment),
        cmocka_unit_test(a_time_never_changes),
        cmocka_unit_test(what_is_too_old_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
