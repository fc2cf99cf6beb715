/* Tables of any columns: aligned for people, or CSV, JSON, Markdown and HTML. Single thread. */
#ifndef GRID_GRID_H
#define GRID_GRID_H

#include <stdint.h>

#include "out/writer.h"

/* id, name as users write it */
#define GRID_FORMATS(X)                                                                            \
    X(TABLE, "table")                                                                              \
    X(CSV, "csv")                                                                                  \
    X(JSON, "json")                                                                                \
    X(MARKDOWN, "md")                                                                              \
    X(HTML, "html")

enum grid_format {
#define X(id, name) GRID_##id,
    GRID_FORMATS(X)
#undef X
        GRID_FORMAT_COUNT
};

struct grid_value {
    enum { GRID_NULL, GRID_INTEGER, GRID_REAL, GRID_TEXT } type;
    union {
        int64_t integer;
        double real;
        const char *text;
    };
};
#define GRID_OF_INTEGER(value) ((struct grid_value){.type = GRID_INTEGER, .integer = (value)})
#define GRID_OF_REAL(value)    ((struct grid_value){.type = GRID_REAL, .real = (value)})
#define GRID_OF_TEXT(value)    ((struct grid_value){.type = GRID_TEXT, .text = (value)})

struct grid;

/* GRID_FORMAT_COUNT: no format has that name. "console" is what rocpd calls a table. */
enum grid_format grid_format_find(const char *name);

/* Names are copied. NULL: no memory. */
struct grid *grid_begin(struct writer *writer, enum grid_format format, const char *const *names,
                        unsigned count);
/* A value for each column. Of a table the first thousand rows decide how wide columns are, so that
 * it does not wait for its end. */
void grid_row(struct grid *grid, const struct grid_value *values);
/* Writes the rest and frees; the writer stays its owner's. */
void grid_end(struct grid *grid);

#endif
