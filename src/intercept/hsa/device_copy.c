#include "intercept/hsa/device_copy.h"

#include "intercept/hsa/instance.h"

static hsa_agent_t cpu_of(const struct hsa_instance *runtime)
{
    for (uint32_t i = 0; i < runtime->agents.count; i++)
        if (!runtime->agents.entries[i].gpu)
            return runtime->agents.entries[i].hsa;
    return (hsa_agent_t){0};
}

static bool copy_run(const struct hsa_instance *runtime, void *to, hsa_agent_t to_agent,
                     const void *from, hsa_agent_t from_agent, size_t bytes)
{
    hsa_signal_value_t left = -1;
    hsa_signal_t done;
    if (runtime->real.hsa_signal_create(1, 0, NULL, &done) != HSA_STATUS_SUCCESS)
        return false;
    if (runtime->real.hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, NULL,
                                                done) == HSA_STATUS_SUCCESS)
        left = runtime->real.hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                                       HSA_WAIT_STATE_BLOCKED);
    runtime->real.hsa_signal_destroy(done);
    return left == 0;
}

bool device_copy_to_host(const struct hsa_instance *runtime, hsa_agent_t gpu, void *to,
                         const void *from, size_t bytes)
{
    return copy_run(runtime, to, cpu_of(runtime), from, gpu, bytes);
}

bool device_copy_from_host(const struct hsa_instance *runtime, hsa_agent_t gpu, void *to,
                           const void *from, size_t bytes)
{
    return copy_run(runtime, to, gpu, from, cpu_of(runtime), bytes);
}
