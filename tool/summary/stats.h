/* Durations gathered by name, and the tables made of them. Single thread. */
#ifndef SUMMARY_STATS_H
#define SUMMARY_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "out/rows.h"

struct stats; /* one table: names -> durations */

struct stats *stats_create(const char *title);
void stats_destroy(struct stats *stats);
bool stats_is_empty(const struct stats *stats); /* NULL is */

/* `name` must outlive the table; equal pointers are equal names. 0 or -ENOMEM. */
int stats_add(struct stats *stats, const char *name, uint64_t duration_ns);

/* The duration of the launch that was added last, as the device's model has it. Tables of which any
 * name has one show it and rank by it. */
void stats_modelled_add(struct stats *stats, const char *name, uint64_t modelled_ns);

/* Adds all of `from` under one name. 0 or -ENOMEM. */
int stats_merge(struct stats *stats, const char *name, const struct stats *from);

/* Rows by falling total; the array is the caller's to free. */
struct out_stats_row *stats_rows(const struct stats *stats, size_t *count);

/* A counter of one dispatch, shown per kernel. `additive`: the sum over dispatches means something,
 * which it does not for a ratio. */
int stats_counter_add(struct stats *stats, const char *kernel, const char *counter, double value,
                      bool additive);

/* What the device says of a counter's values. `counter` as above. */
enum stats_mark { STATS_COUNTED, STATS_APPROXIMATE, STATS_NOT_COUNTED };
void stats_mark_put(struct stats *stats, const char *counter, enum stats_mark mark);
/* A counter of a kernel over its launches. */
struct stats_counter {
    const char *kernel, *counter;
    uint64_t launches;
    double sum;
    bool additive;
};
void stats_counters_each(const struct stats *stats,
                         void (*each)(const struct stats_counter *counter, void *data), void *data);

/* A unit of the times in tables. */
struct stats_unit {
    const char *name; /* as --summary-units names it */
    const char *short_name;
    double nanoseconds;
    int decimals;
};
/* Microseconds for an unknown name, and for NULL. */
const struct stats_unit *stats_unit_find(const char *name);

/* Human-readable tables; nothing when empty. At most `rows_max` rows, then a line saying how many
 * were left out. */
void stats_print(const struct stats *stats, FILE *file, size_t rows_max,
                 const struct stats_unit *unit);
/* One table of several, each row with the name of where it is from. */
void stats_together_print(const struct stats *const all[], const char *const names[], size_t count,
                          const char *title, FILE *file, size_t rows_max,
                          const struct stats_unit *unit);
/* Kernels by counters: means of a launch; of a single counter totals and extremes, too. */
void stats_counters_print(const struct stats *stats, FILE *file);

#endif
