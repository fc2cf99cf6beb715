/*
 * <prefix>_results.pftrace, for ui.perfetto.dev: calls on their threads, kernels on their queues,
 * copies by their destination, markers on tracks of their own; arrows from calls to what they
 * caused. Counter values and statistics are in the other formats.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/numbered.h"
#include "out.h"
#include "perfetto/lanes.h"
#include "perfetto/perfetto.h"
#include "process.h"

struct device_track {
    struct lanes lanes;
    char name[64];
};

struct out_sink {
    struct perfetto *trace;
    char path[PATH_MAX];
    perfetto_track process;
    struct numbered threads; /* perfetto_track by thread id */
    struct numbered queues;  /* struct device_track by agent and queue */
    struct numbered copies;  /* struct device_track by destination */
    struct lanes markers;
    perfetto_text bytes, dispatch_id;
};

/* A recorded process is called as its command was, without directories. */
static perfetto_track process_track(struct perfetto *trace)
{
    const struct out_process *recorded = out_process();
    char name[64];
    if (!recorded)
        return perfetto_process(trace, (uint32_t)getpid(), program_invocation_short_name);
    size_t length = strcspn(recorded->command, " ");
    const char *from = recorded->command;
    for (size_t i = 0; i < length; i++)
        from = recorded->command[i] == '/' ? recorded->command + i + 1 : from;
    snprintf(name, sizeof name, "%.*s", (int)(recorded->command + length - from), from);
    return perfetto_process(trace, (uint32_t)recorded->pid, name);
}

static int pftrace_open(const char *prefix, struct out_sink **result, char *error,
                        size_t error_size)
{
    int status = -ENAMETOOLONG;
    struct out_sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return -ENOMEM;
    int length = snprintf(sink->path, sizeof sink->path, "%s_results.pftrace", prefix);
    if (length > 0 && (size_t)length < sizeof sink->path)
        sink->trace = perfetto_create(sink->path, &status);
    if (!sink->trace) {
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-status));
        free(sink);
        return status;
    }
    sink->threads.element_bytes = sizeof(perfetto_track);
    sink->queues.element_bytes = sink->copies.element_bytes = sizeof(struct device_track);
    sink->process = process_track(sink->trace);
    sink->markers = (struct lanes){.parent = sink->process, .name = "markers"};
    sink->bytes = perfetto_note_name(sink->trace, "size_bytes");
    sink->dispatch_id = perfetto_note_name(sink->trace, "dispatch_id");
    *result = sink;
    return 0;
}

/* Names that nobody knows are NULL in rows. */
static perfetto_text name_of(struct out_sink *sink, const char *name)
{
    return perfetto_name(sink->trace, name ? name : "unknown");
}

static perfetto_track thread_get(struct out_sink *sink, const struct out_api_row *row)
{
    bool is_new;
    perfetto_track *track = numbered_get(&sink->threads, row->thread_id, &is_new);
    if (track && is_new)
        *track =
            perfetto_thread(sink->trace, (uint32_t)row->process_id, (uint32_t)row->thread_id, NULL);
    return track ? *track : sink->process;
}

static perfetto_track device_lane(struct out_sink *sink, struct numbered *devices, uint64_t key,
                                  const char *name, uint64_t begin_ns, uint64_t end_ns)
{
    bool is_new;
    struct device_track *device = numbered_get(devices, key, &is_new);
    if (!device)
        return sink->process;
    if (is_new) {
        snprintf(device->name, sizeof device->name, "%s", name);
        device->lanes = (struct lanes){.parent = sink->process, .name = device->name};
    }
    return lanes_track(&device->lanes, sink->trace, begin_ns, end_ns);
}

static void call_put(struct out_sink *sink, const struct out_api_row *row)
{
    const struct perfetto_event event = {
        .track = thread_get(sink, row),
        .name = name_of(sink, row->function),
        .category = perfetto_category(sink->trace, row->domain ? row->domain : "api"),
        .begin_ns = row->start_ns,
        .end_ns = row->end_ns,
        .flow_id = row->correlation_id};
    perfetto_slice(sink->trace, &event);
}

/* Ranges of one thread nest, but those that were started and stopped need not. */
static void marker_put(struct out_sink *sink, const struct out_api_row *row)
{
    struct perfetto_event event = {.name = name_of(sink, row->function),
                                   .category = perfetto_category(sink->trace, "marker"),
                                   .begin_ns = row->start_ns,
                                   .end_ns = row->end_ns};
    event.track = lanes_track(&sink->markers, sink->trace, row->start_ns, row->end_ns);
    if (row->start_ns == row->end_ns)
        perfetto_instant(sink->trace, &event);
    else
        perfetto_slice(sink->trace, &event);
}

static void dispatch_put(struct out_sink *sink, const struct out_dispatch_row *row)
{
    char name[64];
    const struct perfetto_note note = {.name = sink->dispatch_id, .number = row->dispatch_id};
    struct perfetto_event event = {.name = name_of(sink, row->kernel_name),
                                   .category = perfetto_category(sink->trace, "kernel"),
                                   .begin_ns = row->start_ns,
                                   .end_ns = row->end_ns,
                                   .flow_id = row->correlation_id,
                                   .notes = &note,
                                   .note_count = 1};
    snprintf(name, sizeof name, "Agent %llu queue %llu", (unsigned long long)row->agent,
             (unsigned long long)row->queue_id);
    event.track = device_lane(sink, &sink->queues, row->agent << 48 ^ row->queue_id, name,
                              row->start_ns, row->end_ns);
    perfetto_slice(sink->trace, &event);
}

static void copy_put(struct out_sink *sink, const struct out_copy_row *row)
{
    char name[64] = "Copies";
    const struct perfetto_note note = {.name = sink->bytes, .number = row->bytes};
    struct perfetto_event event = {.name = name_of(sink, row->direction),
                                   .category = perfetto_category(sink->trace, "copy"),
                                   .begin_ns = row->start_ns,
                                   .end_ns = row->end_ns,
                                   .flow_id = row->correlation_id,
                                   .notes = &note,
                                   .note_count = 1};
    if (row->destination_agent != OUT_NO_AGENT)
        snprintf(name, sizeof name, "Copies to agent %llu",
                 (unsigned long long)row->destination_agent);
    event.track =
        device_lane(sink, &sink->copies, row->destination_agent, name, row->start_ns, row->end_ns);
    perfetto_slice(sink->trace, &event);
}

static void pftrace_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    switch (table) {
    case OUT_HIP_API:
    case OUT_HSA_API:
        call_put(sink, row);
        return;
    case OUT_MARKER_API:
        marker_put(sink, row);
        return;
    case OUT_KERNEL_TRACE:
        dispatch_put(sink, row);
        return;
    case OUT_MEMORY_COPY:
        copy_put(sink, row);
        return;
    default:
        return;
    }
}

static void device_free(void *element)
{
    lanes_free(&((struct device_track *)element)->lanes);
}

static int pftrace_close(struct out_sink *sink, char *error, size_t error_size)
{
    numbered_each(&sink->queues, device_free);
    numbered_each(&sink->copies, device_free);
    numbered_free(&sink->threads);
    numbered_free(&sink->queues);
    numbered_free(&sink->copies);
    lanes_free(&sink->markers);
    int status = perfetto_close(sink->trace);
    if (status != 0)
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-status));
    free(sink);
    return status;
}

const struct out_ops out_pftrace_ops = {"pftrace", pftrace_open, pftrace_row, pftrace_close, false};
