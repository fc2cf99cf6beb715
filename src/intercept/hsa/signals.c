#include "intercept/hsa/signals.h"

#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/instance.h"

static uint32_t devices_list(const struct hsa_instance *runtime, hsa_agent_t *devices)
{
    uint32_t devices_count = 0;
    for (uint32_t i = 0; i < runtime->agents.count; i++)
        if (runtime->agents.entries[i].gpu)
            devices[devices_count++] = runtime->agents.entries[i].hsa;
    return devices_count;
}

static amd_signal_t *block_make(const struct hsa_instance *runtime, uint32_t count)
{
    hsa_agent_t devices[HSA_AGENTS_MAX];
    hsa_amd_memory_pool_t pool = runtime->agents.host_pool;
    uint32_t device_count = devices_list(runtime, devices);
    size_t size = count * sizeof(amd_signal_t);
    void *block = NULL;
    if (pool.handle == 0 ||
        runtime->real.hsa_amd_memory_pool_allocate(pool, size, 0, &block) != HSA_STATUS_SUCCESS)
        return NULL;
    if (device_count > 0 && runtime->real.hsa_amd_agents_allow_access(
                                device_count, devices, NULL, block) != HSA_STATUS_SUCCESS) {
        runtime->real.hsa_amd_memory_pool_free(block);
        return NULL;
    }
    memset(block, 0, size);
    amd_signal_t *signals = block;
    for (uint32_t i = 0; i < count; i++)
        signals[i].kind = AMD_SIGNAL_KIND_USER;
    return signals;
}

amd_signal_t *signals_block_make(const struct hsa_instance *runtime, uint32_t count)
{
    thread_own_work_begin();
    amd_signal_t *signals = block_make(runtime, count);
    thread_own_work_end();
    return signals;
}

void signals_block_free(const struct hsa_instance *runtime, amd_signal_t *signals)
{
    thread_own_work_begin();
    if (signals)
        runtime->real.hsa_amd_memory_pool_free(signals);
    thread_own_work_end();
}
