/* GPU-visible memory from the HSA runtime: fine-grained host memory that the agent may access. */
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/wrappers.h"
#include "session/counting/runtime.h"

static void *memory_get(uint64_t hsa_agent, size_t bytes)
{
    hsa_amd_memory_pool_t pool = agents_host_pool();
    hsa_agent_t agent = {hsa_agent};
    void *memory = NULL;
    if (!pool.handle || !hsa_real.hsa_amd_agents_allow_access) {
        log_error("counting", "the HSA runtime has no host memory that GPUs can use");
        return NULL;
    }
    if (hsa_real.hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory) != HSA_STATUS_SUCCESS)
        return NULL;
    if (hsa_real.hsa_amd_agents_allow_access(1, &agent, NULL, memory) != HSA_STATUS_SUCCESS) {
        hsa_real.hsa_amd_memory_pool_free(memory);
        return NULL;
    }
    memset(memory, 0, bytes);
    return memory;
}

void *counting_memory_get(uint64_t hsa_agent, size_t bytes)
{
    thread_own_work_begin();
    void *memory = memory_get(hsa_agent, bytes);
    thread_own_work_end();
    return memory;
}

static void release(void *memory)
{
    thread_own_work_begin();
    hsa_real.hsa_amd_memory_pool_free(memory);
    thread_own_work_end();
}

static const struct counting_memory_ops hsa_memory = {counting_memory_get, release};

void counting_memory_use_hsa(void)
{
    counting_memory_register(&hsa_memory);
}
