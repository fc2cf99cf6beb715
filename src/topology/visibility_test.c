#include "topology/visibility.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void unset_shows_all(void **state)
{
    (void)state;
    assert_int_equal(visibility_position(NULL, 3, 0), 3);
}

static void lists_reorder_and_hide(void **state)
{
    (void)state;
    assert_int_equal(visibility_position("2,0", 0, 0), 1);
    assert_int_equal(visibility_position("2,0", 2, 0), 0);
    assert_int_equal(visibility_position("2,0", 1, 0), -1);
    assert_int_equal(visibility_position(" 0 , 1", 1, 0), 1);
}

static void ids_match_in_hex(void **state)
{
    (void)state;
    assert_int_equal(visibility_position("1,GPU-fea5fea5000000aa", 7, 0xfea5fea5000000aaull), 1);
    assert_int_equal(visibility_position("GPU-1", 0, 2), -1);
    assert_int_equal(visibility_position("GPU-0", 0, 0), -1);
}

static void an_invalid_entry_ends_the_list(void **state)
{
    (void)state;
    assert_int_equal(visibility_position("", 0, 0), -1);
    assert_int_equal(visibility_position("-1", 0, 0), -1);
    assert_int_equal(visibility_position("1,-1,0", 0, 0), -1);
    assert_int_equal(visibility_position("1,-1,0", 1, 0), 0);
    assert_int_equal(visibility_position("GPU-", 0, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unset_shows_all),
        cmocka_unit_test(lists_reorder_and_hide),
        cmocka_unit_test(ids_match_in_hex),
        cmocka_unit_test(an_invalid_entry_ends_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
