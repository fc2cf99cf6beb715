/*
 * Memory of a GPU under the unmodified runtime, saved and put back between executions of a kernel
 * that counts on what it finds. Arguments: the code object. Expected values are the host's own.
 */
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa_kernel.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/replay_copies.h"

enum { DEVICE = 1, GROUPS = 48, ITEMS = 64, WORDS = GROUPS * ITEMS, PASSES = 5 };

static struct hsa_instance runtime;
static struct hsa_agent_entry *gpu;
static hsa_amd_memory_pool_t gpu_pool;
static struct replay_copies copies;
static const char *object;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,                     \
                    hsa_kernel_error());                                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    const struct hsa_agent_entry *entry = data;
    uint32_t flags = 0;
    hsa_amd_segment_t segment;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if (entry->gpu && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
        gpu_pool = pool;
    else if (!entry->gpu && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        runtime.agents.host_pool = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent_seen(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    struct hsa_agent_entry *entry = &runtime.agents.entries[runtime.agents.count++];
    (void)data;
    CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS);
    *entry = (struct hsa_agent_entry){
        .runtime = &runtime, .hsa = agent, .gpu = type == HSA_DEVICE_TYPE_GPU};
    if (entry->gpu && !gpu)
        gpu = entry;
    return hsa_amd_agent_iterate_memory_pools(agent, pool_seen, entry);
}

/* What an installed table would have brought. */
static void runtime_open(void)
{
    runtime.real = (struct hsa_calls){
        .hsa_amd_memory_pool_allocate = hsa_amd_memory_pool_allocate,
        .hsa_amd_memory_pool_free = hsa_amd_memory_pool_free,
        .hsa_amd_agents_allow_access = hsa_amd_agents_allow_access,
        .hsa_amd_memory_async_copy = hsa_amd_memory_async_copy,
        .hsa_signal_create = hsa_signal_create,
        .hsa_signal_destroy = hsa_signal_destroy,
        .hsa_signal_wait_scacquire = hsa_signal_wait_scacquire,
    };
    CHECK(hsa_iterate_agents(agent_seen, NULL) == HSA_STATUS_SUCCESS);
    CHECK(gpu && gpu_pool.handle && replay_copies_of(gpu, &copies));
}

static uint32_t word_before(uint32_t i)
{
    return i * 2654435761u + 17;
}

static uint32_t *device_memory_new(uint32_t words)
{
    void *memory = NULL;
    uint32_t *begin = calloc(words, sizeof *begin);
    for (uint32_t i = 0; i < words && words > 1; i++)
        begin[i] = word_before(i);
    CHECK(hsa_amd_memory_pool_allocate(gpu_pool, words * sizeof *begin, 0, &memory) ==
          HSA_STATUS_SUCCESS);
    CHECK(hsa_memory_copy(memory, begin, words * sizeof *begin) == HSA_STATUS_SUCCESS);
    CHECK(replay_memory_add(DEVICE, (uintptr_t)memory, words * sizeof *begin));
    free(begin);
    return memory;
}

static void device_memory_free(void *memory)
{
    replay_memory_remove((uintptr_t)memory);
    CHECK(hsa_amd_memory_pool_free(memory) == HSA_STATUS_SUCCESS);
}

static void kernel_run(uint32_t *words, uint32_t *sum)
{
    uint32_t *const arguments[] = {words, sum};
    const struct hsa_kernel_work work = {object,           "in_place", arguments,
                                         sizeof arguments, GROUPS,     ITEMS};
    CHECK(hsa_kernel_run(&work));
}

/* Memory is as `executions` of the kernel leave it; the sum is the last one's, or of all. */
static void memory_check(const uint32_t *words, const uint32_t *sum, uint32_t executions)
{
    uint32_t found[WORDS], found_sum, sum_expected = 0;
    CHECK(hsa_memory_copy(found, words, sizeof found) == HSA_STATUS_SUCCESS);
    CHECK(hsa_memory_copy(&found_sum, sum, sizeof found_sum) == HSA_STATUS_SUCCESS);
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t expected = word_before(i);
        for (uint32_t k = 0; k < executions; k++)
            sum_expected += expected = expected * 3 + 1;
        CHECK(found[i] == expected);
    }
    CHECK(found_sum == sum_expected);
}

static void passes_have_the_effects_of_one(void)
{
    enum replay_status status;
    uint32_t *words = device_memory_new(WORDS), *sum = device_memory_new(1);
    struct replay_snapshot *snapshot = replay_snapshot_take(DEVICE, SIZE_MAX, &copies, &status);
    CHECK(snapshot);
    for (int pass = 0; pass < PASSES; pass++) {
        CHECK(pass == 0 || replay_snapshot_restore(snapshot) == REPLAY_FINE);
        memory_check(words, sum, 0);
        kernel_run(words, sum);
    }
    replay_snapshot_free(snapshot);
    memory_check(words, sum, 1);
    kernel_run(words, sum); /* what the restores are for */
    memory_check(words, sum, 2);
    device_memory_free(words);
    device_memory_free(sum);
}

/* The sum lies in the host's memory, which is not ours to write. */
static void host_memory_ends_it(void)
{
    enum replay_status status;
    uint32_t *words = device_memory_new(WORDS), *sum = hsa_kernel_memory_new(sizeof *sum);
    CHECK(sum && replay_memory_add(REPLAY_HOST, (uintptr_t)sum, sizeof *sum));
    struct replay_snapshot *snapshot = replay_snapshot_take(DEVICE, SIZE_MAX, &copies, &status);
    CHECK(snapshot);
    kernel_run(words, sum);
    CHECK(replay_snapshot_restore(snapshot) == REPLAY_CHANGED);
    memory_check(words, sum, 1);
    replay_snapshot_free(snapshot);
    replay_memory_remove((uintptr_t)sum);
    hsa_kernel_memory_free(sum);
    device_memory_free(words);
}

/* The runtime gives no more than there is. */
static void what_does_not_fit_is_refused(void)
{
    enum replay_status status;
    uint32_t *words = device_memory_new(WORDS);
    CHECK(replay_memory_add(DEVICE, UINT64_C(1) << 60, SIZE_MAX / 4));
    CHECK(!replay_snapshot_take(DEVICE, SIZE_MAX, &copies, &status) && status == REPLAY_NO_ROOM);
    replay_memory_remove(UINT64_C(1) << 60);
    device_memory_free(words);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    object = arguments[1];
    CHECK(hsa_kernel_open());
    runtime_open();
    passes_have_the_effects_of_one();
    host_memory_ends_it();
    what_does_not_fit_is_refused();
    hsa_kernel_close();
    puts("replay: ok");
    return 0;
}
