#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int insert_prepare(sqlite3 *database, const char *head, const char *values, uint32_t rows,
                          sqlite3_stmt **insert)
{
    char *sql = malloc(strlen(head) + rows * (strlen(values) + 1) + 1);
    if (!sql)
        return SQLITE_NOMEM;
    char *at = stpcpy(sql, head);
    for (uint32_t row = 0; row < rows; row++) {
        at = stpcpy(at, row ? "," : "");
        at = stpcpy(at, values);
    }
    int status = sqlite3_prepare_v2(database, sql, -1, insert, NULL);
    free(sql);
    return status;
}

int batch_open(struct batch *batch, sqlite3 *database, const char *head, const char *values)
{
    int status = insert_prepare(database, head, values, 1, &batch->insert[0]);
    if (status != SQLITE_OK)
        return status;
    batch->columns = (uint32_t)sqlite3_bind_parameter_count(batch->insert[0]);
    return insert_prepare(database, head, values, BATCH_ROWS, &batch->insert[1]);
}

static void cell_bind(const struct batch *batch, sqlite3_stmt *insert, uint32_t at, int64_t value)
{
    int parameter = (int)at + 1;
    double real;
    if ((int)(at % batch->columns) == batch->real_column) {
        memcpy(&real, &value, sizeof real);
        sqlite3_bind_double(insert, parameter, real);
        return;
    }
    if (value == BATCH_NULL)
        sqlite3_bind_null(insert, parameter);
    else
        sqlite3_bind_int64(insert, parameter, value);
}

/* Texts of the statement's row; they stay where they are until it has run. */
static void texts_bind(const struct batch *batch, sqlite3_stmt *insert, uint32_t row,
                       const char *texts)
{
    int parameter = (int)((row + 1) * batch->columns - batch->text_columns) + 1;
    for (uint32_t i = 0; i < batch->text_columns; i++) {
        size_t length = strlen(texts);
        sqlite3_bind_text(insert, parameter + (int)i, texts, (int)length, SQLITE_STATIC);
        texts += length + 1;
    }
}

static int insert_run(sqlite3_stmt *insert)
{
    int status = sqlite3_step(insert);
    sqlite3_reset(insert);
    return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int row_insert(struct batch *batch, const int64_t *values, const char *texts)
{
    for (uint32_t i = 0; i < batch->columns - batch->text_columns; i++)
        cell_bind(batch, batch->insert[0], i, values[i]);
    texts_bind(batch, batch->insert[0], 0, texts);
    return insert_run(batch->insert[0]);
}

int batch_row(struct batch *batch, const int64_t *values, const char *texts, size_t text_bytes)
{
    uint32_t at = batch->count * batch->columns;
    if (text_bytes > BATCH_TEXT_BYTES) { /* no room to wait: behind those that do */
        int status = batch_flush(batch);
        return status == SQLITE_OK ? row_insert(batch, values, texts) : status;
    }
    for (uint32_t i = 0; i < batch->columns - batch->text_columns; i++, at++) {
        if (batch->is_bound && batch->cells[at] == values[i])
            continue;
        batch->cells[at] = values[i];
        cell_bind(batch, batch->insert[1], at, values[i]);
    }
    char *waiting = batch->texts[batch->count];
    if (text_bytes > 0 && !(batch->is_bound && memcmp(waiting, texts, text_bytes) == 0)) {
        memcpy(waiting, texts, text_bytes);
        texts_bind(batch, batch->insert[1], batch->count, waiting);
    }
    if (++batch->count < BATCH_ROWS)
        return SQLITE_OK;
    batch->count = 0;
    batch->is_bound = true;
    return insert_run(batch->insert[1]);
}

int batch_flush(struct batch *batch)
{
    int status = SQLITE_OK;
    for (uint32_t row = 0; row < batch->count && status == SQLITE_OK; row++)
        status = row_insert(batch, &batch->cells[row * batch->columns], batch->texts[row]);
    batch->count = 0;
    return status;
}

void batch_close(struct batch *batch)
{
    sqlite3_finalize(batch->insert[0]);
    sqlite3_finalize(batch->insert[1]);
}
