/*
 * Every option of crocprof, once: the command line, its help, man page and completion, and the
 * environment that steers libcrocprof-tool.so are made from these lists. Names, letters and
 * variables are rocprofv3's where it has them, so that a script, or a program that preloads the
 * tool library by itself, works with either.
 */
#ifndef LAUNCH_OPTION_LIST_H
#define LAUNCH_OPTION_LIST_H

/* Groups of --help, in its order: id, title. */
#define OPTION_GROUPS(X)                                                                           \
    X(BASIC, "What to trace")                                                                      \
    X(SETS, "Sets of the above")                                                                   \
    X(COUNTERS, "Counters")                                                                        \
    X(FILES, "Files")                                                                              \
    X(SUMMARY, "Tables")                                                                           \
    X(NAMES, "Names")                                                                              \
    X(FILTER, "What to leave out")                                                                 \
    X(ADVANCED, "Advanced")

/* Kinds of OpenMP events, as collect/ompt.c knows them. */
#define OMPT_WORDS "all|thread|parallel|task|sync|mutex|target|device|error"

/*
 * id, name, letter or 0, kind, what the value is, variable or NULL, value when nobody says one,
 * group, help.
 *
 * Kinds: FLAG "--x", "--x=no", "--no-x", and where its value has words, with some of them; TEXT one
 * value; CHOICE one of the words; NUMBER decimal; LIST values that add up; CHOICES words that add
 * up. Without a name: only the variable, set from other options. Without a variable: only the
 * command's concern.
 */
