/*
 * <prefix>_results.json: the layout of rocprofiler-sdk-tool, an element for each process, whose
 * rows come together. Records go into a list for each kind, which in one file can only follow each
 * other: the first list that outgrows memory is written into the file at once, the others wait in
 * files without names and are joined at the element's end.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>

#include "json.h"
#include "out.h"
#include "results_json.h"
#include "results_stats.h"

enum { RECORD_BYTES = 2048 }; /* of numbers and names of members, at most */

/* Lists of records, and the member that each is in: first those of callback_records. */
#define SECTIONS(X)                                                                                \
    X(COUNTERS, "counter_collection")                                                              \
    X(KERNELS, "kernel_dispatch")                                                                  \
    X(HIP, "hip_api")                                                                              \
    X(HSA, "hsa_api")                                                                              \
    X(MARKERS, "marker_api")                                                                       \
    X(RCCL, "rccl_api")                                                                            \
    X(COPIES, "memory_copy")                                                                       \
    X(ALLOCATIONS, "memory_allocation")                                                            \
    X(SCRATCH, "scratch_memory")                                                                   \
    X(ROCDECODE, "rocdecode_api")                                                                  \
    X(ROCJPEG, "rocjpeg_api")                                                                      \
    X(HIPFILE, "hipfile_api")                                                                      \
    X(ROCSHMEM, "rocshmem_api")                                                                    \
    X(EVENTS, "hip_event")                                                                         \
    X(KFD, "kfd")                                                                                  \
    X(OMPT, "ompt")                                                                                \
    X(HOST_TRAP, "pc_sample_host_trap")                                                            \
    X(STOCHASTIC, "pc_sample_stochastic")
enum section {
#define X(id, name) SECTION_##id,
    SECTIONS(X)
#undef X
        SECTION_COUNT,
    SECTION_NONE = SECTION_COUNT,
    BUFFER_SECTIONS = SECTION_KERNELS /* the first one of buffer_records */
};
static const char *const section_names[] = {
#define X(id, name) name,
    SECTIONS(X)
#undef X
};

struct out_sink {
    char path[PATH_MAX + 16], directory[PATH_MAX];
    unsigned elements;            /* that were begun */
    const struct out_process *of; /* whose rows the last one has */
    /* Of that element: */
    struct results_info info;
    struct results_stats stats;
    struct spool sections[SECTION_COUNT];
    enum section direct; /* this one goes into the file */
    bool has_record[SECTION_COUNT];
    bool is_counted;           /* values of a dispatch are being written */
    uint64_t counted_dispatch; /* of which one */
    struct writer file;        /* large, therefore last */
};

static int results_open(const char *prefix, struct out_sink **result, char *error,
                        size_t error_size)
{
    struct out_sink *sink = malloc(sizeof *sink);
    if (!sink) {
        snprintf(error, error_size, "out of memory");
        return -ENOMEM;
    }
    memset(sink, 0, offsetof(struct out_sink, file));
    snprintf(sink->path, sizeof sink->path, "%s_results.json", prefix);
    const char *slash = strrchr(prefix, '/');
    snprintf(sink->directory, sizeof sink->directory, "%.*s", slash ? (int)(slash - prefix) + 1 : 1,
             slash ? prefix : ".");
    int status = writer_open(&sink->file, sink->path);
    if (status != 0) {
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-status));
        free(sink);
        return status;
    }
    json_raw(&sink->file, "{\"rocprofiler-sdk-tool\":[");
    *result = sink;
    return 0;
}

static void element_begin(struct out_sink *sink)
{
    json_raw(&sink->file, sink->elements++ ? ",{" : "{");
    sink->of = out_process();
    sink->direct = SECTION_NONE;
    sink->is_counted = false;
    for (int i = 0; i < SECTION_COUNT; i++) {
        sink->sections[i] = (struct spool){.directory = sink->directory};
        sink->has_record[i] = false;
    }
    results_info_begin(&sink->info, sink->directory);
}

static void section_head_put(struct writer *file, enum section section)
{
    json_raw(file, "\"");
    json_raw(file, section_names[section]);
    json_raw(file, "\":[");
}

