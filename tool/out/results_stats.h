/* "summary" of rocprofiler-sdk-tool's JSON: the statistics of each domain and of its operations. */
#ifndef OUT_RESULTS_STATS_H
#define OUT_RESULTS_STATS_H

#include "rows.h"
#include "writer.h"

struct results_stats {
    struct results_stats_row {
        enum out_table_id table;
        char *name;
        double count, sum, square_sum, min, max;
    } * rows;
    size_t count, room;
};

/* Rows of other tables than statistics of one domain are left out. */
void results_stats_row(struct results_stats *stats, enum out_table_id table,
                       const struct out_stats_row *row);
/* ',"summary":[...]' */
void results_stats_put(const struct results_stats *stats, struct writer *writer);
void results_stats_drop(struct results_stats *stats);

#endif