#define OPTIONS(X)                                                                                 \
    X(KERNEL_TRACE, "kernel-trace", 0, FLAG, NULL, "ROCPROF_KERNEL_TRACE", NULL, BASIC, "kernels") \
    X(MEMORY_COPY_TRACE, "memory-copy-trace", 0, FLAG, NULL, "ROCPROF_MEMORY_COPY_TRACE", NULL,    \
      BASIC, "copies")                                                                             \
    X(MEMORY_ALLOCATION_TRACE, "memory-allocation-trace", 0, FLAG, NULL,                           \
      "ROCPROF_MEMORY_ALLOCATION_TRACE", NULL, BASIC, "allocations of device memory")              \
    X(SCRATCH_MEMORY_TRACE, "scratch-memory-trace", 0, FLAG, NULL, "ROCPROF_SCRATCH_MEMORY_TRACE", \
      NULL, BASIC, "allocations of scratch memory")                                                \
    X(MARKER_TRACE, "marker-trace", 0, FLAG, NULL, "ROCPROF_MARKER_API_TRACE", NULL, BASIC,        \
      "roctx markers and ranges")                                                                  \
    X(HIP_RUNTIME_TRACE, "hip-runtime-trace", 0, FLAG, NULL, "ROCPROF_HIP_RUNTIME_API_TRACE",      \
      NULL, BASIC, "calls of HIP functions")                                                       \
    X(HIP_COMPILER_TRACE, "hip-compiler-trace", 0, FLAG, NULL, "ROCPROF_HIP_COMPILER_API_TRACE",   \
      NULL, BASIC, "calls that HIP's compiler makes (__hip...)")                                   \
    X(HIP_GRAPH_TRACE, "hip-graph-trace", 0, FLAG, NULL, "ROCPROF_HIP_GRAPH_TRACE", NULL, BASIC,   \
      "launches of HIP's graphs, and which kernels they are of (csv, rocpd)")                      \
    X(HIP_EVENT_TRACE, "hip-event-trace", 0, FLAG, NULL, "ROCPROF_HIP_EVENT_TRACE", NULL, BASIC,   \
      "what the device does for recorded events and for waits for them")                           \
    X(HSA_CORE_TRACE, "hsa-core-trace", 0, FLAG, NULL, "ROCPROF_HSA_CORE_API_TRACE", NULL, BASIC,  \
      "calls of hsa_ functions")                                                                   \
    X(HSA_AMD_TRACE, "hsa-amd-trace", 0, FLAG, NULL, "ROCPROF_HSA_AMD_EXT_API_TRACE", NULL, BASIC, \
      "calls of hsa_amd_ functions")                                                               \
    X(HSA_IMAGE_TRACE, "hsa-image-trace", 0, FLAG, NULL, "ROCPROF_HSA_IMAGE_EXT_API_TRACE", NULL,  \
      BASIC, "calls of hsa_ext_image_ functions")                                                  \
    X(HSA_FINALIZER_TRACE, "hsa-finalizer-trace", 0, FLAG, NULL,                                   \
      "ROCPROF_HSA_FINALIZER_EXT_API_TRACE", NULL, BASIC, "calls of hsa_ext_program_ functions")   \
    X(RCCL_TRACE, "rccl-trace", 0, FLAG, NULL, "ROCPROF_RCCL_API_TRACE", NULL, BASIC,              \
      "calls of RCCL functions")                                                                   \
    X(ROCDECODE_TRACE, "rocdecode-trace", 0, FLAG, NULL, "ROCPROF_ROCDECODE_API_TRACE", NULL,      \
      BASIC, "calls of rocDecode functions")                                                       \
    X(ROCJPEG_TRACE, "rocjpeg-trace", 0, FLAG, NULL, "ROCPROF_ROCJPEG_API_TRACE", NULL, BASIC,     \
      "calls of rocJPEG functions")                                                                \
    X(HIPFILE_TRACE, "hipfile-trace", 0, FLAG, NULL, "ROCPROF_HIPFILE_API_TRACE", NULL, BASIC,     \
      "calls of hipFile functions")                                                                \
    X(ROCSHMEM_TRACE, "rocshmem-trace", 0, FLAG, NULL, "ROCPROF_ROCSHMEM_API_TRACE", NULL, BASIC,  \
      "calls of rocSHMEM functions")                                                               \
    X(KOKKOS_TRACE, "kokkos-trace", 0, FLAG, NULL, NULL, NULL, BASIC,                              \
      "Kokkos' kernels and regions as markers, by which GPU kernels are called")                   \
    X(OMPT_TRACE, "ompt-trace", 0, FLAG, OMPT_WORDS, "ROCPROF_OMPT_TRACE", NULL, BASIC,            \
      "OpenMP events; only some, where words follow in front of \"--\", or behind \"=\" with "     \
      "commas: thread, parallel, task, sync, mutex, target, device, error (all)")                  \
    X(KFD_PAGE_MIGRATION_TRACE, "kfd-page-migration-trace", 0, FLAG, NULL,                         \
      "ROCPROF_KFD_PAGE_MIGRATION_TRACE", NULL, BASIC, "pages that the driver moves")              \
    X(KFD_PAGE_MAPPING_TRACE, "kfd-page-mapping-trace", 0, FLAG, NULL,                             \
      "ROCPROF_KFD_PAGE_MAPPING_TRACE", NULL, BASIC, "page faults, and pages taken from a GPU")    \
    X(KFD_QUEUE_TRACE, "kfd-queue-trace", 0, FLAG, NULL, "ROCPROF_KFD_QUEUE_TRACE", NULL, BASIC,   \
      "queues that the driver stops for a while")                                                  \
    X(KFD_DROPPED_EVENTS_TRACE, "kfd-dropped-events-trace", 0, FLAG, NULL,                         \
      "ROCPROF_KFD_DROPPED_EVENTS_TRACE", NULL, BASIC,                                             \
      "how many of the driver's events were lost")                                                 \
    X(KFD_TRACE, "kfd-trace", 0, FLAG, NULL, NULL, NULL, SETS, "all of the driver's events")       \
    X(RUNTIME_TRACE, "runtime-trace", 'r', FLAG, NULL, NULL, NULL, SETS,                           \
      "all but HSA calls and HIP's compiler")                                                      \
    X(SYS_TRACE, "sys-trace", 's', FLAG, NULL, NULL, NULL, SETS, "everything")                     \
    X(HIP_TRACE, "hip-trace", 0, FLAG, NULL, NULL, NULL, SETS, "both kinds of HIP calls")          \
    X(HSA_TRACE, "hsa-trace", 0, FLAG, NULL, NULL, NULL, SETS, "all four kinds of HSA calls")      \
    X(PMC, "pmc", 'e', LIST, "NAME ...", NULL, NULL, COUNTERS,                                     \
      "count these for every kernel, in several runs if need be; each further --pmc is counted "   \
      "in runs of its own; see 'crocprof list'")                                                   \
    X(REPLAY_MODE, "replay-mode", 0, CHOICE, "application|kernel", "CROCPROF_REPLAY_MODE",         \
      "application", COUNTERS,                                                                     \
      "what is executed several times for counters that need it: the program, or each kernel in "  \
      "one run of the program, with its memory put back in between")                               \
    X(EXTRA_COUNTERS, "extra-counters", 'E', TEXT, "FILE", NULL, NULL, COUNTERS,                   \
      "definitions of further counters (YAML)")                                                    \
    X(INPUT, "input", 'i', TEXT, "FILE", NULL, NULL, FILES,                                        \
      "jobs from a file: .txt with lines 'pmc: A B', .yaml, .json")                                \
    X(OUTPUT_FILE, "output-file", 'o', TEXT, "NAME", "ROCPROF_OUTPUT_FILE_NAME", NULL, FILES,      \
      "begin the names of files with this (%pid%); keys such as %pid%, %hostname%, %rank%, "       \
      "%env{X}% are replaced here and in directories")                                             \
    X(OUTPUT_DIRECTORY, "output-directory", 'd', TEXT, "DIR", "ROCPROF_OUTPUT_PATH", NULL, FILES,  \
      "write files there; it is made if it is not there")                                          \
    X(OUTPUT_FORMAT, "output-format", 'f', CHOICES, NULL, "ROCPROF_OUTPUT_FORMAT", NULL, FILES,    \
      "which files to write")                                                                      \
    X(OUTPUT_CONFIG, "output-config", 0, FLAG, NULL, "ROCPROF_OUTPUT_CONFIG_FILE", NULL, FILES,    \
      "write the options to a file, too")                                                          \
    X(MINIMUM_OUTPUT_DATA, "minimum-output-data", 0, NUMBER, "KB", NULL, NULL, FILES,              \
      "leave no files of a process that has recorded less")                                        \
    X(STATS, "stats", 0, FLAG, NULL, "ROCPROF_STATS", NULL, SUMMARY,                               \
      "write tables of calls and durations beside the traces (csv)")                               \
    X(SUMMARY, "summary", 'S', FLAG, NULL, "ROCPROF_STATS_SUMMARY", NULL, SUMMARY,                 \
      "print one table of everything at the end; off: no tables")                                  \
    X(SUMMARY_PER_DOMAIN, "summary-per-domain", 'D', FLAG, NULL,                                   \
      "ROCPROF_STATS_SUMMARY_PER_DOMAIN", NULL, SUMMARY, "one table for each kind of record")      \
    X(SUMMARY_GROUPS, "summary-groups", 0, LIST, "REGEX ...", "ROCPROF_STATS_SUMMARY_GROUPS",      \
      NULL, SUMMARY, "one table for the kinds that match, e.g. 'KERNEL_DISPATCH|MEMORY_COPY'")     \
    X(SUMMARY_OUTPUT_FILE, "summary-output-file", 0, TEXT, "FILE", "ROCPROF_STATS_SUMMARY_OUTPUT", \
      NULL, SUMMARY, "print the tables there, or to stdout, instead of stderr")                    \
    X(SUMMARY_UNITS, "summary-units", 'u', CHOICE, "sec|msec|usec|nsec",                           \
      "ROCPROF_STATS_SUMMARY_UNITS", NULL, SUMMARY, "unit of the tables' times")                   \
    X(MANGLED_KERNELS, "mangled-kernels", 'M', FLAG, NULL, NULL, NULL, NAMES,                      \
      "kernels by their symbols, which end in .kd")                                                \
    X(TRUNCATE_KERNELS, "truncate-kernels", 'T', FLAG, NULL, "ROCPROF_TRUNCATE_KERNELS", NULL,     \
      NAMES, "kernels without their template and function arguments")                              \
    X(KERNEL_RENAME, "kernel-rename", 0, FLAG, NULL, "ROCPROF_KERNEL_RENAME", NULL, NAMES,         \
      "kernels by the roctx range that they were launched in")                                     \
    X(AGENT_INDEX, "agent-index", 'A', CHOICE, "absolute|relative|type-relative",                  \
      "ROCPROF_AGENT_INDEX", NULL, NAMES,                                                          \
      "number agents by node, among those that can be used, or each kind by itself")               \
    X(KERNEL_INCLUDE_REGEX, "kernel-include-regex", 0, TEXT, "REGEX",                              \
      "ROCPROF_KERNEL_FILTER_INCLUDE_REGEX", NULL, FILTER, "count only kernels that match")        \
    X(KERNEL_EXCLUDE_REGEX, "kernel-exclude-regex", 0, TEXT, "REGEX",                              \
      "ROCPROF_KERNEL_FILTER_EXCLUDE_REGEX", NULL, FILTER, "and not those that match this")        \
    X(KERNEL_ITERATION_RANGE, "kernel-iteration-range", 0, LIST, "[N-M] ...",                      \
      "ROCPROF_KERNEL_FILTER_RANGE", NULL, FILTER, "count these launches of a kernel, from 1")     \
    X(COLLECTION_PERIOD, "collection-period", 'P', LIST, "DELAY:TIME:REPEAT ...", NULL, NULL,      \
      FILTER, "wait, collect for a time, so often (0: for ever)")                                  \
    X(COLLECTION_PERIOD_UNIT, "collection-period-unit", 0, CHOICE, "hour|min|sec|msec|usec|nsec",  \
      NULL, NULL, FILTER, "unit of those times (sec)")                                             \
    X(SELECTED_REGIONS, "selected-regions", 0, FLAG, NULL, "ROCPROF_SELECTED_REGIONS", NULL,       \
      FILTER, "collect only between roctxProfilerResume and roctxProfilerPause")                   \
    X(SELECTED_REGIONS_REF_COUNT, "selected-regions-ref-count", 0, FLAG, NULL,                     \
      "ROCPROF_SELECTED_REGIONS_REF_COUNT", NULL, FILTER,                                          \
      "the same; of resumes inside of resumes, the last pause ends it")                            \
    X(PROFILE_MPI_RANKS, "profile-mpi-ranks", 0, LIST, "N[-M] ...", "ROCPROF_MPI_RANKS", NULL,     \
      FILTER, "only these ranks of an MPI job; the others run as if there were no profiler")       \
    X(MPI_WORLD_RANK_VARIABLE, "mpi-world-rank-variable", 0, TEXT, "NAME", "ROCPROF_MPI_RANK_VAR", \
      NULL, FILTER, "the variable that holds a process's rank, for launchers that are not known")  \
    X(MPI_WORLD_SIZE_VARIABLE, "mpi-world-size-variable", 0, TEXT, "NAME", "ROCPROF_MPI_SIZE_VAR", \
      NULL, FILTER, "and the one that holds the number of ranks")                                  \
    X(PRELOAD, "preload", 0, LIST, "LIBRARY ...", NULL, NULL, ADVANCED,                            \
      "libraries that come before ours in LD_PRELOAD")                                             \
    X(PERFETTO_BACKEND, "perfetto-backend", 0, CHOICE, "inprocess", NULL, NULL, ADVANCED,          \
      "traces go to files only")                                                                   \
    X(LOG_LEVEL, "log-level", 0, CHOICE, "fatal|error|warning|info|trace|env|config", NULL, NULL,  \
      ADVANCED, "what the profiler says about itself; env, config: show what the program gets")    \
    X(DISABLE_SIGNAL_HANDLERS, "disable-signal-handlers", 0, FLAG, NULL, NULL, NULL, ADVANCED,     \
      "a program that a signal ends leaves what was streamed until then")                          \
    X(SUPPRESS_MARKER_PRELOAD, "suppress-marker-preload", 0, FLAG, NULL, NULL, NULL, ADVANCED,     \
      "leave roctx to the library that the program brings")                                        \
    X(PID, "pid", 'p', TEXT, "PID", NULL, NULL, ADVANCED,                                          \
      "attach to a process that runs already, until Ctrl-C, a line of input or its end")           \
    X(ATTACH_DURATION_MSEC, "attach-duration-msec", 0, NUMBER, "MS", NULL, NULL, ADVANCED,         \
      "and leave it after that time")                                                              \
    X(ATTACH_CHILDREN, "attach-children", 0, FLAG, NULL, NULL, "1", ADVANCED,                      \
      "attach to its children, too, that use a GPU (yes)")                                         \
    X(PROCESS_SYNC, "process-sync", 0, FLAG, NULL, "ROCPROF_PROCESS_SYNC", NULL, ADVANCED,         \
      "a process ends when those of the same parent have written their files, too")                \
    X(BENCHMARK_MODE, "benchmark-mode", 0, CHOICE,                                                 \
      "disabled-sdk-contexts|sdk-buffer-overhead|sdk-callback-overhead|tool-runtime-overhead|"     \
      "execution-profile",                                                                         \
      "ROCPROF_BENCHMARK_MODE", NULL, ADVANCED,                                                    \
      "measure the profiler: do less and less of its work, or say where its time goes")            \
    X(ECHO, "echo", 0, FLAG, NULL, NULL, NULL, ADVANCED, "show the command instead of running it") \
    X(LIST_AVAIL, "list-avail", 'L', FLAG, NULL, NULL, NULL, ADVANCED,                             \
      "as 'crocprof list', before the program if one is named")                                    \
    X(OMPT_OPERATIONS, NULL, 0, LIST, NULL, "ROCPROF_OMPT_TRACE_OPERATIONS", NULL, BASIC, "")      \
    X(DEMANGLE, NULL, 0, FLAG, NULL, "ROCPROF_DEMANGLE_KERNELS", "1", NAMES, "")                   \
    X(SIGNAL_HANDLERS, NULL, 0, FLAG, NULL, "ROCPROF_SIGNAL_HANDLERS", "1", ADVANCED, "")          \
    X(MINIMUM_OUTPUT_BYTES, NULL, 0, NUMBER, NULL, "ROCPROF_MINIMUM_OUTPUT_BYTES", NULL, FILES,    \
      "")                                                                                          \
    X(PERIODS_NS, NULL, 0, TEXT, NULL, "ROCPROF_COLLECTION_PERIOD", NULL, FILTER, "")              \
    X(SNAPSHOT_DIRECTORY, NULL, 0, TEXT, NULL, "ROCPROF_SNAPSHOT_DIRECTORY", NULL, ADVANCED, "")   \
    X(SNAPSHOT_INTERVAL_MS, NULL, 0, NUMBER, NULL, "ROCPROF_SNAPSHOT_INTERVAL_MS", NULL, ADVANCED, \
      "")                                                                                          \
    X(API_ARGUMENTS, "api-arguments", 0, FLAG, NULL, "ROCPROF_API_ARGUMENTS", "1", FILES,          \
      "arguments of traced HIP, rocDecode, rocSHMEM and hipFile calls, too, in rocpd and json; "   \
      "called rocprofv3, "                                                                         \
      "that is the default")                                                                       \
    X(MODELLED_TIME_FILE, NULL, 0, FLAG, NULL, "ROCPROF_MODELLED_TIME_FILE", NULL, FILES, "")      \
    X(COUNTER_COLLECTION, NULL, 0, FLAG, NULL, "ROCPROF_COUNTER_COLLECTION", NULL, COUNTERS, "")   \
    X(COUNTERS, NULL, 0, TEXT, NULL, "ROCPROF_COUNTERS", NULL, COUNTERS, "")                       \
    X(COUNTER_GROUPS, NULL, 0, TEXT, NULL, "ROCPROF_COUNTER_GROUPS", NULL, COUNTERS, "")           \
    X(COUNTER_GROUPS_INTERVAL, NULL, 0, NUMBER, NULL, "ROCPROF_COUNTER_GROUPS_INTERVAL", "1",      \
      COUNTERS, "")                                                                                \
    X(EXTRA_COUNTERS_TEXT, NULL, 0, TEXT, NULL, "ROCPROF_EXTRA_COUNTERS_CONTENTS", NULL, COUNTERS, \
      "")                                                                                          \
    X(CHECKED, NULL, 0, FLAG, NULL, "CROCPROF_CHECKED", NULL, COUNTERS, "")                        \
    X(PASS, NULL, 0, NUMBER, NULL, "CROCPROF_PASS", NULL, COUNTERS, "")                            \
    X(PASS_COUNT, NULL, 0, NUMBER, NULL, "CROCPROF_PASS_COUNT", NULL, COUNTERS, "")                \
    X(PASS_DIRECTORY, NULL, 0, TEXT, NULL, "CROCPROF_PASS_DIRECTORY", NULL, COUNTERS, "")          \
    X(PAUSES, NULL, 0, FLAG, NULL, "CROCPROF_PAUSES", NULL, COUNTERS, "")

