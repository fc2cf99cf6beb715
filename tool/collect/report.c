#include "report.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <crocprof/quality.h>

#include "arguments.h"
#include "config.h"
#include "counters.h"
#include "domains.h"
#include "head.h"
#include "kfd.h"
#include "launch/run_log.h"
#include "names.h"
#include "out/out.h"
#include "passes.h"
#include "repeat.h"
#include "sinks.h"
#include "summary/stats.h"
#include "tables.h"
#include "variables.h"

enum { COUNTERS_MAX = 4096 };

/* Values of one dispatch: its records follow its header, one for each instance of each counter. */
struct counter_values {
    struct out_dispatch_row dispatch;
    uint32_t launch;      /* of the kernel on its device */
    uint64_t left;        /* value records still to come */
    unsigned count, last; /* the one that the last record was of */
    struct counter_value {
        uint64_t id;
        double value;
    } counter[COUNTERS_MAX];
};

static struct {
    struct settings settings;
    struct sinks sinks;
    struct stats *stats[DOMAIN_COUNT], *counters;
    struct counter_values values;
    struct arguments arguments; /* of the call that is being written */
    uint64_t lost, lost_told;
    uint64_t records; /* of this report, in any table */
    uint64_t process_id;
    bool is_open;
} report;

static void row_put(enum out_table_id table, const void *row)
{
    report.records++;
    sinks_row(&report.sinks, table, row);
}

static void agents_write(void)
{
    const rocprofiler_agent_v0_t *agent;
    for (unsigned i = 0; (agent = names_agent_at(i)); i++) {
        struct out_agent_row row = {
            .type = agent->type == ROCPROFILER_AGENT_TYPE_GPU ? "GPU" : "CPU", .agent = *agent};
        crocprof_quality_of_times(agent->id, &row.times);
        sinks_row(&report.sinks, OUT_AGENT_INFO, &row);
    }
}

static void files_open(void)
{
    char stem[PATH_MAX], prefix[PATH_MAX];
    if (!sinks_wanted(&report.settings))
        return;
    int status = sinks_stem(&report.settings, stem);
    if (status != 0) {
        fprintf(stderr, "crocprof: names of files: %s\n", strerror(-status));
        return;
    }
    sinks_open(&report.sinks, &report.settings, stem);
    agents_write();
    sinks_flush(&report.sinks);
    if (settings_flag(&report.settings, OPTION_OUTPUT_CONFIG) &&
        sinks_prefix(&report.sinks, prefix))
        config_write(&report.settings, prefix);
}

void report_resume(void)
{
    if (report.is_open)
        return;
    report.is_open = true;
    run_log_put(RUN_LOG_REPORT, "");
    report.process_id = (uint64_t)getpid();
    report.records = 0;
    for (int id = 0; id < DOMAIN_COUNT; id++)
        report.stats[id] = stats_create(domains[id].title);
    report.counters = stats_create("kernel");
    files_open();
}

void report_open(const struct settings *settings)
{
    report.settings = *settings;
    variables_check(settings);
    report_resume();
}

static void stats_forget(void)
{
    for (int id = 0; id < DOMAIN_COUNT; id++) {
        stats_destroy(report.stats[id]);
        report.stats[id] = NULL;
    }
    stats_destroy(report.counters);
    report.counters = NULL;
}

/* Sinks are left as they are: closing them would write, and a database that was opened before a
 * fork may not even be closed after it. */
void report_forget(void)
{
    stats_forget();
    sinks_forget(&report.sinks);
    report.values.count = 0;
    report.values.left = 0;
    report.lost = report.lost_told = 0;
    report.arguments.calls_cut = 0;
    report.is_open = false;
}

/* The kernel driver's number of an agent. */
static uint64_t agent_node(rocprofiler_agent_id_t id)
{
    const rocprofiler_agent_v0_t *agent = names_agent_find(id);
    return agent ? agent->node_id : OUT_NO_AGENT;
}

