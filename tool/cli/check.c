#include "check.h"

#include <crocprof/plan.h>
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

/* The counters of a list on one GPU. */
struct selection {
    const rocprofiler_agent_v0_t *gpu;
    rocprofiler_counter_id_t ids[COUNTERS_MAX];
    size_t count;
};

/* Adds the counter where it exists; how many of the GPUs that is. */
static size_t counter_select(const char *name, struct selection *selections, size_t gpu_count)
{
    size_t found = 0;
    for (size_t i = 0; i < gpu_count; i++) {
        struct selection *selection = &selections[i];
        struct search search = {.name = name};
        rocprofiler_iterate_agent_supported_counters(selection->gpu->id, counters_take, &search);
        if (!search.found || selection->count == COUNTERS_MAX)
            continue;
        selection->ids[selection->count++] = search.id;
        found++;
    }
    return found;
}

static void not_everywhere_tell(const char *name, const struct selection *selections,
                                size_t gpu_count)
{
    for (size_t i = 0; i < gpu_count; i++) {
        struct search search = {.name = name};
        rocprofiler_iterate_agent_supported_counters(selections[i].gpu->id, counters_take, &search);
        if (!search.found)
            fprintf(stderr, "crocprof: agent %u (%s) does not count %s\n",
                    selections[i].gpu->node_id, selections[i].gpu->name, name);
    }
}

static int counters_select(const char *names, struct selection *selections, size_t gpu_count)
{
    char name[128];
    while (settings_list_next(&names, name, sizeof name)) {
        size_t found = counter_select(name, selections, gpu_count);
        if (found == 0) {
            fprintf(stderr, "crocprof: unknown counter %s on %s (see crocprof list)\n", name,
                    selections[0].gpu->name);
            return EXIT_USAGE;
        }
        if (found < gpu_count)
            not_everywhere_tell(name, selections, gpu_count);
    }
    return 0;
}

/* How often the program must run for this GPU's counters. */
static int passes_count(const struct selection *selection, uint32_t *passes)
{
    uint32_t pass_of[COUNTERS_MAX];
    char text[600];
    rocprofiler_status_t status =
        crocprof_plan_passes(selection->gpu->id, selection->ids, selection->count, pass_of, passes);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        return 0;
    if (status == ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT &&
        crocprof_plan_explain(selection->gpu->id, &selection->ids[*passes], 1, text, sizeof text) ==
            ROCPROFILER_STATUS_SUCCESS)
        fprintf(stderr, "crocprof: %s: one counter needs more than the hardware has: %s\n",
                selection->gpu->name, text);
    else
        fprintf(stderr, "crocprof: %s: %s\n", selection->gpu->name,
                rocprofiler_get_status_string(status));
    return EXIT_USAGE;
}

static int counters_check(const char *names, const struct gpu_list *gpus)
{
    static struct selection selections[AGENTS_MAX];
    uint32_t most = 1, passes;
    for (size_t i = 0; i < gpus->count; i++)
        selections[i].gpu = gpus->gpu[i];
    int result = counters_select(names, selections, gpus->count);
    for (size_t i = 0; i < gpus->count && result == 0; i++) {
        result = passes_count(&selections[i], &passes);
        most = result == 0 && passes > most ? passes : most;
    }
    if (result == 0)
        printf("%u\n", most);
    return result;
}

static void gpu_list_print(const rocprofiler_agent_v0_t *gpu)
{
    printf("Agent %u: %s (%s)\n", gpu->node_id, gpu->name, gpu->product_name);
    struct search search = {.print = true};
    rocprofiler_status_t status =
        rocprofiler_iterate_agent_supported_counters(gpu->id, counters_take, &search);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        printf("  %s\n", rocprofiler_get_status_string(status));
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
    if (!mode || strcmp(mode, "list") != 0)
        return counters_check(names ? names : "", &gpus);
    for (size_t i = 0; i < gpus.count; i++)
        gpu_list_print(gpus.gpu[i]);
    return 0;
}
