/* How many groups a thread takes at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wave/engine.h"

enum { THREADS = 16, GROUPS = 1 << 20, WINDOW = 16384 };

static uint64_t size_of_window(uint32_t window, uint32_t in_flight, uint64_t started,
                               uint32_t scratch_waves)
{
    const struct engine engine = {.execute_limit = THREADS};
    struct dispatch dispatch = {.batch = BATCH_MAX,
                                .group_total = GROUPS,
                                .group_next = started,
                                .group_retired = started - in_flight,
                                .in_flight = in_flight,
                                .window = window,
                                .request.scratch_waves = scratch_waves,
                                .launch.waves_per_group = 2};
    return batch_size(&engine, &dispatch);
}

static uint64_t size_of(uint32_t in_flight, uint64_t started, uint32_t scratch_waves)
{
    return size_of_window(WINDOW, in_flight, started, scratch_waves);
}

/* What the other threads have taken does not make a batch smaller. */
static void every_thread_has_a_full_batch(void **state)
{
    (void)state;
    for (uint32_t others = 0; others < THREADS; others++)
        assert_int_equal(size_of(others * BATCH_MAX, 100000, 0), BATCH_MAX);
}

/* But where private memory is short, where the window ends, and where few are left for all. */
static void batches_are_limited(void **state)
{
    (void)state;
    assert_int_equal(size_of(10, 100000, 100), 40);
    assert_int_equal(size_of(50, 100000, 100), 1);
    assert_int_equal(size_of(WINDOW - 5, 100000, 0), 5);
    assert_int_equal(size_of(0, GROUPS - 2 * THREADS * 9, 0), 9);
    assert_int_equal(size_of(0, GROUPS - 3, 0), 1);
}

/* Nobody takes a window's rest, which would be a few groups each time. */
static void a_short_window_is_for_all_threads(void **state)
{
    (void)state;
    assert_int_equal(size_of_window(4096, 0, 100000, 0), 4096 / (2 * THREADS));
    assert_int_equal(size_of_window(THREADS, 0, 100000, 0), 1);
}

/* On a device of so many waves: may a second group of 16 waves start beside those of another
 * dispatch? */
enum { DEVICE_WAVES = 3328, LARGE_GROUP = 16 };
static bool large_group_starts(uint32_t others, uint32_t waves_of_each)
{
    const struct gpu_model model = {
        .cu_active = DEVICE_WAVES / 32, .simd_per_cu = 4, .waves_per_simd = 8};
    struct dispatch dispatch = {.group_total = 16,
                                .group_next = 1,
                                .in_flight = 1,
                                .window = 17,
                                .launch.waves_per_group = LARGE_GROUP};
    struct engine engine = {.model = &model,
                            .dispatches = &dispatch,
                            .resident = others + 1,
                            .resident_waves = others * waves_of_each + LARGE_GROUP,
                            .resident_extra = 1 << 14};
    return dispatch_with_new_group(&engine) == &dispatch;
}

/* They may all wait for each other: what the device holds is its waves, whatever groups have. */
static void large_groups_start_beside_small_ones(void **state)
{
    (void)state;
    assert_true(large_group_starts(700, 1));
    assert_true(large_group_starts(DEVICE_WAVES - 2 * LARGE_GROUP, 1));
    assert_false(large_group_starts(DEVICE_WAVES - 2 * LARGE_GROUP + 1, 1));
    assert_true(large_group_starts(DEVICE_WAVES / LARGE_GROUP - 2, LARGE_GROUP));
    assert_false(large_group_starts(DEVICE_WAVES / LARGE_GROUP - 1, LARGE_GROUP));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_has_a_full_batch),
        cmocka_unit_test(batches_are_limited),
        cmocka_unit_test(a_short_window_is_for_all_threads),
        cmocka_unit_test(large_groups_start_beside_small_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
