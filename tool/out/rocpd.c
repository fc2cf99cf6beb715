/*
 * rocpd: the database that ROCm's tools read, schema 3.0 of data/rocpd. A record is an event, which
 * says what caused it, and a row of its kind, which refers to it. Numbers of events count from 1.
 */
#include "out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocpd_graphs.h"
#include "rocpd_info.h"
#include "writer.h"

enum { RECENT_DISPATCHES = 4096 }; /* a power of two */

struct out_sink {
    struct rocpd_base base;
    struct rocpd_info info;
    int64_t events; /* so far, of both kinds: the number that SQLite gave the last one */
    /* Records and counters of a dispatch arrive apart, and share one row and event. */
    struct {
        uint64_t dispatch;
        int64_t event; /* 0: none */
    } recent[RECENT_DISPATCHES];
    uint64_t last_dispatch; /* the largest id */
    bool has_records, has_counters, has_graphs;
};

static int rocpd_open(const char *prefix, struct out_sink **out, char *error, size_t error_size)
{
    struct out_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        snprintf(error, error_size, "out of memory");
        return -ENOMEM;
    }
    int status = rocpd_base_open(&sink->base, prefix, error, error_size);
    if (status != 0) {
        free(sink);
        return status;
    }
    rocpd_info_begin(&sink->info, &sink->base);
    rocpd_base_commit_now(&sink->base);
    *out = sink;
    return 0;
}

/* Ids of a record's correlation: its own, that of what it is in, and the tool's. */
static int64_t event_put(struct out_sink *sink, const char *category, uint64_t own, uint64_t parent,
                         uint64_t external)
{
    const int64_t values[] = {rocpd_text(&sink->info, category), (int64_t)own, (int64_t)parent,
                              (int64_t)external};
    rocpd_base_put(&sink->base, ROCPD_EVENT, values);
    return ++sink->events;
}

static int64_t marker_event_put(struct out_sink *sink, const char *category,
                                const struct out_api_row *row)
{
    const struct rocpd_value values[] = {
        ROCPD_INTEGER(rocpd_text(&sink->info, category)), ROCPD_INTEGER(row->correlation_id),
        ROCPD_INTEGER(row->parent_id), ROCPD_INTEGER(row->external_id), ROCPD_TEXT(row->message)};
    rocpd_base_flush(&sink->base, ROCPD_EVENT); /* those before have the numbers before */
    rocpd_base_insert(&sink->base, ROCPD_MARKER_EVENT, values);
    return ++sink->events;
}

static void arguments_put(struct out_sink *sink, int64_t event, const struct out_api_row *row)
{
    struct out_argument argument;
    uint32_t at = 0;
    for (int64_t position = 0; out_argument_next(row, &at, &argument); position++) {
        const int64_t values[] = {event, position};
        rocpd_base_put_texts(&sink->base, ROCPD_ARG, values, argument.type,
                             (size_t)(row->arguments + at - argument.type));
    }
}

/* A call or a range; a marker's moment is a sample. A call may begin and end at one tick of the
 * clock, too (10 ns on some processors): as a sample, which AMD's tool makes of it, it would lose
 * its name. */
static void api_put(struct out_sink *sink, const struct out_api_row *row)
{
    struct rocpd_info *info = &sink->info;
    bool is_moment = row->message && row->start_ns == row->end_ns;
    const char *category = row->message && !is_moment ? "MARKER_CORE_RANGE_API" : row->domain;
    int64_t event = row->message ? marker_event_put(sink, category, row)
                                 : event_put(sink, category, row->correlation_id, row->parent_id,
                                             row->external_id);
    arguments_put(sink, event, row);
    if (is_moment) {
        const int64_t values[] = {rocpd_track(info, rocpd_text(info, category), row->thread_id),
                                  (int64_t)row->start_ns, event};
        rocpd_base_put(&sink->base, ROCPD_SAMPLE, values);
        return;
    }
    const int64_t values[] = {info->node,
                              info->process,
                              rocpd_thread(info, row->thread_id),
                              (int64_t)row->start_ns,
                              (int64_t)row->end_ns,
                              rocpd_text(info, row->function),
                              event};
    rocpd_base_put(&sink->base, ROCPD_REGION, values);
}

