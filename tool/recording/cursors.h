/* One table of a part, and the row that it stands at. */
#ifndef RECORDING_CURSORS_H
#define RECORDING_CURSORS_H

#include "call_arguments.h"
#include "source.h"

struct counted {
    int64_t first; /* row */
    int64_t counter;
    double value;
};

struct cursor {
    struct part *part;
    const struct recording_ask *ask;
    enum source_kind kind;
    struct source source;
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
        struct out_graph_row graph;
        struct out_event_row event;
    } row;
    struct arguments_read *arguments; /* of calls; NULL: there are none, or nobody asks */
    /* Values of a dispatch's counters, their instances added up. */
    struct counted *counted;
    unsigned counted_count, counted_room, counted_at;
    int64_t event; /* of the dispatch that the source stands at */
    bool is_ahead; /* the source stands at the first row of the next dispatch, or call */
};

/* 0, or -errno with a line in `error`; a table that is not there has no rows. */
int cursor_open(struct cursor *cursor, struct part *part, enum source_kind kind,
                const struct recording_ask *ask, char *error, size_t error_size);
/* True: `row` is the next one. */
bool cursor_next(struct cursor *cursor);
void cursor_close(struct cursor *cursor);

/* The agent as `ask` numbers it. */
uint64_t cursor_agent_number(const struct recording_ask *ask, const struct agent *agent);

#endif
