/*
 * Records become rows: every row goes to the open sinks and into the summary. All functions run in
 * turns (turn.h). A report is closed at the end of the program and before an exec; records that
 * come after that, or in a forked child, open another one, with files of its own.
 */
#ifndef COLLECT_REPORT_H
#define COLLECT_REPORT_H

#include <stdbool.h>

#include <rocprofiler-sdk/rocprofiler.h>

#include "launch/settings.h"
#include "markers.h"
#include "summary/stats.h"

/* Messages go to stderr; a sink that cannot be opened is left out. */
void report_open(const struct settings *settings);
/* Before records: opens again what was closed or forgotten. */
void report_resume(void);
/* Runs in a forked child: what there is is its parent's. */
void report_forget(void);

void report_dispatch(const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record);
void report_copy(const rocprofiler_buffer_tracing_memory_copy_record_t *record);
void report_allocation(const rocprofiler_buffer_tracing_memory_allocation_record_t *record);
/* Of graphs and events. False: the record is of another kind. */
bool report_hip_work(const rocprofiler_record_header_t *header);
void report_scratch(const rocprofiler_buffer_tracing_scratch_memory_record_t *record);
/* Of the kernel driver. False: the record is of another kind. */
bool report_kfd(const rocprofiler_record_header_t *header);
/* All API kinds share one layout. */
void report_api(const rocprofiler_record_header_t *header);
void report_counter_dispatch(const rocprofiler_dispatch_counting_service_record_t *record);
/* The record's user data is report_counter_tag() of the launch. */
void report_counter_value(const rocprofiler_counter_record_t *record);
/* What values carry: the submitting thread, and the number of the launch (names_kernel_launch). */
static inline uint64_t report_counter_tag(uint32_t thread, uint32_t launch)
{
    return (uint64_t)launch << 32 | thread;
}
/* After a batch of records. */
void report_flush(void);
/* How many were lost since the process began. */
void report_lost(uint64_t total);

/* Markers come before report_close. */
void report_marker(const struct marker *marker);

/* What was recorded since the report was opened: durations by domain and name, counters by kernel.
 */
void report_durations_each(void (*each)(const char *domain, const struct out_stats_row *row,
                                        void *data),
                           void *data);
void report_counters_each(void (*each)(const struct stats_counter *counter, void *data),
                          void *data);

/* Does nothing when no report is open. */
void report_close(void);

#endif
