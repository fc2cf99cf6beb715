/* Rows that come from pages are those that statements give, over databases of random rows. */
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

#include "out/out.h"
#include "source.h"

enum { ROWS_MAX = 20000 };
static char folder[] = "/tmp/source-XXXXXX", path[64], error[512];

/* ---- what is written */

/* An empty recording: tables as the writer makes them. */
static void empty_make(void)
{
    struct out_sink *sink = NULL;
    char prefix[64];
    unlink(path);
    snprintf(prefix, sizeof prefix, "%s/a", folder);
    const struct out_ops *ops = out_find("rocpd");
    assert_int_equal(ops->open(prefix, &sink, error, sizeof error), 0);
    const struct out_agent_row gpu = {.type = "GPU", .agent = {.node_id = 1, .name = "gfx90a"}};
    ops->row(sink, OUT_AGENT_INFO, &gpu);
    assert_int_equal(ops->close(sink, error, sizeof error), 0);
}

static char suffix[64];

static void run(sqlite3 *database, const char *sql)
{
    char *message = NULL;
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (const char *at; (at = strstr(sql, "{S}")); sql = at + 3) {
        sqlite3_str_append(text, sql, (int)(at - sql));
        sqlite3_str_appendall(text, suffix);
    }
    sqlite3_str_appendall(text, sql);
    char *whole = sqlite3_str_finish(text);
    if (sqlite3_exec(database, whole, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", whole, message);
    sqlite3_free(whole);
}

static int suffix_take(void *data, int count, char **values, char **names)
{
    (void)data, (void)count, (void)names;
    snprintf(suffix, sizeof suffix, "%s", values[0] + strlen("rocpd_string"));
    return 0;
}

/* Numbers of every size, NULL, and references of which some lead nowhere. */
#define ANY                                                                                        \
    "CASE abs(random()) % 4 WHEN 0 THEN abs(random()) % 3 ELSE random() >> (abs(random()) % 64) "  \
    "END"
#define OR_NULL(value) "CASE abs(random()) % 5 WHEN 0 THEN NULL ELSE " value " END"
#define SOME           "abs(random()) % 40 + 1"
#define MANY           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "

static const char *const fillings[] = {
    "INSERT OR IGNORE INTO \"rocpd_string{S}\" (id, string) VALUES "
    "(31, 'HIP_RUNTIME_API_EXT'), (32, 'MARKER_CORE_RANGE_API'), (33, 'KERNEL_DISPATCH'), "
    "(34, 'MEMORY_COPY'), (35, 'MEMORY_ALLOCATION'), (36, 'OMPT'), (37, 'a kind of later')",
    MANY "INSERT INTO \"rocpd_event{S}\" (id, category_id, stack_id, parent_stack_id, "
         "correlation_id, extdata) SELECT i * 2 + i % 2, abs(random()) % 8 + 31, " OR_NULL(
             ANY) ", " ANY ", " ANY ", CASE abs(random()) % 9 WHEN 0 THEN json_object('message', "
                  "'text ' || i) WHEN 1 THEN "
                  "json_object('message', 'a \"quoted\" ' || char(10, 955)) WHEN 2 THEN "
                  "json_object('message', hex(zeroblob(abs(random()) % 9000))) WHEN 3 THEN "
                  "'{\"message\":12}' "
                  "WHEN 4 THEN '{\"message\":\"broken' WHEN 5 THEN '{ \"message\" : \"wide\" }' "
                  "WHEN 7 THEN json_object('message', char(955, 10)) WHEN 6 THEN "
                  "'{\"message\":null,\"other\":[]}' ELSE '{}' END FROM n",
    MANY
    "INSERT INTO \"rocpd_region{S}\" (id, nid, pid, tid, start, \"end\", name_id, event_id) "
    "SELECT i * 3, 1, " SOME ", " SOME ", " ANY ", " ANY ", " SOME
    ", CASE abs(random()) % 9 WHEN 0 THEN NULL WHEN 1 THEN abs(random()) % 9000 ELSE i * 2 + i "
    "% 2 END FROM n",
    MANY
    "INSERT INTO \"rocpd_kernel_dispatch{S}\" (nid, pid, tid, agent_id, kernel_id, dispatch_id, "
    "queue_id, stream_id, start, \"end\", private_segment_size, group_segment_size, "
    "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, "
    "grid_size_z, region_name_id, event_id, extdata) SELECT 1, " SOME ", " OR_NULL(
        SOME) ", 1, 1, i, " ANY ", " ANY ", " ANY ", " ANY
              ", " OR_NULL(ANY) ", " OR_NULL(ANY) ", 64, 1, 1, " ANY ", 2, 3, " OR_NULL(
                  SOME) ", " OR_NULL("i * 2") ", CASE i % 5 WHEN 0 THEN '{}' WHEN 1 THEN "
                                              "'{\"modelled_ns\":' || i || '}' "
                                              "WHEN 2 THEN '{\"modelled_ns\":-5}' WHEN 3 THEN "
                                              "'{\"modelled_ns\":1.5e3}' ELSE "
                                              "'{\"other\":0,\"modelled_ns\":\"17\"}' END FROM n",
    MANY
    "INSERT INTO \"rocpd_memory_copy{S}\" (nid, pid, tid, start, \"end\", name_id, dst_agent_id, "
    "dst_address, src_agent_id, src_address, size, queue_id, stream_id, event_id) SELECT 1, " SOME
    ", " OR_NULL(SOME) ", " ANY ", " ANY ", " SOME ", " OR_NULL("1") ", " OR_NULL(ANY) ", " OR_NULL(
        "1") ", " OR_NULL(ANY) ", " ANY ", 1, " OR_NULL(ANY) ", i * 2 FROM n",
    MANY
    "INSERT INTO \"rocpd_memory_allocate{S}\" (nid, pid, tid, agent_id, type, level, start, "
    "\"end\", address, size, queue_id, stream_id, event_id, extdata) SELECT 1, " SOME
    ", " OR_NULL(SOME) ", " OR_NULL(
        "1") ", CASE i % 3 WHEN 0 THEN 'ALLOC' WHEN 1 THEN 'FREE' END, CASE i % 4 WHEN 0 "
             "THEN 'REAL' WHEN 1 THEN 'VIRTUAL' WHEN 2 THEN 'SCRATCH' END, " ANY ", " ANY
             ", " OR_NULL(ANY) ", " ANY ", " OR_NULL(
                 ANY) ", 1, i * 2 + 1, CASE i % 3 WHEN 0 THEN '{\"flags\":\"USE_ONCE\"}' WHEN 1 "
                      "THEN '{\"flags\":7}' ELSE '{}' END FROM n",
};

/* Three thousand arguments of some calls and of events that are none, in the order of the events,
 * with texts of any length and with what is missing. */
static const char arguments[] =
    MANY "INSERT INTO \"rocpd_arg{S}\" (event_id, position, type, name, value) SELECT i / 3 * 6, "
         "(random() >> (abs(random()) % 60)) / 3 * 3 + i % 3, CASE i % 11 WHEN 0 THEN '' ELSE "
         "'type ' || i END, 'name ' || i % 7, CASE i % 13 WHEN 0 THEN hex(zeroblob(abs(random()) % "
         "1500)) ELSE i END FROM n";

static sqlite3 *filled(unsigned page_bytes)
{
    char sql[128];
    sqlite3 *database = NULL;
    empty_make();
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database,
                 "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd\\_string\\__%' "
                 "ESCAPE '\\' AND type = 'table'",
                 suffix_take, NULL, NULL);
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA page_size = %u; VACUUM",
             page_bytes);
    run(database, sql);
    for (size_t i = 0; i < sizeof fillings / sizeof fillings[0]; i++)
        run(database, fillings[i]);
    return database;
}

