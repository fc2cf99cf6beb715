/* Counting and finding against a walk over single bits, for masks of every density. */
#include "core/unit_mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/device.h"

enum { MASKS = 500 };

static struct unit_mask mask_make(unsigned seed)
{
    struct unit_mask mask = {{0}};
    unsigned density = 1 + seed % 31;
    srand(seed);
    for (uint32_t unit = 0; unit < GPU_UNITS_MAX; unit++)
        if ((unsigned)rand() % 32 < density)
            mask.words[unit / 64] |= UINT64_C(1) << unit % 64;
    return mask;
}

static void the_same_as_a_walk_over_bits(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < MASKS; seed++) {
        struct unit_mask mask = mask_make(seed);
        uint32_t found = 0;
        for (uint32_t unit = 0; unit < GPU_UNITS_MAX; unit++) {
            assert_int_equal(unit_mask_count(&mask, unit), found);
            if (!unit_mask_has(&mask, unit))
                continue;
            assert_int_equal(unit_mask_find(&mask, found), unit);
            found++;
        }
        assert_int_equal(unit_mask_count(&mask, GPU_UNITS_MAX), found);
        assert_int_equal(unit_mask_count(&mask, UINT32_MAX), found);
        assert_false(unit_mask_has(&mask, GPU_UNITS_MAX));
    }
}

static void every_gpu_has_room_in_it(void **state)
{
    (void)state;
    static const char *const names[] = {"gfx906", "gfx908", "gfx90a", "gfx942"};
    for (int i = 0; i < 4; i++)
        assert_true(gpu_model_find(names[i])->cu_active <= GPU_UNITS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_as_a_walk_over_bits),
        cmocka_unit_test(every_gpu_has_room_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
