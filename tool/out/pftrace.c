/*
 * <prefix>_results.pftrace, for ui.perfetto.dev: calls on their threads, kernels on their queues,
 * copies by their destination, allocations, markers and the driver's events on tracks of their own;
 * arrows from calls to what they caused; tracks of counters and of memory.
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
#include "pftrace_counters.h"
#include "process.h"

struct device_track {
    struct lanes lanes;
    char name[64];
};

/* What is shown with a kernel: name, member of its row. */
static const struct {
    const char *name;
    uint16_t offset;
} kernel_notes[] = {
    {"dispatch_id", offsetof(struct out_dispatch_row, dispatch_id)},
    {"kernel_id", offsetof(struct out_dispatch_row, kernel_id)},
    {"stream_id", offsetof(struct out_dispatch_row, stream_id)},
    {"grid_size_x", offsetof(struct out_dispatch_row, grid[0])},
    {"grid_size_y", offsetof(struct out_dispatch_row, grid[1])},
    {"grid_size_z", offsetof(struct out_dispatch_row, grid[2])},
    {"workgroup_size_x", offsetof(struct out_dispatch_row, workgroup[0])},
    {"workgroup_size_y", offsetof(struct out_dispatch_row, workgroup[1])},
    {"workgroup_size_z", offsetof(struct out_dispatch_row, workgroup[2])},
    {"lds_bytes", offsetof(struct out_dispatch_row, lds_bytes)},
    {"scratch_bytes", offsetof(struct out_dispatch_row, scratch_bytes)},
    {"modelled_ns", offsetof(struct out_dispatch_row, modelled_ns)}, /* where the device has it */
};
enum { KERNEL_NOTES = sizeof kernel_notes / sizeof kernel_notes[0] };

/* The tracks of a process: numbers of threads, queues and calls are its own. */
struct tracks {
    struct tracks *next;
    const struct out_process *of;
    uint64_t flows; /* tells its arrows from those of others */
    perfetto_track process;
    struct numbered threads; /* perfetto_track by thread id */
    struct numbered queues;  /* struct device_track by agent and queue */
    struct numbered copies;  /* struct device_track by destination */
    struct numbered events;  /* of HIP: struct device_track by agent and queue */
    struct lanes markers, memory, scratch, driver;
    struct pftrace_counters counters;
    uint32_t pid;
    char devices[1024]; /* what they are, and what they say of their times */
};

struct out_sink {
    struct perfetto *trace;
    char path[PATH_MAX];
    struct tracks *all, *now; /* now: of whose rows come */
    perfetto_text bytes, source_queue, handle;
    perfetto_text kernel_notes[KERNEL_NOTES];
};

/* A recorded process is called as its command was, without directories. */
static perfetto_track process_track(struct perfetto *trace, uint32_t *pid)
{
    const struct out_process *recorded = out_process();
    char name[64];
    *pid = (uint32_t)(recorded ? recorded->pid : (uint64_t)getpid());
    if (!recorded)
        return perfetto_process(trace, *pid, program_invocation_short_name);
    size_t length = strcspn(recorded->command, " ");
    const char *from = recorded->command;
    for (size_t i = 0; i < length; i++)
        from = recorded->command[i] == '/' ? recorded->command + i + 1 : from;
    snprintf(name, sizeof name, "%.*s", (int)(recorded->command + length - from), from);
    return perfetto_process(trace, *pid, name);
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
    sink->bytes = perfetto_note_name(sink->trace, "size_bytes");
    sink->source_queue = perfetto_note_name(sink->trace, "source_queue_id");
    sink->handle = perfetto_note_name(sink->trace, "hip_event_handle");
    for (int i = 0; i < KERNEL_NOTES; i++)
        sink->kernel_notes[i] = perfetto_note_name(sink->trace, kernel_notes[i].name);
    *result = sink;
    return 0;
}

static struct tracks *tracks_make(struct out_sink *sink)
{
    enum { FLOW_BITS = 48 }; /* of correlation ids */
    struct tracks *tracks = calloc(1, sizeof *tracks);
    if (!tracks)
        return NULL;
    tracks->of = out_process();
    tracks->threads.element_bytes = sizeof(perfetto_track);
    tracks->queues.element_bytes = tracks->copies.element_bytes = tracks->events.element_bytes =
        sizeof(struct device_track);
    tracks->process = process_track(sink->trace, &tracks->pid);
    tracks->markers = (struct lanes){.parent = tracks->process, .name = "markers"};
    tracks->memory = (struct lanes){.parent = tracks->process, .name = "memory"};
    tracks->scratch = (struct lanes){.parent = tracks->process, .name = "scratch memory"};
    tracks->driver = (struct lanes){.parent = tracks->process, .name = "driver"};
    pftrace_counters_open(&tracks->counters, sink->trace, tracks->process);
    tracks->flows = sink->all ? sink->all->flows + (1ull << FLOW_BITS) : 0;
    tracks->next = sink->all;
    sink->all = tracks;
    return tracks;
}

