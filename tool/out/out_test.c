#include "out/out.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "out/process.h"
#include "out/test_files.h"
#include "out/writer.h"

static const struct out_copy_row copy = {.kind = "MEMORY_COPY",
                                         .direction = "say \"x\"",
                                         .stream_id = 3,
                                         .source_agent = 0,
                                         .destination_agent = 1,
                                         .correlation_id = 9,
                                         .start_ns = 18446744073709551615u,
                                         .end_ns = 0};

static void csv_quotes_and_names_columns(void **state)
{
    (void)state;
    struct out_sink *sink;
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    out_csv_ops.row(sink, OUT_MEMORY_COPY, &copy);
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), 0);
    assert_string_equal(
        content("memory_copy_trace.csv"),
        "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
        "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
        "\"MEMORY_COPY\",\"say \"\"x\"\"\",3,\"Agent 0\",\"Agent 1\",9,18446744073709551615,0\n");
    char path[128];
    snprintf(path, sizeof path, "%s_kernel_trace.csv", prefix);
    assert_int_equal(access(path, F_OK), -1); /* no rows, no file */
}

static void a_full_disk_is_reported_once_at_the_end(void **state)
{
    (void)state;
    struct writer *writer = calloc(1, sizeof *writer);
    assert_int_equal(writer_open(writer, "/dev/full"), 0);
    for (int i = 0; i < 100000; i++)
        writer_u64(writer, 123456789);
    assert_int_equal(writer_close(writer), -ENOSPC);
    free(writer);
    struct out_sink *sink;
    assert_int_equal(out_csv_ops.open("/nonexistent/7", &sink, message, sizeof message), -ENOENT);
    assert_string_equal(message, "/nonexistent/7_agent_info.csv: No such file or directory");
    /* a table that came to be somebody else's in between */
    char path[128];
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    snprintf(path, sizeof path, "%s_memory_copy_trace.csv", prefix);
    assert_int_equal(mkdir(path, 0700), 0);
    out_csv_ops.row(sink, OUT_MEMORY_COPY, &copy);
    out_csv_ops.row(sink, OUT_MEMORY_COPY, &copy);
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), -EEXIST);
    assert_non_null(strstr(message, "_memory_copy_trace.csv: File exists"));
}

/* Each format finds out that a prefix is taken before it has touched anything. */
static void a_prefix_is_taken_once(void **state)
{
    static const struct out_ops *const formats[] = {&out_csv_ops,     &out_json_ops, &out_rocpd_ops,
                                                    &out_pftrace_ops, &out_otf2_ops, &out_html_ops};
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct out_sink *first, *second;
        assert_int_equal(formats[i]->open(prefix, &first, message, sizeof message), 0);
        assert_int_equal(formats[i]->open(prefix, &second, message, sizeof message), -EEXIST);
        formats[i]->row(first, OUT_MEMORY_COPY, &copy);
        assert_int_equal(formats[i]->close(first, message, sizeof message), 0);
        assert_int_equal(formats[i]->open(prefix, &second, message, sizeof message), -EEXIST);
    }
    assert_non_null(strstr(content("memory_copy_trace.csv"), "18446744073709551615"));
}

/* Rows that end anywhere in the writer's room, with texts longer than it. */
static void csv_rows_across_flushes(void **state)
{
    enum { ROWS = 3000 };
    (void)state;
    static char longest[2 * WRITER_BYTES];
    memset(longest, 'n', sizeof longest - 1);
    struct out_sink *sink;
    size_t expected = 0;
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    for (uint64_t i = 0; i < ROWS; i++) {
        const struct out_api_row row = {.domain = "D",
                                        .function =
                                            longest + (i % 500 ? sizeof longest - i % 97 - 1 : 0),
                                        .correlation_id = i};
        char digits[24];
        out_csv_ops.row(sink, OUT_HSA_API, &row);
        expected += strlen("\"D\",\"\",0,0,,0,0\n") + strlen(row.function) +
                    (size_t)snprintf(digits, sizeof digits, "%u", (unsigned)i);
    }
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), 0);
    char path[128];
    struct stat info;
    snprintf(path, sizeof path, "%s_hsa_api_trace.csv", prefix);
    assert_int_equal(stat(path, &info), 0);
    const char *header = content("hsa_api_trace.csv");
    assert_int_equal((size_t)info.st_size, expected + (size_t)(strchr(header, '\n') + 1 - header));
}

static int one_number(void *out, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    *(long *)out = atol(values[0]);
    return 0;
}

