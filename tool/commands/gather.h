/* Statistics of a recording, by kind, as `record` makes them while it records. */
#ifndef COMMANDS_GATHER_H
#define COMMANDS_GATHER_H

#include "collect/domains.h"
#include "names/numbered.h"
#include "names/texts.h"
#include "out/rows.h"
#include "summary/stats.h"

struct gather {
    struct stats *of[DOMAIN_COUNT], *counters;
    struct texts texts;      /* names, of all recordings */
    char devices[2048];      /* a line of each GPU, "device: ..." */
    uint64_t graph_launches; /* of which there is no table */
    bool is_damaged;         /* which has been said */
    struct numbered kept;    /* by address in the recording that is just read: const char * */
};

/* 0 or -ENOMEM. */
int gather_begin(struct gather *gather);
void gather_end(struct gather *gather);
/* Before the rows of each recording. */
void gather_recording(struct gather *gather);
void gather_row(struct gather *gather, enum out_table_id table, const void *row);
/* The rows of the statistics' tables. */
void gather_stats_each(const struct gather *gather,
                       void (*put)(void *data, enum out_table_id table, const void *row),
                       void *data);

#endif
