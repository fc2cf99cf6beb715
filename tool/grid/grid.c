#include "grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"

enum { ROWS_AHEAD = 1000, NUMBER_BYTES = 40 };

struct cell {
    char *text; /* NULL: nothing */
    bool is_number;
};

struct grid {
    struct writer *writer;
    enum grid_format format;
    unsigned count;
    char **names;
    uint64_t rows;
    /* Of a table: rows that wait, and what was seen of each column. */
    struct cell *waiting;
    unsigned waiting_rows;
    unsigned *width;
    bool *is_right; /* all numbers */
    bool is_flowing;
};

enum grid_format grid_format_find(const char *name)
{
    static const char *const names[] = {
#define X(id, text) text,
        GRID_FORMATS(X)
#undef X
    };
    for (int format = 0; format < GRID_FORMAT_COUNT; format++)
        if (strcmp(names[format], name) == 0)
            return (enum grid_format)format;
    return strcmp(name, "console") == 0 ? GRID_TABLE : GRID_FORMAT_COUNT;
}

static void put(struct grid *grid, const char *text)
{
    writer_bytes(grid->writer, text, strlen(text));
}

/* Columns that a terminal shows; a line's end and tabs are shown as a blank. */
static unsigned width_of(const char *text)
{
    unsigned width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* The shortest digits that are this number again. */
static const char *real_text(double value, bool for_people, char text[NUMBER_BYTES])
{
    int digits = for_people ? 9 : 15;
    snprintf(text, NUMBER_BYTES, "%.*g", digits, value);
    while (!for_people && digits < 17 && strtod(text, NULL) != value)
        snprintf(text, NUMBER_BYTES, "%.*g", ++digits, value);
    return text;
}

/* NULL: there is nothing. */
static const char *value_text(const struct grid_value *value, bool for_people,
                              char number[NUMBER_BYTES])
{
    switch (value->type) {
    case GRID_INTEGER:
        snprintf(number, NUMBER_BYTES, "%" PRId64, value->integer);
        return number;
    case GRID_REAL:
        return real_text(value->real, for_people, number);
    case GRID_TEXT:
        return value->text;
    default:
        return NULL;
    }
}

/* ---- CSV, JSON, Markdown, HTML */

static void csv_cell(struct grid *grid, const char *text, bool is_text)
{
    if (!is_text) {
        put(grid, text ? text : "");
        return;
    }
    writer_char(grid->writer, '"');
    for (const char *at = text; *at; at++) {
        if (*at == '"')
            writer_char(grid->writer, '"');
        writer_char(grid->writer, *at);
    }
    writer_char(grid->writer, '"');
}

static void json_cell(struct grid *grid, const struct grid_value *value, const char *text)
{
    if (value->type == GRID_TEXT)
        json_text(grid->writer, text);
    else
        put(grid, !text || (value->type == GRID_REAL && !isfinite(value->real)) ? "null" : text);
}

static void marked_cell(struct grid *grid, const char *text)
{
    static const struct {
        char from;
        const char *to;
    } escapes[] = {{'<', "&lt;"}, {'&', "&amp;"}, {'>', "&gt;"}, {'|', "&#124;"}, {'\n', " "}};
    for (; text && *text; text++) {
        const char *to = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
            to = escapes[i].from == *text ? escapes[i].to : to;
        if (to)
            put(grid, to);
        else
            writer_char(grid->writer, *text);
    }
}

static void plain_cell(struct grid *grid, unsigned column, const struct grid_value *value)
{
    char number[NUMBER_BYTES];
    const char *text = value_text(value, false, number);
    bool is_number = value->type != GRID_TEXT;
    switch (grid->format) {
    case GRID_CSV:
        put(grid, column ? "," : "");
        csv_cell(grid, text, value->type == GRID_TEXT);
        break;
    case GRID_JSON:
        put(grid, column ? ", " : "{");
        json_text(grid->writer, grid->names[column]);
        put(grid, ": ");
        json_cell(grid, value, text);
        break;
    case GRID_MARKDOWN:
        put(grid, column ? " | " : "| ");
        marked_cell(grid, text);
        break;
    default:
        put(grid, is_number ? "<td class=\"n\">" : "<td>");
        marked_cell(grid, text);
        put(grid, "</td>");
        break;
    }
}

static void plain_row(struct grid *grid, const struct grid_value *values)
{
    static const char *const before[] = {
        [GRID_CSV] = "", [GRID_JSON] = "", [GRID_MARKDOWN] = "", [GRID_HTML] = "<tr>"};
    static const char *const behind[] = {
        [GRID_CSV] = "\n", [GRID_JSON] = "}", [GRID_MARKDOWN] = " |\n", [GRID_HTML] = "</tr>\n"};
    if (grid->format == GRID_JSON)
        put(grid, grid->rows ? ",\n " : "[");
    put(grid, before[grid->format]);
    for (unsigned i = 0; i < grid->count; i++)
        plain_cell(grid, i, &values[i]);
    put(grid, behind[grid->format]);
}

static void plain_head(struct grid *grid)
{
    struct grid_value *names = calloc(grid->count + 1, sizeof *names);
    for (unsigned i = 0; names && i < grid->count; i++)
        names[i] = GRID_OF_TEXT(grid->names[i]);
    if (grid->format == GRID_HTML)
        put(grid, "<!DOCTYPE html><meta charset=\"utf-8\"><style>td{padding:0 1em 0 0}"
                  ".n{text-align:right}tr:first-child{font-weight:bold}</style>\n<table>\n");
    if (names && grid->format != GRID_JSON)
        plain_row(grid, names);
    for (unsigned i = 0; grid->format == GRID_MARKDOWN && i < grid->count; i++)
        put(grid, i + 1 < grid->count ? "|---" : "|---|\n");
    free(names);
}

/* ---- for people */

static void cell_print(struct grid *grid, unsigned column, const struct cell *cell)
{
    const char *text = cell->text ? cell->text : "";
    unsigned width = width_of(text);
    unsigned blanks = width < grid->width[column] ? grid->width[column] - width : 0;
    bool is_last = column + 1 == grid->count;
    for (unsigned i = 0; grid->is_right[column] && i < blanks; i++)
        writer_char(grid->writer, ' ');
    for (; *text; text++)
        writer_char(grid->writer, (unsigned char)*text < ' ' ? ' ' : *text);
    for (unsigned i = 0; !grid->is_right[column] && !is_last && i < blanks; i++)
        writer_char(grid->writer, ' ');
    put(grid, is_last ? "\n" : "  ");
}

static void cells_free(struct grid *grid, struct cell *cells)
{
    for (unsigned i = 0; i < grid->count; i++)
        free(cells[i].text);
}

static void flow(struct grid *grid)
{
    grid->is_flowing = true;
    for (unsigned i = 0; i < grid->count; i++)
        cell_print(grid, i, &(struct cell){grid->names[i], false});
    for (unsigned row = 0; row < grid->waiting_rows; row++) {
        struct cell *cells = grid->waiting + (size_t)row * grid->count;
        for (unsigned i = 0; i < grid->count; i++)
            cell_print(grid, i, &cells[i]);
        cells_free(grid, cells);
    }
    grid->waiting_rows = 0;
}

static void table_row(struct grid *grid, const struct grid_value *values)
{
    struct cell *cells = grid->waiting + (size_t)grid->waiting_rows * grid->count;
    for (unsigned i = 0; i < grid->count; i++) {
        char number[NUMBER_BYTES];
        const char *text = value_text(&values[i], true, number);
        cells[i] = (struct cell){text ? strdup(text) : NULL, values[i].type != GRID_TEXT};
        if (grid->is_flowing)
            continue;
        unsigned width = text ? width_of(text) : 0;
        grid->width[i] = width > grid->width[i] ? width : grid->width[i];
        grid->is_right[i] = grid->is_right[i] && cells[i].is_number;
    }
    if (!grid->is_flowing) {
        if (++grid->waiting_rows == ROWS_AHEAD)
            flow(grid);
        return;
    }
    for (unsigned i = 0; i < grid->count; i++)
        cell_print(grid, i, &cells[i]);
    cells_free(grid, cells);
}

/* ---- */

static void grid_free(struct grid *grid)
{
    for (unsigned i = 0; grid->names && i < grid->count; i++)
        free(grid->names[i]);
    free(grid->names);
    free(grid->waiting);
    free(grid->width);
    free(grid->is_right);
    free(grid);
}

static bool names_copy(struct grid *grid, const char *const *names)
{
    bool is_whole = true;
    for (unsigned i = 0; i < grid->count; i++) {
        grid->names[i] = strdup(names[i]);
        grid->is_right[i] = true;
        is_whole = is_whole && grid->names[i];
        grid->width[i] = grid->names[i] ? width_of(names[i]) : 0;
    }
    return is_whole;
}

struct grid *grid_begin(struct writer *writer, enum grid_format format, const char *const *names,
                        unsigned count)
{
    struct grid *grid = calloc(1, sizeof *grid);
    if (!grid)
        return NULL;
    size_t waiting = format == GRID_TABLE ? (size_t)count * ROWS_AHEAD : 0;
    *grid = (struct grid){.writer = writer, .format = format, .count = count};
    grid->names = calloc(count + 1, sizeof *grid->names);
    grid->width = calloc(count + 1, sizeof *grid->width);
    grid->is_right = calloc(count + 1, sizeof *grid->is_right);
    grid->waiting = calloc(waiting + 1, sizeof *grid->waiting);
    if (!grid->names || !grid->width || !grid->is_right || !grid->waiting ||
        !names_copy(grid, names)) {
        grid_free(grid);
        return NULL;
    }
    if (format != GRID_TABLE)
        plain_head(grid);
    return grid;
}

void grid_row(struct grid *grid, const struct grid_value *values)
{
    if (grid->writer->status != 0)
        return;
    if (grid->format == GRID_TABLE)
        table_row(grid, values);
    else
        plain_row(grid, values);
    grid->rows++;
}

void grid_end(struct grid *grid)
{
    if (grid->format == GRID_TABLE && !grid->is_flowing)
        flow(grid);
    if (grid->format == GRID_JSON)
        put(grid, grid->rows ? "]\n" : "[]\n");
    if (grid->format == GRID_HTML)
        put(grid, "</table>\n");
    grid_free(grid);
}
