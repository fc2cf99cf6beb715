/* GPU-visible memory from the HSA runtime: fine-grained host memory that the agent may access. */
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/counting.h"
#include "intercept/hsa/instance.h"
#include "model/counting.h"

/* Before each block stands whose it is; as much as the commands in it are aligned to. */
enum { HEAD_BYTES = 256 };
struct head {
    const struct hsa_instance *runtime;
};

static void *memory_get(uint64_t hsa_agent, size_t bytes)
{
    const struct hsa_agent_entry *agent = hsa_agent_of_any((hsa_agent_t){hsa_agent});
    const struct hsa_instance *runtime = agent ? agent->runtime : NULL;
    void *block = NULL;
    bytes += HEAD_BYTES;
    if (!runtime || !runtime->agents.host_pool.handle ||
        !runtime->real.hsa_amd_agents_allow_access) {
        log_error("counting", "the HSA runtime has no host memory that GPUs can use");
        return NULL;
    }
    if (runtime->real.hsa_amd_memory_pool_allocate(runtime->agents.host_pool, bytes, 0, &block) !=
        HSA_STATUS_SUCCESS)
        return NULL;
    if (runtime->real.hsa_amd_agents_allow_access(1, &agent->hsa, NULL, block) !=
        HSA_STATUS_SUCCESS) {
        runtime->real.hsa_amd_memory_pool_free(block);
        return NULL;
    }
    memset(block, 0, bytes);
    *(struct head *)block = (struct head){runtime};
    return (char *)block + HEAD_BYTES;
}

static void *allocate(uint64_t hsa_agent, size_t bytes)
{
    thread_own_work_begin();
    void *memory = memory_get(hsa_agent, bytes);
    thread_own_work_end();
    return memory;
}

static void release(void *memory)
{
    struct head *head = (struct head *)(void *)((char *)memory - HEAD_BYTES);
    thread_own_work_begin();
    head->runtime->real.hsa_amd_memory_pool_free(head);
    thread_own_work_end();
}

static const struct counting_memory_ops hsa_memory = {allocate, release};

void hsa_counting_memory_renew(void)
{
    counting_memory_register(&hsa_memory);
}
