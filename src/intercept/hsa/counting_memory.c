/* GPU-visible memory from the HSA runtime: fine-grained host memory that the agent may access, and
 * buffers there or in the GPU's own memory. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/counting.h"
#include "intercept/hsa/device_copy.h"
#include "intercept/hsa/instance.h"
#include "model/counting.h"

/* Before each block stands whose it is, in as many bytes as the commands behind it are aligned to.
 */
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

/* ---- buffers */

struct local_pool {
    const struct hsa_instance *runtime;
    hsa_amd_memory_pool_t found;
};

static hsa_status_t local_consider(hsa_amd_memory_pool_t pool, void *data)
{
    struct local_pool *local = data;
    const struct hsa_instance *runtime = local->runtime;
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_READONLY;
    bool allocatable = false;
    uint32_t flags = 0;
    runtime->real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    runtime->real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    runtime->real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                               &allocatable);
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allocatable ||
        !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
        return HSA_STATUS_SUCCESS;
    local->found = pool;
    return HSA_STATUS_INFO_BREAK;
}

static bool buffer_get(const struct hsa_agent_entry *agent, struct counting_buffer *buffer)
{
    const struct hsa_instance *runtime = agent->runtime;
    hsa_amd_memory_pool_t pool = runtime->agents.host_pool;
    if (buffer->is_local) {
        struct local_pool local = {.runtime = runtime};
        runtime->real.hsa_amd_agent_iterate_memory_pools(agent->hsa, local_consider, &local);
        pool = local.found;
    }
    if (!pool.handle || runtime->real.hsa_amd_memory_pool_allocate(
                            pool, buffer->bytes, 0, &buffer->address) != HSA_STATUS_SUCCESS)
        return false;
    if (buffer->is_local || runtime->real.hsa_amd_agents_allow_access(
                                1, &agent->hsa, NULL, buffer->address) == HSA_STATUS_SUCCESS)
        return true;
    runtime->real.hsa_amd_memory_pool_free(buffer->address);
    return false;
}

/* Without copy engines the runtime copies by a kernel, and a trace that runs on while it is read
 * would have the waves of that. */
static bool copies_are_kernels(const struct hsa_agent_entry *agent)
{
    const char *engines = getenv("HSA_ENABLE_SDMA"); /* the runtime's own switch */
    return (engines && strcmp(engines, "0") == 0) || agent->info->num_sdma_engines == 0;
}

static bool buffer_allocate(uint64_t hsa_agent, size_t bytes, bool is_local,
                            struct counting_buffer *buffer)
{
    const struct hsa_agent_entry *agent = hsa_agent_of_any((hsa_agent_t){hsa_agent});
    if (!agent)
        return false;
    if (is_local && copies_are_kernels(agent)) {
        log_info("counting", "no copy engine: the trace's buffer is in the host's memory");
        is_local = false;
    }
    *buffer = (struct counting_buffer){
        .bytes = bytes, .is_local = is_local, .hsa_agent = hsa_agent, .owner = agent->runtime};
    thread_own_work_begin();
    bool got = buffer_get(agent, buffer);
    thread_own_work_end();
    if (!got)
        log_error("counting", "the HSA runtime gives no buffer of %zu bytes in %s memory", bytes,
                  is_local ? "the GPU's" : "the host's");
    return got;
}

static void buffer_release(const struct counting_buffer *buffer)
{
    const struct hsa_instance *runtime = buffer->owner;
    thread_own_work_begin();
    runtime->real.hsa_amd_memory_pool_free(buffer->address);
    thread_own_work_end();
}

static bool local_read(const struct counting_buffer *buffer, const char *from, char *to,
                       size_t bytes)
{
    enum { PIECE_BYTES = 4 << 20 };
    size_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
    char *staging = memory_get(buffer->hsa_agent, piece);
    bool fine = staging != NULL;
    for (size_t done = 0; done < bytes && fine; done += piece) {
        piece = bytes - done < piece ? bytes - done : piece;
        fine = device_copy_to_host(buffer->owner, (hsa_agent_t){buffer->hsa_agent}, staging,
                                   from + done, piece);
        if (fine)
            memcpy(to + done, staging, piece);
    }
    if (staging)
        release(staging);
    return fine;
}

static bool buffer_read(const struct counting_buffer *buffer, size_t offset, void *to, size_t bytes)
{
    const char *from = (const char *)buffer->address + offset;
    if (!buffer->is_local)
        memcpy(to, from, bytes);
    if (!buffer->is_local || bytes == 0)
        return true;
    thread_own_work_begin();
    bool fine = local_read(buffer, from, to, bytes);
    thread_own_work_end();
    if (!fine)
        log_error("counting", "%zu bytes of a GPU's memory cannot be copied", bytes);
    return fine;
}

static const struct counting_memory_ops hsa_memory = {
    .allocate = allocate,
    .release = release,
    .buffer_allocate = buffer_allocate,
    .buffer_release = buffer_release,
    .buffer_read = buffer_read,
};

void hsa_counting_memory_renew(void)
{
    counting_memory_register(&hsa_memory);
}