/* 0: there is none. */
static int64_t dispatch_find(struct out_sink *sink, uint64_t id, bool may_be_older)
{
    uint32_t at = id & (RECENT_DISPATCHES - 1);
    if (sink->recent[at].event && sink->recent[at].dispatch == id)
        return sink->recent[at].event;
    return may_be_older && id <= sink->last_dispatch
               ? rocpd_base_dispatch_event(&sink->base, (int64_t)id)
               : 0;
}

/* What the device's own model says, as JSON; returns its bytes with the zero. */
static size_t dispatch_extdata(const struct out_dispatch_row *row, char text[48])
{
    char *at = text;
    if (!row->modelled_ns)
        return (size_t)(stpcpy(text, "{}") + 1 - text);
    at = stpcpy(at, "{\"modelled_ns\":");
    at = writer_u64_at(at, row->modelled_ns);
    return (size_t)(stpcpy(at, "}") + 1 - text);
}

/* The dispatch's event. */
static int64_t dispatch_put(struct out_sink *sink, const struct out_dispatch_row *row)
{
    struct rocpd_info *info = &sink->info;
    int64_t event =
        event_put(sink, row->kind, row->correlation_id, row->correlation_id, row->external_id);
    uint32_t at = row->dispatch_id & (RECENT_DISPATCHES - 1);
    const int64_t values[] = {
        (int64_t)row->dispatch_id,
        info->node,
        info->process,
        rocpd_thread(info, row->thread_id),
        rocpd_agent(info, row->node),
        rocpd_kernel(info, row),
        (int64_t)row->dispatch_id,
        rocpd_queue(info, row->queue_id),
        rocpd_stream(info, row->stream_id),
        (int64_t)row->start_ns,
        (int64_t)row->end_ns,
        (int64_t)row->scratch_bytes,
        (int64_t)row->lds_bytes,
        (int64_t)row->workgroup[0],
        (int64_t)row->workgroup[1],
        (int64_t)row->workgroup[2],
        (int64_t)row->grid[0],
        (int64_t)row->grid[1],
        (int64_t)row->grid[2],
        rocpd_text(info, row->region),
        event,
    };
    char extdata[48];
    size_t extdata_bytes = dispatch_extdata(row, extdata);
    rocpd_base_put_texts(&sink->base, ROCPD_DISPATCH, values, extdata, extdata_bytes);
    sink->recent[at].dispatch = row->dispatch_id;
    sink->recent[at].event = event;
    if (row->dispatch_id > sink->last_dispatch)
        sink->last_dispatch = row->dispatch_id;
    return event;
}

static void kernel_put(struct out_sink *sink, const struct out_dispatch_row *row)
{
    sink->has_records = true;
    if (!sink->has_counters || !dispatch_find(sink, row->dispatch_id, true))
        dispatch_put(sink, row);
}

static void counter_put(struct out_sink *sink, const struct out_counter_row *row)
{
    sink->has_counters = true;
    int64_t event = dispatch_find(sink, row->dispatch.dispatch_id, sink->has_records);
    if (!event)
        event = dispatch_put(sink, &row->dispatch);
    int64_t values[] = {event, rocpd_counter(&sink->info, row), 0};
    memcpy(&values[2], &row->counter_value, sizeof values[2]);
    rocpd_base_put(&sink->base, ROCPD_PMC_EVENT, values);
}

static void copy_put(struct out_sink *sink, const struct out_copy_row *row)
{
    struct rocpd_info *info = &sink->info;
    int64_t event =
        event_put(sink, row->kind, row->correlation_id, row->correlation_id, row->external_id);
    const int64_t values[] = {info->node,
                              info->process,
                              rocpd_thread(info, row->thread_id),
                              (int64_t)row->start_ns,
                              (int64_t)row->end_ns,
                              rocpd_text(info, row->direction),
                              rocpd_agent(info, row->destination_node),
                              (int64_t)row->destination_address,
                              rocpd_agent(info, row->source_node),
                              (int64_t)row->source_address,
                              (int64_t)row->bytes,
                              BATCH_NULL, /* the queue */
                              rocpd_stream(info, row->stream_id),
                              rocpd_text(info, ""),
                              event};
    rocpd_base_put(&sink->base, ROCPD_COPY, values);
}

/* What allocations and scratch memory have in common. */
struct memory {
    const char *operation, *level, *extdata;
    uint64_t node, queue_id, thread_id, start_ns, end_ns, bytes;
    struct rocpd_value address;
    int64_t event;
};

static const char *memory_type(const char *operation)
{
    return strstr(operation, "RECLAIM") ? "RECLAIM" : strstr(operation, "FREE") ? "FREE" : "ALLOC";
}

