#include "intercept/hsa/replay_copies.h"

#include "intercept/hsa/device_copy.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/replay_kept.h"
#include "intercept/hsa/replay_thread.h"

/* Writer: the thread of ours that gets memory; readers: who ends a runtime (relaxed: what it got
 * has been used since). */
static _Atomic bool has_got;

/* One call of the runtime, which runs on a thread of ours. */
struct call {
    const struct hsa_agent_entry *gpu;
    void *to; /* the memory that was got, or is put back */
    const void *from;
    size_t bytes;
    bool fine;
};

static void memory_get_run(void *data)
{
    struct call *call = data;
    const struct hsa_instance *runtime = call->gpu->runtime;
    atomic_store_explicit(&has_got, true, memory_order_relaxed);
    if (runtime->real.hsa_amd_memory_pool_allocate(runtime->agents.host_pool, call->bytes, 0,
                                                   &call->to) != HSA_STATUS_SUCCESS) {
        call->to = NULL;
    } else if (runtime->real.hsa_amd_agents_allow_access(1, &call->gpu->hsa, NULL, call->to) !=
               HSA_STATUS_SUCCESS) {
        runtime->real.hsa_amd_memory_pool_free(call->to);
        call->to = NULL;
    }
}

static void *memory_get(void *data, size_t bytes)
{
    struct call call = {.gpu = data, .bytes = bytes};
    return replay_thread_run(memory_get_run, &call) ? call.to : NULL;
}

static void memory_put_run(void *data)
{
    struct call *call = data;
    call->gpu->runtime->real.hsa_amd_memory_pool_free(call->to);
}

static void memory_put(void *data, void *memory)
{
    struct call call = {.gpu = data, .to = memory};
    replay_thread_run(memory_put_run, &call);
}

static void save_run(void *data)
{
    struct call *call = data;
    call->fine =
        device_copy_to_host(call->gpu->runtime, call->gpu->hsa, call->to, call->from, call->bytes);
}

static bool save(void *data, void *to, const void *from, size_t bytes)
{
    struct call call = {data, to, from, bytes, false};
    return replay_thread_run(save_run, &call) && call.fine;
}

static void restore_run(void *data)
{
    struct call *call = data;
    call->fine = device_copy_from_host(call->gpu->runtime, call->gpu->hsa, call->to, call->from,
                                       call->bytes);
}

static bool restore(void *data, void *to, const void *from, size_t bytes)
{
    struct call call = {data, to, from, bytes, false};
    return replay_thread_run(restore_run, &call) && call.fine;
}

bool replay_copies_of(const struct hsa_agent_entry *gpu, struct replay_copies *copies)
{
    const struct hsa_instance *runtime = gpu->runtime;
    *copies = (struct replay_copies){memory_get, memory_put, save, restore, (void *)gpu};
    return gpu->gpu && runtime->agents.host_pool.handle != 0 &&
           runtime->real.hsa_amd_agents_allow_access && runtime->real.hsa_amd_memory_async_copy;
}

static void release_run(void *unused)
{
    (void)unused;
    replay_kept_release();
}

/* On that thread, behind what it may give back just now. */
void replay_copies_end(const struct hsa_instance *runtime, bool answers)
{
    if (answers && atomic_load_explicit(&has_got, memory_order_relaxed))
        replay_thread_run(release_run, NULL);
    for (uint32_t i = 0; !answers && i < runtime->agents.count; i++)
        replay_kept_forget(&runtime->agents.entries[i]);
}
