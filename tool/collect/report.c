#include "report.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "out/out.h"
#include "out/place.h"
#include "passes.h"
#include "summary/stats.h"

enum { SINKS_MAX = 4, COUNTERS_MAX = 256, SUMMARY_ROWS = 20 };

struct sink {
    const struct out_ops *ops;
    struct out_sink *sink;
};

/* Values of one dispatch: its records follow its header, one for each instance of each counter. */
struct counter_values {
    struct out_dispatch_row dispatch;
    uint32_t launch; /* of the kernel on its device */
    uint64_t left;   /* value records still to come */
    unsigned count;
    struct {
        uint64_t id;
        double value;
    } counter[COUNTERS_MAX];
};

static struct {
    struct settings settings;
    struct sink sinks[SINKS_MAX];
    unsigned sink_count;
    struct stats *kernels, *copies, *hip, *hsa, *markers, *counters;
    struct counter_values values;
    uint64_t lost, lost_told;
    uint64_t process_id;
    unsigned number; /* of place.h */
    bool is_open;
} report;

static void row_put(enum out_table_id table, const void *row)
{
    for (unsigned i = 0; i < report.sink_count; i++)
        report.sinks[i].ops->row(report.sinks[i].sink, table, row);
}

static void sink_open(const struct out_ops *ops)
{
    char prefix[PATH_MAX], error[PATH_MAX + 200];
    struct sink *sink = &report.sinks[report.sink_count];
    int status;
    do {
        status =
            place_prefix(report.settings.directory, (long)report.process_id, report.number, prefix);
        snprintf(error, sizeof error, "%s: %s", report.settings.directory, strerror(-status));
        if (status == 0)
            status = ops->open(prefix, &sink->sink, error, sizeof error);
    } while (status == -EEXIST && report.number++ < PLACE_NUMBER_MAX);
    if (status != 0) {
        fprintf(stderr, "crocprof: %s\n", error);
        return;
    }
    sink->ops = ops;
    report.sink_count++;
}

static void agents_write(void)
{
    const rocprofiler_agent_v0_t *agent;
    for (unsigned i = 0; (agent = names_agent_at(i)); i++) {
        struct out_agent_row row = {
            .type = agent->type == ROCPROFILER_AGENT_TYPE_GPU ? "GPU" : "CPU", .agent = *agent};
        row_put(OUT_AGENT_INFO, &row);
    }
}

static void sinks_open(void)
{
    const struct settings *settings = &report.settings;
    if (!settings->directory)
        return;
    report.number = place_number(settings->directory, (long)report.process_id);
    const char *formats = settings->formats ? settings->formats : "csv,sqlite";
    char name[32];
    while (settings_list_next(&formats, name, sizeof name) && report.sink_count < SINKS_MAX) {
        const struct out_ops *ops = out_find(name);
        if (ops)
            sink_open(ops);
    }
    agents_write();
}

void report_resume(void)
{
    if (report.is_open)
        return;
    report.is_open = true;
    report.process_id = (uint64_t)getpid();
    report.kernels = stats_create("kernel");
    report.copies = stats_create("copy");
    report.hip = stats_create("HIP function");
    report.hsa = stats_create("HSA function");
    report.markers = stats_create("marker");
    report.counters = stats_create("kernel");
    sinks_open();
}

void report_open(const struct settings *settings)
{
    report.settings = *settings;
    report_resume();
}

static void stats_forget(void)
{
    struct stats **all[] = {&report.kernels, &report.copies,  &report.hip,
                            &report.hsa,     &report.markers, &report.counters};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        stats_destroy(*all[i]);
        *all[i] = NULL;
    }
}

/* Sinks are left as they are: closing them would write, and a database that was opened before a
 * fork may not even be closed after it. */
void report_forget(void)
{
    stats_forget();
    report.sink_count = 0;
    report.values.count = 0;
    report.values.left = 0;
    report.lost = report.lost_told = 0;
    report.is_open = false;
}

static uint64_t node_of(rocprofiler_agent_id_t id)
{
    const rocprofiler_agent_v0_t *agent = names_agent_find(id);
    return agent ? agent->node_id : 0;
}

static struct out_dispatch_row dispatch_row(const rocprofiler_kernel_dispatch_info_t *info,
                                            uint64_t correlation_id, uint64_t start_ns,
                                            uint64_t end_ns)
{
    const struct kernel_info *kernel = names_kernel_find(info->kernel_id);
    return (struct out_dispatch_row){
        .kind = "KERNEL_DISPATCH",
        .agent = node_of(info->agent_id),
        .queue_id = info->queue_id.handle,
        .process_id = report.process_id,
        .dispatch_id = info->dispatch_id,
        .kernel_id = info->kernel_id,
        .kernel_name = kernel->name,
        .correlation_id = correlation_id,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .lds_bytes = info->group_segment_size,
        .scratch_bytes = info->private_segment_size,
        .vgprs = kernel->vgprs,
        .acc_vgprs = kernel->acc_vgprs,
        .sgprs = kernel->sgprs,
        .workgroup = {info->workgroup_size.x, info->workgroup_size.y, info->workgroup_size.z},
        .grid = {info->grid_size.x, info->grid_size.y, info->grid_size.z},
        .grid_size = (uint64_t)info->grid_size.x * info->grid_size.y * info->grid_size.z,
        .workgroup_size =
            (uint64_t)info->workgroup_size.x * info->workgroup_size.y * info->workgroup_size.z,
    };
}

