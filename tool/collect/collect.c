/*
 * libcrocprof-tool.so: the SDK client inside the profiled program. One context with all services,
 * two lossless buffers (one for traces, one for counters), one code-object callback for names.
 */
#include <crocprof/plan.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "launch/settings.h"
#include "markers.h"
#include "names.h"
#include "passes.h"
#include "report.h"

enum { BUFFER_BYTES = 4 << 20, WATERMARK_BYTES = 3 << 20, AGENTS_MAX = 64, COUNTERS_MAX = 256 };

static struct {
    struct settings settings;
    rocprofiler_context_id_t context;
    rocprofiler_buffer_id_t buffer;
    struct {
        uint64_t agent;
        rocprofiler_counter_config_id_t config;
    } configs[AGENTS_MAX];
    unsigned config_count;
    rocprofiler_client_finalize_t finalize;
    const rocprofiler_client_id_t *client; /* the library's, for the life of the process */
    pid_t pid;
} tool;

static bool ok(rocprofiler_status_t status, const char *what)
{
    if (status == ROCPROFILER_STATUS_SUCCESS)
        return true;
    fprintf(stderr, "crocprof: %s: %s\n", what, rocprofiler_get_status_string(status));
    return false;
}

static void tracing_record(const rocprofiler_record_header_t *header)
{
    switch (header->kind) {
    case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH:
        report_dispatch(header->payload);
        return;
    case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
        report_copy(header->payload);
        return;
    case ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION:
        report_allocation(header->payload);
        return;
    default: /* only API kinds besides */
        report_api(header->payload);
        return;
    }
}

static void buffer_delivered(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                             rocprofiler_record_header_t **headers, size_t count, void *data,
                             uint64_t drop_count)
{
    (void)context;
    (void)buffer;
    (void)data;
    for (size_t i = 0; i < count; i++) {
        if (headers[i]->category == ROCPROFILER_BUFFER_CATEGORY_TRACING)
            tracing_record(headers[i]);
        else if (headers[i]->kind == ROCPROFILER_COUNTER_RECORD_VALUE)
            report_counter_value(headers[i]->payload);
        else
            report_counter_dispatch(headers[i]->payload);
    }
    if (drop_count)
        report_lost(drop_count);
}

static void code_object(rocprofiler_callback_tracing_record_t record,
                        rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data;
    (void)data;
    if (record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER &&
        record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD)
        names_kernel_add(record.payload);
}

static void kind_trace(rocprofiler_buffer_tracing_kind_t kind, bool wanted)
{
    if (wanted)
        ok(rocprofiler_configure_buffer_tracing_service(tool.context, kind, NULL, 0, tool.buffer),
           "tracing");
}

static void tracing_configure(void)
{
    const struct settings *settings = &tool.settings;
    kind_trace(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, settings->kernel_trace);
    kind_trace(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, settings->copy_trace);
    kind_trace(ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION, settings->allocation_trace);
    kind_trace(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, settings->hip_trace);
    kind_trace(ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, settings->hsa_trace);
    kind_trace(ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API, settings->hsa_trace);
    if (settings->marker_trace)
        ok(rocprofiler_configure_callback_tracing_service(
               tool.context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0,
               markers_callback, NULL),
           "markers");
}

static void dispatch_choose(rocprofiler_dispatch_counting_service_data_t dispatch,
                            rocprofiler_counter_config_id_t *config,
                            rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    /* This is the submitting thread; values bring back what it says. */
    user_data->value = report_counter_tag(
        (uint32_t)gettid(),
        names_kernel_launch(dispatch.dispatch_info.kernel_id, dispatch.dispatch_info.agent_id));
    for (unsigned i = 0; i < tool.config_count; i++)
        if (tool.configs[i].agent == dispatch.dispatch_info.agent_id.handle)
            *config = tool.configs[i].config;
}

struct counter_search {
    const char *name;
    rocprofiler_counter_id_t ids[COUNTERS_MAX];
    size_t count;
};

