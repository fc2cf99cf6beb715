/* The plugin's four functions: records become slices. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roctracer/roctracer_hip.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_plugin.h>
#include <roctracer/roctracer_roctx.h>

#include "base/log.h"
#include "names/demangle.h"
#include "out/perfetto/perfetto.h"
#include "out/place.h"
#include "roctracer/arguments/arguments.h"
#include "tracks.h"

/* The tool calls one function at a time, so nothing here is shared between threads. */
static struct {
    struct perfetto *trace; /* NULL: not open */
    char path[PATH_MAX];
    uint32_t process_id;
    perfetto_track process;
    struct numbered threads; /* struct thread_track by thread id */
    struct numbered queues;  /* struct queue_track by device and queue */
    struct numbered ranges;  /* struct open_range by range id */
    struct lanes range_lanes;
    struct demangled names;
    struct {
        perfetto_text hip, hsa, kfd, marker, gpu; /* categories */
        perfetto_text arguments, kernel, size_bytes, correlation_id;
    } texts;
} plugin;

/* ---- start and end ----------------------------------------------------------------------------
 */

static void process_name_read(char *name, size_t size)
{
    FILE *file = fopen("/proc/self/comm", "re");
    if (!file || !fgets(name, (int)size, file))
        snprintf(name, size, "program");
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = 0;
}

static void texts_prepare(void)
{
    struct perfetto *trace = plugin.trace;
    plugin.texts.hip = perfetto_category(trace, "hip");
    plugin.texts.hsa = perfetto_category(trace, "hsa");
    plugin.texts.kfd = perfetto_category(trace, "kfd");
    plugin.texts.marker = perfetto_category(trace, "roctx");
    plugin.texts.gpu = perfetto_category(trace, "gpu");
    plugin.texts.arguments = perfetto_note_name(trace, "arguments");
    plugin.texts.kernel = perfetto_note_name(trace, "kernel");
    plugin.texts.size_bytes = perfetto_note_name(trace, "size_bytes");
    plugin.texts.correlation_id = perfetto_note_name(trace, "correlation_id");
}

static int trace_create(const char *folder)
{
    char stem[PATH_MAX + 32], prefix[PATH_MAX];
    int status;
    folder = folder ? folder : ".";
    place_stem(folder, plugin.process_id, stem);
    unsigned number = place_number(stem);
    do {
        status = place_prefix(stem, number, prefix);
        int length = snprintf(plugin.path, sizeof plugin.path, "%s_trace.pftrace", prefix);
        if (status != 0 || (size_t)length >= sizeof plugin.path) {
            snprintf(plugin.path, sizeof plugin.path, "%s", folder);
            return -ENAMETOOLONG;
        }
        plugin.trace = perfetto_create(plugin.path, &status);
    } while (status == -EEXIST && number++ < PLACE_NUMBER_MAX);
    return status;
}

ROCTRACER_EXPORT int roctracer_plugin_initialize(uint32_t major, uint32_t minor)
{
    if (plugin.trace && plugin.process_id != (uint32_t)getpid())
        plugin.trace = NULL; /* a forked child: it is the parent's to complete */
    if (major != ROCTRACER_VERSION_MAJOR || minor > ROCTRACER_VERSION_MINOR || plugin.trace)
        return -1;
    memset(&plugin, 0, sizeof plugin);
    plugin.process_id = (uint32_t)getpid();
    plugin.threads.element_bytes = sizeof(struct thread_track);
    plugin.queues.element_bytes = sizeof(struct queue_track);
    plugin.ranges.element_bytes = sizeof(struct open_range);
    int status = trace_create(secure_getenv("ROCP_OUTPUT_DIR"));
    if (!plugin.trace) {
        log_warning("perfetto plugin", "%s: %s", plugin.path, strerror(-status));
        return -1;
    }
    char name[64];
    process_name_read(name, sizeof name);
    plugin.process = perfetto_process(plugin.trace, plugin.process_id, name);
    plugin.range_lanes = (struct lanes){.parent = plugin.process, .name = "roctx ranges"};
    texts_prepare();
    return 0;
}

static void range_begin_only(void *element)
{
    const struct open_range *range = element;
    if (!range->is_open)
        return;
    struct perfetto_event event = {
        .name = range->name, .category = plugin.texts.marker, .begin_ns = range->begin_ns};
    event.track = lanes_track(&plugin.range_lanes, plugin.trace, range->begin_ns, UINT64_MAX);
    perfetto_begin(plugin.trace, &event);
}