/* Numbers an agent as --agent-index wants. Where only the environment steers, the default is
 * "relative", as with rocprofv3. */
static uint64_t agent_number(rocprofiler_agent_id_t id)
{
    const rocprofiler_agent_v0_t *agent = names_agent_find(id);
    const char *index = settings_text(&report.settings, OPTION_AGENT_INDEX);
    if (!agent)
        return 0;
    if (index && strcmp(index, "absolute") == 0)
        return agent->node_id;
    if (index && strcmp(index, "type-relative") == 0)
        return (uint32_t)agent->logical_node_type_id +
               (agent->type == ROCPROFILER_AGENT_TYPE_GPU ? OUT_AGENT_GPU : OUT_AGENT_CPU);
    return (uint32_t)agent->logical_node_id;
}

/* The range that a kernel was launched in, which the external id brings, where kernels are called
 * so. */
static const char *kernel_region(rocprofiler_async_correlation_id_t id)
{
    return settings_flag(&report.settings, OPTION_KERNEL_RENAME) ? id.external.ptr : NULL;
}

static struct out_dispatch_row dispatch_row(const rocprofiler_kernel_dispatch_info_t *info,
                                            rocprofiler_async_correlation_id_t correlation_id,
                                            uint64_t start_ns, uint64_t end_ns)
{
    const struct kernel_info *kernel = names_kernel_find(info->kernel_id);
    const char *region = kernel_region(correlation_id);
    uint64_t modelled_ns = 0;
    crocprof_quality_of_duration(info, &modelled_ns);
    return (struct out_dispatch_row){
        .kind = "KERNEL_DISPATCH",
        .agent = agent_number(info->agent_id),
        .queue_id = info->queue_id.handle,
        .process_id = report.process_id,
        .dispatch_id = info->dispatch_id,
        .kernel_id = info->kernel_id,
        .kernel_name = region ? region : kernel->name,
        .correlation_id = correlation_id.internal,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .lds_bytes = info->group_segment_size,
        .scratch_bytes = info->private_segment_size,
        .vgprs = kernel->details.vgprs,
        .acc_vgprs = kernel->details.acc_vgprs,
        .sgprs = kernel->details.sgprs,
        .workgroup = {info->workgroup_size.x, info->workgroup_size.y, info->workgroup_size.z},
        .grid = {info->grid_size.x, info->grid_size.y, info->grid_size.z},
        .grid_size = (uint64_t)info->grid_size.x * info->grid_size.y * info->grid_size.z,
        .workgroup_size =
            (uint64_t)info->workgroup_size.x * info->workgroup_size.y * info->workgroup_size.z,
        .node = agent_node(info->agent_id),
        .external_id = region ? 0 : correlation_id.external.value,
        .region = region,
        .kernel = kernel->details.name ? &kernel->details : NULL,
        .modelled_ns = modelled_ns,
    };
}

void report_dispatch(const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record)
{
    struct out_dispatch_row row = dispatch_row(&record->dispatch_info, record->correlation_id,
                                               record->start_timestamp, record->end_timestamp);
    row.thread_id = record->thread_id;
    stats_add(report.stats[DOMAIN_KERNEL], row.kernel_name, row.end_ns - row.start_ns);
    stats_modelled_add(report.stats[DOMAIN_KERNEL], row.kernel_name, row.modelled_ns);
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
        .source_agent = agent_number(record->src_agent_id),
        .destination_agent = agent_number(record->dst_agent_id),
        .correlation_id = record->correlation_id.internal,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
        .bytes = record->bytes,
        .thread_id = record->thread_id,
        .external_id = record->correlation_id.external.value,
        .source_node = agent_node(record->src_agent_id),
        .destination_node = agent_node(record->dst_agent_id),
        .source_address = record->src_address.value,
        .destination_address = record->dst_address.value,
    };
    stats_add(report.stats[DOMAIN_COPY], row.direction, row.end_ns - row.start_ns);
    row_put(OUT_MEMORY_COPY, &row);
}