/* The section's list is the first one that outgrows memory. */
static void section_go_direct(struct out_sink *sink, enum section section)
{
    json_raw(&sink->file,
             section < BUFFER_SECTIONS ? "\"callback_records\":{" : "\"buffer_records\":{");
    section_head_put(&sink->file, section);
    spool_join(&sink->sections[section], &sink->file);
    sink->direct = section;
}

/* Room for a record of so many bytes; NULL: no memory. */
static char *record_begin_sized(struct out_sink *sink, enum section section, size_t size,
                                struct writer **writer)
{
    if (sink->direct == SECTION_NONE && spool_is_full(&sink->sections[section], size))
        section_go_direct(sink, section);
    *writer = sink->direct == section ? &sink->file : spool_writer(&sink->sections[section], size);
    if (!*writer)
        return NULL;
    char *at = writer_room(*writer, size);
    if (sink->has_record[section])
        *at++ = ',';
    sink->has_record[section] = true;
    return at;
}

/* Room for a record of numbers. */
static char *record_begin(struct out_sink *sink, enum section section, struct writer **writer)
{
    return record_begin_sized(sink, section, RECORD_BYTES, writer);
}

/* ---- records --------------------------------------------------------------------------------- */

static inline char *literal_at(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}
#define LITERAL(at, text)       literal_at(at, text, sizeof text - 1)
#define NUMBER(at, text, value) writer_u64_at(LITERAL(at, text), value)

static char *head_at(char *at, size_t size_bytes, struct kinds_number number)
{
    at = NUMBER(at, "{\"size\":", size_bytes);
    at = NUMBER(at, ",\"kind\":", number.kind);
    return NUMBER(at, ",\"operation\":", number.operation);
}

static char *times_at(char *at, uint64_t start_ns, uint64_t end_ns)
{
    at = NUMBER(at, ",\"start_timestamp\":", start_ns);
    return NUMBER(at, ",\"end_timestamp\":", end_ns);
}

static char *correlation_at(char *at, uint64_t internal, uint64_t external)
{
    at = NUMBER(at, "\"correlation_id\":{\"internal\":", internal);
    return NUMBER(at, ",\"external\":", external);
}

/* A marker's message is the row's function. */
static struct kinds_number marker_number(struct out_sink *sink, const struct out_api_row *row)
{
    bool is_moment = row->start_ns == row->end_ns;
    return kinds_find(&sink->info.kinds, "MARKER_CORE_RANGE_API",
                      is_moment ? "roctxMarkA" : "roctxThreadRangeA");
}

/* What a byte of a row's arguments becomes, at most: six in a text, and the zeros of one argument
 * 33 in names and quotes. */
enum { ARGUMENT_BYTE_BYTES = 11 };
_Static_assert(RECORD_BYTES + OUT_ARGUMENTS_BYTES * ARGUMENT_BYTE_BYTES <= WRITER_BYTES, "room");

static void arguments_put(struct writer *writer, const struct out_api_row *row)
{
    struct out_argument argument;
    const char *separator = "";
    json_raw(writer, ",\"args\":[");
    for (uint32_t at = 0; out_argument_next(row, &at, &argument); separator = ",") {
        json_raw(writer, separator);
        json_raw(writer, "{\"type\":");
        json_text(writer, argument.type);
        json_raw(writer, ",\"name\":");
        json_text(writer, argument.name);
        json_raw(writer, ",\"value\":");
        json_text(writer, argument.value);
        json_raw(writer, "}");
    }
    json_raw(writer, "]");
    if (!row->has_result)
        return;
    json_raw(writer, ",\"retval\":{\"uint64_t_retval\":");
    writer_u64(writer, row->result);
    json_raw(writer, "}");
}

static size_t api_record_bytes(enum section section, const struct out_api_row *row)
{
    if (!row->arguments)
        return sizeof(rocprofiler_buffer_tracing_hsa_api_record_t);
    switch (section) {
    case SECTION_ROCDECODE:
        return sizeof(rocprofiler_buffer_tracing_rocdecode_api_ext_record_t);
    case SECTION_ROCSHMEM:
        return sizeof(rocprofiler_buffer_tracing_rocshmem_api_ext_record_t);
    case SECTION_HIPFILE:
        return sizeof(rocprofiler_buffer_tracing_hipfile_api_ext_record_t);
    default:
        return sizeof(rocprofiler_buffer_tracing_hip_api_ext_record_t);
    }
}

