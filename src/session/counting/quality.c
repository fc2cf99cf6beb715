/* What devices say of their counters and times. */
#include <pthread.h>
#include <stdbool.h>

#include "base/fork_lock.h"
#include "session/counting/counting.h"
#include "topology/quality.h"

/* Read at the first question about an agent, and kept for ever. */
static struct {
    pthread_mutex_t lock; /* a leaf but for reading a small file */
    struct {
        uint64_t agent;
        struct node_quality *quality;
    } of[COUNTING_AGENTS_MAX]; /* there are no others to ask about */
    uint32_t count;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(known_kept, known.lock)

static const struct node_quality *quality_of(const struct counting_agent *agent)
{
    uint32_t at = 0;
    pthread_mutex_lock(&known.lock);
    while (at < known.count && known.of[at].agent != agent->id.handle)
        at++;
    if (at == known.count) {
        known.of[at].agent = agent->id.handle;
        known.of[at].quality = node_quality_read("", agent->info->node_id);
        known.count++;
    }
    const struct node_quality *quality = known.of[at].quality;
    pthread_mutex_unlock(&known.lock);
    return quality;
}

/* By the first of the blocks that share its registers: devices list events once. */
static crocprof_quality_t quality_of_event(const struct catalog *catalog,
                                           const struct counter *event,
                                           const struct node_quality *quality)
{
    uint32_t count;
    const struct counter_block *blocks = catalog_blocks(catalog, &count);
    return node_quality_event(quality, blocks[blocks[event->block].holder].name, event->event);
}

static rocprofiler_status_t worst_of(const struct catalog *catalog, const struct counter *counter,
                                     const struct node_quality *quality, crocprof_quality_t *worst)
{
    struct plan_event events[PLAN_EVENTS_MAX];
    uint32_t used = 0, count;
    const struct counter *all = catalog_counters(catalog, &count);
    *worst = CROCPROF_QUALITY_NOT_STATED;
    if (!quality)
        return ROCPROFILER_STATUS_SUCCESS;
    if (plan_events_add(catalog, counter, events, &used, PLAN_EVENTS_MAX) != 0)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    for (uint32_t i = 0; i < used; i++) {
        crocprof_quality_t found = quality_of_event(catalog, &all[events[i].counter], quality);
        *worst = found > *worst ? found : *worst;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t counting_quality_of_counter(rocprofiler_agent_id_t id,
                                                 rocprofiler_counter_id_t counter_id,
                                                 crocprof_quality_t *quality)
{
    const struct counting_agent *agent = counting_agent_find(id);
    const struct counter *counter;
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    const struct catalog *catalog = agent->is_supported ? counting_catalog(agent) : NULL;
    if (!catalog)
        return ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED;
    rocprofiler_status_t status = counting_counter_of(catalog, counter_id, &counter);
    return status == ROCPROFILER_STATUS_SUCCESS
               ? worst_of(catalog, counter, quality_of(agent), quality)
               : status;
}

rocprofiler_status_t counting_quality_of_times(rocprofiler_agent_id_t id, const char **words)
{
    const struct counting_agent *agent = counting_agent_find(id);
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    *words = node_quality_times(quality_of(agent));
    return ROCPROFILER_STATUS_SUCCESS;
}