static void queue_free(void *element)
{
    lanes_free(&((struct queue_track *)element)->lanes);
}

ROCTRACER_EXPORT void roctracer_plugin_finalize(void)
{
    if (!plugin.trace)
        return;
    numbered_each(&plugin.ranges, range_begin_only);
    numbered_each(&plugin.queues, queue_free);
    numbered_free(&plugin.threads);
    numbered_free(&plugin.queues);
    numbered_free(&plugin.ranges);
    lanes_free(&plugin.range_lanes);
    demangled_free(&plugin.names);
    int status = perfetto_close(plugin.trace);
    plugin.trace = NULL;
    if (status != 0)
        log_warning("perfetto plugin", "%s is not complete: %s", plugin.path, strerror(-status));
}

static int result(void)
{
    return perfetto_status(plugin.trace) == 0 ? 0 : -1;
}

/* ---- threads: calls and markers ---------------------------------------------------------------
 */

static struct thread_track *thread_get(uint32_t thread_id)
{
    bool is_new;
    struct thread_track *thread = numbered_get(&plugin.threads, thread_id, &is_new);
    if (thread && is_new)
        thread->track =
            perfetto_thread(plugin.trace, plugin.process, plugin.process_id, thread_id, NULL);
    return thread;
}

/* "(a=1)" of "name(a=1)". */
static const char *arguments_text(const roctracer_record_t *record, const void *data, char *text,
                                  size_t size)
{
    const struct call *call = call_find(record->domain, record->op);
    if (!call)
        return NULL;
    call_text(call, record->domain, data, text, size);
    return strchr(text, '(');
}

static void call_slice(const roctracer_record_t *record, const void *data, perfetto_track track)
{
    char text[4096];
    struct perfetto_note notes[2];
    const char *name = roctracer_op_string(record->domain, record->op, record->kind);
    const char *arguments = arguments_text(record, data, text, sizeof text);
    bool is_hip = record->domain == ACTIVITY_DOMAIN_HIP_API;
    struct perfetto_event event = {
        .track = track,
        .name = perfetto_name(plugin.trace, name ? name : "unknown"),
        .category = is_hip                                      ? plugin.texts.hip
                    : record->domain == ACTIVITY_DOMAIN_KFD_API ? plugin.texts.kfd
                                                                : plugin.texts.hsa,
        .begin_ns = record->begin_ns,
        .end_ns = record->end_ns,
        .flow_id = record->correlation_id,
        .notes = notes,
    };
    if (arguments)
        notes[event.note_count++] =
            (struct perfetto_note){.name = plugin.texts.arguments, .text = arguments};
    if (is_hip && record->kernel_name)
        notes[event.note_count++] =
            (struct perfetto_note){.name = plugin.texts.kernel,
                                   .text = demangled_name(&plugin.names, record->kernel_name)};
    perfetto_slice(plugin.trace, &event);
}

static void range_start(const roctx_api_data_t *data, uint64_t time_ns, perfetto_text name)
{
    bool is_new;
    struct open_range *range = numbered_get(&plugin.ranges, data->args.id, &is_new);
    if (range)
        *range = (struct open_range){.is_open = true, .begin_ns = time_ns, .name = name};
}

static void range_stop(const roctx_api_data_t *data, uint64_t time_ns)
{
    struct open_range *range = numbered_find(&plugin.ranges, data->args.id);
    if (!range || !range->is_open) /* begun before tracing was, or never */
        return;
    range->is_open = false;
    struct perfetto_event event = {.name = range->name,
                                   .category = plugin.texts.marker,
                                   .begin_ns = range->begin_ns,
                                   .end_ns = time_ns};
    event.track = lanes_track(&plugin.range_lanes, plugin.trace, event.begin_ns, event.end_ns);
    perfetto_slice(plugin.trace, &event);
}

