/* The SDK's half of the bench: its headers and ROC Profiler's do not go into one file. */
#ifndef BENCH_ROCPROFILER_V1_SDK_SIDE_H
#define BENCH_ROCPROFILER_V1_SDK_SIDE_H

/* Counts these counters of every kernel between start and stop. */
void sdk_prepare(const char *const names[4]); /* before hsa_init */
void sdk_start(void);
void sdk_stop(void);

#endif