/* Turns to the tracks of whose rows come. False: no memory. */
static bool tracks_turn(struct out_sink *sink)
{
    const struct out_process *now = out_process();
    if (sink->now && sink->now->of == now)
        return true;
    struct tracks *tracks = sink->all;
    while (tracks && tracks->of != now)
        tracks = tracks->next;
    sink->now = tracks ? tracks : tracks_make(sink);
    return sink->now != NULL;
}

/* Names that nobody knows are NULL in rows. */
static perfetto_text name_of(struct out_sink *sink, const char *name)
{
    return perfetto_name(sink->trace, name ? name : "unknown");
}

static perfetto_track thread_get(struct out_sink *sink, const struct out_api_row *row)
{
    bool is_new;
    perfetto_track *track = numbered_get(&sink->now->threads, row->thread_id, &is_new);
    if (track && is_new) {
        char name[THREAD_NAME_BYTES];
        out_thread_name(row->thread_id, name);
        *track = perfetto_thread(sink->trace, sink->now->process, (uint32_t)row->process_id,
                                 (uint32_t)row->thread_id, *name ? name : NULL);
    }
    return track ? *track : sink->now->process;
}

/* An arrow's number; 0 is none. */
static uint64_t flow_of(const struct out_sink *sink, uint64_t correlation_id)
{
    return correlation_id ? correlation_id + sink->now->flows : 0;
}

/* "Agent 1", or among those of its type "GPU 0". */
static void agent_text(uint64_t agent, const char *word, char *text, size_t size)
{
    if (agent != OUT_NO_AGENT && agent & (OUT_AGENT_CPU | OUT_AGENT_GPU)) {
        word = agent & OUT_AGENT_GPU ? "GPU" : "CPU";
        agent = (uint32_t)agent;
    }
    snprintf(text, size, "%s %llu", word, (unsigned long long)agent);
}

/* NULL: no memory. *is_new: it has no name yet. */
static struct device_track *device_get(struct out_sink *sink, struct numbered *devices,
                                       uint64_t key, bool *is_new)
{
    struct device_track *device = numbered_get(devices, key, is_new);
    if (device && *is_new)
        device->lanes = (struct lanes){.parent = sink->now->process, .name = device->name};
    return device;
}

static struct lanes *queue_lanes(struct out_sink *sink, struct numbered *queues, uint64_t agent,
                                 uint64_t queue_id)
{
    bool is_new;
    char text[32];
    struct device_track *queue = device_get(sink, queues, agent << 48 ^ queue_id, &is_new);
    if (queue && is_new) {
        agent_text(agent, "Agent", text, sizeof text);
        snprintf(queue->name, sizeof queue->name, "%s queue %llu%s", text,
                 (unsigned long long)queue_id, queues == &sink->now->events ? " events" : "");
    }
    return queue ? &queue->lanes : NULL;
}

static perfetto_track queue_lane(struct out_sink *sink, const struct out_dispatch_row *row)
{
    struct lanes *lanes = queue_lanes(sink, &sink->now->queues, row->agent, row->queue_id);
    return lanes ? lanes_track(lanes, sink->trace, row->start_ns, row->end_ns) : sink->now->process;
}

static perfetto_track copy_lane(struct out_sink *sink, const struct out_copy_row *row)
{
    bool is_new;
    char text[32];
    struct device_track *copies =
        device_get(sink, &sink->now->copies, row->destination_agent, &is_new);
    if (!copies)
        return sink->now->process;
    if (is_new && row->destination_agent == OUT_NO_AGENT)
        snprintf(copies->name, sizeof copies->name, "Copies");
    else if (is_new) {
        agent_text(row->destination_agent, "agent", text, sizeof text);
        snprintf(copies->name, sizeof copies->name, "Copies to %s", text);
    }
    return lanes_track(&copies->lanes, sink->trace, row->start_ns, row->end_ns);
}