void report_allocation(const rocprofiler_buffer_tracing_memory_allocation_record_t *record)
{
    bool allocates = record->operation == ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE ||
                     record->operation == ROCPROFILER_MEMORY_ALLOCATION_VMEM_ALLOCATE;
    struct out_allocation_row row = {
        .kind = "MEMORY_ALLOCATION",
        .agent = allocates ? agent_number(record->agent_id) : OUT_NO_AGENT,
        .bytes = record->allocation_size,
        .address = record->address.value,
        .correlation_id = record->correlation_id.internal,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
        .node = allocates ? agent_node(record->agent_id) : OUT_NO_AGENT,
        .thread_id = record->thread_id,
        .parent_id = record->correlation_id.ancestor,
        .external_id = record->correlation_id.external.value,
    };
    rocprofiler_query_buffer_tracing_kind_operation_name(
        record->kind, (rocprofiler_tracing_operation_t)record->operation, &row.operation, NULL);
    if (row.operation)
        stats_add(report.stats[DOMAIN_ALLOCATION], row.operation, row.end_ns - row.start_ns);
    row_put(OUT_MEMORY_ALLOCATION, &row);
}

void report_scratch(const rocprofiler_buffer_tracing_scratch_memory_record_t *record)
{
    struct out_scratch_row row = {
        .kind = "SCRATCH_MEMORY",
        .agent = agent_number(record->agent_id),
        .queue_id = record->queue_id.handle,
        .thread_id = record->thread_id,
        .flags = record->flags,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
        .bytes = record->allocation_size,
        .correlation_id = record->correlation_id.internal,
        .node = agent_node(record->agent_id),
        .parent_id = record->correlation_id.ancestor,
        .external_id = record->correlation_id.external.value,
    };
    rocprofiler_query_buffer_tracing_kind_operation_name(
        record->kind, (rocprofiler_tracing_operation_t)record->operation, &row.operation, NULL);
    if (row.operation)
        stats_add(report.stats[DOMAIN_SCRATCH], row.operation, row.end_ns - row.start_ns);
    row_put(OUT_SCRATCH_MEMORY, &row);
}

static void graph_report(const rocprofiler_buffer_tracing_hip_graph_record_t *record)
{
    bool has_agent = record->agent_id.handle != 0;
    struct out_graph_row row = {
        .kind = "HIP_GRAPH",
        .agent = has_agent ? agent_number(record->agent_id) : OUT_NO_AGENT,
        .queue_id = record->queue_id.handle,
        .thread_id = record->thread_id,
        .graph_exec_id = record->graph_exec_id.handle,
        .kernels = record->kernel_dispatch_count,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
        .correlation_id = record->correlation_id.internal,
        .node = has_agent ? agent_node(record->agent_id) : OUT_NO_AGENT,
        .parent_id = record->correlation_id.ancestor,
        .external_id = record->correlation_id.external.value,
    };
    rocprofiler_query_buffer_tracing_kind_operation_name(
        record->kind, (rocprofiler_tracing_operation_t)record->operation, &row.operation, NULL);
    row_put(OUT_GRAPH_LAUNCH, &row);
}

static void event_report(const rocprofiler_buffer_tracing_hip_event_record_t *record)
{
    struct out_event_row row = {
        .kind = "HIP_EVENT",
        .agent = agent_number(record->agent_id),
        .queue_id = record->queue_id.handle,
        .source_queue_id = record->source_queue_id.handle,
        .thread_id = record->thread_id,
        .event = record->hip_event_handle,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
        .correlation_id = record->correlation_id.internal,
        .node = agent_node(record->agent_id),
        .external_id = record->correlation_id.external.value,
    };
    rocprofiler_query_buffer_tracing_kind_operation_name(
        record->kind, (rocprofiler_tracing_operation_t)record->operation, &row.operation, NULL);
    if (row.operation)
        stats_add(report.stats[DOMAIN_EVENT], row.operation, row.end_ns - row.start_ns);
    row_put(OUT_HIP_EVENT, &row);
}

