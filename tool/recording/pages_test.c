/* Tables copied by pages are what SQL would have made of them: the judge is SQLite itself. */
#include <errno.h>
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

#include "pages.h"

#define CREATE                                                                                     \
    "CREATE TABLE t (id INTEGER PRIMARY KEY, x, start INTEGER, \"end\" INTEGER, name TEXT)"
enum { TIME_COLUMNS = 1 << 2 | 1 << 3 };

static char from[64], to[64], folder[40];

static sqlite3 *opened(const char *path)
{
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA synchronous = OFF", NULL, NULL, NULL); /* nobody keeps them */
    return database;
}

static void run(sqlite3 *database, char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_free(sql);
}

static int64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *select = NULL;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &select, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    return value;
}

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/pages-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(from, sizeof from, "%s/from", folder);
    snprintf(to, sizeof to, "%s/to", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(from);
    unlink(to);
    return rmdir(folder);
}

/* Rows of which every `every`th has a text of up to `longest` bytes; ids have gaps, so that pages
 * inside are of several levels. */
static void both_make(unsigned page_bytes, unsigned rows, unsigned every, unsigned longest)
{
    unlink(from);
    unlink(to);
    sqlite3 *a = opened(from), *b = opened(to);
    run(a, sqlite3_mprintf("PRAGMA page_size = %u; CREATE TABLE other (y); " CREATE, page_bytes));
    run(a,
        sqlite3_mprintf(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u) INSERT "
            "INTO t SELECT i * 7 + i %% 3, i * 0.5, 975779239309496 + i * 1000, CASE WHEN i %% 11 "
            "= 0 THEN NULL ELSE 975779239309496 + i * 1013 END, CASE WHEN i %% %u = 0 THEN "
            "hex(zeroblob(i * 37 %% %u)) ELSE 'n' || i END FROM n",
            rows, every, longest));
    run(b, sqlite3_mprintf("PRAGMA page_size = %u; " CREATE
                           "; CREATE TABLE last (z); INSERT INTO last "
                           "VALUES (1), (2)",
                           page_bytes));
    sqlite3_close(a);
    sqlite3_close(b);
}

static int copy(struct pages_table *table)
{
    sqlite3 *a = opened(from), *b = opened(to);
    static const char root[] = "SELECT rootpage FROM sqlite_master WHERE name = 't'";
    uint32_t from_root = (uint32_t)number(a, root), to_root = (uint32_t)number(b, root);
    sqlite3_close(a);
    sqlite3_close(b);
    struct pages *pages = pages_open(from, to);
    if (!pages)
        return -ENOEXEC;
    int status = pages_copy(pages, from_root, to_root, table);
    assert_int_equal(pages_close(pages), 0);
    return status;
}

