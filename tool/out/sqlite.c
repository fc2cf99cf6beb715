/*
 * SQLite: one database a process, one table for each kind of row with the CSV's columns, so a
 * query and a spreadsheet use the same names. Rows go in by prepared statements inside one
 * transaction; durability is not wanted, a crash leaves an empty database.
 */
#include "out.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct out_sink {
    char path[PATH_MAX + 16];
    sqlite3 *database;
    sqlite3_stmt *insert[OUT_TABLE_COUNT];
    char failure[256]; /* first error, "" for none */
};

static const char *const sql_types[] = {
    [OUT_U64] = "INTEGER", [OUT_I32] = "INTEGER",   [OUT_DOUBLE] = "REAL",
    [OUT_TEXT] = "TEXT",   [OUT_AGENT] = "INTEGER", [OUT_ADDRESS] = "INTEGER"};

static void fail(struct out_sink *sink)
{
    if (!sink->failure[0])
        snprintf(sink->failure, sizeof sink->failure, "%s", sqlite3_errmsg(sink->database));
}

static void run(struct out_sink *sink, const char *sql)
{
    if (sqlite3_exec(sink->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(sink);
}

/* Every table exists, also when it stays empty: a query need not ask first. */
static void table_create(struct out_sink *sink, const struct out_table *table)
{
    char sql[4096];
    int length = snprintf(sql, sizeof sql, "CREATE TABLE %s (", table->file);
    for (size_t i = 0; i < table->column_count; i++)
        length += snprintf(sql + length, sizeof sql - (size_t)length, "%s\"%s\" %s", i ? ", " : "",
                           table->columns[i].name, sql_types[table->columns[i].type]);
    snprintf(sql + length, sizeof sql - (size_t)length, ")");
    run(sink, sql);
}

static void insert_prepare(struct out_sink *sink, int id)
{
    char sql[512];
    int length = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (", out_tables[id].file);
    for (size_t i = 0; i < out_tables[id].column_count; i++)
        length += snprintf(sql + length, sizeof sql - (size_t)length, "%s?", i ? "," : "");
    snprintf(sql + length, sizeof sql - (size_t)length, ")");
    if (sqlite3_prepare_v2(sink->database, sql, -1, &sink->insert[id], NULL) != SQLITE_OK)
        fail(sink);
}

static int sqlite_open(const char *prefix, struct out_sink **out, char *error, size_t error_size)
{
    struct out_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        snprintf(error, error_size, "out of memory");
        return -ENOMEM;
    }
    snprintf(sink->path, sizeof sink->path, "%s_results.db", prefix);
    remove(sink->path); /* of an earlier process with this number */
    /* One thread and no other process: without locks. Large pages: rows come in order. */
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(sink->path, &sink->database, flags, NULL) == SQLITE_OK) {
        run(sink, "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                  "PRAGMA locking_mode=EXCLUSIVE; BEGIN");
        for (int id = 0; id < OUT_TABLE_COUNT; id++) {
            table_create(sink, &out_tables[id]);
            insert_prepare(sink, id);
        }
    } else {
        fail(sink);
    }
    if (sink->failure[0]) {
        snprintf(error, error_size, "%s: %s", sink->path, sink->failure);
        for (int id = 0; id < OUT_TABLE_COUNT; id++)
            sqlite3_finalize(sink->insert[id]);
        sqlite3_close(sink->database);
        free(sink);
        return -EIO;
    }
    *out = sink;
    return 0;
}

static void value_bind(sqlite3_stmt *insert, int at, const struct out_column *column,
                       const void *row)
{
    switch (column->type) {
    case OUT_AGENT:
        if (out_column_u64(column, row) == OUT_NO_AGENT) {
            sqlite3_bind_null(insert, at);
            return;
        }
        /* fall through */
    case OUT_U64:
    case OUT_ADDRESS:
        sqlite3_bind_int64(insert, at, (sqlite3_int64)out_column_u64(column, row));
        return;
    case OUT_I32:
        sqlite3_bind_int64(insert, at, out_column_i64(column, row));
        return;
    case OUT_DOUBLE:
        sqlite3_bind_double(insert, at, out_column_double(column, row));
        return;
    case OUT_TEXT:
        /* Not copied: the row outlives the step, and what stays bound is not read again. */
        sqlite3_bind_text(insert, at, out_column_text(column, row), -1, SQLITE_STATIC);
        return;
    }
}

static void sqlite_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    sqlite3_stmt *insert = sink->insert[table];
    for (size_t i = 0; i < out_tables[table].column_count; i++)
        value_bind(insert, (int)i + 1, &out_tables[table].columns[i], row);
    if (sqlite3_step(insert) != SQLITE_DONE)
        fail(sink);
    sqlite3_reset(insert);
}

static int sqlite_close(struct out_sink *sink, char *error, size_t error_size)
{
    for (int id = 0; id < OUT_TABLE_COUNT; id++)
        sqlite3_finalize(sink->insert[id]);
    run(sink, "COMMIT");
    if (sqlite3_close(sink->database) != SQLITE_OK)
        fail(sink);
    int status = sink->failure[0] ? -EIO : 0;
    if (status)
        snprintf(error, error_size, "%s: %s", sink->path, sink->failure);
    free(sink);
    return status;
}

const struct out_ops out_sqlite_ops = {"sqlite", sqlite_open, sqlite_row, sqlite_close};