bool report_hip_work(const rocprofiler_record_header_t *header)
{
    if (header->kind == ROCPROFILER_BUFFER_TRACING_HIP_GRAPH)
        graph_report(header->payload);
    else if (header->kind == ROCPROFILER_BUFFER_TRACING_HIP_EVENT)
        event_report(header->payload);
    else
        return false;
    return true;
}

bool report_kfd(const rocprofiler_record_header_t *header)
{
    rocprofiler_agent_id_t agents[OUT_KFD_AGENTS];
    struct out_kfd_row row;
    if (!kfd_row(header, &row, agents))
        return false;
    for (int i = 0; i < OUT_KFD_AGENTS; i++) {
        row.nodes[i] = agent_node(agents[i]);
        row.agents[i] = row.nodes[i] == OUT_NO_AGENT ? OUT_NO_AGENT : agent_number(agents[i]);
    }
    if (row.operation)
        stats_add(report.stats[DOMAIN_KFD], row.operation, row.end_ns - row.start_ns);
    row_put(OUT_KFD, &row);
    return true;
}

void report_api(const rocprofiler_record_header_t *header)
{
    const rocprofiler_buffer_tracing_hsa_api_record_t *record = header->payload;
    struct out_api_row row = {
        .process_id = report.process_id,
        .thread_id = record->thread_id,
        .correlation_id = record->correlation_id.internal,
        .start_ns = record->start_timestamp,
        .end_ns = record->end_timestamp,
        .parent_id = record->correlation_id.ancestor,
        .external_id = record->correlation_id.external.value,
    };
    rocprofiler_query_buffer_tracing_kind_name(record->kind, &row.domain, NULL);
    rocprofiler_query_buffer_tracing_kind_operation_name(record->kind, record->operation,
                                                         &row.function, NULL);
    const struct domain_service *service = domain_service_find(record->kind);
    if (!service)
        return;
    if (row.function)
        stats_add(report.stats[service->domain], row.function, row.end_ns - row.start_ns);
    if (record->kind == service->kind_with_arguments && sinks_want_arguments(&report.sinks))
        arguments_take(header, &report.arguments, &row);
    row_put(domains[service->domain].rows, &row);
}

void report_marker(const struct marker *marker)
{
    report_resume();
    struct out_api_row row = {
        .domain = marker->is_control ? "MARKER_CONTROL_API" : "MARKER_CORE_API",
        .function = marker->message,
        .process_id = report.process_id,
        .thread_id = marker->thread_id,
        .correlation_id = marker->correlation_id,
        .start_ns = marker->start_ns,
        .end_ns = marker->end_ns,
        .parent_id = marker->parent_id,
        .message = marker->is_control ? NULL : marker->message,
    };
    stats_add(report.stats[DOMAIN_MARKER], row.function, row.end_ns - row.start_ns);
    row_put(OUT_MARKER_API, &row);
}

static void counter_put(const struct passes_value *value, void *data)
{
    const struct out_dispatch_row *dispatch = data;
    struct out_counter_row row = {.dispatch = *dispatch,
                                  .counter_name = value->counter,
                                  .counter_value = value->value,
                                  .counter = value->id
                                                 ? counters_get(value->id, dispatch->node)
                                                 : counters_named(value->counter, dispatch->node)};
    stats_counter_add(report.counters, dispatch->kernel_name, value->counter, value->value,
                      value->adds_up);
    if (row.counter && row.counter->quality == CROCPROF_QUALITY_NOT_COUNTED)
        stats_mark_put(report.counters, value->counter, STATS_NOT_COUNTED);
    else if (row.counter && row.counter->quality == CROCPROF_QUALITY_APPROXIMATE)
        stats_mark_put(report.counters, value->counter, STATS_APPROXIMATE);
    row_put(OUT_COUNTER_COLLECTION, &row);
}

