/* Rows that are read from pages are those that SQL gives: the judge is SQLite itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "scan.h"

static char folder[] = "/tmp/scan-XXXXXX", path[64];

#define TABLE "(id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER, t TEXT, skipped, b BIGINT)"
enum { A, T, B, SLOTS };
static const struct scan_column wanted[] = {{"b", B, false}, {"a", A, false}, {"t", T, true}};

static void run(sqlite3 *database, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

/* A new database in which `sql` was run. */
static sqlite3 *made(const char *sql)
{
    sqlite3 *database = NULL;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    run(database, "PRAGMA synchronous = OFF");
    run(database, sql);
    return database;
}

static struct scan *opened(sqlite3 *database)
{
    return scan_open(database, "t", wanted, SLOTS);
}

static void integer_same(sqlite3_stmt *row, int column, const struct value *value)
{
    bool is_null = sqlite3_column_type(row, column) == SQLITE_NULL;
    assert_int_equal(value->kind, is_null ? VALUE_NULL : VALUE_INTEGER);
    assert_int_equal(value->integer, sqlite3_column_int64(row, column));
}

static void row_same(sqlite3_stmt *row, const struct value values[SLOTS])
{
    integer_same(row, 1, &values[A]);
    integer_same(row, 2, &values[B]);
    const char *text = (const char *)sqlite3_column_text(row, 3);
    assert_int_equal(values[T].kind, text ? VALUE_TEXT : VALUE_NULL);
    if (!text)
        return;
    assert_int_equal(values[T].bytes, sqlite3_column_bytes(row, 3));
    assert_memory_equal(values[T].text, text, values[T].bytes);
}

static sqlite3_stmt *rows_of(sqlite3 *database)
{
    sqlite3_stmt *rows = NULL;
    assert_int_equal(
        sqlite3_prepare_v2(database, "SELECT id, a, b, t FROM t ORDER BY id", -1, &rows, NULL),
        SQLITE_OK);
    return rows;
}

/* Every row, in order, and then found by its id with those that are not there. */
static void all_same(sqlite3 *database)
{
    struct value values[SLOTS];
    struct scan *scan = opened(database), *finder = opened(database), *backward = opened(database);
    assert_true(scan && finder && backward);
    sqlite3_stmt *rows = rows_of(database);
    int64_t id = 0, before = INT64_MIN, first = 0;
    for (unsigned i = 0; sqlite3_step(rows) == SQLITE_ROW; i++) {
        assert_int_equal(scan_next(scan, values, &id), SCAN_ROW);
        assert_int_equal(id, sqlite3_column_int64(rows, 0));
        row_same(rows, values);
        if (i % 3 != 1) { /* some are stepped over */
            assert_int_equal(scan_find(finder, id, values), SCAN_ROW);
            row_same(rows, values);
        }
        if (before != INT64_MIN && before + 1 < id)
            assert_int_equal(scan_find(backward, before + 1, values), SCAN_NONE);
        first = i == 0 ? id : first;
        if (i % 50 == 0) {
            assert_int_equal(scan_find(backward, id, values), SCAN_ROW);
            row_same(rows, values);
            assert_int_equal(scan_find(backward, first, values), SCAN_ROW);
        }
        before = id;
    }
    assert_int_equal(scan_next(scan, values, &id), SCAN_NONE);
    assert_int_equal(scan_find(finder, INT64_MAX, values), SCAN_NONE);
    assert_int_equal(scan_find(finder, INT64_MIN, values), SCAN_NONE);
    sqlite3_finalize(rows);
    scan_close(scan);
    scan_close(finder);
    scan_close(backward);
}

