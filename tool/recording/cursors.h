/* One statement over one table of a part, and the row that it stands at. */
#ifndef RECORDING_CURSORS_H
#define RECORDING_CURSORS_H

#include "parts.h"

enum cursor_kind {
    CURSOR_REGION,
    CURSOR_SAMPLE,
    CURSOR_DISPATCH,
    CURSOR_COUNTER,
    CURSOR_COPY,
    CURSOR_MEMORY,
    CURSOR_COUNT
};

struct counted {
    int64_t first; /* row */
    int64_t counter;
    double value;
};

struct cursor {
    struct part *part;
    const struct recording_ask *ask;
    enum cursor_kind kind;
    sqlite3_stmt *select;
    enum out_table_id table; /* of the row; OUT_TABLE_COUNT: there is none left */
    int64_t start_ns;
    union {
        struct out_api_row api;
        struct out_dispatch_row dispatch;
        struct out_counter_row counter;
        struct out_copy_row copy;
        struct out_allocation_row allocation;
        struct out_scratch_row scratch;
        struct out_kfd_row kfd;
    } row;
    uint64_t rows; /* so far */
    /* Values of a dispatch's counters, their instances added up. */
    struct counted *counted;
    unsigned counted_count, counted_room, counted_at;
    int64_t event; /* of the dispatch that the statement stands at */
    bool is_ahead; /* the statement stands at the next dispatch's first value */
};

/* 0, or -errno with a line in `error`; a table that is not there has no rows. */
int cursor_open(struct cursor *cursor, struct part *part, enum cursor_kind kind,
                const struct recording_ask *ask, char *error, size_t error_size);
/* True: `row` is the next one. */
bool cursor_next(struct cursor *cursor);
void cursor_close(struct cursor *cursor);

/* The agent as `ask` numbers it. */
uint64_t cursor_agent_number(const struct recording_ask *ask, const struct agent *agent);

#endif
