/*
 * A table for people: numbers to the right, each column as wide as it must be, the last one text,
 * shortened in the middle where the terminal is narrower. Single thread.
 */
#ifndef SUMMARY_TABLE_H
#define SUMMARY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a file shows tables. */
struct table_style {
    size_t width; /* columns of the terminal; 0: no limit */
    bool colour;
};
/* The terminal's, or COLUMNS; colours on a terminal only, and not where NO_COLOR is set. */
struct table_style table_style_of(FILE *file);

struct table;

enum { TABLE_COLUMNS_MAX = 32 };

/* The last title is that of the text. NULL: no memory, which the others take for an empty table. */
struct table *table_create(const char *const titles[], size_t columns);
void table_destroy(struct table *table);

/* On a narrow terminal the column may be left out; the last one named goes first. */
void table_spare(struct table *table, size_t column);
/* The cells are copied. */
void table_row(struct table *table, const char *const cells[]);
/* Nothing without rows. */
void table_print(const struct table *table, FILE *file, const struct table_style *style);

/* The text in at most `width` columns (0: no limit), control bytes as '\n', '\t' or '?', the middle
 * replaced by "..." where it is too long. `shown` is ended by a zero. */
void table_text(const char *text, size_t width, char *shown, size_t shown_bytes);

#endif