void report_dispatch(const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record)
{
    struct out_dispatch_row row =
        dispatch_row(&record->dispatch_info, record->correlation_id.internal,
                     record->start_timestamp, record->end_timestamp);
    row.thread_id = record->thread_id;
    stats_add(report.kernels, row.kernel_name, row.end_ns - row.start_ns);
    row_put(OUT_KERNEL_TRACE, &row);
}

void report_copy(const rocprofiler_buffer_tracing_memory_copy_record_t *record)
{
    static const char *const directions[] = {
        [ROCPROFILER_MEMORY_COPY_NONE] = "MEMORY_COPY_NONE",
        [ROCPROFILER_MEMORY_COPY_HOST_TO_HOST] = "MEMORY_COPY_HOST_TO_HOST",
        [ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE] = "MEMORY_COPY_HOST_TO_DEVICE",
        [ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST] = "MEMORY_COPY_DEVICE_TO_HOST",
        [ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE] = "MEMORY_COPY_DEVICE_TO_DEVICE"};
    struct out_copy_row row = {
        .kind = "MEMORY_COPY",
        .direction = directions[record->operation < ROCPROFILER_MEMORY_COPY_LAST
                                    ? record->operation
                                    : ROCPROFILER_MEMORY_COPY_NONE],
        .source_agent = node_of(record->src_agent_id),
        .destination_agent = node_of(record->dst_agent_id),
        .correlation_id = record->correlation_id.internal,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
        .bytes = record->bytes,
    };
    stats_add(report.copies, row.direction, row.end_ns - row.start_ns);
    row_put(OUT_MEMORY_COPY, &row);
}

void report_allocation(const rocprofiler_buffer_tracing_memory_allocation_record_t *record)
{
    bool allocates = record->operation == ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE ||
                     record->operation == ROCPROFILER_MEMORY_ALLOCATION_VMEM_ALLOCATE;
    struct out_allocation_row row = {
        .kind = "MEMORY_ALLOCATION",
        .agent = allocates ? node_of(record->agent_id) : OUT_NO_AGENT,
        .bytes = record->allocation_size,
        .address = record->address.value,
        .correlation_id = record->correlation_id.internal,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
    };
    rocprofiler_query_buffer_tracing_kind_operation_name(
        record->kind, (rocprofiler_tracing_operation_t)record->operation, &row.operation, NULL);
    row_put(OUT_MEMORY_ALLOCATION, &row);
}

static void api_family(rocprofiler_buffer_tracing_kind_t kind, enum out_table_id *table,
                       struct stats **stats)
{
    switch (kind) {
    case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API:
    case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API:
        *table = OUT_HIP_API;
        *stats = report.hip;
        return;
    default:
        *table = OUT_HSA_API;
        *stats = report.hsa;
        return;
    }
}

void report_api(const rocprofiler_buffer_tracing_hsa_api_record_t *record)
{
    struct out_api_row row = {
        .process_id = report.process_id,
        .thread_id = record->thread_id,
        .correlation_id = record->correlation_id.internal,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
    };
    rocprofiler_query_buffer_tracing_kind_name(record->kind, &row.domain, NULL);
    rocprofiler_query_buffer_tracing_kind_operation_name(record->kind, record->operation,
                                                         &row.function, NULL);
    enum out_table_id table;
    struct stats *stats;
    api_family(record->kind, &table, &stats);
    if (row.function)
        stats_add(stats, row.function, row.end_ns - row.start_ns);
    row_put(table, &row);
}

void report_marker(const struct marker *marker)
{
    report_resume();
    struct out_api_row row = {
        .domain = "MARKER_CORE_API",
        .function = marker->message,
        .process_id = report.process_id,
        .thread_id = marker->thread_id,
        .correlation_id = marker->correlation_id,
        .start_ns = marker->start_ns,
        .end_ns = marker->end_ns,
    };
    stats_add(report.markers, row.function, row.end_ns - row.start_ns);
    row_put(OUT_MARKER_API, &row);
}

static rocprofiler_counter_info_v0_t counter_info(uint64_t id)
{
    rocprofiler_counter_info_v0_t info = {.name = "(unknown counter)", .expression = ""};
    rocprofiler_query_counter_info((rocprofiler_counter_id_t){.handle = id},
                                   ROCPROFILER_COUNTER_INFO_VERSION_0, &info);
    return info;
}

