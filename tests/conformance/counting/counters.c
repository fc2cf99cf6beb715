#include "counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const rocprofiler_agent_v0_t *gpu_agents[AGENTS_MAX];
uint32_t gpu_agent_count;
rocprofiler_agent_id_t cpu_agent;

static rocprofiler_status_t agents_take(rocprofiler_agent_version_t version, const void **list,
                                        size_t count, void *data)
{
    (void)version, (void)data;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_v0_t *agent = list[i];
        if (agent->type == ROCPROFILER_AGENT_TYPE_CPU)
            cpu_agent = agent->id;
        else if (gpu_agent_count < AGENTS_MAX)
            gpu_agents[gpu_agent_count++] = agent;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

void agents_load(void)
{
    OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, agents_take,
                                          sizeof(rocprofiler_agent_v0_t), NULL));
    assert_true(gpu_agent_count > 0);
}

uint32_t agent_position(rocprofiler_agent_id_t id)
{
    uint32_t position = 0;
    while (gpu_agents[position]->id.handle != id.handle)
        position++;
    return position;
}

const char *counter_name(rocprofiler_counter_id_t id)
{
    rocprofiler_counter_info_v0_t info;
    OK(rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
    assert_int_equal(info.id.handle, id.handle);
    return info.name;
}

struct search {
    const char *name;
    rocprofiler_counter_id_t id;
};

static rocprofiler_status_t match(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *counters,
                                  size_t count, void *data)
{
    struct search *search = data;
    (void)agent;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(counter_name(counters[i]), search->name) == 0)
            search->id = counters[i];
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_counter_id_t counter_find(rocprofiler_agent_id_t agent, const char *name)
{
    struct search search = {.name = name};
    OK(rocprofiler_iterate_agent_supported_counters(agent, match, &search));
    return search.id;
}

rocprofiler_counter_id_t counter_named(rocprofiler_agent_id_t agent, const char *name)
{
    rocprofiler_counter_id_t id = counter_find(agent, name);
    if (id.handle == 0)
        fail_msg("no counter %s", name);
    return id;
}

rocprofiler_counter_config_id_t config_of(rocprofiler_agent_id_t agent, const char *names)
{
    rocprofiler_counter_id_t list[16];
    rocprofiler_counter_config_id_t config = {0};
    char text[400], *rest = text, *name;
    size_t count = 0;
    snprintf(text, sizeof text, "%s", names);
    while ((name = strsep(&rest, ",")) && count < 16)
        list[count++] = counter_named(agent, name);
    OK(rocprofiler_create_counter_config(agent, list, count, &config));
    return config;
}