static void memory_put(struct out_sink *sink, const struct memory *memory)
{
    struct rocpd_info *info = &sink->info;
    int64_t agent = rocpd_agent(info, memory->node);
    const struct rocpd_value number = ROCPD_INTEGER(agent), nothing = ROCPD_NOTHING;
    const struct rocpd_value values[] = {ROCPD_INTEGER(info->node),
                                         ROCPD_INTEGER(info->process),
                                         ROCPD_INTEGER(rocpd_thread(info, memory->thread_id)),
                                         agent == BATCH_NULL ? nothing : number,
                                         ROCPD_TEXT(memory_type(memory->operation)),
                                         ROCPD_TEXT(memory->level),
                                         ROCPD_INTEGER(memory->start_ns),
                                         ROCPD_INTEGER(memory->end_ns),
                                         memory->address,
                                         ROCPD_INTEGER(memory->bytes),
                                         ROCPD_INTEGER(rocpd_queue(info, memory->queue_id)),
                                         ROCPD_INTEGER(rocpd_stream(info, 0)),
                                         ROCPD_INTEGER(memory->event),
                                         ROCPD_TEXT(memory->extdata)};
    rocpd_base_insert(&sink->base, ROCPD_ALLOCATE, values);
}

static void allocation_put(struct out_sink *sink, const struct out_allocation_row *row)
{
    const char *operation = row->operation ? row->operation : "";
    const struct memory memory = {
        .operation = operation,
        .level = strstr(operation, "VMEM") ? "VIRTUAL" : "REAL",
        .extdata = "{}",
        .node = row->node,
        .thread_id = row->thread_id,
        .start_ns = row->start_ns,
        .end_ns = row->end_ns,
        .bytes = row->bytes,
        .address = ROCPD_INTEGER(row->address),
        .event = event_put(sink, row->kind, row->correlation_id, row->parent_id, row->external_id)};
    memory_put(sink, &memory);
}

static void scratch_put(struct out_sink *sink, const struct out_scratch_row *row)
{
    char flags[64];
    snprintf(flags, sizeof flags, "{\"flags\":\"%llu\"}", (unsigned long long)row->flags);
    const struct memory memory = {
        .operation = row->operation ? row->operation : "",
        .level = "SCRATCH",
        .extdata = flags,
        .node = row->node,
        .queue_id = row->queue_id,
        .thread_id = row->thread_id,
        .start_ns = row->start_ns,
        .end_ns = row->end_ns,
        .bytes = row->bytes,
        .event = event_put(sink, row->kind, row->correlation_id, row->parent_id, row->external_id)};
    memory_put(sink, &memory);
}

/* Numbers as texts, and -1 for no agent: as others who read these events expect them. */
static int64_t kfd_event_put(struct out_sink *sink, const struct out_kfd_row *row)
{
    char extdata[640], agents[OUT_KFD_AGENTS][24];
    for (int i = 0; i < OUT_KFD_AGENTS; i++)
        snprintf(agents[i], sizeof agents[i], "%lld",
                 row->nodes[i] == OUT_NO_AGENT ? -1ll : (long long)row->nodes[i]);
    snprintf(extdata, sizeof extdata,
             "{\"kfd\":{\"agent_id\":\"%s\",\"src_agent_id\":\"%s\",\"dst_agent_id\":\"%s\","
             "\"prefetch_agent_id\":\"%s\",\"preferred_agent_id\":\"%s\",\"address\":\"%llu\","
             "\"start_address\":\"%llu\",\"end_address\":\"%llu\",\"count\":\"%llu\","
             "\"error_code\":\"%d\"}}",
             agents[OUT_KFD_AGENT], agents[OUT_KFD_SOURCE], agents[OUT_KFD_DESTINATION],
             agents[OUT_KFD_PREFETCH], agents[OUT_KFD_PREFERRED],
             (unsigned long long)row->start_address, (unsigned long long)row->start_address,
             (unsigned long long)row->end_address, (unsigned long long)row->count,
             (int)row->error_code);
    const struct rocpd_value values[] = {ROCPD_INTEGER(rocpd_text(&sink->info, row->kind)),
                                         ROCPD_TEXT(extdata)};
    rocpd_base_flush(&sink->base, ROCPD_EVENT); /* those before have the numbers before */
    rocpd_base_insert(&sink->base, ROCPD_KFD_EVENT, values);
    return ++sink->events;
}