static void api_put(struct out_sink *sink, enum section section, const struct out_api_row *row)
{
    struct writer *writer;
    char *at = record_begin_sized(
        sink, section, RECORD_BYTES + row->arguments_bytes * ARGUMENT_BYTE_BYTES, &writer);
    if (!at)
        return;
    struct kinds_number number = row->message
                                     ? marker_number(sink, row)
                                     : kinds_find(&sink->info.kinds, row->domain, row->function);
    at = head_at(at, api_record_bytes(section, row), number);
    at = correlation_at(LITERAL(at, ","), row->correlation_id, row->external_id);
    at = NUMBER(at, ",\"ancestor\":", row->parent_id);
    at = times_at(LITERAL(at, "}"), row->start_ns, row->end_ns);
    at = NUMBER(at, ",\"thread_id\":", row->thread_id);
    writer_advance(writer, at);
    if (row->arguments)
        arguments_put(writer, row);
    writer_char(writer, '}');
    if (row->message)
        results_message(&sink->info, row->correlation_id, row->message);
}

static uint64_t dispatch_external(struct out_sink *sink, const struct out_dispatch_row *row)
{
    return row->region ? results_region(&sink->info, row->region) : row->external_id;
}

static char *dispatch_info_at(const struct out_sink *sink, char *at,
                              const struct out_dispatch_row *row)
{
    at = NUMBER(at, ",\"dispatch_info\":{\"size\":", sizeof(rocprofiler_kernel_dispatch_info_t));
    at = NUMBER(at, ",\"agent_id\":{\"handle\":", results_agent_handle(&sink->info, row->node));
    at = NUMBER(at, "},\"queue_id\":{\"handle\":", row->queue_id);
    at = NUMBER(at, "},\"kernel_id\":", row->kernel_id);
    at = NUMBER(at, ",\"dispatch_id\":", row->dispatch_id);
    at = NUMBER(at, ",\"private_segment_size\":", row->scratch_bytes);
    at = NUMBER(at, ",\"group_segment_size\":", row->lds_bytes);
    at = NUMBER(at, ",\"workgroup_size\":{\"x\":", row->workgroup[0]);
    at = NUMBER(at, ",\"y\":", row->workgroup[1]);
    at = NUMBER(at, ",\"z\":", row->workgroup[2]);
    at = NUMBER(at, "},\"grid_size\":{\"x\":", row->grid[0]);
    at = NUMBER(at, ",\"y\":", row->grid[1]);
    at = NUMBER(at, ",\"z\":", row->grid[2]);
    return LITERAL(at, "}}");
}

static void kernel_put(struct out_sink *sink, const struct out_dispatch_row *row)
{
    struct writer *writer;
    char *at = record_begin(sink, SECTION_KERNELS, &writer);
    if (!at)
        return;
    results_kernel(&sink->info, row);
    at = head_at(at, sizeof(rocprofiler_buffer_tracing_kernel_dispatch_record_t),
                 kinds_find(&sink->info.kinds, row->kind, "KERNEL_DISPATCH_COMPLETE"));
    at = NUMBER(at, ",\"thread_id\":", row->thread_id);
    at = correlation_at(LITERAL(at, ","), row->correlation_id, dispatch_external(sink, row));
    at = times_at(LITERAL(at, "}"), row->start_ns, row->end_ns);
    at = dispatch_info_at(sink, at, row);
    at = NUMBER(at, ",\"stream_id\":{\"handle\":", row->stream_id);
    at = LITERAL(at, "}");
    if (row->modelled_ns)
        at = NUMBER(at, ",\"modelled_ns\":", row->modelled_ns);
    writer_advance(writer, LITERAL(at, "}"));
}

/* Values of a dispatch come one after another and share a record. */
static void counted_end(struct out_sink *sink)
{
    struct spool *list = &sink->sections[SECTION_COUNTERS];
    struct writer *writer =
        sink->direct == SECTION_COUNTERS ? &sink->file : spool_writer(list, RECORD_BYTES);
    if (sink->is_counted && writer)
        json_raw(writer, "]}");
    sink->is_counted = false;
}

