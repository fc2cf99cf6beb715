#include "session/counting/owners.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "base/fork_lock.h"
#include "model/service.h"
#include "session/counting/counting.h"

static struct {
    pthread_mutex_t lock; /* a leaf */
    uint64_t of_all;      /* context handles; 0: nobody */
    struct {
        uint64_t agent, context;
    } owned[COUNTING_AGENTS_MAX];
    size_t count;
} owners = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(owners_kept, owners.lock)

rocprofiler_status_t owners_take_all(rocprofiler_context_id_t context)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
    pthread_mutex_lock(&owners.lock);
    if (owners.count == 0 && (owners.of_all == 0 || owners.of_all == context.handle)) {
        owners.of_all = context.handle;
        status = ROCPROFILER_STATUS_SUCCESS;
    }
    pthread_mutex_unlock(&owners.lock);
    return status;
}

rocprofiler_status_t owners_take(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    pthread_mutex_lock(&owners.lock);
    if (owners.of_all != 0)
        status = ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
    else if (owners.count == COUNTING_AGENTS_MAX)
        status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    for (size_t i = 0; i < owners.count; i++) {
        if (owners.owned[i].agent == agent.handle)
            status = ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
    }
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        owners.owned[owners.count].agent = agent.handle;
        owners.owned[owners.count++].context = context.handle;
    }
    pthread_mutex_unlock(&owners.lock);
    return status;
}

void owners_release(rocprofiler_context_id_t context)
{
    size_t kept = 0;
    pthread_mutex_lock(&owners.lock);
    if (owners.of_all == context.handle)
        owners.of_all = 0;
    for (size_t i = 0; i < owners.count; i++) {
        if (owners.owned[i].context != context.handle)
            owners.owned[kept++] = owners.owned[i];
    }
    owners.count = kept;
    pthread_mutex_unlock(&owners.lock);
}

/* The context that has the agent (handle 0: any agent), or handle 0. */
static rocprofiler_context_id_t owner_of(rocprofiler_agent_id_t agent, bool *counts_dispatches)
{
    rocprofiler_context_id_t owner = {0};
    pthread_mutex_lock(&owners.lock);
    *counts_dispatches = owners.of_all != 0;
    owner.handle = owners.of_all;
    for (size_t i = 0; i < owners.count && owner.handle == 0; i++) {
        if (agent.handle == 0 || owners.owned[i].agent == agent.handle)
            owner.handle = owners.owned[i].context;
    }
    pthread_mutex_unlock(&owners.lock);
    return owner;
}

void counting_owner_describe(rocprofiler_agent_id_t agent, char *text, size_t size)
{
    bool of_dispatches;
    rocprofiler_context_id_t owner = owner_of(agent, &of_dispatches);
    if (owner.handle == 0)
        snprintf(text, size, "nobody");
    else
        snprintf(text, size, "%s, which counts %s", service_context_owner(owner),
                 of_dispatches ? "kernels" : "on a whole GPU");
}