/* A span of the thread that made the call: what columns schema 3.0.4 has for it is not known. The
 * rest is said as the driver's events say theirs. */
static void hip_event_put(struct out_sink *sink, const struct out_event_row *row)
{
    struct rocpd_info *info = &sink->info;
    char extdata[256];
    snprintf(extdata, sizeof extdata,
             "{\"hip_event\":{\"agent_id\":\"%lld\",\"queue_id\":\"%llu\","
             "\"source_queue_id\":\"%llu\",\"hip_event_handle\":\"%llu\"}}",
             row->node == OUT_NO_AGENT ? -1ll : (long long)row->node,
             (unsigned long long)row->queue_id, (unsigned long long)row->source_queue_id,
             (unsigned long long)row->event);
    const struct rocpd_value event[] = {ROCPD_INTEGER(rocpd_text(info, row->kind)),
                                        ROCPD_INTEGER(row->correlation_id), ROCPD_INTEGER(0),
                                        ROCPD_INTEGER(row->external_id), ROCPD_TEXT(extdata)};
    rocpd_base_flush(&sink->base, ROCPD_EVENT); /* those before have the numbers before */
    rocpd_base_insert(&sink->base, ROCPD_HIP_EVENT, event);
    const int64_t values[] = {info->node,
                              info->process,
                              rocpd_thread(info, row->thread_id),
                              (int64_t)row->start_ns,
                              (int64_t)row->end_ns,
                              rocpd_text(info, row->operation ? row->operation : ""),
                              ++sink->events};
    rocpd_base_put(&sink->base, ROCPD_REGION, values);
}

static void kfd_put(struct out_sink *sink, const struct out_kfd_row *row)
{
    struct rocpd_info *info = &sink->info;
    const int64_t values[] = {info->node,
                              info->process,
                              rocpd_thread(info, (uint64_t)info->process),
                              (int64_t)row->start_ns,
                              (int64_t)row->end_ns,
                              rocpd_text(info, row->operation),
                              kfd_event_put(sink, row)};
    rocpd_base_put(&sink->base, ROCPD_REGION, values);
}

static void graph_put(struct out_sink *sink, const struct out_graph_row *row)
{
    rocpd_base_flush(&sink->base, ROCPD_EVENT); /* those before have the numbers before */
    rocpd_graph_event_put(&sink->info, row);
    rocpd_graph_put(&sink->info, ++sink->events, row);
    sink->has_graphs = true;
}

static void rocpd_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    switch (table) {
    case OUT_HIP_API:
    case OUT_HSA_API:
    case OUT_MARKER_API:
    case OUT_RCCL_API:
    case OUT_ROCDECODE_API:
    case OUT_ROCJPEG_API:
    case OUT_HIPFILE_API:
    case OUT_ROCSHMEM_API:
    case OUT_OMPT:
        api_put(sink, row);
        break;
    case OUT_KERNEL_TRACE:
        kernel_put(sink, row);
        break;
    case OUT_COUNTER_COLLECTION:
        counter_put(sink, row);
        break;
    case OUT_MEMORY_COPY:
        copy_put(sink, row);
        break;
    case OUT_MEMORY_ALLOCATION:
        allocation_put(sink, row);
        break;
    case OUT_SCRATCH_MEMORY:
        scratch_put(sink, row);
        break;
    case OUT_KFD:
        kfd_put(sink, row);
        break;
    case OUT_GRAPH_LAUNCH:
        graph_put(sink, row);
        break;
    case OUT_HIP_EVENT:
        hip_event_put(sink, row);
        break;
    case OUT_AGENT_INFO:
        rocpd_agent_describe(&sink->info, row);
        break;
    default: /* statistics: the views compute them */
        break;
    }
    rocpd_base_commit(&sink->base);
}

static void rocpd_flush(struct out_sink *sink)
{
    rocpd_base_commit_now(&sink->base);
}

static int rocpd_close(struct out_sink *sink, char *error, size_t error_size)
{
    rocpd_info_end(&sink->info);
    rocpd_base_close(&sink->base);
    if (sink->has_graphs)
        rocpd_graphs_finish(&sink->base);
    int status = rocpd_base_status(&sink->base, error, error_size);
    free(sink);
    return status;
}

const struct out_ops out_rocpd_ops = {"rocpd",     rocpd_open, rocpd_row, rocpd_close,
                                      rocpd_flush, false,      false,     true};