static void counted_begin(struct out_sink *sink, const struct out_dispatch_row *row)
{
    struct writer *writer;
    counted_end(sink);
    char *at = record_begin(sink, SECTION_COUNTERS, &writer);
    if (!at)
        return;
    results_kernel(&sink->info, row);
    at = NUMBER(at, "{\"thread_id\":", row->thread_id);
    at = NUMBER(
        at, ",\"dispatch_data\":{\"size\":", sizeof(rocprofiler_dispatch_counting_service_data_t));
    at = correlation_at(LITERAL(at, ","), row->correlation_id, dispatch_external(sink, row));
    at = times_at(LITERAL(at, "}"), row->start_ns, row->end_ns);
    at = dispatch_info_at(sink, at, row);
    at = NUMBER(at, "},\"stream_id\":{\"handle\":", row->stream_id);
    at = NUMBER(at, "},\"arch_vgpr_count\":", row->vgprs);
    at = NUMBER(at, ",\"sgpr_count\":", row->sgprs);
    at = NUMBER(at, ",\"lds_block_size_v\":", out_lds_given(row->lds_bytes));
    writer_advance(writer, LITERAL(at, ",\"records\":["));
    sink->is_counted = true;
    sink->counted_dispatch = row->dispatch_id;
}

static void counter_put(struct out_sink *sink, const struct out_counter_row *row)
{
    bool is_first = !sink->is_counted || row->dispatch.dispatch_id != sink->counted_dispatch;
    if (is_first)
        counted_begin(sink, &row->dispatch);
    struct spool *list = &sink->sections[SECTION_COUNTERS];
    struct writer *writer =
        sink->direct == SECTION_COUNTERS ? &sink->file : spool_writer(list, RECORD_BYTES);
    if (!writer)
        return;
    char *at = writer_room(writer, RECORD_BYTES);
    if (!is_first)
        *at++ = ',';
    at = NUMBER(at, "{\"counter_id\":{\"handle\":", results_counter(&sink->info, row));
    writer_advance(writer, LITERAL(at, "},\"value\":"));
    json_double(writer, row->counter_value);
    writer_char(writer, '}');
}

static void copy_put(struct out_sink *sink, const struct out_copy_row *row)
{
    struct writer *writer;
    char *at = record_begin(sink, SECTION_COPIES, &writer);
    if (!at)
        return;
    at = head_at(at, sizeof(rocprofiler_buffer_tracing_memory_copy_record_t),
                 kinds_find(&sink->info.kinds, row->kind, row->direction));
    at = NUMBER(at, ",\"thread_id\":", row->thread_id);
    at = correlation_at(LITERAL(at, ","), row->correlation_id, row->external_id);
    at = times_at(LITERAL(at, "}"), row->start_ns, row->end_ns);
    at = NUMBER(at, ",\"dst_agent_id\":{\"handle\":",
                results_agent_handle(&sink->info, row->destination_node));
    at = NUMBER(
        at, "},\"src_agent_id\":{\"handle\":", results_agent_handle(&sink->info, row->source_node));
    at = NUMBER(at, "},\"bytes\":", row->bytes);
    at = NUMBER(at, ",\"stream_id\":{\"handle\":", row->stream_id);
    writer_advance(writer, LITERAL(at, "}}"));
}

static void allocation_put(struct out_sink *sink, const struct out_allocation_row *row)
{
    struct writer *writer;
    char *at = record_begin(sink, SECTION_ALLOCATIONS, &writer);
    if (!at)
        return;
    at = head_at(at, sizeof(rocprofiler_buffer_tracing_memory_allocation_record_t),
                 kinds_find(&sink->info.kinds, row->kind, row->operation));
    at = NUMBER(at, ",\"thread_id\":", row->thread_id);
    at = correlation_at(LITERAL(at, ","), row->correlation_id, row->external_id);
    at = NUMBER(at, ",\"ancestor\":", row->parent_id);
    at = times_at(LITERAL(at, "}"), row->start_ns, row->end_ns);
    at = NUMBER(at, ",\"agent_id\":{\"handle\":", results_agent_handle(&sink->info, row->node));
    at = LITERAL(at, "},\"address\":\"0x");
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[row->address >> shift & 15];
    at = NUMBER(at, "\",\"allocation_size\":", row->bytes);
    writer_advance(writer, LITERAL(at, ",\"stream_id\":{\"handle\":0}}"));
}