static void rows_are_those_of_sql(void **state)
{
    (void)state;
    static const unsigned page_bytes[] = {512, 1024, 4096, 65536};
    static const unsigned counts[] = {0, 1, 40, 5000};
    for (int i = 0; i < 16; i++) {
        char *sql = sqlite3_mprintf(
            "PRAGMA page_size = %u; CREATE TABLE other (y); CREATE TABLE t " TABLE ";"
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %u) "
            "INSERT INTO t SELECT i * 5 + abs(random()) %% 5 - 9000, CASE abs(random()) %% 5 WHEN "
            "0 "
            "THEN NULL WHEN 1 THEN abs(random()) %% 3 ELSE random() >> (abs(random()) %% 64) END, "
            "CASE abs(random()) %% 9 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN "
            "hex(zeroblob(abs(random()) %% 5000)) ELSE 'text ' || i END, CASE i %% 7 WHEN 0 THEN "
            "0.5 "
            "WHEN 1 THEN zeroblob(i) WHEN 2 THEN 'skipped' END, -i FROM n WHERE %u > 0;"
            "DELETE FROM t WHERE id %% 41 = 3",
            page_bytes[i % 4], counts[i / 4], counts[i / 4]);
        sqlite3 *database = made(sql);
        sqlite3_free(sql);
        all_same(database);
        sqlite3_close(database);
    }
}

/* What is given before is right, and then nothing is said. */
static void a_row_unlike_the_others_ends_it(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE t SET a = 0.5 WHERE id = 70",
        "UPDATE t SET a = 1e300 WHERE id = 70",
        "UPDATE t SET b = 'a text' WHERE id = 70",
        "UPDATE t SET b = x'00' WHERE id = 70",
        "UPDATE t SET t = x'00' WHERE id = 70",
        "UPDATE t SET t = zeroblob(2000000) WHERE id = 70", /* and longer than a row is read */
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct value values[SLOTS];
        int64_t id = 0;
        sqlite3 *database = made("CREATE TABLE t " TABLE ";"
                                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                 "WHERE i < 100) INSERT INTO t SELECT i, i, 'x', NULL, i FROM n");
        run(database, changes[i]);
        struct scan *scan = opened(database);
        for (int row = 1; row < 70; row++)
            assert_int_equal(scan_next(scan, values, &id), SCAN_ROW);
        assert_int_equal(scan_next(scan, values, &id), SCAN_UNLIKE);
        assert_int_equal(scan_find(scan, 70, values), SCAN_UNLIKE);
        assert_int_equal(scan_find(scan, 71, values), SCAN_ROW);
        scan_close(scan);
        sqlite3_close(database);
    }
}

/* A column that came later has a default in rows that were there. */
static void a_column_that_came_later(void **state)
{
    (void)state;
    struct value values[1];
    int64_t id;
    static const struct scan_column later = {"later", 0, false};
    sqlite3 *database = made("CREATE TABLE t " TABLE "; INSERT INTO t (a) VALUES (1); ALTER TABLE "
                             "t ADD COLUMN later INTEGER DEFAULT 7");
    struct scan *scan = scan_open(database, "t", &later, 1);
    assert_int_equal(scan_next(scan, values, &id), SCAN_UNLIKE);
    scan_close(scan);
    sqlite3_close(database);
}

static void other_tables_are_not_read(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "PRAGMA journal_mode = WAL; CREATE TABLE t " TABLE,
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t " TABLE,
        "CREATE TABLE t (id INTEGER PRIMARY KEY DESC, a, t, b)", /* which is no row's number */
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, t, b) WITHOUT ROWID",
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a, t, b AS (a + 1))",
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a, t)",
        "CREATE TABLE other " TABLE "; CREATE VIEW t AS SELECT * FROM other",
        "CREATE TABLE other " TABLE,
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        sqlite3 *database = made(tables[i]);
        assert_null(opened(database));
        sqlite3_close(database);
    }
    sqlite3 *database = NULL; /* which has no file */
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    run(database, "CREATE TABLE t " TABLE);
    assert_null(opened(database));
    sqlite3_close(database);
}