static void rocpd_has_every_table_and_the_rows(void **state)
{
    (void)state;
    struct out_sink *sink;
    assert_int_equal(out_rocpd_ops.open(prefix, &sink, message, sizeof message), 0);
    for (int i = 0; i < 1000; i++)
        out_rocpd_ops.row(sink, OUT_MEMORY_COPY, &copy);
    assert_int_equal(out_rocpd_ops.close(sink, message, sizeof message), 0);
    char path[128];
    snprintf(path, sizeof path, "%s_results.db", prefix);
    sqlite3 *database;
    long count = 0;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "SELECT count(*) FROM memory_copies WHERE stack_id = 9", one_number,
                 &count, NULL);
    assert_int_equal(count, 1000);
    sqlite3_exec(database,
                 "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'",
                 one_number, &count, NULL);
    assert_int_equal(count, 20);
    sqlite3_exec(database, "SELECT count(*) FROM sqlite_master WHERE type = 'view'", one_number,
                 &count, NULL);
    assert_int_equal(count, 20 + 18 + 3);
    sqlite3_exec(database, "SELECT count(*) FROM pragma_foreign_key_check", one_number, &count,
                 NULL);
    assert_int_equal(count, 0);
    sqlite3_close(database);
}

static int is_whole(void *out, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    *(long *)out = strcmp(values[0], "ok") == 0;
    return 0;
}

/* At any time, also when far more than SQLite keeps in memory is in a transaction. */
static void a_database_whose_process_is_killed_can_be_read(void **state)
{
    enum { ROWS = 120000, TRANSACTION = 32768 };
    (void)state;
    for (long rows = 1; rows <= ROWS; rows = rows * 7 + 1000) {
        char path[128];
        int status;
        pid_t child = fork();
        if (child == 0) {
            struct out_sink *sink;
            if (out_rocpd_ops.open(prefix, &sink, message, sizeof message) != 0)
                _exit(1);
            for (long i = 0; i < rows; i++)
                out_rocpd_ops.row(sink, OUT_MEMORY_COPY, &copy);
            raise(SIGKILL);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        snprintf(path, sizeof path, "%s_results.db", prefix);
        sqlite3 *database;
        long whole = 0, count = -1;
        assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
        sqlite3_exec(database, "PRAGMA integrity_check", is_whole, &whole, NULL);
        assert_true(whole);
        sqlite3_exec(database, "SELECT count(*) FROM memory_copies", one_number, &count, NULL);
        assert_in_range(count, rows > TRANSACTION ? rows - TRANSACTION : 0, rows);
        sqlite3_exec(database, "SELECT count(*) FROM pragma_foreign_key_check", one_number, &count,
                     NULL);
        assert_int_equal(count, 0);
        sqlite3_close(database);
        assert_int_equal(unlink(path), 0);
    }
}

/* Rows whose values stay for a while, come back, and reach every limit; number `i` of them. */
static struct out_copy_row varied(uint32_t i, char *text, size_t text_size)
{
    static const uint64_t values[] = {0, 1, 9, 10, 4294967296u, 12345678901234567890u, UINT64_MAX};
    uint32_t slow = i / 3 % 7, fast = i * 7919 % 7;
    snprintf(text, text_size, "text %u", i % 5 ? i / 4 : i);
    return (struct out_copy_row){.kind = i % 2 ? "A" : "B",
                                 .direction = text,
                                 .stream_id = values[slow],
                                 .source_agent = i % 11 < 4 ? OUT_NO_AGENT : i / 16,
                                 .source_node = i % 11 < 4 ? OUT_NO_AGENT : i / 16,
                                 .destination_agent = 0,
                                 .correlation_id = values[fast],
                                 .start_ns = i,
                                 .end_ns = values[(slow + fast) % 7]};
}

static void csv_repeats_and_changes_numbers(void **state)
{
    enum { ROWS = 3000 };
    static char line[300], expected[300];
    char text[64], path[128];
    struct out_sink *sink;
    (void)state;
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct out_copy_row row = varied(i, text, sizeof text);
        out_csv_ops.row(sink, OUT_MEMORY_COPY, &row);
    }
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), 0);
    snprintf(path, sizeof path, "%s_memory_copy_trace.csv", prefix);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, file));
    for (uint32_t i = 0; i < ROWS; i++) {
        struct out_copy_row row = varied(i, text, sizeof text);
        char agent[40] = "";
        if (row.source_agent != OUT_NO_AGENT)
            snprintf(agent, sizeof agent, "Agent %lu", row.source_agent);
        snprintf(expected, sizeof expected, "\"%s\",\"%s\",%lu,\"%s\",\"Agent 0\",%lu,%lu,%lu\n",
                 row.kind, text, row.stream_id, agent, row.correlation_id, row.start_ns,
                 row.end_ns);
        assert_non_null(fgets(line, sizeof line, file));
        assert_string_equal(line, expected);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

/* LDS in whole blocks of 512 bytes, as in rocprofv3's files. */
static void csv_has_lds_in_blocks(void **state)
{
    (void)state;
    static const uint64_t bytes[] = {0, 1, 512, 513, 65536}, shown[] = {0, 512, 512, 1024, 65536};
    struct out_sink *sink;
    char line[64];
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    for (int i = 0; i < 5; i++) {
        const struct out_dispatch_row row = {.start_ns = 7, .end_ns = 8, .lds_bytes = bytes[i]};
        const struct out_counter_row counter = {.dispatch = row, .counter_name = "c"};
        out_csv_ops.row(sink, OUT_KERNEL_TRACE, &row);
        out_csv_ops.row(sink, OUT_COUNTER_COLLECTION, &counter);
    }
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), 0);
    const char *kernels = content("kernel_trace.csv");
    for (int i = 0; i < 5; i++) { /* behind the times, scratch memory behind it */
        snprintf(line, sizeof line, ",7,8,%lu,0,", shown[i]);
        assert_non_null(strstr(kernels, line));
    }
    const char *counters = content("counter_collection.csv");
    for (int i = 0; i < 5; i++) { /* behind the kernel's name and the size of groups */
        snprintf(line, sizeof line, ",\"\",0,%lu,0,", shown[i]);
        assert_non_null(strstr(counters, line));
    }
}

