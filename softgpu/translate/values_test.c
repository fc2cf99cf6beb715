/* Who has the host's registers: what an instruction has asked for stays where it is until its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "translate/values.h"

enum { MASKS = MASKS_END - MASKS_FIRST, FIRST_PAIR = 10 };

/* An instruction that has a pair's mask asks for as many as there are besides, after it has said
 * that it has no more use for the pair's: whoever asked before may still read that. */
static void a_pairs_mask_outlives_its_release(void **state)
{
    struct x86 x = {.level = x86_level_find("avx512")};
    struct values v;
    (void)state;
    assert_non_null(x.level);
    for (unsigned pair = FIRST_PAIR; pair < FIRST_PAIR + MASKS; pair++) {
        values_begin(&v, &x, false);
        for (unsigned n = FIRST_PAIR; n < FIRST_PAIR + MASKS; n++) {
            values_next(&v);
            values_mask(&v, n);
        }
        values_next(&v);
        unsigned mask = values_mask(&v, pair);
        values_mask_release(&v, mask);
        for (int others = 1; others < MASKS; others++)
            assert_int_not_equal(values_mask_temporary(&v), mask);
        assert_int_equal(values_mask(&v, pair), mask);
    }
    x86_free(&x);
}

/* A temporary that is released is the next to be used. */
static void a_temporary_is_free_behind_its_release(void **state)
{
    struct x86 x = {.level = x86_level_find("avx512")};
    struct values v;
    (void)state;
    values_begin(&v, &x, false);
    values_next(&v);
    for (int n = 0; n < 3 * MASKS; n++) {
        unsigned first = values_mask_temporary(&v), second = values_mask_temporary(&v);
        assert_int_not_equal(first, second);
        values_mask_release(&v, first);
        assert_int_equal(values_mask_temporary(&v), first);
        values_mask_release(&v, 0);
        values_mask_release(&v, MASK_ODD);
        values_mask_release(&v, first);
        values_mask_release(&v, second);
    }
    x86_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pairs_mask_outlives_its_release),
        cmocka_unit_test(a_temporary_is_free_behind_its_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
