#include "intercept/hsa/signals.h"

#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/wrappers.h"

enum { AGENTS_MAX = 256 };

static uint32_t devices_list(hsa_agent_t *devices)
{
    uint32_t count, devices_count = 0;
    const struct hsa_agent_entry *entries = agents_all(&count);

    for (uint32_t i = 0; i < count && devices_count < AGENTS_MAX; i++)
        if (entries[i].gpu)
            devices[devices_count++] = entries[i].hsa;
    return devices_count;
}

static amd_signal_t *block_make(uint32_t count)
{
    hsa_agent_t devices[AGENTS_MAX];
    uint32_t device_count = devices_list(devices);
    size_t size = count * sizeof(amd_signal_t);
    void *block = NULL;

    if (agents_host_pool().handle == 0 ||
        hsa_real.hsa_amd_memory_pool_allocate(agents_host_pool(), size, 0, &block) !=
            HSA_STATUS_SUCCESS)
        return NULL;
    if (device_count > 0 && hsa_real.hsa_amd_agents_allow_access(device_count, devices, NULL,
                                                                 block) != HSA_STATUS_SUCCESS) {
        hsa_real.hsa_amd_memory_pool_free(block);
        return NULL;
    }
    memset(block, 0, size);
    amd_signal_t *signals = block;
    for (uint32_t i = 0; i < count; i++)
        signals[i].kind = AMD_SIGNAL_KIND_USER;
    return signals;
}

amd_signal_t *signals_block_make(uint32_t count)
{
    thread_own_work_begin();
    amd_signal_t *signals = block_make(count);
    thread_own_work_end();
    return signals;
}

void signals_block_free(amd_signal_t *signals)
{
    thread_own_work_begin();
    if (signals != NULL)
        hsa_real.hsa_amd_memory_pool_free(signals);
    thread_own_work_end();
}
