/* The sequencers count only waves of queues that say so: the first packet of each queue does. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/aql/vendor.h"
#include "model/trace.h"
#include "session/counting/counting.h"
#include "session/counting/runtime.h"

/* One for each agent of each runtime, kept. */
struct enabling {
    struct enabling *next;
    uint64_t hsa_agent;
    uint32_t generation; /* of its memory */
    struct aql_pm4_packet packet;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct enabling *enablings;

void enable_on_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

static struct enabling *enabling_find(uint64_t hsa_agent)
{
    uint32_t generation = counting_memory_generation();
    pthread_mutex_lock(&lock);
    struct enabling *found = enablings;
    while (found && (found->hsa_agent != hsa_agent || found->generation != generation))
        found = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static void enabling_list(struct enabling *enabling)
{
    pthread_mutex_lock(&lock);
    enabling->next = enablings;
    enablings = enabling;
    pthread_mutex_unlock(&lock);
}

static struct enabling *enabling_of_commands(const struct pm4_stream *stream, uint64_t hsa_agent)
{
    uint32_t generation;
    size_t bytes = stream->count * sizeof(uint32_t);
    void *commands = counting_memory_take(hsa_agent, bytes, &generation);
    struct enabling *enabling = commands ? calloc(1, sizeof *enabling) : NULL;
    if (!enabling)
        return NULL;
    memcpy(commands, stream->dwords, bytes);
    enabling->hsa_agent = hsa_agent;
    enabling->generation = generation;
    aql_pm4_packet_fill(&enabling->packet, (uint64_t)(uintptr_t)commands, stream->count);
    enabling->packet.header = aql_vendor_header();
    enabling_list(enabling);
    return enabling;
}

static struct enabling *enabling_make(rocprofiler_agent_id_t id, uint64_t hsa_agent)
{
    const struct counting_agent *agent = counting_agent_find(id);
    struct enabling *enabling = NULL;
    struct pm4_stream stream = {0};
    if (!agent || !agent->is_supported)
        return NULL;
    gpu_pmc_enable(&stream, agent->target, 1);
    if (!stream.out_of_memory)
        enabling = enabling_of_commands(&stream, hsa_agent);
    pm4_stream_free(&stream);
    return enabling;
}

const void *enable_packet(rocprofiler_agent_id_t agent, uint64_t hsa_agent)
{
    struct enabling *enabling = enabling_find(hsa_agent);
    if (!enabling)
        enabling = enabling_make(agent, hsa_agent);
    if (enabling)
        return &enabling->packet;
    log_warning("counting", "waves of a queue are not counted: it could not be told to");
    return NULL;
}
