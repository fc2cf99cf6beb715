#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/time_source.h"

static void words_are_wall_and_model(void **state)
{
    (void)state;
    assert_int_equal(time_source_parse(NULL), TIME_WALL);
    assert_int_equal(time_source_parse(""), TIME_WALL);
    assert_int_equal(time_source_parse("wall"), TIME_WALL);
    assert_int_equal(time_source_parse("model"), TIME_MODEL);
    assert_int_equal(time_source_parse("modelled"), TIME_UNKNOWN);
    assert_int_equal(time_source_parse("Model"), TIME_UNKNOWN);
}

/* An MI210 has 17 cycles in a tick of 10 ns. */
static void cycles_become_ticks_rounded_up(void **state)
{
    (void)state;
    const struct gpu_model *model = gpu_model_find("gfx90a");
    assert_int_equal(ticks_of_cycles(model, 0), 0);
    assert_int_equal(ticks_of_cycles(model, 1), 1);
    assert_int_equal(ticks_of_cycles(model, 17), 1);
    assert_int_equal(ticks_of_cycles(model, 18), 2);
    assert_int_equal(ticks_of_cycles(model, UINT64_C(1700000000) * 3600 * 24 * 365),
                     UINT64_C(100000000) * 3600 * 24 * 365);
    assert_int_equal(cycles_of_ticks(model, UINT64_C(100000000) * 3600 * 24 * 365),
                     UINT64_C(1700000000) * 3600 * 24 * 365);
    assert_int_equal(cycles_of_ticks(gpu_model_find("gfx908"), 100), 1502);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_wall_and_model),
        cmocka_unit_test(cycles_become_ticks_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