static void copy_row_check(sqlite3_stmt *select, const struct out_copy_row *row)
{
    assert_string_equal((const char *)sqlite3_column_text(select, 0), row->kind);
    assert_string_equal((const char *)sqlite3_column_text(select, 1), row->direction);
    assert_int_equal((uint64_t)sqlite3_column_int64(select, 2), row->stream_id);
    assert_int_equal(sqlite3_column_type(select, 3),
                     row->source_node == OUT_NO_AGENT ? SQLITE_NULL : SQLITE_INTEGER);
    if (row->source_node != OUT_NO_AGENT)
        assert_int_equal(sqlite3_column_int64(select, 3), row->source_node);
    assert_int_equal((uint64_t)sqlite3_column_int64(select, 4), row->correlation_id);
    assert_int_equal(sqlite3_column_int64(select, 5), row->start_ns);
    assert_int_equal((uint64_t)sqlite3_column_int64(select, 6), row->end_ns);
}

/* Row `i`, its text followed by as many as 39000 more characters. */
static struct out_copy_row varied_long(uint32_t i, char *text, size_t text_size)
{
    struct out_copy_row row = varied(i, text, text_size);
    memset(text + strlen(text), 'x', i % 50 == 7 ? i * 39 : 0);
    return row;
}

/* Any number of rows, however many go in at a time; texts that the caller changes afterwards. */
static void rocpd_keeps_every_row_in_order(void **state)
{
    static const uint32_t counts[] = {1, 31, 32, 33, 64, 1000};
    static const char sql[] =
        "SELECT K.string, N.string, C.stream_id, C.src_agent_id, E.stack_id, C.start, C.\"end\" "
        "FROM rocpd_memory_copy C JOIN rocpd_event E ON E.id = C.event_id "
        "JOIN rocpd_string N ON N.id = C.name_id JOIN rocpd_string K ON K.id = E.category_id "
        "ORDER BY C.id";
    static char text[40000];
    char path[128];
    struct out_sink *sink;
    (void)state;
    snprintf(path, sizeof path, "%s_results.db", prefix);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        unlink(path);
        assert_int_equal(out_rocpd_ops.open(prefix, &sink, message, sizeof message), 0);
        for (uint32_t i = 0; i < counts[c]; i++) {
            struct out_copy_row row = varied_long(i, text, sizeof text);
            out_rocpd_ops.row(sink, OUT_MEMORY_COPY, &row);
            memset(text, 0, sizeof text);
        }
        assert_int_equal(out_rocpd_ops.close(sink, message, sizeof message), 0);
        sqlite3 *database;
        sqlite3_stmt *select;
        assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &select, NULL), SQLITE_OK);
        for (uint32_t i = 0; i < counts[c]; i++) {
            struct out_copy_row row = varied_long(i, text, sizeof text);
            assert_int_equal(sqlite3_step(select), SQLITE_ROW);
            copy_row_check(select, &row);
            memset(text, 0, sizeof text);
        }
        assert_int_equal(sqlite3_step(select), SQLITE_DONE);
        sqlite3_finalize(select);
        sqlite3_close(database);
    }
}

