/*
 * librocprofv3-list-avail.so: what the Python module rocprofv3.avail, and other programs by ctypes,
 * ask about agents and counters. Handles are the SDK's. Everything is read at the first call; texts
 * live as long as the library. A handle that is none leaves the results as they were.
 */
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent_json.h"
#include "avail.h"
#include "fits.h"

#define EXPORT __attribute__((visibility("default")))

static struct avail avail;
static char *descriptions[AVAIL_AGENTS_MAX]; /* of agents, as JSON */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static char *description_make(const rocprofiler_agent_v0_t *agent)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    agent_json_print(file, agent);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static void everything_read(void)
{
    rocprofiler_status_t status = avail_read(&avail);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        fprintf(stderr, "rocprofv3-list-avail: %s\n", rocprofiler_get_status_string(status));
    for (unsigned i = 0; i < avail.count; i++)
        descriptions[i] = description_make(avail.agents[i].agent);
}

static const struct avail *everything(void)
{
    pthread_once(&once, everything_read);
    return &avail;
}

static const rocprofiler_counter_info_v1_t *counter_of(uint64_t handle)
{
    return avail_counter_find(everything(), handle);
}

/* ---- agents */

EXPORT size_t get_number_of_agents(void);
EXPORT void agent_handles(uint64_t *out, size_t count);
EXPORT uint64_t get_agent_id(uint64_t handle, int type);
EXPORT void agent_info(uint64_t handle, const char **json);

size_t get_number_of_agents(void)
{
    return everything()->count;
}

void agent_handles(uint64_t *out, size_t count)
{
    for (size_t i = 0; out && i < count && i < everything()->count; i++)
        out[i] = avail.agents[i].agent->id.handle;
}

/* By node, among the visible ones, or among those of its kind. */
uint64_t get_agent_id(uint64_t handle, int type)
{
    const struct avail_agent *agent = avail_agent_find(everything(), handle);
    if (!agent)
        return UINT64_MAX;
    return type == 0   ? agent->agent->node_id
           : type == 1 ? (uint64_t)agent->agent->logical_node_id
                       : (uint64_t)agent->agent->logical_node_type_id;
}

void agent_info(uint64_t handle, const char **json)
{
    const struct avail_agent *agent = avail_agent_find(everything(), handle);
    if (agent && json)
        *json = descriptions[agent - avail.agents];
}

/* ---- counters */

EXPORT size_t get_number_of_agent_counters(uint64_t handle);
EXPORT void agent_counter_handles(uint64_t *out, uint64_t handle, size_t count);
EXPORT void counter_info(uint64_t counter, const char **name, const char **description,
                         uint8_t *is_derived, uint8_t *is_hw_constant);
EXPORT void counter_block(uint64_t counter, const char **block);
EXPORT void counter_expression(uint64_t counter, const char **expression);
EXPORT size_t get_number_of_dimensions(uint64_t counter);
EXPORT void counter_dimension_ids(uint64_t counter, uint64_t *out, size_t count);
EXPORT void counter_dimension(uint64_t counter, uint64_t dimension, const char **name,
                              uint64_t *instances);
EXPORT bool is_counter_set(const uint64_t *counters, uint64_t agent, size_t count);

size_t get_number_of_agent_counters(uint64_t handle)
{
    const struct avail_agent *agent = avail_agent_find(everything(), handle);
    return agent ? agent->count : 0;
}

void agent_counter_handles(uint64_t *out, uint64_t handle, size_t count)
{
    const struct avail_agent *agent = avail_agent_find(everything(), handle);
    for (size_t i = 0; out && agent && i < count && i < agent->count; i++)
        out[i] = agent->counters[i].id.handle;
}

/* Callers give room for more than a byte, and have it cleared. */
void counter_info(uint64_t counter, const char **name, const char **description,
                  uint8_t *is_derived, uint8_t *is_hw_constant)
{
    const rocprofiler_counter_info_v1_t *info = counter_of(counter);
    if (!info)
        return;
    *name = info->name;
    *description = info->description;
    *is_derived = info->is_derived;
    *is_hw_constant = info->is_constant;
}

void counter_block(uint64_t counter, const char **block)
{
    const rocprofiler_counter_info_v1_t *info = counter_of(counter);
    if (info)
        *block = info->block;
}

void counter_expression(uint64_t counter, const char **expression)
{
    const rocprofiler_counter_info_v1_t *info = counter_of(counter);
    if (info)
        *expression = info->expression;
}

size_t get_number_of_dimensions(uint64_t counter)
{
    const rocprofiler_counter_info_v1_t *info = counter_of(counter);
    return info ? info->dimensions_count : 0;
}

void counter_dimension_ids(uint64_t counter, uint64_t *out, size_t count)
{
    const rocprofiler_counter_info_v1_t *info = counter_of(counter);
    for (size_t i = 0; out && info && i < count && i < info->dimensions_count; i++)
        out[i] = info->dimensions[i]->id;
}

/* rocprofv3's module passes room for 32 bits, and the interface says 64: what fits both is written,
 * since no dimension has more instances. */
void counter_dimension(uint64_t counter, uint64_t dimension, const char **name, uint64_t *instances)
{
    const rocprofiler_counter_info_v1_t *info = counter_of(counter);
    for (uint64_t i = 0; info && i < info->dimensions_count; i++) {
        if (info->dimensions[i]->id != dimension)
            continue;
        *name = info->dimensions[i]->name;
        *(uint32_t *)(void *)instances = (uint32_t)info->dimensions[i]->instance_size;
    }
}

bool is_counter_set(const uint64_t *counters, uint64_t agent, size_t count)
{
    const struct avail_agent *known = avail_agent_find(everything(), agent);
    struct fits *fits = malloc(sizeof *fits);
    rocprofiler_counter_id_t *ids = calloc(count + 1, sizeof *ids);
    bool fit = false;
    for (size_t i = 0; ids && counters && i < count; i++)
        ids[i].handle = counters[i];
    if (known && counters && ids && fits && count > 0)
        fit = fits_plan(fits, known, ids, count) == ROCPROFILER_STATUS_SUCCESS && fits->passes == 1;
    free(ids);
    free(fits);
    return fit;
}

/* ---- program counters: none are sampled */

EXPORT size_t get_number_of_pc_sample_configs(uint64_t agent);
EXPORT void pc_sample_config(uint64_t agent, uint64_t index, uint64_t *method, uint64_t *unit,
                             uint64_t *min, uint64_t *max, uint64_t *flags);

size_t get_number_of_pc_sample_configs(uint64_t agent)
{
    (void)agent;
    return 0;
}

void pc_sample_config(uint64_t agent, uint64_t index, uint64_t *method, uint64_t *unit,
                      uint64_t *min, uint64_t *max, uint64_t *flags)
{
    (void)agent;
    (void)index;
    (void)method;
    (void)unit;
    (void)min;
    (void)max;
    (void)flags;
}
