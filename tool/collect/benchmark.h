/* --benchmark-mode: what the profiler costs, by leaving parts of it out, or by timing them. */
#ifndef COLLECT_BENCHMARK_H
#define COLLECT_BENCHMARK_H

#include <rocprofiler-sdk/rocprofiler.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/settings.h"

enum benchmark {
    BENCHMARK_NONE,
    BENCHMARK_DISABLED_CONTEXTS, /* configured, never started */
    BENCHMARK_BUFFERS,           /* records are delivered and forgotten */
    BENCHMARK_CALLBACKS,         /* callbacks that do nothing instead of records */
    BENCHMARK_RUNTIME,           /* all but files and tables */
    BENCHMARK_PROFILE,           /* everything, timed */
};

/* Reads the settings and takes from them what is left out. */
enum benchmark benchmark_begin(struct settings *settings);

/* Instead of a buffer tracing service, in mode BENCHMARK_CALLBACKS. */
rocprofiler_status_t benchmark_callbacks_configure(rocprofiler_context_id_t context,
                                                   rocprofiler_buffer_tracing_kind_t kind);

/* What was delivered, and how long that took. Any thread. */
void benchmark_delivered(size_t records, uint64_t ns);
/* One line at the end, with the time that the report has taken. */
void benchmark_tell(uint64_t report_ns);

#endif