/* A dispatch and its counters share a row, in whatever order and however far apart they come. */
static void rocpd_joins_records_and_counters(void **state)
{
    enum { DISPATCHES = 10000 };
    static const struct out_counter counter = {.id = 77, .node = 1, .name = "WAVES"};
    char path[128];
    long count = 0;
    struct out_sink *sink;
    sqlite3 *database;
    (void)state;
    assert_int_equal(out_rocpd_ops.open(prefix, &sink, message, sizeof message), 0);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint64_t i = 1; i <= DISPATCHES; i++) {
            const struct out_counter_row row = {.dispatch = {.kind = "KERNEL_DISPATCH",
                                                             .kernel_name = "k",
                                                             .dispatch_id = i,
                                                             .node = 1},
                                                .counter = &counter,
                                                .counter_name = "WAVES",
                                                .counter_value = (double)i};
            bool has_counters = (i % 2 == 0) == (pass == 0);
            if (has_counters)
                out_rocpd_ops.row(sink, OUT_COUNTER_COLLECTION, &row);
            else
                out_rocpd_ops.row(sink, OUT_KERNEL_TRACE, &row.dispatch);
        }
    assert_int_equal(out_rocpd_ops.close(sink, message, sizeof message), 0);
    snprintf(path, sizeof path, "%s_results.db", prefix);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "SELECT count(*) FROM kernels", one_number, &count, NULL);
    assert_int_equal(count, DISPATCHES);
    sqlite3_exec(database, "SELECT count(*) FROM rocpd_event", one_number, &count, NULL);
    assert_int_equal(count, DISPATCHES);
    sqlite3_exec(database,
                 "SELECT count(*) FROM counters_collection WHERE value = dispatch_id AND "
                 "counter_id = 77",
                 one_number, &count, NULL);
    assert_int_equal(count, DISPATCHES);
    sqlite3_close(database);
}

/* What SQLite's own reader of JSON finds at `path` of the file. */
static double json_number(const char *select, const char *path)
{
    char file[128];
    sqlite3 *database;
    sqlite3_stmt *statement;
    snprintf(file, sizeof file, "%s_results.json", prefix);
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    long size = ftell(stream);
    char *text = malloc((size_t)size);
    rewind(stream);
    assert_int_equal(fread(text, 1, (size_t)size, stream), size);
    fclose(stream);
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, select, -1, &statement, NULL), SQLITE_OK);
    sqlite3_bind_text(statement, 1, text, (int)size, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, path, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    double value = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    free(text);
    return value;
}
#define JSON_TOOL "$.\"rocprofiler-sdk-tool\"[0]."

/* Rows of `call` and `count` dispatches with two values each; which list outgrows memory first. */
static void json_lists_write(uint64_t calls, uint64_t dispatches, double value)
{
    static const char *const counters[] = {"FIRST", "SECOND \"\xff"};
    struct out_sink *sink;
    assert_int_equal(out_json_ops.open(prefix, &sink, message, sizeof message), 0);
    for (uint64_t i = 0; i < calls || i < dispatches; i++) {
        const struct out_api_row call = {
            .domain = "HSA_CORE_API", .function = "hsa_init", .correlation_id = i, .end_ns = 1};
        const struct out_api_row marker = {
            .domain = "MARKER_CORE_API", .function = "m", .correlation_id = i, .message = "a\n\"b"};
        struct out_counter_row counter = {.dispatch = {.kind = "KERNEL_DISPATCH",
                                                       .kernel_name = "k",
                                                       .dispatch_id = i, /* 0 is a number, too */
                                                       .kernel_id = i % 3},
                                          .counter_value = value};
        if (i < calls) {
            out_json_ops.row(sink, OUT_HSA_API, &call);
            out_json_ops.row(sink, OUT_MARKER_API, &marker);
        }
        for (int c = 0; c < 2 && i < dispatches; c++) {
            counter.counter_name = counters[c];
            out_json_ops.row(sink, OUT_COUNTER_COLLECTION, &counter);
        }
    }
    assert_int_equal(out_json_ops.close(sink, message, sizeof message), 0);
}