static void hip_event_put(struct out_sink *sink, const struct out_event_row *row)
{
    struct writer *writer;
    char *at = record_begin(sink, SECTION_EVENTS, &writer);
    if (!at)
        return;
    at = head_at(at, sizeof(rocprofiler_buffer_tracing_hip_event_record_t),
                 kinds_find(&sink->info.kinds, row->kind, row->operation));
    at = correlation_at(LITERAL(at, ","), row->correlation_id, row->external_id);
    at = NUMBER(at, "},\"thread_id\":", row->thread_id);
    at = times_at(at, row->start_ns, row->end_ns);
    at = NUMBER(at, ",\"agent_id\":{\"handle\":", results_agent_handle(&sink->info, row->node));
    at = NUMBER(at, "},\"queue_id\":{\"handle\":", row->queue_id);
    at = NUMBER(at, "},\"hip_event_handle\":", row->event);
    at = NUMBER(at, ",\"source_queue_id\":{\"handle\":", row->source_queue_id);
    writer_advance(writer, LITERAL(at, "}}"));
}

static void scratch_put(struct out_sink *sink, const struct out_scratch_row *row)
{
    struct writer *writer;
    char *at = record_begin(sink, SECTION_SCRATCH, &writer);
    if (!at)
        return;
    at = head_at(at, sizeof(rocprofiler_buffer_tracing_scratch_memory_record_t),
                 kinds_find(&sink->info.kinds, row->kind, row->operation));
    at = NUMBER(at, ",\"agent_id\":{\"handle\":", results_agent_handle(&sink->info, row->node));
    at = NUMBER(at, "},\"queue_id\":{\"handle\":", row->queue_id);
    at = NUMBER(at, "},\"thread_id\":", row->thread_id);
    at = times_at(at, row->start_ns, row->end_ns);
    at = correlation_at(LITERAL(at, ","), row->correlation_id, row->external_id);
    at = NUMBER(at, ",\"ancestor\":", row->parent_id);
    at = NUMBER(at, "},\"flags\":", row->flags);
    at = NUMBER(at, ",\"allocation_size\":", row->bytes);
    writer_advance(writer, LITERAL(at, "}"));
}

static void kfd_put(struct out_sink *sink, const struct out_kfd_row *row)
{
    struct writer *writer;
    const struct results_info *info = &sink->info;
    char *at = record_begin(sink, SECTION_KFD, &writer);
    if (!at)
        return;
    struct kinds_number number = kinds_find(&sink->info.kinds, row->kind, row->operation);
    at = NUMBER(at, "{\"kind\":", number.kind);
    at = NUMBER(at, ",\"operation\":", number.operation);
    at = times_at(at, row->start_ns, row->end_ns);
    at = NUMBER(at, ",\"pid\":", row->process_id);
    at = NUMBER(at, ",\"start_address\":{\"handle\":", row->start_address);
    at = NUMBER(at, "},\"end_address\":{\"handle\":", row->end_address);
    static const char *const names[OUT_KFD_AGENTS] = {
        [OUT_KFD_AGENT] = "agent_id",
        [OUT_KFD_SOURCE] = "src_agent",
        [OUT_KFD_DESTINATION] = "dst_agent",
        [OUT_KFD_PREFETCH] = "prefetch_agent",
        [OUT_KFD_PREFERRED] = "preferred_agent",
    };
    at = LITERAL(at, "}");
    for (int i = 0; i < OUT_KFD_AGENTS; i++)
        at += sprintf(at, ",\"%s\":{\"handle\":%llu}", names[i],
                      (unsigned long long)results_agent_handle(info, row->nodes[i]));
    at += sprintf(at, ",\"count\":%llu,\"error_code\":%d}", (unsigned long long)row->count,
                  (int)row->error_code);
    writer_advance(writer, at);
}