/* Other spellings: name, letter or 0, the option. */
#define OPTION_ALIASES(X)                                                                          \
    X("format", 0, OUTPUT_FORMAT)                                                                  \
    X("summary-file", 0, SUMMARY_OUTPUT_FILE)                                                      \
    X("list-metrics", 0, LIST_AVAIL)                                                               \
    X("attach", 0, PID)                                                                            \
    X("hsa-finalize-trace", 0, HSA_FINALIZER_TRACE)

/* What an option switches on unless it has been said otherwise: the option, those. The order
 * matters: sets of sets first. */
#define OPTION_SETS(X)                                                                             \
    X(SYS_TRACE, RUNTIME_TRACE)                                                                    \
    X(SYS_TRACE, HIP_TRACE)                                                                        \
    X(SYS_TRACE, HSA_TRACE)                                                                        \
    X(RUNTIME_TRACE, HIP_RUNTIME_TRACE)                                                            \
    X(RUNTIME_TRACE, MARKER_TRACE)                                                                 \
    X(RUNTIME_TRACE, KERNEL_TRACE)                                                                 \
    X(RUNTIME_TRACE, MEMORY_COPY_TRACE)                                                            \
    X(RUNTIME_TRACE, MEMORY_ALLOCATION_TRACE)                                                      \
    X(RUNTIME_TRACE, SCRATCH_MEMORY_TRACE)                                                         \
    X(RUNTIME_TRACE, RCCL_TRACE)                                                                   \
    X(RUNTIME_TRACE, ROCDECODE_TRACE)                                                              \
    X(RUNTIME_TRACE, ROCJPEG_TRACE)                                                                \
    X(RUNTIME_TRACE, HIPFILE_TRACE)                                                                \
    X(RUNTIME_TRACE, ROCSHMEM_TRACE)                                                               \
    X(RUNTIME_TRACE, KFD_TRACE)                                                                    \
    X(KOKKOS_TRACE, MARKER_TRACE)                                                                  \
    X(KOKKOS_TRACE, KERNEL_RENAME)                                                                 \
    X(SELECTED_REGIONS_REF_COUNT, SELECTED_REGIONS)                                                \
    X(HIP_TRACE, HIP_RUNTIME_TRACE)                                                                \
    X(HIP_TRACE, HIP_COMPILER_TRACE)                                                               \
    X(HIP_RUNTIME_TRACE, HIP_GRAPH_TRACE)                                                          \
    X(HSA_TRACE, HSA_CORE_TRACE)                                                                   \
    X(HSA_TRACE, HSA_AMD_TRACE)                                                                    \
    X(HSA_TRACE, HSA_IMAGE_TRACE)                                                                  \
    X(HSA_TRACE, HSA_FINALIZER_TRACE)                                                              \
    X(KFD_TRACE, KFD_PAGE_MIGRATION_TRACE)                                                         \
    X(KFD_TRACE, KFD_PAGE_MAPPING_TRACE)                                                           \
    X(KFD_TRACE, KFD_QUEUE_TRACE)                                                                  \
    X(KFD_TRACE, KFD_DROPPED_EVENTS_TRACE)