static void counter_put(const struct passes_value *value, void *data)
{
    const struct out_dispatch_row *dispatch = data;
    struct out_counter_row row = {
        .dispatch = *dispatch, .counter_name = value->counter, .counter_value = value->value};
    stats_counter_add(report.counters, dispatch->kernel_name, value->counter, value->value,
                      value->adds_up);
    row_put(OUT_COUNTER_COLLECTION, &row);
}

static struct passes_launch launch_of(const struct counter_values *values)
{
    const struct out_dispatch_row *row = &values->dispatch;
    return (struct passes_launch){
        .kernel = row->kernel_name,
        .node = (uint32_t)row->agent,
        .number = values->launch,
        .grid = {row->grid[0], row->grid[1], row->grid[2]},
        .workgroup = {row->workgroup[0], row->workgroup[1], row->workgroup[2]}};
}

static void counters_flush(void)
{
    struct counter_values *values = &report.values;
    struct passes_launch launch = launch_of(values);
    for (unsigned i = 0; i < values->count; i++) {
        rocprofiler_counter_info_v0_t info = counter_info(values->counter[i].id);
        struct passes_value value = {info.name, values->counter[i].value,
                                     !strchr(info.expression, '/')};
        counter_put(&value, &values->dispatch);
        passes_write(&launch, &value);
    }
    if (values->count)
        passes_read(&launch, counter_put, &values->dispatch);
    values->count = 0;
    values->left = 0;
}

void report_counter_dispatch(const rocprofiler_dispatch_counting_service_record_t *record)
{
    counters_flush();
    report.values.dispatch = dispatch_row(&record->dispatch_info, record->correlation_id.internal,
                                          record->start_timestamp, record->end_timestamp);
    report.values.left = record->num_records;
}

/* The value of a counter for a dispatch is the sum over its instances. */
void report_counter_value(const rocprofiler_counter_record_t *record)
{
    struct counter_values *values = &report.values;
    rocprofiler_counter_id_t id = {0};
    if (rocprofiler_query_record_counter_id(record->id, &id) != ROCPROFILER_STATUS_SUCCESS)
        return;
    values->dispatch.thread_id = (uint32_t)record->user_data.value;
    values->launch = (uint32_t)(record->user_data.value >> 32);
    unsigned at = 0;
    while (at < values->count && values->counter[at].id != id.handle)
        at++;
    if (at == COUNTERS_MAX)
        return;
    if (at == values->count) {
        values->counter[at].id = id.handle;
        values->counter[at].value = 0;
        values->count++;
    }
    values->counter[at].value += record->counter_value;
    if (values->left && --values->left == 0)
        counters_flush();
}

void report_lost(uint64_t total)
{
    report.lost = total;
}

static void stats_write(const struct stats *stats, enum out_table_id table)
{
    size_t count;
    struct out_stats_row *rows = stats_rows(stats, &count);
    for (size_t i = 0; rows && i < count; i++)
        row_put(table, &rows[i]);
    free(rows);
}

static void summary_print(void)
{
    FILE *file = stderr;
    if (report.settings.summary_file) {
        file = fopen(report.settings.summary_file, "ae"); /* beside those of other processes */
        if (!file) {
            fprintf(stderr, "crocprof: %s: %s\n", report.settings.summary_file, strerror(errno));
            file = stderr;
        }
    }
    stats_print(report.kernels, file, SUMMARY_ROWS);
    stats_counters_print(report.counters, file);
    stats_print(report.copies, file, SUMMARY_ROWS);
    stats_print(report.hip, file, SUMMARY_ROWS);
    stats_print(report.hsa, file, SUMMARY_ROWS);
    stats_print(report.markers, file, SUMMARY_ROWS);
    bool failed = ferror(file);
    if (file != stderr && (fclose(file) != 0 || failed))
        fprintf(stderr, "crocprof: %s: %s\n", report.settings.summary_file, strerror(errno));
}

static void sinks_close(void)
{
    char error[PATH_MAX + 200];
    for (unsigned i = 0; i < report.sink_count; i++)
        if (report.sinks[i].ops->close(report.sinks[i].sink, error, sizeof error) != 0)
            fprintf(stderr, "crocprof: %s\n", error);
    report.sink_count = 0;
}

void report_close(void)
{
    if (!report.is_open)
        return;
    counters_flush();
    if (report.settings.stats) {
        stats_write(report.kernels, OUT_KERNEL_STATS);
        stats_write(report.hip, OUT_HIP_STATS);
        stats_write(report.hsa, OUT_HSA_STATS);
        stats_write(report.copies, OUT_COPY_STATS);
    }
    sinks_close();
    if (report.lost > report.lost_told)
        fprintf(stderr, "crocprof: %llu records were lost\n",
                (unsigned long long)(report.lost - report.lost_told));
    report.lost_told = report.lost;
    if (report.settings.summary)
        summary_print();
    stats_forget();
    report.is_open = false;
}