/* ---- what is read */

union row {
    struct out_api_row api;
    struct out_dispatch_row dispatch;
    struct out_copy_row copy;
    struct out_allocation_row allocation;
    struct out_scratch_row scratch;
    struct out_kfd_row kfd;
};
static const size_t row_bytes[OUT_TABLE_COUNT] = {
    [OUT_KERNEL_TRACE] = sizeof(struct out_dispatch_row),
    [OUT_MEMORY_COPY] = sizeof(struct out_copy_row),
    [OUT_MEMORY_ALLOCATION] = sizeof(struct out_allocation_row),
    [OUT_SCRATCH_MEMORY] = sizeof(struct out_scratch_row),
};

struct reading {
    unsigned count;
    struct {
        enum out_table_id table;
        union row row;
        uint64_t arguments; /* instead of their place: a sum of their bytes */
    } rows[ROWS_MAX];
    unsigned with_arguments;
};

static uint64_t bytes_sum(const char *bytes, size_t count)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ (uint8_t)bytes[i]) * 1099511628211u;
    return sum;
}

static bool is_call(enum out_table_id table)
{
    return !row_bytes[table] && table != OUT_KFD;
}

static int take(void *data, const struct recording_part *part, enum out_table_id table,
                const void *row)
{
    struct reading *reading = data;
    (void)part;
    if (table == OUT_AGENT_INFO)
        return 0;
    assert_true(reading->count < ROWS_MAX);
    reading->rows[reading->count].table = table;
    memcpy(&reading->rows[reading->count].row, row,
           row_bytes[table] ? row_bytes[table] : sizeof(struct out_api_row));
    struct out_api_row *call = &reading->rows[reading->count].row.api;
    if (is_call(table) && call->arguments) {
        reading->rows[reading->count].arguments = bytes_sum(call->arguments, call->arguments_bytes);
        call->arguments = NULL;
        reading->with_arguments++;
    }
    reading->count++;
    return 0;
}

