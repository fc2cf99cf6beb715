#include "intercept/hsa/replay_copies.h"

#include "base/thread.h"
#include "intercept/hsa/device_copy.h"
#include "intercept/hsa/instance.h"

static void *host_memory_get(void *data, size_t bytes)
{
    const struct hsa_agent_entry *gpu = data;
    const struct hsa_calls *real = &gpu->runtime->real;
    void *memory = NULL;
    thread_own_work_begin();
    if (real->hsa_amd_memory_pool_allocate(gpu->runtime->agents.host_pool, bytes, 0, &memory) !=
        HSA_STATUS_SUCCESS) {
        memory = NULL;
    } else if (real->hsa_amd_agents_allow_access(1, &gpu->hsa, NULL, memory) !=
               HSA_STATUS_SUCCESS) {
        real->hsa_amd_memory_pool_free(memory);
        memory = NULL;
    }
    thread_own_work_end();
    return memory;
}

static void host_memory_put(void *data, void *memory)
{
    const struct hsa_agent_entry *gpu = data;
    thread_own_work_begin();
    gpu->runtime->real.hsa_amd_memory_pool_free(memory);
    thread_own_work_end();
}

static bool save(void *data, void *to, const void *from, size_t bytes)
{
    const struct hsa_agent_entry *gpu = data;
    thread_own_work_begin();
    bool fine = device_copy_to_host(gpu->runtime, gpu->hsa, to, from, bytes);
    thread_own_work_end();
    return fine;
}

static bool restore(void *data, void *to, const void *from, size_t bytes)
{
    const struct hsa_agent_entry *gpu = data;
    thread_own_work_begin();
    bool fine = device_copy_from_host(gpu->runtime, gpu->hsa, to, from, bytes);
    thread_own_work_end();
    return fine;
}

bool replay_copies_of(const struct hsa_agent_entry *gpu, struct replay_copies *copies)
{
    const struct hsa_instance *runtime = gpu->runtime;
    *copies = (struct replay_copies){host_memory_get, host_memory_put, save, restore, (void *)gpu};
    return gpu->gpu && runtime->agents.host_pool.handle != 0 &&
           runtime->real.hsa_amd_agents_allow_access && runtime->real.hsa_amd_memory_async_copy;
}