static void json_lists_share_one_file(void **state)
{
    static const uint64_t sizes[][2] = {{0, 0},      {1, 1},     {3, 0},      {0, 3},
                                        {20000, 10}, {10, 9000}, {9000, 9000}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t calls = sizes[i][0], dispatches = sizes[i][1];
        char path[128];
        json_lists_write(calls, dispatches, 1.0 / 3);
        assert_true(json_number("SELECT json_valid(?) AND ? <> ''", "$") == 1);
        static const char length[] = "SELECT json_array_length(?, ?)";
        assert_true(json_number(length, JSON_TOOL "buffer_records.hsa_api") == (double)calls);
        assert_true(json_number(length, JSON_TOOL "buffer_records.marker_api") == (double)calls);
        assert_true(json_number(length, JSON_TOOL "strings.marker_api") == (double)calls);
        assert_true(json_number(length, JSON_TOOL "callback_records.counter_collection") ==
                    (double)dispatches);
        snprintf(path, sizeof path,
                 JSON_TOOL "callback_records.counter_collection[%lu].records[1].value",
                 dispatches - 1);
        if (dispatches) /* as many digits as a double has */
            assert_true(json_number("SELECT json_extract(?, ?)", path) == 1.0 / 3);
        snprintf(path, sizeof path, "%s_results.json", prefix);
        assert_int_equal(unlink(path), 0);
    }
}

/* Longer than what is kept in memory of a list, as its first text and as a later one. */
static void json_takes_texts_of_any_length(void **state)
{
    static char longest[3 * WRITER_BYTES];
    (void)state;
    memset(longest, 'n', sizeof longest - 1);
    for (uint64_t before = 0; before < 3; before++) {
        struct out_sink *sink;
        assert_int_equal(out_json_ops.open(prefix, &sink, message, sizeof message), 0);
        for (uint64_t i = 0; i <= before; i++) {
            const char *text = longest + (i < before ? sizeof longest - 10 : 0);
            const struct out_api_row marker = {.domain = "MARKER_CORE_API",
                                               .function = text,
                                               .message = text,
                                               .correlation_id = i + 1};
            const struct out_dispatch_row kernel = {
                .kind = "KERNEL_DISPATCH", .kernel_name = text, .region = text, .dispatch_id = i};
            out_json_ops.row(sink, OUT_MARKER_API, &marker);
            out_json_ops.row(sink, OUT_KERNEL_TRACE, &kernel);
        }
        assert_int_equal(out_json_ops.close(sink, message, sizeof message), 0);
        char path[160];
        snprintf(path, sizeof path, JSON_TOOL "strings.marker_api[%llu].value",
                 (unsigned long long)before);
        assert_true(json_number("SELECT length(json_extract(?, ?))", path) ==
                    (double)sizeof longest - 1);
        assert_true(json_number("SELECT length(json_extract(?, ?))",
                                JSON_TOOL "strings.correlation_id.external[0].value") > 8);
        snprintf(path, sizeof path, "%s_results.json", prefix);
        assert_int_equal(unlink(path), 0);
    }
}

/* JSON has no words for these. */
static void json_has_null_for_what_is_no_number(void **state)
{
    static const double values[] = {0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char path[128];
        json_lists_write(0, 1, values[i]);
        assert_true(json_number("SELECT json_type(?, ?) = 'null'", JSON_TOOL
                                "callback_records.counter_collection[0].records[0].value") == 1);
        snprintf(path, sizeof path, "%s_results.json", prefix);
        assert_int_equal(unlink(path), 0);
    }
}

/* Numbers of kernels, dispatches and regions are a process's own: each has an element, with rows
 * beyond memory or none, and texts that need not outlive its rows. */
static void json_has_an_element_for_each_process(void **state)
{
    enum { CALLS = 9000 };
    static const char *const names[] = {"left", "right"};
    struct out_process processes[2];
    struct out_sink *sink;
    char path[128];
    (void)state;
    assert_int_equal(out_json_ops.open(prefix, &sink, message, sizeof message), 0);
    for (uint64_t i = 0; i < 2; i++) {
        char *command = strdup(names[i]);
        processes[i] = (struct out_process){
            .pid = 70 + i, .command = command, .hostname = "", .machine_id = ""};
        const struct out_counter_row counter = {
            .dispatch = {.kernel_id = 7, .dispatch_id = 1, .kernel_name = names[i]},
            .counter_name = "c",
            .counter_value = 2};
        const struct out_stats_row stats = {.name = names[i], .calls = 5 + i};
        const struct out_api_row call = {.domain = "HSA_CORE_API", .function = "hsa_init"};
        out_process_set(&processes[i]);
        for (int j = 0; i == 0 && j < CALLS; j++)
            out_json_ops.row(sink, OUT_HSA_API, &call);
        out_json_ops.row(sink, OUT_COUNTER_COLLECTION, &counter);
        out_json_ops.row(sink, OUT_KERNEL_STATS, &stats);
        out_process_set(NULL);
        free(command);
    }
    static const struct out_process last = {.command = "", .hostname = "", .machine_id = ""};
    out_process_set(&last); /* the caller need not know whose rows came last */
    assert_int_equal(out_json_ops.close(sink, message, sizeof message), 0);
    out_process_set(NULL);
#define VALUE    "SELECT json_extract(?, ?)"
#define ELEMENTS "$.\"rocprofiler-sdk-tool\""
    static const char length[] = "SELECT json_array_length(?, ?)", value[] = VALUE;
    static const char *const is_name[] = {VALUE " = 'left'", VALUE " = 'right'"};
    assert_true(json_number(length, ELEMENTS) == 2);
    assert_true(json_number(length, ELEMENTS "[0].buffer_records.hsa_api") == CALLS);
    assert_true(json_number(length, ELEMENTS "[1].buffer_records.hsa_api") == 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, ELEMENTS "[%d].metadata.pid", i);
        assert_true(json_number(value, path) == 70 + i);
        snprintf(path, sizeof path, ELEMENTS "[%d].callback_records.counter_collection", i);
        assert_true(json_number(length, path) == 1);
        snprintf(path, sizeof path, ELEMENTS "[%d].summary[0].stats.count", i);
        assert_true(json_number(value, path) == 5 + i);
        snprintf(path, sizeof path, ELEMENTS "[%d].kernel_symbols[7].formatted_kernel_name", i);
        assert_true(json_number(is_name[i], path) == 1);
        snprintf(path, sizeof path, ELEMENTS "[%d].metadata.command[0]", i);
        assert_true(json_number(is_name[i], path) == 1);
    }
}

