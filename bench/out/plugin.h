/* ROCtracer output plugins in the benchmark. */
#ifndef BENCH_OUT_PLUGIN_H
#define BENCH_OUT_PLUGIN_H

#include <stdint.h>

/* Seconds to write so many records, start and end included; negative: an error. *bytes: what was
 * written. */
double plugin_seconds(const char *path, uint32_t records, uint64_t *bytes);

double now_s(void);

#endif