static void counters_flush(void)
{
    struct counter_values *values = &report.values;
    const struct passes_launch launch = {values->dispatch, values->launch};
    if (values->count)
        passes_write(&launch);
    for (unsigned i = 0; i < values->count; i++) {
        uint64_t id = values->counter[i].id;
        const struct out_counter *counter = counters_get(id, values->dispatch.node);
        if (!counter)
            continue;
        struct passes_value value = {counter->name, values->counter[i].value,
                                     !strchr(counter->expression, '/'), id};
        counter_put(&value, &values->dispatch);
        passes_write_value(&value);
    }
    if (values->count)
        passes_read(&launch, counter_put, &values->dispatch);
    values->count = 0;
    values->left = 0;
}

void report_counter_dispatch(const rocprofiler_dispatch_counting_service_record_t *record)
{
    counters_flush();
    report.values.dispatch = dispatch_row(&record->dispatch_info, record->correlation_id,
                                          record->start_timestamp, record->end_timestamp);
    report.values.left = record->num_records;
}

/* A counter's place among those of the dispatch; COUNTERS_MAX: there is none left. Its instances
 * mostly come one after another. */
static unsigned counter_place(struct counter_values *values, uint64_t id)
{
    unsigned at = values->last;
    if (at < values->count && values->counter[at].id == id)
        return at;
    at = 0;
    while (at < values->count && values->counter[at].id != id)
        at++;
    if (at == values->count && at < COUNTERS_MAX)
        values->counter[values->count++] = (struct counter_value){.id = id};
    return values->last = at;
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
    unsigned at = counter_place(values, id.handle);
    if (at == COUNTERS_MAX)
        return;
    values->counter[at].value += record->counter_value;
    if (values->left && --values->left == 0)
        counters_flush();
}

void report_flush(void)
{
    if (report.is_open)
        sinks_flush(&report.sinks);
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
        sinks_statistics_row(&report.sinks, table, &rows[i]);
    free(rows);
}

/* Writes the table of each domain, and one with a line for each domain. */
static void all_stats_write(void)
{
    struct stats *all = stats_create("domain");
    for (int id = 0; id < DOMAIN_COUNT; id++) {
        stats_write(report.stats[id], domains[id].stats);
        stats_merge(all, domains[id].name, report.stats[id]);
    }
    stats_write(all, OUT_DOMAIN_STATS);
    stats_destroy(all);
}

void report_durations_each(void (*each)(const char *domain, const struct out_stats_row *row,
                                        void *data),
                           void *data)
{
    for (int id = 0; report.is_open && id < DOMAIN_COUNT; id++) {
        size_t count;
        struct out_stats_row *rows = stats_rows(report.stats[id], &count);
        for (size_t i = 0; rows && i < count; i++)
            each(domains[id].name, &rows[i], data);
        free(rows);
    }
}

void report_counters_each(void (*each)(const struct stats_counter *counter, void *data), void *data)
{
    if (report.is_open)
        stats_counters_each(report.counters, each, data);
}

/* For crocprof's last lines; files are complete from then on. */
static void records_tell(void)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)report.records);
    run_log_put(RUN_LOG_RECORDS, text);
}

/* What the files lack. */
static void losses_tell(void)
{
    char text[512];
    if (report.lost > report.lost_told)
        fprintf(stderr, "crocprof: %llu records were lost\n",
                (unsigned long long)(report.lost - report.lost_told));
    report.lost_told = report.lost;
    if (report.arguments.calls_cut > 0)
        fprintf(stderr, "crocprof: %llu calls had more arguments than were written\n",
                (unsigned long long)report.arguments.calls_cut);
    report.arguments.calls_cut = 0;
    if (repeat_told(text, sizeof text))
        fprintf(stderr, "crocprof: %s\n", text);
}

void report_close(void)
{
    if (!report.is_open)
        return;
    counters_flush();
    all_stats_write();
    sinks_close(&report.sinks);
    records_tell();
    losses_tell();
    tables_print(&report.settings, report.stats, report.counters, head_print, NULL);
    stats_forget();
    report.is_open = false;
}
