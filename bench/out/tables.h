/* The writers of crocprof's own tables in the benchmark. */
#ifndef BENCH_OUT_TABLES_H
#define BENCH_OUT_TABLES_H

#include <stdint.h>

/* Seconds to write so many kernel rows of 22 columns, opening and closing included; negative: an
 * error. `what` is the format and the end of the name of the file that has the rows, "csv
 * kernel_trace.csv". *bytes: what was written. */
double table_seconds(const char *what, uint32_t records, uint64_t *bytes);

#endif
