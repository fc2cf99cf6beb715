/*
 * The rows of one table of a part with what they refer to, from the table's pages where they are as
 * they should be, else by a statement.
 */
#ifndef RECORDING_SOURCE_H
#define RECORDING_SOURCE_H

#include "argument_rows.h"
#include "parts.h"
#include "scan.h"

enum source_kind {
    SOURCE_REGION,
    SOURCE_SAMPLE,
    SOURCE_DISPATCH,
    SOURCE_COUNTER,
    SOURCE_COPY,
    SOURCE_MEMORY,
    SOURCE_GRAPH, /* since schema 3.0.2 */
    SOURCE_COUNT
};

/* The first columns are those of the event: category, its own id, what it is in, the tool's id;
 * then come the kind's, as source.c lists them. */
enum {
    COLUMN_CATEGORY,
    COLUMN_OWN,
    COLUMN_PARENT,
    COLUMN_EXTERNAL,
    COLUMN_PID,
    COLUMN_TID,
    COLUMN_REST
};

enum { SOURCE_COLUMNS_MAX = 32 };

struct source {
    struct part *part;
    const struct recording_ask *ask;
    enum source_kind kind;
    uint64_t rows;        /* so far */
    bool has_arguments;   /* a row for each argument of a call */
    bool has_samples;     /* of counters: some values may be streamed ones */
    sqlite3_stmt *select; /* NULL: pages are read, or there are no rows left */
    struct scan *scan, *events;
    struct argument_rows *arguments; /* of calls that come from pages, if they are asked for */
    struct value values[SOURCE_COLUMNS_MAX]; /* of pages */
    unsigned event_slot;                     /* of them, where the event's id is */
    int64_t id;                              /* of the last row that pages gave */
    bool has_id;
    bool has_argument;    /* `arguments` stands at one of that row */
    sqlite3_stmt *member; /* of a JSON text */
    char *text;           /* the last that was asked for */
    size_t text_room;
};

/* Which of rows.h's tables it may bring, and the table's name. */
uint64_t source_tables(enum source_kind kind);
const char *source_name(enum source_kind kind);

/* 0, or -ENOMEM; a table that is not there has no rows. */
int source_open(struct source *source, struct part *part, enum source_kind kind,
                const struct recording_ask *ask, char *error, size_t error_size);
/* The next row. False: there are no more, or the rest is damaged. */
bool source_next(struct source *source);
void source_close(struct source *source);

/* Values of the row that it stands at. Texts are valid until the next one is asked for; NULL for
 * none. */
int64_t source_i64(struct source *source, int column);
bool source_is_null(struct source *source, int column);
double source_real(struct source *source, int column);
const char *source_text(struct source *source, int column);

/* Where rows have arguments: the number of the call; its argument's position, type, name and value
 * follow, of which all texts stay until the next row. */
int source_arguments_column(const struct source *source);

static inline bool source_has_more(const struct source *source)
{
    return source->select || source->scan;
}

#endif
