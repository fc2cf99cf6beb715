/*
 * The specification's examples 5.2 (a context for each kernel), 5.3 (completion callback) and 5.4
 * (a pool), completed into one profiling tool for ROCP_TOOL_LIB. V1_TOOL says which; one line for
 * each kernel goes to V1_TOOL_OUTPUT when the tool is unloaded: its name, waves, vector
 * instructions per work-item, and whether its times are in order.
 *
 * TOOL_ENTRY, TOOL_NO_UNLOAD: other sets of entry points.
 */
#include <pthread.h>
#include <rocprofiler/rocprofiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS_MAX = 1000, FEATURES = 2, POOL_ENTRIES = 4 };

struct entry {
    rocprofiler_feature_t features[FEATURES];
    rocprofiler_group_t group;
    rocprofiler_callback_data_t data;
};

static struct {
    pthread_mutex_t lock;
    struct entry entries[KERNELS_MAX];
    uint32_t entry_count;
    FILE *output;
    rocprofiler_pool_t *pool;
    rocprofiler_feature_t pool_features[FEATURES];
    char how; /* '2', '3', '4' */
} tool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void check(hsa_status_t status)
{
    const char *text = "";
    if (status == HSA_STATUS_SUCCESS)
        return;
    rocprofiler_error_string(&text);
    fprintf(stderr, "example_tool: 0x%x: %s\n", (unsigned)status, text);
}

static void features_fill(rocprofiler_feature_t *features)
{
    memset(features, 0, FEATURES * sizeof *features);
    features[0].kind = ROCPROFILER_FEATURE_KIND_METRIC;
    features[0].name = "SQ_WAVES";
    features[1].kind = ROCPROFILER_FEATURE_KIND_METRIC;
    features[1].name = "VALUInsts";
}

static void data_dump(const rocprofiler_callback_data_t *data,
                      const rocprofiler_feature_t *features)
{
    const rocprofiler_dispatch_record_t *r = data->record;
    int in_order = r && r->dispatch <= r->begin && r->begin < r->end && r->end <= r->complete;
    fprintf(tool.output, "%s %llu %.1f %s\n", data->kernel_name,
            (unsigned long long)features[0].data.result_int64, features[1].data.result_double,
            in_order ? "times" : "no times");
}

static struct entry *entry_take(void)
{
    pthread_mutex_lock(&tool.lock);
    struct entry *entry = tool.entry_count < KERNELS_MAX ? &tool.entries[tool.entry_count++] : NULL;
    pthread_mutex_unlock(&tool.lock);
    return entry;
}

/* ---- 5.2, 5.3 */

static bool completion_callback(rocprofiler_group_t group, void *arg)
{
    struct entry *entry = arg;
    check(rocprofiler_group_get_data(&group));
    check(rocprofiler_get_metrics(group.context));
    data_dump(&entry->data, entry->features);
    check(rocprofiler_close(group.context));
    return false;
}

static hsa_status_t dispatch_callback(const rocprofiler_callback_data_t *callback_data,
                                      void *user_data, rocprofiler_group_t *group)
{
    rocprofiler_t *context;
    struct entry *entry = entry_take();
    (void)user_data;
    if (!entry)
        return HSA_STATUS_ERROR;
    features_fill(entry->features);
    entry->data = *callback_data;
    rocprofiler_properties_t properties = {.handler = completion_callback, .handler_arg = entry};
    hsa_status_t status =
        rocprofiler_open(callback_data->agent, entry->features, FEATURES, &context,
                         ROCPROFILER_MODE_SINGLEGROUP, tool.how == '3' ? &properties : NULL);
    check(status);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    const uint32_t group_index = 0;
    status = rocprofiler_get_group(context, group_index, group);
    check(status);
    entry->group = *group;
    return status;
}

/* ---- 5.4 */

static bool context_handler(const rocprofiler_pool_entry_t *pool_entry, void *arg)
{
    struct entry *entry = pool_entry->payload;
    (void)arg;
    check(rocprofiler_group_get_data(&entry->group));
    check(rocprofiler_get_metrics(pool_entry->context));
    data_dump(&entry->data, tool.pool_features);
    return true;
}

static hsa_status_t pool_callback(const rocprofiler_callback_data_t *callback_data, void *user_data,
                                  rocprofiler_group_t *group)
{
    rocprofiler_pool_entry_t pool_entry = {0};
    (void)user_data;
    check(rocprofiler_pool_fetch(tool.pool, &pool_entry));
    struct entry *entry = pool_entry.payload;
    check(rocprofiler_get_group(pool_entry.context, 0, group));
    entry->group = *group;
    entry->data = *callback_data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t first_gpu(hsa_agent_t agent, void *found)
{
    hsa_device_type_t type;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type != HSA_DEVICE_TYPE_GPU)
        return HSA_STATUS_SUCCESS;
    *(hsa_agent_t *)found = agent;
    return HSA_STATUS_INFO_BREAK;
}

static void pool_open(void)
{
    hsa_agent_t agent = {0};
    rocprofiler_pool_properties_t properties = {.num_entries = POOL_ENTRIES,
                                                .payload_bytes = sizeof(struct entry),
                                                .handler = context_handler};
    hsa_iterate_agents(first_gpu, &agent);
    features_fill(tool.pool_features);
    check(rocprofiler_pool_open(agent, tool.pool_features, FEATURES, &tool.pool,
                                ROCPROFILER_MODE_SINGLEGROUP, &properties));
}

/* ---- the tool */

static void begin(void)
{
    const char *how = getenv("V1_TOOL"), *output = getenv("V1_TOOL_OUTPUT");
    rocprofiler_queue_callbacks_t callbacks = {0};
    tool.how = how ? how[0] : '2';
    tool.output = output ? fopen(output, "a") : NULL;
    if (!tool.output)
        tool.output = stderr;
    if (tool.how == '4')
        pool_open();
    callbacks.dispatch = tool.how == '4' ? pool_callback : dispatch_callback;
    check(rocprofiler_set_queue_callbacks(callbacks, NULL));
}

static void end(void)
{
    check(rocprofiler_remove_queue_callbacks());
    for (uint32_t i = 0; tool.how == '2' && i < tool.entry_count; i++) {
        struct entry *entry = &tool.entries[i];
        check(rocprofiler_group_get_data(&entry->group));
        check(rocprofiler_get_metrics(entry->group.context));
        data_dump(&entry->data, entry->features);
        check(rocprofiler_close(entry->group.context));
    }
    if (tool.how == '4') {
        check(rocprofiler_pool_flush(tool.pool));
        check(rocprofiler_pool_close(tool.pool));
    }
    fprintf(tool.output, "unloaded\n");
    if (tool.output != stderr)
        fclose(tool.output);
}

#ifndef TOOL_ENTRY
void OnLoadToolProp(rocprofiler_settings_t *settings);
void OnLoadToolProp(rocprofiler_settings_t *settings)
{
    if (settings->intercept_mode != 1 || settings->trace_size == 0 || settings->timeout == 0)
        fprintf(stderr, "example_tool: the settings are not filled in\n");
    settings->timestamp_on = 1;
    begin();
}
#else
void TOOL_ENTRY(void);
void TOOL_ENTRY(void)
{
    begin();
}
#endif

#ifndef TOOL_NO_UNLOAD
void OnUnloadTool(void);
void OnUnloadTool(void)
{
    end();
}
#else
void (*const unused)(void) = end;
#endif
