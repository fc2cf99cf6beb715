/* How long the completion thread naps while urgent work is in flight: a device and a thread that
 * are played, on a clock of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "intercept/hsa/completion_state.h"

enum { US = 1000, WAKE_NS = 3 * US, NAP_MIN_NS = 5 * US, NAP_MAX_NS = 100 * US };

/* Time now, and what the thread knows. */
struct play {
    uint64_t now_ns;
    struct nap nap;
    uint32_t looks;
};

/* Looks until work that ends at `end_ns` is seen to have ended. Returns how late that is. */
static uint64_t wait_for(struct play *play, uint64_t end_ns, bool more_behind)
{
    for (;;) {
        bool ended = play->now_ns >= end_ns;
        struct look look = {.begun_at_ns = play->now_ns,
                            .urgent = true,
                            .progress = ended,
                            .waits = !ended || more_behind};
        uint64_t seen_ns = play->now_ns, nap_ns = nap_urgent_ns(&play->nap, &look);
        assert_true(nap_ns >= NAP_MIN_NS && nap_ns <= NAP_MAX_NS);
        play->looks++;
        play->now_ns += nap_ns + WAKE_NS;
        if (ended)
            return seen_ns - end_ns;
    }
}

struct result {
    uint64_t latest_ns;
    uint32_t looks;
};

/* Kernels one after another, each launched when the one before was seen to have ended. */
static struct result run_alone(struct play *play, uint64_t kernel_ns, uint32_t count)
{
    struct result result = {0, play->looks};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t late_ns = wait_for(play, play->now_ns + kernel_ns, false);
        result.latest_ns = late_ns > result.latest_ns ? late_ns : result.latest_ns;
    }
    result.looks = play->looks - result.looks;
    return result;
}

/* The same with all launched at once. */
static struct result run_behind(struct play *play, uint64_t kernel_ns, uint32_t count)
{
    uint64_t begin_ns = play->now_ns;
    struct result result = {0, play->looks};
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t late_ns = wait_for(play, begin_ns + i * kernel_ns, i < count);
        result.latest_ns = late_ns > result.latest_ns ? late_ns : result.latest_ns;
    }
    result.looks = play->looks - result.looks;
    return result;
}

static void alike_kernels_are_slept_through(void **state)
{
    enum { COUNT = 100 };
    (void)state;
    for (uint64_t kernel_ns = 10 * US; kernel_ns <= 80 * US; kernel_ns += 7 * US) {
        struct play play = {0};
        run_alone(&play, kernel_ns, COUNT);
        struct result result = run_alone(&play, kernel_ns, COUNT);
        assert_true(result.latest_ns <= 3 * NAP_MIN_NS + WAKE_NS);
        assert_true(result.looks <= 4 * COUNT);
        run_behind(&play, kernel_ns, COUNT);
        result = run_behind(&play, kernel_ns, COUNT);
        assert_true(result.looks <= 4 * COUNT);
        assert_true(result.latest_ns <= 3 * NAP_MIN_NS + WAKE_NS);
    }
}

static void shorter_ones_are_soon_noticed(void **state)
{
    (void)state;
    struct play play = {0};
    run_alone(&play, 120 * US, 100);
    assert_true(run_alone(&play, 10 * US, 12).latest_ns <= NAP_MAX_NS);
    assert_true(run_alone(&play, 10 * US, 100).latest_ns <= 3 * NAP_MIN_NS + WAKE_NS);
}

static void long_ones_are_looked_at_rarely(void **state)
{
    (void)state;
    struct play play = {0};
    struct result result = run_alone(&play, 10000 * US, 3);
    assert_true(result.looks <= 3 * 120);
    assert_true(result.latest_ns <= NAP_MAX_NS + WAKE_NS);
}

/* A kernel and the barrier that its program waits for, which ends at once behind it. */
static void what_is_behind_is_not_slept_through(void **state)
{
    (void)state;
    struct play play = {0};
    uint64_t late_ns = 0;
    for (int i = 0; i < 50; i++) {
        uint64_t end_ns = play.now_ns + 40 * US;
        wait_for(&play, end_ns, true);
        late_ns = wait_for(&play, end_ns + 1 * US, false);
    }
    assert_true(late_ns <= 4 * NAP_MIN_NS);
}

/* Nothing is in flight any more: naps grow, until one that a poster cuts short. */
static void naps_grow_behind_the_last(void **state)
{
    (void)state;
    struct play play = {0};
    run_alone(&play, 20 * US, 10);
    uint64_t before_ns = 0, nap_ns = 0;
    for (int i = 0; i < 12; i++) {
        struct look look = {.begun_at_ns = play.now_ns};
        nap_ns = nap_urgent_ns(&play.nap, &look);
        assert_true(nap_ns >= before_ns);
        before_ns = nap_ns;
        play.now_ns += nap_ns;
    }
    assert_int_equal(nap_ns, NAP_MAX_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_kernels_are_slept_through),
        cmocka_unit_test(shorter_ones_are_soon_noticed),
        cmocka_unit_test(long_ones_are_looked_at_rarely),
        cmocka_unit_test(what_is_behind_is_not_slept_through),
        cmocka_unit_test(naps_grow_behind_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