/* Lists that wait go to files that nobody sees, also of a process that is killed. */
static void json_leaves_only_its_file(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct out_sink *sink;
        if (out_json_ops.open(prefix, &sink, message, sizeof message) != 0)
            _exit(1);
        for (int i = 0; i < 2000; i++) {
            const struct out_api_row call = {.domain = "HSA_CORE_API", .function = "hsa_init"};
            out_json_ops.row(sink, OUT_HSA_API, &call);
            out_json_ops.row(sink, OUT_HIP_API, &call);
        }
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    char command[200];
    snprintf(command, sizeof command, "test $(ls -A %s* | wc -l) = 1 && ! ls -A %s | grep '^[.]'",
             prefix, folder);
    assert_int_equal(system(command), 0);
}

/* How often otf2-print's output matches, and that it has nothing to complain about. */
static int otf2_lines(const char *options, const char *pattern)
{
    char command[300], line[32] = "";
    snprintf(command, sizeof command, "otf2-print %s %s_results.otf2 2>&1 | grep -c -- '%s'",
             options, prefix, pattern);
    FILE *pipe = popen(command, "r");
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    return atoi(line);
}

/* What overlaps on a queue without one containing the other is on several locations. */
static void otf2_spreads_what_overlaps(void **state)
{
    enum { KERNELS = 2000 };
    struct out_sink *sink;
    (void)state;
    assert_int_equal(out_otf2_ops.open(prefix, &sink, message, sizeof message), 0);
    for (uint64_t i = 0; i < KERNELS; i++) {
        const struct out_dispatch_row row = {.kernel_name = i % 2 ? "a" : "b\"\n\xff",
                                             .node = 1,
                                             .start_ns = 1000 + 10 * (i ^ 1),
                                             .end_ns = 1025 + 10 * (i ^ 1)};
        out_otf2_ops.row(sink, OUT_KERNEL_TRACE, &row);
    }
    assert_int_equal(out_otf2_ops.close(sink, message, sizeof message), 0);
    assert_int_equal(otf2_lines("", "^ENTER"), KERNELS);
    assert_int_equal(otf2_lines("", "^LEAVE"), KERNELS);
    assert_int_equal(otf2_lines("-G", "^LOCATION  *[0-9]* .*queue 0"), 3);
    assert_int_equal(otf2_lines("", "warning\\|error"), 0);
    assert_int_equal(otf2_lines("-G", "Global Offset: 1000, Length: 20015,"), 1);
}

/* Far more than are kept in memory, of several threads, calls within calls. */
static void otf2_sorts_what_does_not_fit_into_memory(void **state)
{
    enum { CALLS = 600000, THREADS = 3 };
    struct out_sink *sink;
    (void)state;
    assert_int_equal(out_otf2_ops.open(prefix, &sink, message, sizeof message), 0);
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t at = 100 * (i / 2);
        struct out_api_row row = {.function = i % 2 ? "outer" : "inner",
                                  .thread_id = 7 + i / 2 % THREADS,
                                  .start_ns = i % 2 ? at : at + 10,
                                  .end_ns = i % 2 ? at + 50 : at + 40};
        out_otf2_ops.row(sink, OUT_HSA_API, &row);
    }
    assert_int_equal(out_otf2_ops.close(sink, message, sizeof message), 0);
    assert_int_equal(otf2_lines("-G", "^LOCATION  *[0-9]* "), THREADS);
    assert_int_equal(otf2_lines("-G", "# Events: 400000,"), THREADS);
    assert_int_equal(otf2_lines("--silent", "warning\\|error"), 0);
}

