/*
 * SQLite: one database a process, one table for each kind of row with the CSV's columns, so a
 * query and a spreadsheet use the same names. Rows go in by prepared statements, several at a time,
 * inside long transactions. Of a process that is killed, every finished transaction is there: the
 * journal, which lies beside the database meanwhile, lets whoever opens it take back the last one.
 * A machine that crashes may leave less, nothing waits for a disk.
 */
#include "out.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer.h"

enum { ROWS_AT_ONCE = 32, TEXTS_BYTES = 16384, TRANSACTION_ROWS = 32768 };

/* What is bound to a parameter. */
struct cell {
    int type; /* SQLITE_INTEGER, ...; 0: nothing yet */
    int length;
    union {
        sqlite3_int64 integer;
        double real;
        const char *text; /* in `texts` of its rows, or the caller's until his row is written */
    };
};

/* Rows of a table that wait to go in together. */
struct rows {
    sqlite3_stmt *insert[2]; /* one row; ROWS_AT_ONCE of them */
    uint32_t count;
    size_t texts_used;
    struct cell *cells; /* ROWS_AT_ONCE rows */
    char texts[TEXTS_BYTES];
};

struct out_sink {
    char path[PATH_MAX + 16];
    sqlite3 *database;
    struct rows *rows[OUT_TABLE_COUNT];
    uint32_t transaction_rows;
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

static sqlite3_stmt *insert_prepare(struct out_sink *sink, const struct out_table *table,
                                    uint32_t count)
{
    char *sql = malloc(128 + count * (4 + 2 * table->column_count));
    sqlite3_stmt *insert = NULL;
    if (!sql) {
        snprintf(sink->failure, sizeof sink->failure, "out of memory");
        return NULL;
    }
    char *at = sql + sprintf(sql, "INSERT INTO %s VALUES ", table->file);
    for (uint32_t row = 0; row < count; row++) {
        *at++ = row ? ',' : ' ';
        for (size_t i = 0; i < table->column_count; i++) {
            *at++ = i ? ',' : '(';
            *at++ = '?';
        }
        *at++ = ')';
    }
    *at = '\0';
    if (sqlite3_prepare_v2(sink->database, sql, -1, &insert, NULL) != SQLITE_OK)
        fail(sink);
    free(sql);
    return insert;
}

static void rows_free(struct rows *rows)
{
    if (!rows)
        return;
    sqlite3_finalize(rows->insert[0]);
    sqlite3_finalize(rows->insert[1]);
    free(rows->cells);
    free(rows);
}

static struct rows *rows_make(struct out_sink *sink, const struct out_table *table)
{
    struct rows *rows = calloc(1, sizeof *rows);
    struct cell *cells = calloc(ROWS_AT_ONCE * table->column_count, sizeof *cells);
    if (!rows || !cells) {
        snprintf(sink->failure, sizeof sink->failure, "out of memory");
        free(rows);
        free(cells);
        return NULL;
    }
    rows->cells = cells;
    rows->insert[0] = insert_prepare(sink, table, 1);
    rows->insert[1] = insert_prepare(sink, table, ROWS_AT_ONCE);
    return rows;
}

static struct rows *table_rows(struct out_sink *sink, enum out_table_id table)
{
    if (!sink->rows[table] && !sink->failure[0])
        sink->rows[table] = rows_make(sink, &out_tables[table]);
    return sink->rows[table];
}

static void database_close(struct out_sink *sink)
{
    for (int id = 0; id < OUT_TABLE_COUNT; id++)
        rows_free(sink->rows[id]);
    if (sqlite3_close(sink->database) != SQLITE_OK)
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
    int file = writer_file_create(sink->path);
    if (file < 0) {
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-file));
        free(sink);
        return file;
    }
    close(file);
    /* One thread and no other process: without locks. Large pages: rows come in order. */
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(sink->path, &sink->database, flags, NULL) == SQLITE_OK) {
        run(sink, "PRAGMA page_size=16384; PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF; "
                  "PRAGMA locking_mode=EXCLUSIVE; BEGIN");
        for (int id = 0; id < OUT_TABLE_COUNT; id++)
            table_create(sink, &out_tables[id]);
        run(sink, "COMMIT; BEGIN");
    } else {
        fail(sink);
    }
    if (sink->failure[0]) {
        snprintf(error, error_size, "%s: %s", sink->path, sink->failure);
        database_close(sink);
        free(sink);
        return -EIO;
    }
    *out = sink;
    return 0;
}

static void integer_set(struct cell *cell, sqlite3_int64 value, bool *changed)
{
    *changed = cell->type != SQLITE_INTEGER || cell->integer != value;
    cell->type = SQLITE_INTEGER;
    cell->integer = value;
}