/*
 * Options of rocprofv3 that say something about its own installation or its trace library: taken,
 * so that scripts run, and answered by a line. Name, kind, why it changes nothing.
 */
#define OPTIONS_MOOT(X)                                                                            \
    X("rocm-root", TEXT, "the libraries beside crocprof are used")                                 \
    X("sdk-soversion", NUMBER, "the libraries beside crocprof are used")                           \
    X("sdk-version", TEXT, "the libraries beside crocprof are used")                               \
    X("readlink", FLAG, "the libraries beside crocprof are used")                                  \
    X("realpath", FLAG, "the libraries beside crocprof are used")                                  \
    X("perfetto-buffer-size", NUMBER, "traces are streamed to their file, nothing is discarded")   \
    X("perfetto-buffer-fill-policy", TEXT,                                                         \
      "traces are streamed to their file, nothing is discarded")                                   \
    X("attach-sync-output", FLAG, "files are always complete when the process is left")            \
    X("kernel-replay-beta-enabled", FLAG, "--replay-mode kernel is all that it takes")             \
    X("group-by-queue", FLAG, "kernels are always shown by queue")                                 \
    X("perfetto-shmem-size-hint", NUMBER,                                                          \
      "traces are streamed to their file, there is no shared memory")

/* Options of rocprofv3 that crocprof does not have: name, letter or 0, the sentence that refuses
 * them. */
