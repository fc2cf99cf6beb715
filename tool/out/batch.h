/*
 * Rows of numbers that wait to go into a table together, by one prepared statement. Most columns
 * say what they said when a parameter was last used, and stay bound. The last columns may be texts.
 */
#ifndef OUT_BATCH_H
#define OUT_BATCH_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BATCH_ROWS = 32, BATCH_COLUMNS_MAX = 24, BATCH_TEXT_BYTES = 160 };
/* As a value: NULL. */
#define BATCH_NULL INT64_MIN

struct batch {
    sqlite3_stmt *insert[2]; /* one row; BATCH_ROWS of them */
    uint32_t columns, count; /* columns: parameters of a row */
    uint32_t text_columns;   /* how many of them, at its end, are texts */
    int real_column;         /* whose values are bits of a double; -1: none */
    int64_t cells[BATCH_ROWS * BATCH_COLUMNS_MAX];
    bool is_bound;                            /* insert[1] has values of `cells` */
    char texts[BATCH_ROWS][BATCH_TEXT_BYTES]; /* of the rows that wait, one behind the other */
};

/* `head` is "INSERT INTO TABLE (COLUMN,...) VALUES ", `values` "(?,...)" with BATCH_COLUMNS_MAX
 * parameters at most; the batch is all zeros but for what its columns are (real_column,
 * text_columns). As all others, SQLITE_OK or an error. */
int batch_open(struct batch *batch, sqlite3 *database, const char *head, const char *values);
/* One value a parameter, texts aside; these follow each other in `texts`, each with its zero, so
 * many bytes in all. */
int batch_row(struct batch *batch, const int64_t *values, const char *texts, size_t text_bytes);
int batch_flush(struct batch *batch);
void batch_close(struct batch *batch);

#endif
