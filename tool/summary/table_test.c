#include "table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void text_is(const char *text, size_t width, const char *expected)
{
    char shown[200];
    table_text(text, width, shown, sizeof shown);
    assert_string_equal(shown, expected);
}

static void texts_are_shortened_in_the_middle(void **state)
{
    (void)state;
    text_is("short", 0, "short");
    text_is("short", 5, "short");
    text_is("void a<int>(float*)", 9, "voi...t*)");
    text_is("abcdefghij", 8, "abc...ij");
    text_is("ab", 1, "ab"); /* no room for dots */
}

static void texts_cannot_break_a_line(void **state)
{
    (void)state;
    text_is("a\nb\tc\033[31md\r\177", 0, "a\\nb\\tc?[31md??");
    text_is("\xc3\xa9t\xc3\xa9", 0, "\xc3\xa9t\xc3\xa9");
    text_is("\xc3(\xff", 0, "?(?"); /* no UTF-8 */
    text_is("\xc2\x9b"
            "1m",
            0, "?1m"); /* a control sequence of one character */
    text_is("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5, "\xc3\xa9...\xc3\xa9");
}

static void print(const struct table *table, size_t width, bool colour, char *lines[8])
{
    static char text[4000];
    const struct table_style style = {width, colour};
    FILE *file = fmemopen(text, sizeof text, "w");
    table_print(table, file, &style);
    fclose(file);
    char *rest = text;
    for (int i = 0; i < 8; i++)
        lines[i] = strsep(&rest, "\n");
}

static void numbers_are_to_the_right_and_lines_fit(void **state)
{
    (void)state;
    static const char *const titles[] = {"calls", "total us", "min", "kernel"};
    static const char *const rows[2][4] = {
        {"3", "1.5", "0.25", "a_kernel_with_a_name_that_is_longer_than_what_is_left(int)"},
        {"123456", "10000000.5", "1", "b"}};
    char *lines[8];
    struct table *table = table_create(titles, 4);
    table_spare(table, 2);
    table_row(table, rows[0]);
    table_row(table, rows[1]);
    print(table, 0, false, lines);
    assert_string_equal(lines[0], "");
    assert_string_equal(lines[1], " calls    total us   min  kernel");
    assert_true(strstr(lines[2], "     3         1.5  0.25  a_kernel_") == lines[2]);
    assert_string_equal(lines[3], "123456  10000000.5     1  b");
    assert_non_null(strstr(lines[2], "is_left(int)"));
    for (size_t width = 40; width < 100; width++) {
        print(table, width, false, lines);
        for (int i = 0; i < 4; i++)
            assert_true(strlen(lines[i]) <= width);
    }
    print(table, 50, false, lines);
    assert_null(strstr(lines[1], "min")); /* left out for the name */
    assert_non_null(strstr(lines[2], "..."));
    print(table, 0, true, lines);
    assert_non_null(strstr(lines[1], "\033["));
    assert_null(strstr(lines[2], "\033["));
    table_destroy(table);
}

static void no_colour_where_nobody_sees_it(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    setenv("TERM", "xterm", 1);
    unsetenv("COLUMNS");
    struct table_style style = table_style_of(file);
    assert_false(style.colour);
    assert_int_equal(style.width, 0);
    setenv("COLUMNS", "77", 1);
    assert_int_equal(table_style_of(file).width, 77);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_shortened_in_the_middle),
                                       cmocka_unit_test(texts_cannot_break_a_line),
                                       cmocka_unit_test(numbers_are_to_the_right_and_lines_fit),
                                       cmocka_unit_test(no_colour_where_nobody_sees_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
