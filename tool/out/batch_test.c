#include "batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A value of the row: every seventh is longer than what may wait in a batch, every eleventh is
 * empty. */
static size_t value_make(unsigned row, char *value)
{
    size_t length = row % 7 == 3 ? BATCH_TEXT_BYTES + row : row % 11 == 5 ? 0 : row % 40;
    memset(value, 'a' + (int)(row % 26), length);
    value[length] = 0;
    return length;
}

static void put(struct batch *batch, unsigned row)
{
    char texts[1024] = "size_t", value[512];
    value_make(row, value);
    char *at = texts + strlen(texts) + 1;
    at += snprintf(at, 64, "bytes%u", row % 3) + 1;
    at = stpcpy(at, value) + 1;
    const int64_t numbers[] = {row / 4, row % 5 ? (int64_t)row : BATCH_NULL};
    assert_int_equal(batch_row(batch, numbers, texts, (size_t)(at - texts)), SQLITE_OK);
}

static void check(sqlite3_stmt *select, unsigned row)
{
    char name[32], value[512];
    snprintf(name, sizeof name, "bytes%u", row % 3);
    size_t length = value_make(row, value);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int64(select, 0), row + 1); /* in the order of coming */
    assert_int_equal(sqlite3_column_int64(select, 1), row / 4);
    assert_int_equal(sqlite3_column_type(select, 2), row % 5 ? SQLITE_INTEGER : SQLITE_NULL);
    assert_int_equal(sqlite3_column_int64(select, 2), row % 5 ? row : 0);
    assert_string_equal(sqlite3_column_text(select, 3), "size_t");
    assert_string_equal(sqlite3_column_text(select, 4), name);
    assert_string_equal(sqlite3_column_text(select, 5), value);
    assert_int_equal(sqlite3_column_bytes(select, 5), length);
}

static void rows_of_numbers_and_texts_stand_in_order(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1, 300};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        sqlite3 *database;
        sqlite3_stmt *select;
        struct batch batch = {.real_column = -1, .text_columns = 3};
        assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
        assert_int_equal(sqlite3_exec(database,
                                      "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e)",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        assert_int_equal(
            batch_open(&batch, database, "INSERT INTO t (a,b,c,d,e) VALUES ", "(?,?,?,?,?)"),
            SQLITE_OK);
        for (unsigned row = 0; row < counts[i]; row++)
            put(&batch, row);
        assert_int_equal(batch_flush(&batch), SQLITE_OK);
        batch_close(&batch);
        assert_int_equal(
            sqlite3_prepare_v2(database, "SELECT * FROM t ORDER BY id", -1, &select, NULL),
            SQLITE_OK);
        for (unsigned row = 0; row < counts[i]; row++)
            check(select, row);
        assert_int_equal(sqlite3_step(select), SQLITE_DONE);
        sqlite3_finalize(select);
        assert_int_equal(sqlite3_close(database), SQLITE_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_numbers_and_texts_stand_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