#define OPTIONS_MISSING(X)                                                                         \
    X("pc-sampling-beta-enabled", 0, "program counters are not sampled yet")                       \
    X("pc-sampling-unit", 0, "program counters are not sampled yet")                               \
    X("pc-sampling-method", 0, "program counters are not sampled yet")                             \
    X("pc-sampling-interval", 0, "program counters are not sampled yet")                           \
    X("advanced-thread-trace", 0, "thread traces are not collected yet")                           \
    X("att", 0, "thread traces are not collected yet")                                             \
    X("att-library-path", 0, "thread traces are not collected yet")                                \
    X("att-target-cu", 0, "thread traces are not collected yet")                                   \
    X("att-simd-select", 0, "thread traces are not collected yet")                                 \
    X("att-buffer-size", 0, "thread traces are not collected yet")                                 \
    X("att-shader-engine-mask", 0, "thread traces are not collected yet")                          \
    X("att-gpu-index", 0, "thread traces are not collected yet")                                   \
    X("att-perfcounters", 0, "thread traces are not collected yet")                                \
    X("att-perfcounter-ctrl", 0, "thread traces are not collected yet")                            \
    X("att-activity", 0, "thread traces are not collected yet")                                    \
    X("att-serialize-all", 0, "thread traces are not collected yet")                               \
    X("att-no-intercept", 0, "thread traces are not collected yet")                                \
    X("att-consecutive-kernels", 0, "thread traces are not collected yet")                         \
    X("att-resource-mode", 0, "thread traces are not collected yet")                               \
    X("att-perfcounter-target-only", 0, "thread traces are not collected yet")                     \
    X("att-no-detail", 0, "thread traces are not collected yet")                                   \
    X("spm", 0, "counters are not streamed yet")                                                   \
    X("spm-beta-enabled", 0, "counters are not streamed yet")                                      \
    X("spm-sample-interval", 0, "counters are not streamed yet")                                   \
    X("spm-sample-interval-unit", 0, "counters are not streamed yet")

#endif
