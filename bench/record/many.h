/* Measurements over many threads and many calls. */
#ifndef BENCH_RECORD_MANY_H
#define BENCH_RECORD_MANY_H

#include <stdint.h>

/* 1, 2, 4 ... `most` threads (0: as many as CPUs) with so many calls each (0: 4 million). Returns 1
 * when records are missing. */
int many_threads(int most, uint32_t calls);
int many_latency(void);

#endif
