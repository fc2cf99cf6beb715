#include "counters.h"

#include <crocprof/quality.h>

#include <stdio.h>
#include <string.h>

#include "names.h"
#include "names/counters.h"
#include "names/numbered.h"

static struct numbered counters = {.element_bytes = sizeof(struct out_counter)};

static const rocprofiler_agent_v0_t *agent_at(uint64_t node)
{
    const rocprofiler_agent_v0_t *agent;
    for (unsigned i = 0; (agent = names_agent_at(i)); i++)
        if (agent->node_id == node)
            return agent;
    return NULL;
}

/* Adds what the device says of the counter to its description, for whoever reads the files. */
static void quality_add(struct out_counter *counter)
{
    static const char *const words[] = {[CROCPROF_QUALITY_MODELLED] = "modelled",
                                        [CROCPROF_QUALITY_APPROXIMATE] = "approximate",
                                        [CROCPROF_QUALITY_NOT_COUNTED] = "not counted, reads 0"};
    const rocprofiler_agent_v0_t *agent = agent_at(counter->node);
    crocprof_quality_t quality = CROCPROF_QUALITY_NOT_STATED;
    char *description;
    if (agent)
        crocprof_quality_of_counter(agent->id, (rocprofiler_counter_id_t){.handle = counter->id},
                                    &quality);
    counter->quality = (uint8_t)quality;
    if (quality < sizeof words / sizeof words[0] && words[quality] &&
        asprintf(&description, "%s (this device: %s)",
                 counter->description ? counter->description : "", words[quality]) > 0)
        counter->description = description; /* for the life of the process */
}

/* By how much an instance's number grows along the dimension; 0: it has but one position. */
static uint64_t dimension_step(const rocprofiler_counter_info_v1_t *info, uint64_t dimension)
{
    for (uint64_t i = 0; i < info->dimensions_instances_count; i++) {
        const rocprofiler_counter_record_dimension_instance_info_t *at =
            info->dimensions_instances[i];
        bool is_next = at->dimensions_count == info->dimensions_count;
        for (uint64_t k = 0; is_next && k < at->dimensions_count; k++)
            is_next = at->dimensions[k]->index == (k == dimension);
        if (is_next)
            return at->instance_id - info->dimensions_instances[0]->instance_id;
    }
    return 0;
}

/* Dimensions are left out where instances are not numbered by steps. */
static bool is_by_steps(const rocprofiler_counter_info_v1_t *info,
                        const struct out_counter *counter)
{
    for (uint64_t i = 0; i < info->dimensions_instances_count; i++) {
        const rocprofiler_counter_record_dimension_instance_info_t *at =
            info->dimensions_instances[i];
        uint64_t id = counter->first_instance;
        for (uint64_t k = 0; k < at->dimensions_count && k < counter->dimension_count; k++)
            id += at->dimensions[k]->index * counter->dimensions[k].step;
        if (at->dimensions_count != counter->dimension_count || id != at->instance_id)
            return false;
    }
    return true;
}

static void dimensions_take(struct out_counter *counter, const rocprofiler_counter_info_v1_t *info)
{
    if (info->dimensions_count > OUT_DIMENSIONS || info->dimensions_instances_count == 0)
        return;
    counter->first_instance = info->dimensions_instances[0]->instance_id;
    for (uint32_t i = 0; i < info->dimensions_count; i++)
        counter->dimensions[i] =
            (struct out_dimension){.name = info->dimensions[i]->name,
                                   .id = (uint32_t)info->dimensions[i]->id,
                                   .size = (uint32_t)info->dimensions[i]->instance_size,
                                   .step = dimension_step(info, i)};
    counter->dimension_count = (uint32_t)info->dimensions_count;
    if (!is_by_steps(info, counter))
        counter->dimension_count = 0;
}

const struct out_counter *counters_get(uint64_t id, uint64_t node)
{
    bool is_new = false;
    struct out_counter *counter = numbered_get(&counters, id, &is_new);
    if (!counter || !is_new)
        return counter;
    rocprofiler_counter_info_v1_t info = {.name = "(unknown counter)", .expression = ""};
    rocprofiler_query_counter_info((rocprofiler_counter_id_t){.handle = id},
                                   ROCPROFILER_COUNTER_INFO_VERSION_1, &info);
    *counter = (struct out_counter){.id = id,
                                    .node = node,
                                    .name = info.name,
                                    .description = info.description,
                                    .block = info.block,
                                    .expression = info.expression,
                                    .is_constant = info.is_constant,
                                    .is_derived = info.is_derived};
    quality_add(counter);
    dimensions_take(counter, &info);
    return counter;
}

const struct out_counter *counters_named(const char *name, uint64_t node)
{
    enum { KNOWN_MAX = 1024 };
    static const struct out_counter *known[KNOWN_MAX];
    static unsigned known_count;
    for (unsigned i = 0; i < known_count; i++)
        if (known[i]->node == node && strcmp(known[i]->name, name) == 0)
            return known[i];
    const rocprofiler_agent_v0_t *agent = agent_at(node);
    rocprofiler_counter_id_t id;
    if (!agent || !counter_find(agent->id, name, &id))
        return NULL;
    const struct out_counter *counter = counters_get(id.handle, node);
    if (counter && known_count < KNOWN_MAX)
        known[known_count++] = counter;
    return counter;
}