/* A trace without events, and places that somebody else has. */
static void otf2_touches_nobody_elses_files(void **state)
{
    struct out_sink *sink;
    char path[128];
    struct stat info;
    (void)state;
    assert_int_equal(out_otf2_ops.open("/nonexistent/7", &sink, message, sizeof message), -ENOENT);
    assert_non_null(strstr(message, "/nonexistent/7_results.part: No such file"));
    snprintf(path, sizeof path, "%s_results.def", prefix);
    assert_int_equal(symlink("/nonexistent/target", path), 0);
    assert_int_equal(out_otf2_ops.open(prefix, &sink, message, sizeof message), -EEXIST);
    assert_int_equal(unlink(path), 0);
    /* it comes while we write */
    assert_int_equal(out_otf2_ops.open(prefix, &sink, message, sizeof message), 0);
    assert_int_equal(symlink("/nonexistent/target", path), 0);
    assert_int_equal(out_otf2_ops.close(sink, message, sizeof message), -EEXIST);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s_results.part", prefix);
    assert_int_equal(lstat(path, &info), -1);
    assert_int_equal(out_otf2_ops.open(prefix, &sink, message, sizeof message), 0);
    assert_int_equal(out_otf2_ops.close(sink, message, sizeof message), 0);
    assert_int_equal(otf2_lines("-G", "^CLOCK_PROPERTIES"), 1);
}

static void the_old_name_of_rocpd_is_known(void **state)
{
    (void)state;
    assert_ptr_equal(out_find("json"), &out_json_ops);
    assert_ptr_equal(out_find("sqlite"), &out_rocpd_ops);
    assert_ptr_equal(out_find("rocpd"), &out_rocpd_ops);
}

static void rocpd_says_why_it_cannot_open(void **state)
{
    (void)state;
    struct out_sink *sink;
    assert_true(out_rocpd_ops.open("/nonexistent/7", &sink, message, sizeof message) < 0);
    assert_non_null(strstr(message, "/nonexistent/7_results.db: "));
}

/* Fields narrower than 64 bits, a negative number, and every column of the agent's description. */
static void agents_have_all_columns(void **state)
{
    (void)state;
    struct out_sink *sink;
    const rocprofiler_agent_mem_bank_t bank = {.width = 4096, .mem_clk_max = 1600};
    struct out_agent_row row = {.type = "GPU"};
    memset(&row.agent, 0xff, sizeof row.agent); /* neighbours of a field must not show */
    row.agent.name = "gfx90a";
    row.agent.vendor_name = row.agent.product_name = row.agent.model_name = NULL;
    row.agent.node_id = 1;
    row.agent.logical_node_id = -1;
    row.agent.vendor_id = 0x1002;
    row.agent.hive_id = UINT64_MAX;
    row.agent.mem_banks = &bank;
    row.agent.mem_banks_count = 1;
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    out_csv_ops.row(sink, OUT_AGENT_INFO, &row);
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), 0);
    const char *text = content("agent_info.csv");
    const char *line = strchr(text, '\n') + 1;
    unsigned columns = 1, values = 1;
    for (const char *at = text; *at; at++)
        *(at < line ? &columns : &values) += *at == ',';
    assert_int_equal(columns, 53);
    assert_int_equal(values, columns);
    assert_memory_equal(line, "1,-1,\"GPU\",4294967295,", 22);
    assert_non_null(strstr(line, ",4098,65535,"));
    assert_non_null(strstr(line, ",18446744073709551615,"));
    assert_non_null(strstr(line, "\"gfx90a\",\"\",\"\",\"\"\n"));

    assert_int_equal(out_rocpd_ops.open(prefix, &sink, message, sizeof message), 0);
    out_rocpd_ops.row(sink, OUT_AGENT_INFO, &row);
    assert_int_equal(out_rocpd_ops.close(sink, message, sizeof message), 0);
}

