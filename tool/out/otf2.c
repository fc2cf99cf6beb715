/*
 * <prefix>_results.otf2 with .def and a directory of locations: an archive for the viewers of
 * Score-P's family. Rows become events, which are sorted and written at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "otf2/archive.h"
#include "out.h"
#include "place.h"
#include "writer.h"

struct out_sink {
    const struct otf2_library *library;
    struct trace trace;
    char stem[PATH_MAX];      /* "<prefix>_results" */
    char part[PATH_MAX + 16]; /* the directory that it is made in */
};

/* What an archive consists of, by the ends of their names. */
static const char *const ends[] = {".def", "", ".otf2"};
enum { ENDS = sizeof ends / sizeof ends[0] };

static int error_set(char *error, size_t error_size, const char *path, int status)
{
    snprintf(error, error_size, "%s: %s", path, strerror(-status));
    return status;
}

static void made_tell(const char *path)
{
    if (writer_file_made)
        writer_file_made(path);
}

/* The prefix is ours when we have made the directory, and none of the other names is there. */
static int prefix_claim(struct out_sink *sink, char *error, size_t error_size)
{
    char path[PATH_MAX + 16];
    struct stat there;
    if (mkdir(sink->part, 0777) != 0)
        return error_set(error, error_size, sink->part, -errno);
    made_tell(sink->part);
    for (int i = 0; i < ENDS; i++) {
        snprintf(path, sizeof path, "%s%s", sink->stem, ends[i]);
        if (lstat(path, &there) != 0)
            continue;
        rmdir(sink->part);
        return error_set(error, error_size, path, -EEXIST);
    }
    return 0;
}

static int otf2_open(const char *prefix, struct out_sink **result, char *error, size_t error_size)
{
    struct out_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        snprintf(error, error_size, "out of memory");
        return -ENOMEM;
    }
    int status = -ENOENT;
    sink->library = otf2_library_get(error, error_size);
    if (sink->library) {
        int length = snprintf(sink->stem, sizeof sink->stem, "%s_results", prefix);
        snprintf(sink->part, sizeof sink->part, "%s.part", sink->stem);
        status = length > 0 && (size_t)length < sizeof sink->stem
                     ? prefix_claim(sink, error, error_size)
                     : error_set(error, error_size, prefix, -ENAMETOOLONG);
    }
    if (status != 0) {
        free(sink);
        return status;
    }
    trace_open(&sink->trace, sink->part);
    *result = sink;
    return 0;
}

/* Names that nobody knows are NULL in rows. */
static const char *name_of(const char *name)
{
    return name ? name : "unknown";
}

static void api_put(struct trace *trace, enum trace_kind kind, const struct out_api_row *row)
{
    /* Ranges that were started and stopped need not nest in calls. */
    enum trace_place place = kind == TRACE_MARKER ? TRACE_MARKERS : TRACE_THREAD;
    const struct event event = {.begin_ns = row->start_ns,
                                .end_ns = row->end_ns,
                                .correlation_id = row->correlation_id,
                                .location =
                                    trace_location(trace, place, TRACE_NO_NODE, row->thread_id),
                                .what = trace_region(trace, kind, name_of(row->function))};
    trace_event(trace, &event);
}

static void kernel_put(struct trace *trace, const struct out_dispatch_row *row)
{
    const struct event event = {
        .begin_ns = row->start_ns,
        .end_ns = row->end_ns,
        .correlation_id = row->correlation_id,
        .value = row->dispatch_id,
        .modelled_ns = row->modelled_ns,
        .location = trace_location(trace, TRACE_QUEUE, row->node, row->queue_id),
        .what = trace_region(trace, TRACE_KERNEL, name_of(row->kernel_name))};
    trace_event(trace, &event);
}

static void counter_put(struct trace *trace, const struct out_counter_row *row)
{
    const struct out_dispatch_row *dispatch = &row->dispatch;
    const char *description = row->counter ? row->counter->description : "";
    struct event event = {
        .begin_ns = dispatch->end_ns,
        .end_ns = dispatch->end_ns,
        .correlation_id = dispatch->correlation_id,
        .location = trace_location(trace, TRACE_QUEUE, dispatch->node, dispatch->queue_id),
        .what = TRACE_METRIC | trace_metric(trace, name_of(row->counter_name), description)};
    memcpy(&event.value, &row->counter_value, sizeof event.value);
    trace_event(trace, &event);
}

static void copy_put(struct trace *trace, const struct out_copy_row *row)
{
    const struct event event = {.begin_ns = row->start_ns,
                                .end_ns = row->end_ns,
                                .correlation_id = row->correlation_id,
                                .value = row->bytes,
                                .location =
                                    trace_location(trace, TRACE_COPIES, row->destination_node, 0),
                                .what = trace_region(trace, TRACE_COPY, name_of(row->direction))};
    trace_event(trace, &event);
}

