#include "counters.h"

#include <string.h>

struct search {
    const char *name;
    size_t length;
    rocprofiler_counter_id_t *id;
    bool found;
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
                                           &info) != ROCPROFILER_STATUS_SUCCESS ||
            strncmp(info.name, search->name, search->length) != 0 || info.name[search->length])
            continue;
        *search->id = counters[i];
        search->found = true;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static bool find(rocprofiler_agent_id_t agent, const char *name, size_t length,
                 rocprofiler_counter_id_t *id)
{
    struct search search = {.name = name, .length = length, .id = id};
    rocprofiler_iterate_agent_supported_counters(agent, counters_take, &search);
    return search.found;
}

bool counter_find(rocprofiler_agent_id_t agent, const char *name, rocprofiler_counter_id_t *id)
{
    size_t length = strlen(name), base = strcspn(name, "[");
    if (find(agent, name, length, id))
        return true;
    return base < length && find(agent, name, base, id) &&
           rocprofiler_create_counter(name, length, name, length, "", 0, agent, id) ==
               ROCPROFILER_STATUS_SUCCESS;
}
