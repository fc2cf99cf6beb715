#include "counters.h"

#include <string.h>

#include "names.h"
#include "names/counters.h"
#include "names/numbered.h"

static struct numbered counters = {.element_bytes = sizeof(struct out_counter)};

const struct out_counter *counters_get(uint64_t id, uint64_t node)
{
    bool is_new = false;
    struct out_counter *counter = numbered_get(&counters, id, &is_new);
    if (!counter || !is_new)
        return counter;
    rocprofiler_counter_info_v0_t info = {.name = "(unknown counter)", .expression = ""};
    rocprofiler_query_counter_info((rocprofiler_counter_id_t){.handle = id},
                                   ROCPROFILER_COUNTER_INFO_VERSION_0, &info);
    *counter = (struct out_counter){.id = id,
                                    .node = node,
                                    .name = info.name,
                                    .description = info.description,
                                    .block = info.block,
                                    .expression = info.expression,
                                    .is_constant = info.is_constant,
                                    .is_derived = info.is_derived};
    return counter;
}

static const rocprofiler_agent_v0_t *agent_at(uint64_t node)
{
    const rocprofiler_agent_v0_t *agent;
    for (unsigned i = 0; (agent = names_agent_at(i)); i++)
        if (agent->node_id == node)
            return agent;
    return NULL;
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