static void allocation_put(struct trace *trace, const struct out_allocation_row *row)
{
    const struct event event = {.begin_ns = row->start_ns,
                                .end_ns = row->end_ns,
                                .correlation_id = row->correlation_id,
                                .value = row->bytes,
                                .location = trace_location(trace, TRACE_MEMORY, row->node, 0),
                                .what =
                                    trace_region(trace, TRACE_ALLOCATION, name_of(row->operation))};
    trace_event(trace, &event);
}

static void scratch_put(struct trace *trace, const struct out_scratch_row *row)
{
    const struct event event = {.begin_ns = row->start_ns,
                                .end_ns = row->end_ns,
                                .correlation_id = row->correlation_id,
                                .value = row->bytes,
                                .location = trace_location(trace, TRACE_MEMORY, row->node, 0),
                                .what =
                                    trace_region(trace, TRACE_SCRATCH, name_of(row->operation))};
    trace_event(trace, &event);
}

static void kfd_put(struct trace *trace, const struct out_kfd_row *row)
{
    const struct event event = {.begin_ns = row->start_ns,
                                .end_ns = row->end_ns,
                                .location = trace_location(trace, TRACE_DRIVER, TRACE_NO_NODE, 0),
                                .what = trace_region(trace, TRACE_KFD, name_of(row->operation))};
    trace_event(trace, &event);
}

static void hip_event_put(struct trace *trace, const struct out_event_row *row)
{
    const struct event event = {.begin_ns = row->start_ns,
                                .end_ns = row->end_ns,
                                .correlation_id = row->correlation_id,
                                .value = row->event,
                                .location =
                                    trace_location(trace, TRACE_EVENTS, row->node, row->queue_id),
                                .what = trace_region(trace, TRACE_EVENT, name_of(row->operation))};
    trace_event(trace, &event);
}

static void otf2_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    static const struct {
        enum out_table_id table;
        enum trace_kind kind;
    } calls[] = {{OUT_HIP_API, TRACE_HIP},
                 {OUT_HSA_API, TRACE_HSA},
                 {OUT_MARKER_API, TRACE_MARKER},
                 {OUT_RCCL_API, TRACE_RCCL},
                 {OUT_ROCDECODE_API, TRACE_ROCDECODE},
                 {OUT_ROCJPEG_API, TRACE_ROCJPEG},
                 {OUT_HIPFILE_API, TRACE_HIPFILE},
                 {OUT_ROCSHMEM_API, TRACE_ROCSHMEM},
                 {OUT_OMPT, TRACE_OMPT}};
    struct trace *trace = &sink->trace;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i].table == table)
            api_put(trace, calls[i].kind, row);
    const struct out_agent_row *agent = row;
    if (table == OUT_KERNEL_TRACE)
        kernel_put(trace, row);
    else if (table == OUT_COUNTER_COLLECTION)
        counter_put(trace, row);
    else if (table == OUT_MEMORY_COPY)
        copy_put(trace, row);
    else if (table == OUT_MEMORY_ALLOCATION)
        allocation_put(trace, row);
    else if (table == OUT_SCRATCH_MEMORY)
        scratch_put(trace, row);
    else if (table == OUT_KFD)
        kfd_put(trace, row);
    else if (table == OUT_HIP_EVENT)
        hip_event_put(trace, row);
    else if (table == OUT_AGENT_INFO)
        trace_agent(trace, agent->agent.node_id, agent->agent.name, agent->times);
}

/* Gives what was made its name; what has that name already stays. */
static int move(const char *from, const char *to)
{
    struct stat there;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    if (lstat(to, &there) == 0) /* a file system that cannot look and rename at once */
        return -EEXIST;
    return rename(from, to) == 0 ? 0 : -errno;
}

static int parts_move(const struct out_sink *sink, const char *name, char *error, size_t error_size)
{
    char from[2 * PATH_MAX], to[PATH_MAX + 16];
    for (int i = 0; i < ENDS; i++) { /* the file that readers open is the last one */
        snprintf(from, sizeof from, "%s/%s%s", sink->part, name, ends[i]);
        snprintf(to, sizeof to, "%s%s", sink->stem, ends[i]);
        int status = move(from, to);
        if (status != 0 && !(status == -ENOENT && !*ends[i])) /* no events, no locations */
            return error_set(error, error_size, to, status);
        if (status == 0)
            made_tell(to);
    }
    return 0;
}

static int otf2_close(struct out_sink *sink, char *error, size_t error_size)
{
    char message[256];
    const char *slash = strrchr(sink->stem, '/'), *name = slash ? slash + 1 : sink->stem;
    int status =
        archive_write(sink->library, sink->part, name, &sink->trace, message, sizeof message);
    if (status != 0)
        snprintf(error, error_size, "%s.otf2: %s", sink->stem, message);
    else
        status = parts_move(sink, name, error, error_size);
    place_tree_remove(sink->part);
    trace_close(&sink->trace);
    free(sink);
    return status;
}

const struct out_ops out_otf2_ops = {"otf2", otf2_open, otf2_row, otf2_close,
                                     NULL,   false,     true,     false};