static enum section api_section(enum out_table_id table)
{
    switch ((int)table) {
    case OUT_HIP_API:
        return SECTION_HIP;
    case OUT_HSA_API:
        return SECTION_HSA;
    case OUT_MARKER_API:
        return SECTION_MARKERS;
    case OUT_RCCL_API:
        return SECTION_RCCL;
    case OUT_ROCDECODE_API:
        return SECTION_ROCDECODE;
    case OUT_ROCJPEG_API:
        return SECTION_ROCJPEG;
    case OUT_HIPFILE_API:
        return SECTION_HIPFILE;
    case OUT_ROCSHMEM_API:
        return SECTION_ROCSHMEM;
    case OUT_OMPT:
        return SECTION_OMPT;
    default:
        return SECTION_NONE;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The rest of a member: lists [from, to) but the one that is in the file. */
static void sections_put(struct out_sink *sink, enum section from, enum section to, bool is_open)
{
    for (enum section i = from; i < to; i++) {
        if (i == sink->direct)
            continue;
        json_raw(&sink->file, is_open ? "," : "");
        section_head_put(&sink->file, i);
        spool_join(&sink->sections[i], &sink->file);
        json_raw(&sink->file, "]");
        is_open = true;
    }
    json_raw(&sink->file, "}");
}

static void lists_put(struct out_sink *sink)
{
    bool is_open = sink->direct != SECTION_NONE, is_callback = sink->direct < BUFFER_SECTIONS;
    json_raw(&sink->file, is_open ? "]" : "\"buffer_records\":{");
    if (is_callback) {
        sections_put(sink, SECTION_COUNTERS, BUFFER_SECTIONS, true);
        json_raw(&sink->file, ",\"buffer_records\":{");
        sections_put(sink, BUFFER_SECTIONS, SECTION_COUNT, false);
        return;
    }
    sections_put(sink, BUFFER_SECTIONS, SECTION_COUNT, is_open);
    json_raw(&sink->file, ",\"callback_records\":{");
    sections_put(sink, SECTION_COUNTERS, BUFFER_SECTIONS, false);
}

static void element_end(struct out_sink *sink)
{
    counted_end(sink);
    lists_put(sink);
    results_info_end(&sink->info, &sink->file);
    results_stats_put(&sink->stats, &sink->file);
    json_raw(&sink->file, "}");
    for (int i = 0; i < SECTION_COUNT; i++)
        spool_drop(&sink->sections[i]);
    results_stats_drop(&sink->stats);
    results_info_drop(&sink->info);
}

/* An element for whose rows come. */
static void element_turn(struct out_sink *sink)
{
    if (sink->elements && sink->of == out_process())
        return;
    if (sink->elements)
        element_end(sink);
    element_begin(sink);
}

static void results_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    enum section api = api_section(table);
    element_turn(sink);
    if (api != SECTION_NONE)
        api_put(sink, api, row);
    else if (table == OUT_KERNEL_TRACE)
        kernel_put(sink, row);
    else if (table == OUT_COUNTER_COLLECTION)
        counter_put(sink, row);
    else if (table == OUT_MEMORY_COPY)
        copy_put(sink, row);
    else if (table == OUT_MEMORY_ALLOCATION)
        allocation_put(sink, row);
    else if (table == OUT_SCRATCH_MEMORY)
        scratch_put(sink, row);
    else if (table == OUT_HIP_EVENT)
        hip_event_put(sink, row);
    else if (table == OUT_KFD)
        kfd_put(sink, row);
    else if (table == OUT_AGENT_INFO)
        results_agent(&sink->info, row);
    else
        results_stats_row(&sink->stats, table, row);
}

static int results_close(struct out_sink *sink, char *error, size_t error_size)
{
    if (!sink->elements)
        element_begin(sink); /* nothing came: whose nothing it is */
    element_end(sink);
    json_raw(&sink->file, "]}\n");
    int status = writer_close(&sink->file);
    if (status != 0)
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-status));
    free(sink);
    return status;
}

const struct out_ops out_json_ops = {"json", results_open, results_row, results_close,
                                     NULL,   true,         true,        true};
