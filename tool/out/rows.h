/*
 * What the profiler writes: one struct for each kind of row, and one list of columns for each file
 * or table, which every writer walks. Column names and order are those of facts users know
 * (rocprofv3's CSV files).
 */
#ifndef OUT_ROWS_H
#define OUT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rocprofiler-sdk/agent.h>

enum out_type {
    OUT_U64,       /* unsigned, of 1 to 8 bytes */
    OUT_I32,       /* int32_t */
    OUT_COUNTER,   /* double, as in rocprofv3's files of counters */
    OUT_STATISTIC, /* double, as in its statistics */
    OUT_PERCENT,   /* double */
    OUT_TEXT,      /* const char *, NULL is empty */
    OUT_AGENT, /* uint64_t number, shown as "Agent N", or as CPU or GPU; OUT_NO_AGENT as nothing */
    OUT_ADDRESS, /* uint64_t, shown in hexadecimal */
    OUT_LDS      /* uint64_t bytes, shown as those of the blocks that are given out for them */
};

enum { OUT_LDS_BLOCK_BYTES = 512 }; /* as rocprofv3 counts */

static inline uint64_t out_lds_given(uint64_t bytes)
{
    return (bytes + OUT_LDS_BLOCK_BYTES - 1) / OUT_LDS_BLOCK_BYTES * OUT_LDS_BLOCK_BYTES;
}

#define OUT_NO_AGENT UINT64_MAX
/* Added to a number that counts agents of one type. */
#define OUT_AGENT_CPU (1ull << 32)
#define OUT_AGENT_GPU (2ull << 32)

struct out_column {
    const char *name;
    enum out_type type;
    uint16_t offset; /* in the row struct */
    uint16_t size_bytes;
};

struct out_table {
    const char *file; /* "kernel_trace": <prefix>_kernel_trace.csv, table kernel_trace */
    const struct out_column *columns;
    size_t column_count;
};

/* What rocpd says besides the CSV files' columns. Numbers of agents in rows' `node` are KFD's, and
 * those in `agent` are as the user wants them; OUT_NO_AGENT is none in both. */
struct out_code_object {
    uint64_t id, node;
    const char *uri, *storage; /* "FILE", "MEMORY" */
    uint64_t load_base, load_bytes, memory_base, memory_bytes;
    int64_t load_delta;
};

struct out_kernel {
    uint64_t id;
    const struct out_code_object *code_object; /* NULL: not known */
    const char *symbol, *name;                 /* as compiled, as shown */
    const char *demangled, *truncated;
    uint64_t object, address; /* of the descriptor and of the first instruction */
    int64_t entry_offset_bytes;
    uint32_t kernarg_bytes, kernarg_alignment_bytes, lds_bytes, scratch_bytes;
    uint32_t vgprs, acc_vgprs, sgprs;
};

/* Of a counter's values: at position i an instance's number is i steps greater than at position 0.
 */
struct out_dimension {
    const char *name;
    uint32_t id, size; /* id: of the SDK; size: how many positions */
    uint64_t step;
};
enum { OUT_DIMENSIONS = 7 };

struct out_counter {
    uint64_t id, node;
    const char *name, *description, *block,
        *expression; /* description: with what the device says */
    bool is_constant, is_derived;
    uint8_t quality; /* of crocprof/quality.h */
    uint32_t dimension_count;
    uint64_t first_instance; /* its number: all positions are 0 */
    struct out_dimension dimensions[OUT_DIMENSIONS];
};

enum { OUT_ARGUMENTS_BYTES = 4096 };

struct out_api_row {
    const char *domain, *function;
    uint64_t process_id, thread_id, correlation_id, start_ns, end_ns;
    uint64_t parent_id, external_id; /* of correlation */
    const char *message;             /* of a marker, else NULL */
    /* Of each argument, in order: type, name and value, each with its zero. NULL: not recorded. */
    const char *arguments;
    uint64_t result;          /* what the call returned */
    uint32_t arguments_bytes; /* at most OUT_ARGUMENTS_BYTES */
    uint32_t has_result;      /* 0: it was not recorded */
};

struct out_dispatch_row {
    const char *kind;
    uint64_t agent, queue_id, stream_id, process_id, thread_id, dispatch_id, kernel_id;
    const char *kernel_name;
    uint64_t correlation_id, start_ns, end_ns;
    uint64_t lds_bytes, scratch_bytes, vgprs, acc_vgprs, sgprs;
    uint64_t workgroup[3], grid[3];
    uint64_t grid_size, workgroup_size; /* products, for counter rows */
    uint64_t node, external_id;
    const char *region;              /* the kernel's name is that of a range; NULL: its own */
    const struct out_kernel *kernel; /* NULL: nothing more is known */
    uint64_t modelled_ns;            /* by the device's own model; 0: it has none */
};

struct out_counter_row {
    struct out_dispatch_row dispatch;
    const char *counter_name;
    double counter_value;
    const struct out_counter *counter; /* NULL: nothing more is known */
};

struct out_copy_row {
    const char *kind, *direction;
    uint64_t stream_id, source_agent, destination_agent, correlation_id, start_ns, end_ns, bytes;
    uint64_t thread_id, external_id;
    uint64_t source_node, destination_node, source_address, destination_address;
};