/* Nobody writes while it is open, by another connection of this process or of another one. */
static void writers_wait(void **state)
{
    (void)state;
    sqlite3 *database = made("CREATE TABLE t " TABLE "; INSERT INTO t (a) VALUES (1)"), *writer;
    struct scan *scan = opened(database), *other = opened(database);
    assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
    scan_close(other); /* which must not give the lock away */
    assert_int_equal(sqlite3_exec(writer, "DELETE FROM t", NULL, NULL, NULL), SQLITE_BUSY);
    scan_close(scan);
    assert_int_equal(sqlite3_exec(writer, "DELETE FROM t", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(writer);
    sqlite3_close(database);
}

/* Bytes of pages are anything: it ends, and touches nothing else (this runs under sanitizers, too).
 */
static void damaged_pages_end_it(void **state)
{
    (void)state;
    srand(5);
    for (int round = 0; round < 300; round++) {
        struct value values[SLOTS];
        int64_t id;
        sqlite3_close(made(
            "PRAGMA page_size = 512; CREATE TABLE t " TABLE ";"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT "
            "INTO t SELECT i, i, CASE i % 20 WHEN 0 THEN hex(zeroblob(400)) END, NULL, i FROM n"));
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        long size = ftell(file);
        for (int i = 0; i < 20; i++) {
            fseek(file, 1024 + rand() % (size - 1024), SEEK_SET);
            fputc(rand(), file);
        }
        fclose(file);
        if (round % 10 == 9)
            assert_int_equal(truncate(path, size - 512 * (1 + rand() % 20)), 0);
        sqlite3 *database = NULL;
        assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
        struct scan *scan = opened(database), *finder = opened(database);
        for (int i = 0; scan && finder && i < 400; i++) {
            scan_find(finder, rand() % 320, values);
            if (scan_next(scan, values, &id) != SCAN_ROW)
                break;
        }
        scan_close(scan);
        scan_close(finder);
        sqlite3_close(database);
    }
}

/* Every way from a page leads back to it. */
static void a_circle_ends(void **state)
{
    (void)state;
    struct value values[SLOTS];
    int64_t id;
    sqlite3 *database = made("PRAGMA page_size = 512; CREATE TABLE t " TABLE);
    run(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
                  "INSERT INTO t SELECT i, i, NULL, NULL, i FROM n");
    sqlite3_stmt *select = NULL;
    sqlite3_prepare_v2(database, "SELECT rootpage FROM sqlite_master WHERE name = 't'", -1, &select,
                       NULL);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    unsigned char page[512];
    unsigned root = (unsigned)sqlite3_column_int(select, 0);
    sqlite3_finalize(select);
    FILE *file = fopen(path, "r+");
    fseek(file, 512 * (long)(root - 1), SEEK_SET);
    assert_int_equal(fread(page, 1, sizeof page, file), sizeof page);
    assert_int_equal(page[0], 5); /* it leads to other pages */
    for (unsigned i = 0; i < ((unsigned)page[3] << 8 | page[4]); i++)
        memcpy(page + (page[12 + 2 * i] << 8 | page[13 + 2 * i]),
               (unsigned char[]){0, 0, 0, (unsigned char)root}, 4);
    page[8] = page[9] = page[10] = 0;
    page[11] = (unsigned char)root;
    fseek(file, 512 * (long)(root - 1), SEEK_SET);
    fwrite(page, 1, sizeof page, file);
    fclose(file);
    struct scan *scan = opened(database);
    assert_non_null(scan);
    assert_int_equal(scan_next(scan, values, &id), SCAN_UNLIKE);
    assert_int_equal(scan_find(scan, 5, values), SCAN_UNLIKE);
    scan_close(scan);
    sqlite3_close(database);
}

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/database", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_sql),
        cmocka_unit_test(a_row_unlike_the_others_ends_it),
        cmocka_unit_test(a_column_that_came_later),
        cmocka_unit_test(other_tables_are_not_read),
        cmocka_unit_test(writers_wait),
        cmocka_unit_test(damaged_pages_end_it),
        cmocka_unit_test(a_circle_ends),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