static void call_put(struct out_sink *sink, const char *category, const struct out_api_row *row)
{
    const struct perfetto_event event = {.track = thread_get(sink, row),
                                         .name = name_of(sink, row->function),
                                         .category = perfetto_category(sink->trace, category),
                                         .begin_ns = row->start_ns,
                                         .end_ns = row->end_ns,
                                         .flow_id = flow_of(sink, row->correlation_id)};
    perfetto_slice(sink->trace, &event);
}

/* Ranges of one thread nest, but those that were started and stopped need not. */
static void marker_put(struct out_sink *sink, const struct out_api_row *row)
{
    struct perfetto_event event = {.name = name_of(sink, row->function),
                                   .category = perfetto_category(sink->trace, "marker_api"),
                                   .begin_ns = row->start_ns,
                                   .end_ns = row->end_ns};
    event.track = lanes_track(&sink->now->markers, sink->trace, row->start_ns, row->end_ns);
    if (row->start_ns == row->end_ns)
        perfetto_instant(sink->trace, &event);
    else
        perfetto_slice(sink->trace, &event);
}

static void dispatch_put(struct out_sink *sink, const struct out_dispatch_row *row)
{
    struct perfetto_note notes[KERNEL_NOTES];
    struct perfetto_event event = {.name = name_of(sink, row->kernel_name),
                                   .category = perfetto_category(sink->trace, "kernel_dispatch"),
                                   .begin_ns = row->start_ns,
                                   .end_ns = row->end_ns,
                                   .flow_id = flow_of(sink, row->correlation_id),
                                   .notes = notes,
                                   .note_count = KERNEL_NOTES - (row->modelled_ns == 0)};
    for (int i = 0; i < KERNEL_NOTES; i++) {
        notes[i] = (struct perfetto_note){.name = sink->kernel_notes[i]};
        memcpy(&notes[i].number, (const char *)row + kernel_notes[i].offset,
               sizeof notes[i].number);
    }
    event.track = queue_lane(sink, row);
    perfetto_slice(sink->trace, &event);
}

static void copy_put(struct out_sink *sink, const struct out_copy_row *row)
{
    const struct perfetto_note note = {.name = sink->bytes, .number = row->bytes};
    struct perfetto_event event = {.name = name_of(sink, row->direction),
                                   .category = perfetto_category(sink->trace, "memory_copy"),
                                   .begin_ns = row->start_ns,
                                   .end_ns = row->end_ns,
                                   .flow_id = flow_of(sink, row->correlation_id),
                                   .notes = &note,
                                   .note_count = 1};
    event.track = copy_lane(sink, row);
    perfetto_slice(sink->trace, &event);
    pftrace_counters_copy(&sink->now->counters, row);
}

/* Beside the queue's kernels, which a wait may reach into. */
static void hip_event_put(struct out_sink *sink, const struct out_event_row *row)
{
    struct lanes *lanes = queue_lanes(sink, &sink->now->events, row->agent, row->queue_id);
    const struct perfetto_note notes[] = {
        {.name = sink->source_queue, .number = row->source_queue_id},
        {.name = sink->handle, .number = row->event}};
    struct perfetto_event event = {.name = name_of(sink, row->operation),
                                   .category = perfetto_category(sink->trace, "hip_event"),
                                   .begin_ns = row->start_ns,
                                   .end_ns = row->end_ns,
                                   .flow_id = flow_of(sink, row->correlation_id),
                                   .notes = notes,
                                   .note_count = 2};
    event.track =
        lanes ? lanes_track(lanes, sink->trace, row->start_ns, row->end_ns) : sink->now->process;
    perfetto_slice(sink->trace, &event);
}

/* What has a track for its kind alone, with the bytes that it is about. */
static void other_put(struct out_sink *sink, struct lanes *lanes, const char *category,
                      struct perfetto_event *event, uint64_t bytes)
{
    const struct perfetto_note note = {.name = sink->bytes, .number = bytes};
    event->category = perfetto_category(sink->trace, category);
    event->notes = &note;
    event->note_count = 1;
    event->track = lanes_track(lanes, sink->trace, event->begin_ns, event->end_ns);
    if (event->begin_ns == event->end_ns)
        perfetto_instant(sink->trace, event);
    else
        perfetto_slice(sink->trace, event);
}

