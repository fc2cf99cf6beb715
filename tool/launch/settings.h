/*
 * What to collect and where to put it: filled by the command line, carried to the profiled process
 * in CROCPROF_* environment variables, read there by libcrocprof-tool.so. One list makes all three.
 */
#ifndef LAUNCH_SETTINGS_H
#define LAUNCH_SETTINGS_H

#include <stdbool.h>

/*  field, option, short option or 0, what the value is, environment variable, help */
#define SETTINGS_TEXT(X)                                                                           \
    X(counters, "pmc", 'e', "NAME,...", "CROCPROF_COUNTERS",                                       \
      "count these for every kernel, in several runs if need be; see 'crocprof list'")             \
    X(directory, "output-directory", 'o', "DIR", "CROCPROF_OUTPUT_DIR",                            \
      "write PID_kernel_trace.csv ... and PID_results.db there")                                   \
    X(formats, "format", 'f', "csv,sqlite", "CROCPROF_FORMATS",                                    \
      "which files to write (both); pftrace, too, for Perfetto")                                   \
    X(summary_file, "summary-file", 0, "FILE", "CROCPROF_SUMMARY_FILE",                            \
      "write the summary there (every process its own) instead of to stderr")

/*  field, option, environment variable, default, help */
#define SETTINGS_BOOL(X)                                                                           \
    X(kernel_trace, "kernel-trace", "CROCPROF_KERNEL_TRACE", true, "trace kernels")                \
    X(copy_trace, "memory-copy-trace", "CROCPROF_COPY_TRACE", true, "trace copies")                \
    X(hip_trace, "hip-trace", "CROCPROF_HIP_TRACE", true, "trace HIP API calls")                   \
    X(hsa_trace, "hsa-trace", "CROCPROF_HSA_TRACE", false, "trace HSA API calls")                  \
    X(allocation_trace, "memory-allocation-trace", "CROCPROF_ALLOCATION_TRACE", false,             \
      "trace allocations")                                                                         \
    X(marker_trace, "marker-trace", "CROCPROF_MARKER_TRACE", true,                                 \
      "trace roctx markers and ranges")                                                            \
    X(summary, "summary", "CROCPROF_SUMMARY", true, "print the tables at the end")                 \
    X(stats, "stats", "CROCPROF_STATS", false, "write PID_kernel_stats.csv ... beside the traces")

/* What crocprof tells its own runs (tool/cli/passes.h): field, environment variable. */
#define SETTINGS_OWN(X)                                                                            \
    X(pass, "CROCPROF_PASS")                                                                       \
    X(pass_count, "CROCPROF_PASS_COUNT")                                                           \
    X(pass_directory, "CROCPROF_PASS_DIRECTORY")

struct settings {
#define X(field, ...) const char *field;
    SETTINGS_TEXT(X)
    SETTINGS_OWN(X)
#undef X
#define X(field, ...) bool field;
    SETTINGS_BOOL(X)
#undef X
};

void settings_default(struct settings *settings);
/* Text fields then point into the environment. */
void settings_from_environment(struct settings *settings);
/* 0 or -errno. */
int settings_to_environment(const struct settings *settings);

/* Next item of a comma- or space-separated list, copied to `item`; false at the end. An item that
 * does not fit is cut, so it will not be found, which is an error anyway. */
bool settings_list_next(const char **list, char *item, unsigned item_size);

#endif
