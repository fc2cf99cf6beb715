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

int batch_open(struct batch *batch, sqlite3 *database, const char *head, const char *values,
               int real_column)
{
    *batch = (struct batch){.real_column = real_column};
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

static int insert_run(sqlite3_stmt *insert)
{
    int status = sqlite3_step(insert);
    sqlite3_reset(insert);
    return status == SQLITE_DONE ? SQLITE_OK : status;
}

int batch_row(struct batch *batch, const int64_t *values)
{
    uint32_t at = batch->count * batch->columns;
    for (uint32_t i = 0; i < batch->columns; i++, at++) {
        if (batch->is_bound && batch->cells[at] == values[i])
            continue;
        batch->cells[at] = values[i];
        cell_bind(batch, batch->insert[1], at, values[i]);
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
    const int64_t *cell = batch->cells;
    for (uint32_t row = 0; row < batch->count && status == SQLITE_OK; row++) {
        for (uint32_t i = 0; i < batch->columns; i++)
            cell_bind(batch, batch->insert[0], i, *cell++);
        status = insert_run(batch->insert[0]);
    }
    batch->count = 0;
    return status;
}

void batch_close(struct batch *batch)
{
    sqlite3_finalize(batch->insert[0]);
    sqlite3_finalize(batch->insert[1]);
}