static rocprofiler_status_t counter_match(rocprofiler_agent_id_t agent,
                                          rocprofiler_counter_id_t *counters, size_t count,
                                          void *data)
{
    struct counter_search *search = data;
    (void)agent;
    for (size_t i = 0; i < count && search->count < COUNTERS_MAX; i++) {
        rocprofiler_counter_info_v0_t info;
        if (rocprofiler_query_counter_info(counters[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
                                           &info) == ROCPROFILER_STATUS_SUCCESS &&
            strcmp(info.name, search->name) == 0)
            search->ids[search->count++] = counters[i];
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

/* Keeps the counters of this run's pass. */
static rocprofiler_status_t pass_select(const rocprofiler_agent_v0_t *agent,
                                        struct counter_search *search)
{
    uint32_t pass_of[COUNTERS_MAX], passes;
    size_t kept = 0;
    if (!tool.settings.pass)
        return ROCPROFILER_STATUS_SUCCESS;
    rocprofiler_status_t status =
        crocprof_plan_passes(agent->id, search->ids, search->count, pass_of, &passes);
    for (size_t i = 0; i < search->count && status == ROCPROFILER_STATUS_SUCCESS; i++)
        if (pass_of[i] == passes_number(&tool.settings))
            search->ids[kept++] = search->ids[i];
    search->count = kept;
    return status;
}

static void agent_counters_configure(const rocprofiler_agent_v0_t *agent)
{
    struct counter_search search = {0};
    char name[128];
    const char *names = tool.settings.counters;
    while (settings_list_next(&names, name, sizeof name)) {
        search.name = name;
        rocprofiler_iterate_agent_supported_counters(agent->id, counter_match, &search);
    }
    rocprofiler_counter_config_id_t config = {0};
    if (!ok(pass_select(agent, &search), tool.settings.counters) || search.count == 0)
        return; /* crocprof has said what this GPU does not count */
    if (!ok(rocprofiler_create_counter_config(agent->id, search.ids, search.count, &config),
            tool.settings.counters))
        return;
    tool.configs[tool.config_count].agent = agent->id.handle;
    tool.configs[tool.config_count++].config = config;
}

static void counters_configure(void)
{
    const rocprofiler_agent_v0_t *agent;
    for (unsigned i = 0; (agent = names_agent_at(i)) && tool.config_count < AGENTS_MAX; i++)
        if (agent->type == ROCPROFILER_AGENT_TYPE_GPU)
            agent_counters_configure(agent);
    ok(rocprofiler_configure_buffer_dispatch_counting_service(tool.context, tool.buffer,
                                                              dispatch_choose, NULL),
       "counting");
}

static void end_early(void)
{
    tool.finalize(*tool.client);
}

static int tool_initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)data;
    tool.finalize = finalize;
    names_agents_load();
    report_open(&tool.settings);
    if (!ok(rocprofiler_create_context(&tool.context), "context") ||
        !ok(rocprofiler_create_buffer(tool.context, BUFFER_BYTES, WATERMARK_BYTES,
                                      ROCPROFILER_BUFFER_POLICY_LOSSLESS, buffer_delivered, NULL,
                                      &tool.buffer),
            "buffer"))
        return -1;
    ok(rocprofiler_configure_callback_tracing_service(
           tool.context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, code_object, NULL),
       "code objects");
    tracing_configure();
    if (tool.settings.counters) {
        passes_open(&tool.settings);
        counters_configure();
    }
    if (!ok(rocprofiler_start_context(tool.context), "start"))
        return -1;
    int status = ending_prepare(end_early, false);
    if (status != 0)
        fprintf(stderr, "crocprof: a report only if the program ends by exit: %s\n",
                strerror(-status));
    return 0;
}

static void tool_finalize(void *data)
{
    (void)data;
    if (getpid() != tool.pid)
        return; /* a forked child: the files are the parent's */
    ending_done();
    rocprofiler_stop_context(tool.context);
    rocprofiler_flush_buffer(tool.buffer);
    markers_each(report_marker);
    report_close();
    passes_close();
}

__attribute__((visibility("default"))) rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    (void)version;
    (void)runtime_version;
    (void)priority;
    client_id->name = "crocprof";
    settings_from_environment(&tool.settings);
    tool.pid = getpid();
    tool.client = client_id;
    static rocprofiler_tool_configure_result_t result = {sizeof result, tool_initialize,
                                                         tool_finalize, NULL};
    return &result;
}