struct out_allocation_row {
    const char *kind, *operation;
    uint64_t agent, bytes, address, correlation_id, start_ns, end_ns;
    uint64_t node, thread_id, parent_id, external_id;
};

struct out_scratch_row {
    const char *kind, *operation;
    uint64_t agent, queue_id, thread_id;
    uint64_t flags; /* rocprofiler_scratch_alloc_flag_t */
    uint64_t start_ns, end_ns, bytes, correlation_id;
    uint64_t node, parent_id, external_id;
};

/* A launch of an instantiated graph: the call's times. */
struct out_graph_row {
    const char *kind, *operation;
    uint64_t agent, queue_id, thread_id, graph_exec_id, kernels; /* how many it submitted */
    uint64_t start_ns, end_ns, correlation_id;
    uint64_t node, parent_id, external_id;
};

/* What the device did for a call that recorded an event of HIP's, or waited for one. */
struct out_event_row {
    const char *kind, *operation;
    uint64_t agent, queue_id, source_queue_id /* where it was recorded */, thread_id;
    uint64_t event; /* hipEvent_t */
    uint64_t start_ns, end_ns, correlation_id;
    uint64_t node, external_id;
};

/* Whom an event of the kernel driver is about. */
enum out_kfd_agent {
    OUT_KFD_AGENT,
    OUT_KFD_SOURCE,
    OUT_KFD_DESTINATION,
    OUT_KFD_PREFETCH, /* where the pages were asked to be */
    OUT_KFD_PREFERRED,
    OUT_KFD_AGENTS
};

struct out_kfd_row {
    const char *kind, *operation;
    uint64_t process_id, start_ns, end_ns; /* the same: a moment */
    uint64_t agents[OUT_KFD_AGENTS], nodes[OUT_KFD_AGENTS];
    uint64_t start_address, end_address, count;
    int32_t error_code;
};

struct out_stats_row {
    const char *name;
    uint64_t calls, total_ns;
    double average_ns, percentage;
    uint64_t min_ns, max_ns;
    double standard_deviation_ns;
    uint64_t modelled_ns; /* total, by the device's own model; 0: it has none */
};

struct out_agent_row {
    const char *type;  /* "CPU", "GPU" */
    const char *times; /* what they are by the device's own word; NULL: it says nothing */
    rocprofiler_agent_v0_t agent;
};

enum out_table_id {
    OUT_HIP_API,
    OUT_HSA_API,
    OUT_MARKER_API,
    OUT_RCCL_API,
    OUT_ROCDECODE_API,
    OUT_ROCJPEG_API,
    OUT_HIPFILE_API,
    OUT_ROCSHMEM_API,
    OUT_OMPT,
    OUT_KERNEL_TRACE,
    OUT_COUNTER_COLLECTION,
    OUT_MEMORY_COPY,
    OUT_MEMORY_ALLOCATION,
    OUT_SCRATCH_MEMORY,
    OUT_KFD,
    OUT_GRAPH_LAUNCH,
    OUT_HIP_EVENT,
    OUT_KERNEL_STATS,
    OUT_HIP_STATS,
    OUT_HSA_STATS,
    OUT_COPY_STATS,
    OUT_MARKER_STATS,
    OUT_RCCL_STATS,
    OUT_ROCDECODE_STATS,
    OUT_ROCJPEG_STATS,
    OUT_HIPFILE_STATS,
    OUT_ROCSHMEM_STATS,
    OUT_OMPT_STATS,
    OUT_ALLOCATION_STATS,
    OUT_SCRATCH_STATS,
    OUT_KFD_STATS,
    OUT_EVENT_STATS,
    OUT_DOMAIN_STATS,
    OUT_MODELLED_TIME, /* of kernels that have one: a CSV file of its own, made of their rows */
    OUT_AGENT_INFO,
    OUT_TABLE_COUNT
};
extern const struct out_table out_tables[OUT_TABLE_COUNT];

/* Its rows are struct out_api_row. */
static inline bool out_is_call(enum out_table_id table)
{
    return out_tables[table].columns == out_tables[OUT_HIP_API].columns;
}

/* The next one of a row's arguments; `at` is where it begins, and then where the one behind begins.
 * False: there is none, or not all of it. */
struct out_argument {
    const char *type, *name, *value;
};
bool out_argument_next(const struct out_api_row *row, uint32_t *at, struct out_argument *argument);

/* Values of one column of a row: a million rows have tens of millions of them. */
static inline uint64_t out_column_u64(const struct out_column *column, const void *row)
{
    const char *field = (const char *)row + column->offset;
    uint64_t value = 0; /* little-endian: a narrow field is the low bytes */
    if (column->size_bytes == sizeof value)
        memcpy(&value, field, sizeof value);
    else
        memcpy(&value, field, column->size_bytes);
    return value;
}

static inline int64_t out_column_i64(const struct out_column *column, const void *row)
{
    int32_t value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value;
}

static inline double out_column_double(const struct out_column *column, const void *row)
{
    double value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value;
}

static inline const char *out_column_text(const struct out_column *column, const void *row)
{
    const char *value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value ? value : "";
}

/* "agent 1, gfx90a, NAME (by its own word its times are ...)", cut if it is too long. */
void out_device_text(const struct out_agent_row *row, char *text, size_t size);

#endif