/* All rows of both, times as SQL moves them. */
static void equal_check(const struct pages_table *table)
{
    sqlite3 *b = opened(to);
    char *message = NULL;
    assert_int_equal(number(b, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check != 'ok'"),
                     0);
    run(b, sqlite3_mprintf("ATTACH %Q AS a", from));
    const struct alignment *by = &table->alignment;
    char *wanted = sqlite3_mprintf(
        "SELECT id, x, start + %lld + CAST((start - %lld) * %.17g AS INTEGER), \"end\" + %lld + "
        "CAST((\"end\" - %lld) * %.17g AS INTEGER), name FROM a.t",
        (long long)by->shift_ns, (long long)by->base_ns, by->drift, (long long)by->shift_ns,
        (long long)by->base_ns, by->drift);
    char *missing =
        sqlite3_mprintf("SELECT count(*) FROM (%s EXCEPT SELECT * FROM main.t)", wanted);
    char *more = sqlite3_mprintf("SELECT count(*) FROM (SELECT * FROM main.t EXCEPT %s)", wanted);
    assert_int_equal(number(b, missing), 0);
    assert_int_equal(number(b, more), 0);
    assert_int_equal(number(b, "SELECT count(*) FROM main.t"), table->rows);
    assert_int_equal(number(b, "SELECT count(*) FROM a.t"), table->rows);
    assert_int_equal(number(b, "SELECT sum(\"end\" - start) FROM main.t"), table->total_ns);
    assert_int_equal(number(b, "SELECT max(\"end\") FROM main.t"), table->last_ns);
    assert_int_equal(number(b, "SELECT sum(z) FROM last"), 3);
    run(b, sqlite3_mprintf(
               "INSERT INTO main.t SELECT id + 100000000, x, start, \"end\", name FROM main.t "
               "LIMIT 5000; CREATE TABLE another (w); INSERT INTO another SELECT name FROM "
               "main.t"));
    assert_int_equal(number(b, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check != 'ok'"),
                     0);
    sqlite3_free(missing);
    sqlite3_free(more);
    sqlite3_free(wanted);
    sqlite3_free(message);
    sqlite3_close(b);
}

static void test_every_page_size(void **state)
{
    static const struct {
        unsigned page_bytes, rows, every, longest;
    } cases[] = {{512, 3000, 5, 3000},   {1024, 3000, 1000, 200}, {4096, 5000, 9, 20000},
                 {16384, 20000, 3, 900}, {16384, 40, 1, 60000},   {65536, 4000, 200, 300000},
                 {4096, 1, 1, 10}};
    static const struct alignment alignments[] = {
        {0, 0, 0}, {975779000000000, 5000000000000, 2e-5}, {975779000000000, -975779000000000, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t a = 0; a < 3; a++) {
            struct pages_table table = {.time_columns = TIME_COLUMNS,
                                        .start_column = 2,
                                        .end_column = 3,
                                        .json_column = -1,
                                        .alignment = alignments[a]};
            both_make(cases[i].page_bytes, cases[i].rows, cases[i].every, cases[i].longest);
            assert_int_equal(copy(&table), 0);
            equal_check(&table);
        }
}

/* Refused, and the table is empty as before. */
static void refused_check(struct pages_table table)
{
    assert_int_not_equal(copy(&table), 0);
    sqlite3 *b = opened(to);
    assert_int_equal(number(b, "SELECT count(*) FROM t"), 0);
    assert_int_equal(number(b, "SELECT count(*) FROM pragma_integrity_check WHERE "
                               "integrity_check != 'ok'"),
                     0);
    sqlite3_close(b);
}

static void change(char *sql)
{
    sqlite3 *a = opened(from);
    run(a, sql);
    sqlite3_close(a);
}

static void test_what_is_refused(void **state)
{
    const struct pages_table table = {
        .time_columns = TIME_COLUMNS, .start_column = 2, .end_column = 3, .json_column = -1};
    struct pages_table far = table;
    (void)state;
    both_make(4096, 3000, 7, 100);
    change(sqlite3_mprintf("UPDATE t SET start = 1.5 WHERE id = (SELECT max(id) FROM t)"));
    refused_check(table);
    both_make(4096, 3000, 7, 100);
    change(sqlite3_mprintf("UPDATE t SET start = 100"));
    far.alignment.shift_ns = 1000000; /* which does not fit into one byte */
    refused_check(far);
    both_make(4096, 3000, 7, 100);
    change(sqlite3_mprintf("PRAGMA journal_mode = WAL"));
    assert_null(pages_open(from, to));
    both_make(4096, 3000, 7, 100);
    assert_int_equal(truncate(from, 40000), 0);
    assert_null(pages_open(from, to));
    both_make(4096, 3000, 7, 100);
    change(sqlite3_mprintf("PRAGMA page_size = 8192; VACUUM"));
    assert_null(pages_open(from, to));
}

/* Any byte of the table's pages may be wrong: nothing worse than a refusal, or wrong rows. */
static void test_damage(void **state)
{
    const struct pages_table clean = {
        .time_columns = TIME_COLUMNS, .start_column = 2, .end_column = 3, .json_column = -1};
    unsigned seed = 1, refused = 0;
    (void)state;
    both_make(512, 300, 5, 3000);
    for (int i = 0; i < 400; i++) {
        unsigned char before, other;
        FILE *file = fopen(from, "r+b");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        long at = 1024 + (long)(rand_r(&seed) % (unsigned)(ftell(file) - 1024));
        other = (unsigned char)rand_r(&seed);
        if (i % 2) /* heads of pages more often */
            at = at / 512 * 512 + at % 12;
        fseek(file, at, SEEK_SET);
        assert_int_equal(fread(&before, 1, 1, file), 1);
        fseek(file, at, SEEK_SET);
        fwrite(&other, 1, 1, file);
        fclose(file);
        struct pages *pages = pages_open(from, to);
        assert_non_null(pages);
        struct pages_table table = clean;
        refused += pages_copy(pages, 3, 2, &table) != 0;
        assert_int_equal(pages_close(pages), 0);
        file = fopen(from, "r+b");
        fseek(file, at, SEEK_SET);
        fwrite(&before, 1, 1, file);
        fclose(file);
    }
    assert_true(refused > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_page_size, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
