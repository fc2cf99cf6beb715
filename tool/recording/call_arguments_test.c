#include "call_arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arguments_read arguments;

static void next_is(const struct out_api_row *row, uint32_t *at, const char *type, const char *name,
                    const char *value)
{
    struct out_argument argument;
    assert_true(out_argument_next(row, at, &argument));
    assert_string_equal(argument.type, type);
    assert_string_equal(argument.name, name);
    assert_string_equal(argument.value, value);
}

static void positions_put_them_in_order(void **state)
{
    (void)state;
    struct out_api_row row = {.domain = "HIP"};
    struct out_argument argument;
    uint32_t at = 0;
    arguments_begin(&arguments);
    assert_true(arguments_add(&arguments, 2, "int", "third", "3"));
    assert_true(arguments_add(&arguments, 0, "size_t", "first", ""));
    assert_true(arguments_add(&arguments, 1, "char *", NULL, NULL));
    arguments_end(&arguments, &row);
    next_is(&row, &at, "size_t", "first", "");
    next_is(&row, &at, "char *", "", "");
    next_is(&row, &at, "int", "third", "3");
    assert_false(out_argument_next(&row, &at, &argument));
    arguments_begin(&arguments); /* the next call has none */
    arguments_end(&arguments, &row);
    assert_null(row.arguments);
    assert_int_equal(row.arguments_bytes, 0);
}

static void what_has_no_room_is_refused(void **state)
{
    (void)state;
    struct out_api_row row = {.domain = "HIP"};
    char value[OUT_ARGUMENTS_BYTES];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = 0;
    arguments_begin(&arguments);
    assert_false(arguments_add(&arguments, 0, "", "", value)); /* two bytes too many */
    assert_true(arguments_add(&arguments, 1, "", "", value + 2));
    assert_false(arguments_add(&arguments, 2, "", "", ""));
    arguments_end(&arguments, &row);
    assert_int_equal(row.arguments_bytes, OUT_ARGUMENTS_BYTES);
    arguments_begin(&arguments);
    for (int i = 0; i < ARGUMENTS_MAX; i++)
        assert_true(arguments_add(&arguments, i, "", "", ""));
    assert_false(arguments_add(&arguments, ARGUMENTS_MAX, "", "", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(positions_put_them_in_order),
                                       cmocka_unit_test(what_has_no_room_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
