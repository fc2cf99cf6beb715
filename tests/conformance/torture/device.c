/* HSA for the torture: agents, memory, one kernel. */
#include "torture.h"

#include <fcntl.h>
#include <string.h>

hsa_agent_t device_gpu, device_cpu;
uint64_t device_kernel;
void *device_arguments[LENGTHS];
void *device_memory, *host_memory;
static hsa_amd_memory_pool_t host_pool, device_pool;

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_memory_pool_t *first = data;
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_PRIVATE;
    uint32_t flags = 0;
    bool allowed = false;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    bool fits = first == &device_pool || flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    if (segment == HSA_AMD_SEGMENT_GLOBAL && allowed && fits && first->handle == 0)
        *first = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent_seen(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU && device_cpu.handle == 0)
        device_cpu = agent;
    else if (type == HSA_DEVICE_TYPE_GPU && device_gpu.handle == 0)
        device_gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static void *memory_new(hsa_amd_memory_pool_t pool, hsa_agent_t other)
{
    void *memory;
    HSA(hsa_amd_memory_pool_allocate(pool, MEMORY_BYTES, 0, &memory));
    HSA(hsa_amd_agents_allow_access(1, &other, NULL, memory));
    return memory;
}

static void kernel_load(const char *path)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    int file = open(path, O_RDONLY);
    EXPECT(file >= 0);
    HSA(hsa_code_object_reader_create_from_file(file, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                  &executable));
    HSA(hsa_executable_load_agent_code_object(executable, device_gpu, reader, NULL, NULL));
    HSA(hsa_executable_freeze(executable, NULL));
    HSA(hsa_executable_get_symbol_by_name(executable, "busy.kd", &device_gpu, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                       &device_kernel));
    close(file);
}

void device_open(const char *object_file)
{
    static const uint32_t loops[LENGTHS] = {0, 1, 60, 1500};
    HSA(hsa_init());
    HSA(hsa_iterate_agents(agent_seen, NULL));
    EXPECT(device_cpu.handle && device_gpu.handle);
    HSA(hsa_amd_agent_iterate_memory_pools(device_cpu, pool_seen, &host_pool));
    HSA(hsa_amd_agent_iterate_memory_pools(device_gpu, pool_seen, &device_pool));
    host_memory = memory_new(host_pool, device_gpu);
    device_memory = memory_new(device_pool, device_cpu);
    char *arguments = memory_new(host_pool, device_gpu);
    for (int i = 0; i < LENGTHS; i++) {
        device_arguments[i] = arguments + 64 * i;
        memcpy(device_arguments[i], &device_memory, sizeof device_memory);
        memcpy((char *)device_arguments[i] + sizeof device_memory, &loops[i], sizeof loops[i]);
    }
    kernel_load(object_file);
}

void device_close(void)
{
    HSA(hsa_memory_free(device_memory));
    HSA(hsa_memory_free(host_memory));
    device_cpu.handle = device_gpu.handle = host_pool.handle = device_pool.handle = 0;
    HSA(hsa_shut_down());
}