static void allocation_put(struct out_sink *sink, const struct out_allocation_row *row)
{
    struct perfetto_event event = {
        .name = name_of(sink, row->operation), .begin_ns = row->start_ns, .end_ns = row->end_ns};
    other_put(sink, &sink->now->memory, "memory_allocation", &event, row->bytes);
    pftrace_counters_allocation(&sink->now->counters, row);
}

static void scratch_put(struct out_sink *sink, const struct out_scratch_row *row)
{
    struct perfetto_event event = {
        .name = name_of(sink, row->operation), .begin_ns = row->start_ns, .end_ns = row->end_ns};
    other_put(sink, &sink->now->scratch, "scratch_memory", &event, row->bytes);
}

static void kfd_put(struct out_sink *sink, const struct out_kfd_row *row)
{
    struct perfetto_event event = {
        .name = name_of(sink, row->operation), .begin_ns = row->start_ns, .end_ns = row->end_ns};
    other_put(sink, &sink->now->driver, "kfd", &event, row->end_address - row->start_address);
}

/* The process says which device its times are of: a label, which Perfetto shows beside its name. */
static void agent_put(struct out_sink *sink, const struct out_agent_row *row)
{
    char text[512];
    size_t used = strlen(sink->now->devices);
    if (strcmp(row->type, "GPU") != 0)
        return;
    out_device_text(row, text, sizeof text);
    if (used + strlen(text) + 3 > sizeof sink->now->devices)
        return; /* those that fit */
    snprintf(sink->now->devices + used, sizeof sink->now->devices - used, "%s%s", used ? "; " : "",
             text);
    perfetto_process_label(sink->trace, sink->now->process, sink->now->pid, sink->now->devices);
}

static void pftrace_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    static const char *const categories[OUT_TABLE_COUNT] = {
        [OUT_HIP_API] = "hip_api",           [OUT_HSA_API] = "hsa_api",
        [OUT_RCCL_API] = "rccl_api",         [OUT_ROCDECODE_API] = "rocdecode_api",
        [OUT_ROCJPEG_API] = "rocjpeg_api",   [OUT_HIPFILE_API] = "hipfile_api",
        [OUT_ROCSHMEM_API] = "rocshmem_api", [OUT_OMPT] = "ompt"};
    if (!tracks_turn(sink))
        return;
    if (categories[table])
        call_put(sink, categories[table], row);
    else if (table == OUT_MARKER_API)
        marker_put(sink, row);
    else if (table == OUT_KERNEL_TRACE)
        dispatch_put(sink, row);
    else if (table == OUT_COUNTER_COLLECTION)
        pftrace_counters_value(&sink->now->counters, row);
    else if (table == OUT_MEMORY_COPY)
        copy_put(sink, row);
    else if (table == OUT_MEMORY_ALLOCATION)
        allocation_put(sink, row);
    else if (table == OUT_SCRATCH_MEMORY)
        scratch_put(sink, row);
    else if (table == OUT_KFD)
        kfd_put(sink, row);
    else if (table == OUT_HIP_EVENT)
        hip_event_put(sink, row);
    else if (table == OUT_AGENT_INFO)
        agent_put(sink, row);
}

static void pftrace_flush(struct out_sink *sink)
{
    perfetto_flush(sink->trace);
}

static void device_free(void *element)
{
    lanes_free(&((struct device_track *)element)->lanes);
}

static void tracks_free(struct tracks *tracks)
{
    pftrace_counters_close(&tracks->counters);
    numbered_each(&tracks->queues, device_free);
    numbered_each(&tracks->copies, device_free);
    numbered_each(&tracks->events, device_free);
    numbered_free(&tracks->threads);
    numbered_free(&tracks->queues);
    numbered_free(&tracks->copies);
    numbered_free(&tracks->events);
    lanes_free(&tracks->markers);
    lanes_free(&tracks->memory);
    lanes_free(&tracks->scratch);
    lanes_free(&tracks->driver);
    free(tracks);
}

static int pftrace_close(struct out_sink *sink, char *error, size_t error_size)
{
    if (!sink->all)
        tracks_turn(sink); /* nothing came: whose nothing it is */
    for (struct tracks *tracks = sink->all, *next; tracks; tracks = next) {
        next = tracks->next;
        tracks_free(tracks);
    }
    int status = perfetto_close(sink->trace);
    if (status != 0)
        snprintf(error, error_size, "%s: %s", sink->path, strerror(-status));
    free(sink);
    return status;
}

const struct out_ops out_pftrace_ops = {"pftrace",     pftrace_open, pftrace_row, pftrace_close,
                                        pftrace_flush, false,        false,       false};
