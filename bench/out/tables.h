/* The writers of crocprof's own tables in the benchmark. */
#ifndef BENCH_OUT_TABLES_H
#define BENCH_OUT_TABLES_H

#include <stdint.h>

/* Seconds to write so many kernel rows of 22 columns as "csv" or "rocpd", opening and closing
 * included; negative: an error. *bytes: what was written. */
double table_seconds(const char *format, uint32_t records, uint64_t *bytes);

#endif