/* A text without room stays where it is; its row must go in before the caller has it back. */
static void text_set(struct rows *rows, struct cell *cell, const char *text, bool *now)
{
    size_t length = strlen(text);
    cell->type = SQLITE_TEXT;
    cell->length = (int)length;
    cell->text = text;
    if (length > TEXTS_BYTES - rows->texts_used) {
        *now = true;
        return;
    }
    cell->text = memcpy(rows->texts + rows->texts_used, text, length);
    rows->texts_used += length;
}

/* True: the parameter has another value now. */
static bool cell_set(struct rows *rows, struct cell *cell, const struct out_column *column,
                     const void *row, bool *now)
{
    bool changed = true;
    switch (column->type) {
    case OUT_AGENT:
        if (out_column_u64(column, row) == OUT_NO_AGENT) {
            cell->type = SQLITE_NULL;
            break;
        }
        integer_set(cell, (uint32_t)out_column_u64(column, row), &changed);
        break;
    case OUT_U64:
    case OUT_ADDRESS:
        integer_set(cell, (sqlite3_int64)out_column_u64(column, row), &changed);
        break;
    case OUT_I32:
        integer_set(cell, out_column_i64(column, row), &changed);
        break;
    case OUT_DOUBLE:
        cell->type = SQLITE_FLOAT;
        cell->real = out_column_double(column, row);
        break;
    case OUT_TEXT:
        text_set(rows, cell, out_column_text(column, row), now);
        break;
    }
    return changed;
}

static void cell_bind(sqlite3_stmt *insert, int at, const struct cell *cell)
{
    switch (cell->type) {
    case SQLITE_INTEGER:
        sqlite3_bind_int64(insert, at, cell->integer);
        return;
    case SQLITE_FLOAT:
        sqlite3_bind_double(insert, at, cell->real);
        return;
    case SQLITE_TEXT: /* not copied: what stays bound is not read again */
        sqlite3_bind_text(insert, at, cell->text, cell->length, SQLITE_STATIC);
        return;
    default:
        sqlite3_bind_null(insert, at);
        return;
    }
}

static void insert_run(struct out_sink *sink, sqlite3_stmt *insert)
{
    if (sqlite3_step(insert) != SQLITE_DONE)
        fail(sink);
    sqlite3_reset(insert);
}

static void transaction_grow(struct out_sink *sink, uint32_t rows)
{
    sink->transaction_rows += rows;
    if (sink->transaction_rows < TRANSACTION_ROWS)
        return;
    sink->transaction_rows = 0;
    run(sink, "COMMIT; BEGIN");
}

/* All at once when there are as many as that takes, one by one otherwise. */
static void rows_insert(struct out_sink *sink, enum out_table_id table)
{
    struct rows *rows = sink->rows[table];
    size_t columns = out_tables[table].column_count;
    const struct cell *cell = rows->cells;
    uint32_t count = rows->count;
    rows->count = 0;
    rows->texts_used = 0;
    if (count == ROWS_AT_ONCE) {
        insert_run(sink, rows->insert[1]);
        transaction_grow(sink, count);
        return;
    }
    for (uint32_t row = 0; row < count; row++) {
        for (size_t i = 0; i < columns; i++)
            cell_bind(rows->insert[0], (int)i + 1, cell++);
        insert_run(sink, rows->insert[0]);
    }
    transaction_grow(sink, count);
}

static void sqlite_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    const struct out_table *layout = &out_tables[table];
    struct rows *rows = table_rows(sink, table);
    if (!rows || sink->failure[0])
        return;
    size_t first = rows->count * layout->column_count;
    bool now = false;
    /* Most columns say what they said when these parameters were last used. */
    for (size_t i = 0; i < layout->column_count; i++) {
        struct cell *cell = &rows->cells[first + i];
        if (cell_set(rows, cell, &layout->columns[i], row, &now))
            cell_bind(rows->insert[1], (int)(first + i) + 1, cell);
    }
    if (++rows->count == ROWS_AT_ONCE || now)
        rows_insert(sink, table);
}

static int sqlite_close(struct out_sink *sink, char *error, size_t error_size)
{
    for (int id = 0; id < OUT_TABLE_COUNT; id++)
        if (sink->rows[id])
            rows_insert(sink, (enum out_table_id)id);
    /* The journal goes only when others may be there, too. */
    run(sink, "COMMIT; PRAGMA locking_mode=NORMAL; PRAGMA journal_mode=DELETE");
    database_close(sink);
    int status = sink->failure[0] ? -EIO : 0;
    if (status)
        snprintf(error, error_size, "%s: %s", sink->path, sink->failure);
    free(sink);
    return status;
}

const struct out_ops out_sqlite_ops = {"sqlite", sqlite_open, sqlite_row, sqlite_close};
