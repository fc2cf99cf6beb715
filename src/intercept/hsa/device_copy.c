#include "intercept/hsa/device_copy.h"

#include <hsa/amd_hsa_signal.h>

#include "base/log.h"
#include "base/wait.h"
#include "intercept/hsa/instance.h"

/* Longer than any copy that goes on. */
#define COPY_LIMIT_NS (UINT64_C(60) * WAIT_NS_PER_S)

static hsa_agent_t cpu_of(const struct hsa_instance *runtime)
{
    for (uint32_t i = 0; i < runtime->agents.count; i++)
        if (!runtime->agents.entries[i].gpu)
            return runtime->agents.entries[i].hsa;
    return (hsa_agent_t){0};
}

/* Acquire, pairs with the engine's decrement. A copy that failed has a negative value. */
static int64_t value_of(hsa_signal_t signal)
{
    const amd_signal_t *amd = (const amd_signal_t *)(uintptr_t)signal.handle;
    return __atomic_load_n(&amd->value, __ATOMIC_ACQUIRE);
}

static bool has_ended(void *signal)
{
    return value_of(*(const hsa_signal_t *)signal) < 1;
}

/* Looked at, not waited for: an event that a runtime loses would be the program's end, too. */
static bool copy_run(const struct hsa_instance *runtime, void *to, hsa_agent_t to_agent,
                     const void *from, hsa_agent_t from_agent, size_t bytes)
{
    enum { LOOKS_BEFORE_SLEEP = 64, LOOK_NS = 20 * WAIT_NS_PER_US };
    hsa_signal_t done;
    if (runtime->real.hsa_signal_create(1, 0, NULL, &done) != HSA_STATUS_SUCCESS)
        return false;
    bool begun = runtime->real.hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0,
                                                         NULL, done) == HSA_STATUS_SUCCESS;
    for (unsigned turn = 0; begun && turn < LOOKS_BEFORE_SLEEP && !has_ended(&done);)
        wait_step(&turn);
    bool ended = begun && wait_until(has_ended, &done, COPY_LIMIT_NS, LOOK_NS);
    bool fine = ended && value_of(done) == 0;
    if (!begun || ended)
        runtime->real.hsa_signal_destroy(done);
    else /* the engine may still write to the signal */
        log_error("intercept", "a copy of %zu bytes has not ended", bytes);
    return fine;
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
