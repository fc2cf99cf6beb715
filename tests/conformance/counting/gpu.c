#include "gpu.h"

#include <fcntl.h>
#include <hsa/hsa_ext_amd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HSA(call) assert_int_equal((call), HSA_STATUS_SUCCESS)

enum { MEMORY_BYTES = 1 << 20, KERNARG_BYTES = 4096 };

struct gpu gpus[GPUS_MAX];
uint32_t gpu_count;
static hsa_amd_memory_pool_t host_pool;

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    uint32_t flags = 0;
    (void)data;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED && host_pool.handle == 0)
        host_pool = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent_seen(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        return hsa_amd_agent_iterate_memory_pools(agent, pool_seen, NULL);
    if (type != HSA_DEVICE_TYPE_GPU || gpu_count == GPUS_MAX)
        return HSA_STATUS_SUCCESS;
    struct gpu *gpu = &gpus[gpu_count++];
    gpu->agent = agent;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, gpu->name));
    return hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID,
                              &gpu->node);
}

static void *memory_new(const struct gpu *gpu, size_t bytes)
{
    void *memory;
    HSA(hsa_amd_memory_pool_allocate(host_pool, bytes, 0, &memory));
    HSA(hsa_amd_agents_allow_access(1, &gpu->agent, NULL, memory));
    memset(memory, 0, bytes);
    return memory;
}

static uint64_t kernel_find(hsa_executable_t executable, hsa_agent_t agent, const char *name)
{
    hsa_executable_symbol_t symbol;
    uint64_t object;
    HSA(hsa_executable_get_symbol_by_name(executable, name, &agent, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    return object;
}

static void kernels_load(struct gpu *gpu, const char *directory)
{
    char path[4096];
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    snprintf(path, sizeof path, "%s/kernels_%s.co", directory, gpu->name);
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    HSA(hsa_code_object_reader_create_from_file(file, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                  &executable));
    HSA(hsa_executable_load_agent_code_object(executable, gpu->agent, reader, NULL, NULL));
    HSA(hsa_executable_freeze(executable, NULL));
    gpu->store_index = kernel_find(executable, gpu->agent, "store_index.kd");
    gpu->wait_for = kernel_find(executable, gpu->agent, "wait_for.kd");
    gpu->tell_and_wait = kernel_find(executable, gpu->agent, "tell_and_wait.kd");
    close(file);
}

hsa_queue_t *gpu_queue(const struct gpu *gpu)
{
    hsa_queue_t *queue;
    HSA(hsa_queue_create(gpu->agent, 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                         &queue));
    return queue;
}

void gpus_open(const char *directory)
{
    HSA(hsa_init());
    HSA(hsa_iterate_agents(agent_seen, NULL));
    assert_true(gpu_count > 0 && host_pool.handle);
    for (uint32_t i = 0; i < gpu_count; i++) {
        gpus[i].queue = gpu_queue(&gpus[i]);
        gpus[i].memory = memory_new(&gpus[i], MEMORY_BYTES);
        gpus[i].kernarg = memory_new(&gpus[i], KERNARG_BYTES);
        gpus[i].kernarg[0] = gpus[i].memory;
        kernels_load(&gpus[i], directory);
    }
}

void gpus_close(void)
{
    for (uint32_t i = 0; i < gpu_count; i++)
        HSA(hsa_queue_destroy(gpus[i].queue));
    gpu_count = 0;
    host_pool.handle = 0;
    HSA(hsa_shut_down());
}

void gpus_abandon(void)
{
    gpu_count = 0;
    host_pool.handle = 0;
    HSA(hsa_shut_down());
}

void gpu_submit(hsa_queue_t *queue, uint64_t kernel, uint32_t groups, void *kernarg,
                hsa_signal_t done)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_kernel_dispatch_packet_t *packet =
        (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    const hsa_kernel_dispatch_packet_t wanted = {.setup = 1,
                                                 .workgroup_size_x = GROUP_ITEMS,
                                                 .workgroup_size_y = 1,
                                                 .workgroup_size_z = 1,
                                                 .grid_size_x = groups * GROUP_ITEMS,
                                                 .grid_size_y = 1,
                                                 .grid_size_z = 1,
                                                 .kernel_object = kernel,
                                                 .kernarg_address = kernarg,
                                                 .completion_signal = done};
    /* The header stays invalid until it is written, last: an assignment of the whole may pass
     * through 0, which is a packet of a vendor's. */
    memcpy((char *)packet + sizeof header, (const char *)&wanted + sizeof header,
           sizeof wanted - sizeof header);
    __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

hsa_signal_t gpu_launch(struct gpu *gpu, hsa_queue_t *queue, uint64_t kernel, uint32_t groups,
                        uint32_t *argument)
{
    hsa_signal_t done;
    uint32_t **kernarg = memory_new(gpu, KERNARG_BYTES); /* lives until the process ends */
    HSA(hsa_signal_create(1, 0, NULL, &done));
    kernarg[0] = argument;
    gpu_submit(queue, kernel, groups, kernarg, done);
    return done;
}

void gpu_finish(hsa_signal_t signal)
{
    enum { LIMIT_S = 30 };
    uint64_t hz = 1000000000;
    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz);
    assert_true(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, LIMIT_S * hz,
                                          HSA_WAIT_STATE_BLOCKED) < 1);
    HSA(hsa_signal_destroy(signal));
}

void gpu_run(struct gpu *gpu, uint32_t groups)
{
    gpu_finish(gpu_launch(gpu, gpu->queue, gpu->store_index, groups, gpu->memory));
}
