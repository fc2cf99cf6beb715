#include "check.h"

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/settings.h"

enum { AGENTS_MAX = 64, COUNTERS_MAX = 256, EXIT_USAGE = 2 };

struct gpu_list {
    const rocprofiler_agent_v0_t *gpu[AGENTS_MAX];
    size_t count;
};

static rocprofiler_status_t agents_take(rocprofiler_agent_version_t version, const void **agents,
                                        size_t count, void *data)
{
    struct gpu_list *list = data;
    (void)version;
    for (size_t i = 0; i < count && list->count < AGENTS_MAX; i++) {
        const rocprofiler_agent_v0_t *agent = agents[i];
        if (agent->type == ROCPROFILER_AGENT_TYPE_GPU)
            list->gpu[list->count++] = agent;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

struct search {
    const char *name;
    rocprofiler_counter_id_t id;
    bool found, print;
};

static rocprofiler_status_t counters_take(rocprofiler_agent_id_t agent,
                                          rocprofiler_counter_id_t *counters, size_t count,
                                          void *data)
{
    struct search *search = data;
    (void)agent;
    for (size_t i = 0; i < count && !search->found; i++) {
        rocprofiler_counter_info_v0_t info;
        if (rocprofiler_query_counter_info(counters[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
                                           &info) != ROCPROFILER_STATUS_SUCCESS)
            continue;
        if (search->print && !info.is_constant)
            printf("  %-36s %-8s %s\n", info.name, info.is_derived ? "derived" : info.block,
                   info.description);
        if (search->name && strcmp(info.name, search->name) == 0) {
            search->id = counters[i];
            search->found = true;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static int gpu_check(const rocprofiler_agent_v0_t *gpu, const char *names)
{
    rocprofiler_counter_id_t ids[COUNTERS_MAX];
    size_t count = 0;
    char name[128];
    for (const char *at = names;
         settings_list_next(&at, name, sizeof name) && count < COUNTERS_MAX;) {
        struct search search = {.name = name};
        rocprofiler_iterate_agent_supported_counters(gpu->id, counters_take, &search);
        if (!search.found) {
            fprintf(stderr, "crocprof: unknown counter %s on %s (see crocprof list)\n", name,
                    gpu->name);
            return EXIT_USAGE;
        }
        ids[count++] = search.id;
    }
    rocprofiler_counter_config_id_t config = {0};
    rocprofiler_status_t status = rocprofiler_create_counter_config(gpu->id, ids, count, &config);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        rocprofiler_destroy_counter_config(config);
        return 0;
    }
    fprintf(stderr, "crocprof: %s on %s: %s\n", names, gpu->name,
            status == ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT
                ? "more counters than the hardware collects at once"
                : rocprofiler_get_status_string(status));
    return EXIT_USAGE;
}

static int gpu_list_print(const rocprofiler_agent_v0_t *gpu)
{
    printf("Agent %u: %s (%s)\n", gpu->node_id, gpu->name, gpu->product_name);
    struct search search = {.print = true};
    rocprofiler_status_t status =
        rocprofiler_iterate_agent_supported_counters(gpu->id, counters_take, &search);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        printf("  %s\n", rocprofiler_get_status_string(status));
    return 0;
}

int cli_check(void)
{
    const char *mode = getenv("CROCPROF_CHECK_MODE");
    const char *names = getenv("CROCPROF_COUNTERS");
    struct gpu_list gpus = {0};
    rocprofiler_status_t status = rocprofiler_query_available_agents(
        ROCPROFILER_AGENT_INFO_VERSION_0, agents_take, sizeof(rocprofiler_agent_v0_t), &gpus);
    if (status != ROCPROFILER_STATUS_SUCCESS || gpus.count == 0) {
        fprintf(stderr, "crocprof: no GPU found: %s\n", rocprofiler_get_status_string(status));
        return EXIT_USAGE;
    }
    int result = 0;
    bool list = mode && strcmp(mode, "list") == 0;
    for (size_t i = 0; i < gpus.count && result == 0; i++)
        result = list ? gpu_list_print(gpus.gpu[i]) : gpu_check(gpus.gpu[i], names ? names : "");
    return result;
}
