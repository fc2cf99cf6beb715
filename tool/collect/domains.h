/* The one list of the kinds of records: which option asks for them, which service brings them, to
 * which tables they go, and under which title. */
#ifndef COLLECT_DOMAINS_H
#define COLLECT_DOMAINS_H

#include <rocprofiler-sdk/fwd.h>

#include "launch/settings.h"
#include "out/rows.h"

/* id, name in summaries and --summary-groups, title of its table, table of its rows, of its
 * statistics. */
#define DOMAINS(X)                                                                                 \
    X(KERNEL, "KERNEL_DISPATCH", "kernel", OUT_KERNEL_TRACE, OUT_KERNEL_STATS)                     \
    X(COPY, "MEMORY_COPY", "copy", OUT_MEMORY_COPY, OUT_COPY_STATS)                                \
    X(HIP, "HIP_API", "HIP function", OUT_HIP_API, OUT_HIP_STATS)                                  \
    X(HSA, "HSA_API", "HSA function", OUT_HSA_API, OUT_HSA_STATS)                                  \
    X(MARKER, "MARKER_API", "marker", OUT_MARKER_API, OUT_MARKER_STATS)                            \
    X(RCCL, "RCCL_API", "RCCL function", OUT_RCCL_API, OUT_RCCL_STATS)                             \
    X(ROCDECODE, "ROCDECODE_API", "rocDecode function", OUT_ROCDECODE_API, OUT_ROCDECODE_STATS)    \
    X(ROCJPEG, "ROCJPEG_API", "rocJPEG function", OUT_ROCJPEG_API, OUT_ROCJPEG_STATS)              \
    X(HIPFILE, "HIPFILE_API", "hipFile function", OUT_HIPFILE_API, OUT_HIPFILE_STATS)              \
    X(ROCSHMEM, "ROCSHMEM_API", "rocSHMEM function", OUT_ROCSHMEM_API, OUT_ROCSHMEM_STATS)         \
    X(OMPT, "OMPT", "OpenMP event", OUT_OMPT, OUT_OMPT_STATS)                                      \
    X(ALLOCATION, "MEMORY_ALLOCATION", "allocation", OUT_MEMORY_ALLOCATION, OUT_ALLOCATION_STATS)  \
    X(SCRATCH, "SCRATCH_MEMORY", "scratch memory", OUT_SCRATCH_MEMORY, OUT_SCRATCH_STATS)          \
    X(KFD, "KFD", "driver event", OUT_KFD, OUT_KFD_STATS)                                          \
    X(EVENT, "HIP_EVENT", "HIP event", OUT_HIP_EVENT, OUT_EVENT_STATS)

enum domain_id {
#define X(id, ...) DOMAIN_##id,
    DOMAINS(X)
#undef X
        DOMAIN_COUNT
};

struct domain {
    const char *name, *title;
    enum out_table_id rows, stats;
};
extern const struct domain domains[DOMAIN_COUNT];

/* Buffered services: which option asks for which kind, where its records belong, and which kind has
 * the calls' arguments, too (NONE: there is none). */
struct domain_service {
    rocprofiler_buffer_tracing_kind_t kind;
    enum option_id option;
    enum domain_id domain;
    rocprofiler_buffer_tracing_kind_t kind_with_arguments;
};
/* Ends with kind NONE. */
extern const struct domain_service domain_services[];

/* Of either kind. NULL: not one of ours. */
const struct domain_service *domain_service_find(rocprofiler_buffer_tracing_kind_t kind);

#endif