static void marker(const roctracer_record_t *record, const roctx_api_data_t *data,
                   struct thread_track *thread)
{
    struct perfetto_event event = {
        .track = thread->track, .category = plugin.texts.marker, .begin_ns = record->begin_ns};
    if (data->args.message)
        event.name = perfetto_name(plugin.trace, data->args.message);
    switch (record->op) {
    case ROCTX_API_ID_roctxMarkA:
        perfetto_instant(plugin.trace, &event);
        return;
    case ROCTX_API_ID_roctxRangePushA:
        thread->open_ranges++;
        perfetto_begin(plugin.trace, &event);
        return;
    case ROCTX_API_ID_roctxRangePop:
        if (thread->open_ranges == 0)
            return;
        thread->open_ranges--;
        perfetto_end(plugin.trace, thread->track, record->begin_ns);
        return;
    case ROCTX_API_ID_roctxRangeStartA:
        range_start(data, record->begin_ns, event.name);
        return;
    case ROCTX_API_ID_roctxRangeStop:
        range_stop(data, record->begin_ns);
        return;
    default:
        return;
    }
}

ROCTRACER_EXPORT int roctracer_plugin_write_callback_record(const roctracer_record_t *record,
                                                            const void *callback_data)
{
    if (!plugin.trace || !record || !callback_data)
        return -1;
    struct thread_track *thread = thread_get(record->thread_id);
    if (!thread)
        return -1;
    if (record->domain == ACTIVITY_DOMAIN_ROCTX)
        marker(record, callback_data, thread);
    else if (record->domain == ACTIVITY_DOMAIN_HIP_API ||
             record->domain == ACTIVITY_DOMAIN_HSA_API || record->domain == ACTIVITY_DOMAIN_KFD_API)
        call_slice(record, callback_data, thread->track);
    return result();
}

/* ---- queues: device operations ----------------------------------------------------------------
 */

static struct queue_track *queue_get(int device_id, uint64_t queue_id)
{
    bool is_new;
    uint64_t key = (uint64_t)(uint32_t)device_id << 48 ^ queue_id;
    struct queue_track *queue = numbered_get(&plugin.queues, key, &is_new);
    if (queue && is_new) {
        snprintf(queue->name, sizeof queue->name, "GPU %d queue %llu", device_id,
                 (unsigned long long)queue_id);
        queue->lanes = (struct lanes){.parent = plugin.process, .name = queue->name};
    }
    return queue;
}

static const char *operation_name(const roctracer_record_t *record, bool is_dispatch)
{
    if (is_dispatch && record->kernel_name)
        return demangled_name(&plugin.names, record->kernel_name);
    const char *name = roctracer_op_string(record->domain, record->op, record->kind);
    return name ? name : "unknown";
}

static int operation_slice(const roctracer_record_t *record)
{
    struct queue_track *queue = queue_get(record->device_id, record->queue_id);
    if (!queue)
        return -1;
    bool is_hip = record->domain == ACTIVITY_DOMAIN_HIP_OPS;
    bool is_copy = record->op == (is_hip ? (uint32_t)HIP_OP_ID_COPY : (uint32_t)HSA_OP_ID_COPY);
    bool is_dispatch =
        record->op == (is_hip ? (uint32_t)HIP_OP_ID_DISPATCH : (uint32_t)HSA_OP_ID_DISPATCH);
    const struct perfetto_note notes[] = {
        {.name = plugin.texts.correlation_id, .number = record->correlation_id},
        {.name = plugin.texts.size_bytes, .number = is_copy ? record->bytes : 0},
    };
    struct perfetto_event event = {
        .name = perfetto_name(plugin.trace, operation_name(record, is_dispatch)),
        .category = plugin.texts.gpu,
        .begin_ns = record->begin_ns,
        .end_ns = record->end_ns,
        .flow_id = record->correlation_id,
        .notes = notes,
        .note_count = is_copy ? 2 : 1,
    };
    event.track = lanes_track(&queue->lanes, plugin.trace, event.begin_ns, event.end_ns);
    perfetto_slice(plugin.trace, &event);
    return 0;
}

ROCTRACER_EXPORT int roctracer_plugin_write_activity_records(const roctracer_record_t *begin,
                                                             const roctracer_record_t *end)
{
    if (!plugin.trace || !begin || !end)
        return -1;
    int status = 0;
    while (begin < end) {
        if ((begin->domain == ACTIVITY_DOMAIN_HIP_OPS ||
             begin->domain == ACTIVITY_DOMAIN_HSA_OPS) &&
            operation_slice(begin) != 0)
            status = -1;
        if (roctracer_next_record(begin, &begin) != ROCTRACER_STATUS_SUCCESS)
            return -1;
    }
    return status != 0 ? status : result();
}
