#include "grid/grid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char shown[1 << 20];

static const char *grid_show(enum grid_format format, unsigned repeat)
{
    static const char *const names[] = {"name", "n", "x"};
    static struct writer writer;
    FILE *file = tmpfile();
    assert_int_equal(writer_attach(&writer, fileno(file)), 0);
    struct grid *grid = grid_begin(&writer, format, names, 3);
    const struct grid_value rows[][3] = {
        {GRID_OF_TEXT("a \"b\"\n|<é"), GRID_OF_INTEGER(INT64_MIN), GRID_OF_REAL(0.1)},
        {GRID_OF_TEXT("c"), {.type = GRID_NULL}, GRID_OF_REAL(1.0 / 3)}};
    for (unsigned i = 0; i < repeat; i++)
        grid_row(grid, rows[i % 2]);
    grid_end(grid);
    assert_int_equal(writer_close(&writer), 0);
    rewind(file);
    shown[fread(shown, 1, sizeof shown - 1, file)] = 0;
    fclose(file);
    return shown;
}

static void each_format(void **state)
{
    (void)state;
    assert_string_equal(grid_show(GRID_TABLE, 2), "name                          n            x\n"
                                                  "a \"b\" |<é  -9223372036854775808          0.1\n"
                                                  "c                                0.333333333\n");
    assert_string_equal(grid_show(GRID_CSV, 2), "\"name\",\"n\",\"x\"\n"
                                                "\"a \"\"b\"\"\n|<é\",-9223372036854775808,0.1\n"
                                                "\"c\",,0.3333333333333333\n");
    assert_string_equal(
        grid_show(GRID_JSON, 2),
        "[{\"name\": \"a \\\"b\\\"\\n|<é\", \"n\": -9223372036854775808, \"x\": 0.1},\n"
        " {\"name\": \"c\", \"n\": null, \"x\": 0.3333333333333333}]\n");
    assert_string_equal(grid_show(GRID_MARKDOWN, 1),
                        "| name | n | x |\n|---|---|---|\n"
                        "| a \"b\" &#124;&lt;é | -9223372036854775808 | 0.1 |\n");
    assert_non_null(strstr(grid_show(GRID_HTML, 1), "<td>a \"b\" &#124;&lt;é</td>"));
}

static void nothing_is_a_table_too(void **state)
{
    (void)state;
    assert_string_equal(grid_show(GRID_JSON, 0), "[]\n");
    assert_string_equal(grid_show(GRID_TABLE, 0), "name  n  x\n");
}

static void many_rows_do_not_wait(void **state)
{
    (void)state;
    unsigned lines = 0;
    for (const char *at = grid_show(GRID_TABLE, 2500); *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 2501);
    assert_int_equal(grid_format_find("console"), GRID_TABLE);
    assert_int_equal(grid_format_find("pdf"), GRID_FORMAT_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_format),
                                       cmocka_unit_test(nothing_is_a_table_too),
                                       cmocka_unit_test(many_rows_do_not_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