static struct reading *read_all(struct recording *recording, bool by_statements)
{
    const struct recording_ask ask = {
        .tables = RECORDING_ALL, .by_statements = by_statements, .has_arguments = true};
    struct reading *reading = calloc(1, sizeof *reading);
    assert_non_null(reading);
    assert_int_equal(recording_each(recording, &ask, take, reading, error, sizeof error), 0);
    return reading;
}

/* Texts of one recording are equal where their pointers are. */
static unsigned same_both_ways(void)
{
    struct recording *recording = NULL;
    if (recording_open(&recording, path, error, sizeof error) != 0)
        fail_msg("%s", error);
    struct reading *pages = read_all(recording, false), *statements = read_all(recording, true);
    unsigned count = pages->count;
    assert_int_equal(pages->count, statements->count);
    assert_int_equal(pages->with_arguments, statements->with_arguments);
    for (unsigned i = 0; i < count; i++)
        if (memcmp(&pages->rows[i], &statements->rows[i], sizeof pages->rows[i]) != 0)
            fail_msg("row %u, of %s", i, out_tables[pages->rows[i].table].file);
    free(pages);
    free(statements);
    recording_close(recording);
    return count;
}

/* Whether the rows of a kind come from pages, to the last one. */
static bool comes_from_pages(enum source_kind kind)
{
    const struct recording_ask ask = {.tables = RECORDING_ALL, .has_arguments = true};
    struct recording *recording = NULL;
    struct source source;
    assert_int_equal(recording_open(&recording, path, error, sizeof error), 0);
    assert_int_equal(source_open(&source, recording->parts[0], kind, &ask, error, sizeof error), 0);
    bool is_from_pages = source.scan != NULL;
    while (source_next(&source))
        is_from_pages = is_from_pages && source.scan;
    source_close(&source);
    recording_close(recording);
    return is_from_pages;
}

static const enum source_kind of_pages[] = {SOURCE_REGION, SOURCE_DISPATCH, SOURCE_COPY,
                                            SOURCE_MEMORY};
enum { OF_PAGES = sizeof of_pages / sizeof of_pages[0] };

static void rows_are_those_of_statements(void **state)
{
    (void)state;
    static const unsigned page_bytes[] = {512, 4096, 65536};
    for (int i = 0; i < 3; i++) {
        sqlite3_close(filled(page_bytes[i]));
        for (int kind = 0; kind < OF_PAGES; kind++)
            assert_true(comes_from_pages(of_pages[kind]));
        assert_in_range(same_both_ways(), 4 * 1500, 4 * 3000);
    }
}

