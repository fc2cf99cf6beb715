/* How long memory and links to memory elsewhere need for what a dispatch moves, in cycles of the
 * shader clock: 85 % of their peaks, as streaming programs measure of memory on the MI200 and
 * MI300. */
#ifndef PERF_TRANSFERS_H
#define PERF_TRANSFERS_H

#include "perf/sample.h"

uint64_t transfers_memory_cycles(const struct gpu_model *model, uint64_t bytes);
uint64_t transfers_cycles(const struct dispatch_sample *sample, enum memory_home home);

#endif