static void an_allocation_has_an_agent_and_a_free_has_none(void **state)
{
    (void)state;
    struct out_sink *sink;
    struct out_allocation_row row = {.kind = "MEMORY_ALLOCATION",
                                     .operation = "MEMORY_ALLOCATION_ALLOCATE",
                                     .agent = 1,
                                     .bytes = 4096,
                                     .address = 0x7f00deadb000};
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    out_csv_ops.row(sink, OUT_MEMORY_ALLOCATION, &row);
    row = (struct out_allocation_row){.operation = "MEMORY_ALLOCATION_FREE", .agent = OUT_NO_AGENT};
    out_csv_ops.row(sink, OUT_MEMORY_ALLOCATION, &row);
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), 0);
    const char *text = content("memory_allocation_trace.csv");
    assert_non_null(strstr(text, ",\"Agent 1\",4096,\"0x00007f00deadb000\","));
    assert_non_null(strstr(text, "_FREE\",\"\",0,\"0x0000000000000000\","));
}

/* Rows without names or agents, before and after others; what it says is tests/crocprof's. */
static void a_perfetto_trace_takes_every_row(void **state)
{
    (void)state;
    struct out_sink *sink = NULL;
    assert_int_equal(out_pftrace_ops.open(prefix, &sink, message, sizeof message), 0);
    const struct out_api_row call = {.start_ns = 5, .end_ns = 9}, moment = {.start_ns = 5};
    const struct out_dispatch_row dispatch = {.agent = UINT64_MAX, .queue_id = UINT64_MAX};
    const struct out_copy_row nowhere = {.destination_agent = OUT_NO_AGENT};
    const struct out_stats_row stats = {0};
    out_pftrace_ops.row(sink, OUT_MEMORY_COPY, &nowhere);
    out_pftrace_ops.row(sink, OUT_MEMORY_COPY, &copy);
    out_pftrace_ops.row(sink, OUT_HIP_API, &call);
    out_pftrace_ops.row(sink, OUT_HSA_API, &call);
    out_pftrace_ops.row(sink, OUT_MARKER_API, &call);
    out_pftrace_ops.row(sink, OUT_MARKER_API, &moment);
    out_pftrace_ops.row(sink, OUT_KERNEL_TRACE, &dispatch);
    out_pftrace_ops.row(sink, OUT_KERNEL_STATS, &stats);
    assert_int_equal(out_pftrace_ops.close(sink, message, sizeof message), 0);
    assert_true(strlen(content("results.pftrace")) > 0);
}

static void a_perfetto_trace_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    struct out_sink *sink = NULL;
    assert_int_equal(out_pftrace_ops.open("/nonexistent/7", &sink, message, sizeof message),
                     -ENOENT);
    assert_non_null(strstr(message, "/nonexistent/7_results.pftrace: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(csv_quotes_and_names_columns, prefix_next),
        cmocka_unit_test_setup(a_full_disk_is_reported_once_at_the_end, prefix_next),
        cmocka_unit_test_setup(a_prefix_is_taken_once, prefix_next),
        cmocka_unit_test_setup(csv_rows_across_flushes, prefix_next),
        cmocka_unit_test_setup(rocpd_has_every_table_and_the_rows, prefix_next),
        cmocka_unit_test_setup(a_database_whose_process_is_killed_can_be_read, prefix_next),
        cmocka_unit_test_setup(csv_has_lds_in_blocks, prefix_next),
        cmocka_unit_test_setup(csv_repeats_and_changes_numbers, prefix_next),
        cmocka_unit_test_setup(rocpd_keeps_every_row_in_order, prefix_next),
        cmocka_unit_test_setup(rocpd_joins_records_and_counters, prefix_next),
        cmocka_unit_test_setup(json_lists_share_one_file, prefix_next),
        cmocka_unit_test_setup(json_takes_texts_of_any_length, prefix_next),
        cmocka_unit_test_setup(json_has_null_for_what_is_no_number, prefix_next),
        cmocka_unit_test_setup(json_has_an_element_for_each_process, prefix_next),
        cmocka_unit_test_setup(json_leaves_only_its_file, prefix_next),
        cmocka_unit_test_setup(otf2_spreads_what_overlaps, prefix_next),
        cmocka_unit_test_setup(otf2_sorts_what_does_not_fit_into_memory, prefix_next),
        cmocka_unit_test_setup(otf2_touches_nobody_elses_files, prefix_next),
        cmocka_unit_test(the_old_name_of_rocpd_is_known),
        cmocka_unit_test_setup(rocpd_says_why_it_cannot_open, prefix_next),
        cmocka_unit_test_setup(agents_have_all_columns, prefix_next),
        cmocka_unit_test_setup(an_allocation_has_an_agent_and_a_free_has_none, prefix_next),
        cmocka_unit_test_setup(a_perfetto_trace_takes_every_row, prefix_next),
        cmocka_unit_test_setup(a_perfetto_trace_that_cannot_be_made_is_an_error, prefix_next),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
