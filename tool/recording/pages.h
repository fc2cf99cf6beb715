/*
 * A table of one SQLite database copied into another as pages: their numbers change, their rows do
 * not, but for times. A hundred times faster than row by row; whatever is not as expected is
 * refused, so that SQL can do it. The format is SQLite's, at https://sqlite.org/fileformat.html.
 * One thread.
 */
#ifndef RECORDING_PAGES_H
#define RECORDING_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "clocks.h"

enum { PAGES_COLUMNS_MAX = 64 };

/* Which columns are times, by their place in the table; what became of them. */
struct pages_table {
    uint64_t time_columns;               /* a bit for each */
    int start_column, end_column;        /* whose span is summed up; -1: there is none */
    int json_column;                     /* extdata, which may say a modelled time; -1 */
    struct alignment alignment;          /* of all times */
    uint64_t rows;                       /* from here on they are results */
    int64_t first_ns, last_ns, total_ns; /* first_ns > last_ns: no row has both */
    int64_t modelled_ns;                 /* of `modelled_rows` rows */
    uint64_t modelled_rows;
};

struct pages;

/* Nobody else may have the databases open for writing, nor keep anything of `to` in memory. NULL:
 * these two cannot be copied by pages (their pages differ, a log is open), or no memory. */
struct pages *pages_open(const char *from, const char *to);
/* From one root page to the other, which is the root of an empty table. 0; -EINVAL: the table is
 * not as expected, or a time does not fit where it stands; -errno. On failure `to` is what it was.
 */
int pages_copy(struct pages *pages, uint32_t from_root, uint32_t to_root,
               struct pages_table *table);
/* What was copied counts from now on. 0 or -errno. */
int pages_close(struct pages *pages);

#endif