/* The statement goes on behind the row that pages gave last. */
static void statements_go_on(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE \"rocpd_region{S}\" SET tid = 1.5 WHERE id = 3000",
        "UPDATE \"rocpd_region{S}\" SET \"end\" = 18446744073709551615 WHERE id = 3",
        "UPDATE \"rocpd_event{S}\" SET correlation_id = 'text' WHERE id BETWEEN 2000 AND 2100",
        "UPDATE \"rocpd_event{S}\" SET extdata = 77 WHERE id BETWEEN 2000 AND 2100",
        "UPDATE \"rocpd_region{S}\" SET event_id = '20x' WHERE id = 8999; UPDATE "
        "\"rocpd_region{S}\" "
        "SET event_id = '20x' WHERE id = 9000",
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        sqlite3 *database = filled(4096);
        run(database, changes[i]);
        sqlite3_close(database);
        assert_false(comes_from_pages(SOURCE_REGION));
        assert_in_range(same_both_ways(), 4 * 1500, 4 * 3000);
    }
    sqlite3 *database = filled(4096);
    run(database, "PRAGMA journal_mode = WAL; DELETE FROM \"rocpd_region{S}\" WHERE id < 300");
    assert_false(comes_from_pages(SOURCE_REGION));
    assert_in_range(same_both_ways(), 4 * 1500, 4 * 3000);
    sqlite3_close(database);
    unlink(strcat(strcpy(error, path), "-wal"));
    unlink(strcat(strcpy(error, path), "-shm"));
}

static unsigned calls_with_arguments(void)
{
    struct recording *recording = NULL;
    assert_int_equal(recording_open(&recording, path, error, sizeof error), 0);
    struct reading *reading = read_all(recording, false);
    unsigned count = reading->with_arguments;
    free(reading);
    recording_close(recording);
    return count;
}

/* Calls in the order of their events, a third of which have arguments: from pages, else by the
 * statement. */
static void arguments_are_those_of_statements(void **state)
{
    (void)state;
    static const char in_order[] =
        "UPDATE \"rocpd_region{S}\" SET event_id = CASE id % 5 WHEN 0 THEN "
        "NULL ELSE id / 3 * 2 END";
    static const struct {
        const char *change;
        bool by_pages;
    } cases[] = {
        {"SELECT 1", true},
        {"UPDATE \"rocpd_arg{S}\" SET event_id = 6 WHERE id = 2500", false},
        {"UPDATE \"rocpd_arg{S}\" SET event_id = 5990 WHERE id = 3", false},
        {"UPDATE \"rocpd_region{S}\" SET event_id = 6 WHERE id = 12", false},
        {"UPDATE \"rocpd_region{S}\" SET event_id = 5994 WHERE id = 12", false},
        {"UPDATE \"rocpd_arg{S}\" SET value = x'00' WHERE id = 2999", false},
        {"UPDATE \"rocpd_arg{S}\" SET position = 1.5 WHERE id = 2999", false},
        {"DELETE FROM \"rocpd_arg{S}\" WHERE id > 400", true},
    };
    static const unsigned page_bytes[] = {512, 4096};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        sqlite3 *database = filled(page_bytes[i % 2]);
        run(database, arguments);
        run(database, in_order);
        run(database, cases[i / 2].change);
        sqlite3_close(database);
        assert_int_equal(comes_from_pages(SOURCE_REGION), cases[i / 2].by_pages);
        same_both_ways();
        assert_in_range(calls_with_arguments(), 1, 999);
    }
}

/* A file that was cut short ends where SQL ends it, with the same words. */
static void damage_is_said_as_by_statements(void **state)
{
    (void)state;
    for (int keep = 95; keep > 20; keep -= 15) {
        sqlite3_close(filled(1024));
        FILE *file = fopen(path, "r");
        fseek(file, 0, SEEK_END);
        long bytes = ftell(file) / 1024 * keep / 100 * 1024;
        fclose(file);
        assert_int_equal(truncate(path, bytes), 0);
        char damages[2][512];
        struct reading *readings[2];
        for (int way = 0; way < 2; way++) {
            struct recording *recording = NULL;
            assert_int_equal(recording_open(&recording, path, error, sizeof error), 0);
            readings[way] = read_all(recording, way == 1);
            snprintf(damages[way], sizeof damages[way], "%s", recording_damage(recording));
            recording_close(recording);
        }
        assert_string_equal(damages[0], damages[1]);
        assert_int_equal(readings[0]->count, readings[1]->count);
        free(readings[0]);
        free(readings[1]);
    }
}

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a_results.db", folder);
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
        cmocka_unit_test(rows_are_those_of_statements),
        cmocka_unit_test(statements_go_on),
        cmocka_unit_test(arguments_are_those_of_statements),
        cmocka_unit_test(damage_is_said_as_by_statements),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
