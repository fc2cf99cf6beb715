/*
 * A tool as a user would write it: counts what COUNTING_COUNTERS names on every dispatch and writes
 * each value with its place to COUNTING_OUTPUT. COUNTING_MODE=callback uses the callback service,
 * anything else a buffer.
 *
 *   config <counter> <status>
 *   dispatch <id> <waves of the grid> <grid x y z> <group x y z> <records>
 *   value <dispatch> <counter> <xcc> <shader engine> <instance> <value>
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

enum { COUNTERS_MAX = 64, AGENTS_MAX = 16 };

static FILE *output;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static struct {
    rocprofiler_agent_id_t agent;
    rocprofiler_counter_config_id_t config;
} configs[AGENTS_MAX];
static uint32_t config_count;

static void value_write(const rocprofiler_counter_record_t *record)
{
    rocprofiler_counter_id_t id;
    rocprofiler_counter_info_v0_t info;
    size_t place[3] = {0};
    const rocprofiler_counter_dimension_id_t dimensions[3] = {1, 3, 7}; /* XCC, SE, INSTANCE */
    rocprofiler_query_record_counter_id(record->id, &id);
    rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info);
    for (int i = 0; i < 3; i++)
        rocprofiler_query_record_dimension_position(record->id, dimensions[i], &place[i]);
    fprintf(output, "value %llu %s %zu %zu %zu %.17g\n", (unsigned long long)record->dispatch_id,
            info.name, place[0], place[1], place[2], record->counter_value);
}

static void dispatch_write(const rocprofiler_kernel_dispatch_info_t *info, uint64_t records)
{
    fprintf(output, "dispatch %llu %u %u %u %u %u %u %llu\n", (unsigned long long)info->dispatch_id,
            info->grid_size.x, info->grid_size.y, info->grid_size.z, info->workgroup_size.x,
            info->workgroup_size.y, info->workgroup_size.z, (unsigned long long)records);
}

static void delivered(rocprofiler_context_id_t from, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)from, (void)id, (void)data;
    for (size_t i = 0; i < count; i++) {
        if (headers[i]->category != ROCPROFILER_BUFFER_CATEGORY_COUNTERS)
            continue;
        if (headers[i]->kind == ROCPROFILER_COUNTER_RECORD_VALUE) {
            value_write(headers[i]->payload);
        } else {
            const rocprofiler_dispatch_counting_service_record_t *header = headers[i]->payload;
            dispatch_write(&header->dispatch_info, header->num_records);
        }
    }
    if (dropped)
        fprintf(output, "dropped %llu\n", (unsigned long long)dropped);
}

static void recorded(rocprofiler_dispatch_counting_service_data_t data,
                     rocprofiler_counter_record_t *records, size_t count,
                     rocprofiler_user_data_t user_data, void *arg)
{
    (void)arg;
    if (user_data.value != data.dispatch_info.dispatch_id)
        fprintf(output, "wrong user data\n");
    dispatch_write(&data.dispatch_info, count);
    for (size_t i = 0; i < count; i++)
        value_write(&records[i]);
}

static void choose(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                   void *arg)
{
    (void)arg;
    user_data->value = data.dispatch_info.dispatch_id;
    for (uint32_t i = 0; i < config_count; i++) {
        if (configs[i].agent.handle == data.dispatch_info.agent_id.handle)
            *config = configs[i].config;
    }
}

struct wanted {
    const char *names;
    rocprofiler_counter_id_t ids[COUNTERS_MAX];
    size_t count;
};

/* Whether `name` is an element of the comma list. */
static int listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return 1;
    }
    return 0;
}

static rocprofiler_status_t take(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *ids,
                                 size_t count, void *data)
{
    struct wanted *wanted = data;
    (void)agent;
    for (size_t i = 0; i < count && wanted->count < COUNTERS_MAX; i++) {
        rocprofiler_counter_info_v0_t info;
        rocprofiler_query_counter_info(ids[i], ROCPROFILER_COUNTER_INFO_VERSION_0, &info);
        if (listed(wanted->names, info.name))
            wanted->ids[wanted->count++] = ids[i];
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t add_agents(rocprofiler_agent_version_t version, const void **agents,
                                       size_t count, void *data)
{
    (void)version;
    for (size_t i = 0; i < count && config_count < AGENTS_MAX; i++) {
        const rocprofiler_agent_v0_t *agent = agents[i];
        struct wanted wanted = {.names = data};
        if (agent->type != ROCPROFILER_AGENT_TYPE_GPU)
            continue;
        rocprofiler_iterate_agent_supported_counters(agent->id, take, &wanted);
        configs[config_count].agent = agent->id;
        rocprofiler_status_t status = rocprofiler_create_counter_config(
            agent->id, wanted.ids, wanted.count, &configs[config_count].config);
        fprintf(output, "config %zu %d\n", wanted.count, (int)status);
        config_count++;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    const char *names = getenv("COUNTING_COUNTERS"), *mode = getenv("COUNTING_MODE");
    const char *path = getenv("COUNTING_OUTPUT");
    rocprofiler_status_t status;
    (void)finalize, (void)data;
    output = path ? fopen(path, "w") : stderr;
    if (!names || !output)
        return -1;
    rocprofiler_create_context(&context);
    rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, add_agents,
                                       sizeof(rocprofiler_agent_v0_t), (void *)(uintptr_t)names);
    if (mode && strcmp(mode, "callback") == 0) {
        status = rocprofiler_configure_callback_dispatch_counting_service(context, choose, NULL,
                                                                          recorded, NULL);
    } else {
        rocprofiler_create_buffer(context, 65536, 32768, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                  delivered, NULL, &buffer);
        status =
            rocprofiler_configure_buffer_dispatch_counting_service(context, buffer, choose, NULL);
    }
    fprintf(output, "service %d\n", (int)status);
    return rocprofiler_start_context(context) == ROCPROFILER_STATUS_SUCCESS ? 0 : -1;
}

static void finish(void *data)
{
    (void)data;
    rocprofiler_stop_context(context);
    if (buffer.handle)
        rocprofiler_flush_buffer(buffer);
    fprintf(output, "end\n");
    fflush(output);
}

__attribute__((visibility("default"))) rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {
        sizeof(rocprofiler_tool_configure_result_t), initialize, finish, NULL};
    (void)version, (void)runtime_version, (void)priority;
    id->name = "counting test";
    return &result;
}
