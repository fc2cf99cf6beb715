/* Allocations: hsa_amd_memory_pool_allocate, hsa_memory_allocate, virtual memory handles. */
#include "intercept/hsa/agents.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/hsa/wrappers.h"
#include "model/trace.h"

/* Pools and regions belong to agents; found at start, since the runtime has no such query. */
enum { OWNERS_MAX = 1024 };
static struct owners {
    struct {
        uint64_t handle;
        rocprofiler_agent_id_t agent;
    } all[OWNERS_MAX];
    uint32_t count;
} owners_of[HSA_INSTANCES_MAX];

static bool memory_wanted(void)
{
    return trace_domain_is_configured(TRACE_MEMORY_ALLOCATION) || replay_is_configured();
}

static void owner_add(uint64_t handle, const struct hsa_agent_entry *agent)
{
    struct owners *owners = &owners_of[hsa_instance_index(agent->runtime)];
    if (owners->count == OWNERS_MAX)
        return;
    owners->all[owners->count].handle = handle;
    owners->all[owners->count++].agent = agent->id;
}

static hsa_status_t pool_add(hsa_amd_memory_pool_t pool, void *agent)
{
    owner_add(pool.handle, agent);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t region_add(hsa_region_t region, void *agent)
{
    owner_add(region.handle, agent);
    return HSA_STATUS_SUCCESS;
}

static bool memory_start(struct hsa_instance *runtime)
{
    owners_of[hsa_instance_index(runtime)].count = 0;
    for (uint32_t i = 0; i < runtime->agents.count; i++) {
        struct hsa_agent_entry *entry = &runtime->agents.entries[i];
        runtime->real.hsa_amd_agent_iterate_memory_pools(entry->hsa, pool_add, entry);
        if (runtime->real.hsa_agent_iterate_regions)
            runtime->real.hsa_agent_iterate_regions(entry->hsa, region_add, entry);
    }
    return true;
}

static rocprofiler_agent_id_t owner_of(const struct hsa_instance *runtime, uint64_t handle)
{
    const struct owners *owners = &owners_of[hsa_instance_index(runtime)];
    for (uint32_t i = 0; i < owners->count; i++)
        if (owners->all[i].handle == handle)
            return owners->all[i].agent;
    return (rocprofiler_agent_id_t){0};
}

struct allocation {
    struct trace_event event;
    const struct hsa_instance *runtime;
    uint64_t start_ns, owner;
    rocprofiler_agent_id_t agent;
    int32_t operation;
    bool traced; /* nothing else is set where it is not, but for who called what of whose */
};

static void callbacks_run(struct allocation *allocation, rocprofiler_callback_phase_t phase,
                          uint64_t end_ns, uint64_t address, uint64_t bytes)
{
    rocprofiler_callback_tracing_memory_allocation_data_t data = {
        .size = sizeof data,
        .start_timestamp = phase == ROCPROFILER_CALLBACK_PHASE_EXIT ? allocation->start_ns : 0,
        .end_timestamp = end_ns,
        .agent_id = allocation->agent,
        .address = {.value = address},
        .allocation_size = bytes,
    };

    trace_event_call(&allocation->event, allocation->operation, phase, &data);
}

static void allocation_begin(struct allocation *allocation, const struct hsa_instance *runtime,
                             int32_t operation, uint64_t owner, uint64_t address, uint64_t bytes)
{
    allocation->runtime = runtime;
    allocation->owner = owner;
    allocation->operation = operation;
    if (operation == ROCPROFILER_MEMORY_ALLOCATION_FREE)
        replay_regions_freed(address);
    allocation->traced = trace_set_load(TRACE_MEMORY_ALLOCATION, operation) &&
                         trace_event_open(&allocation->event, TRACE_MEMORY_ALLOCATION, operation);
    if (!allocation->traced)
        return;
    allocation->agent = owner_of(runtime, owner);
    callbacks_run(allocation, ROCPROFILER_CALLBACK_PHASE_ENTER, 0, address, bytes);
    allocation->start_ns = trace_time_ns();
}

static void allocation_end(struct allocation *allocation, uint64_t address, uint64_t bytes)
{
    if (allocation->operation == ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE && address != 0)
        replay_regions_allocated(allocation->runtime, allocation->owner, address, bytes);
    if (!allocation->traced)
        return;
    rocprofiler_buffer_tracing_memory_allocation_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,
        .operation = (rocprofiler_memory_allocation_operation_t)allocation->operation,
        .thread_id = allocation->event.thread_id,
        .start_timestamp = allocation->start_ns,
        .end_timestamp = trace_time_ns(),
        .agent_id = allocation->agent,
        .address = {.value = address},
        .allocation_size = bytes,
    };

    callbacks_run(allocation, ROCPROFILER_CALLBACK_PHASE_EXIT, record.end_timestamp, address,
                  bytes);
    trace_event_record(&allocation->event, &record, sizeof record);
    trace_event_release(&allocation->event);
}

static uint64_t address_of(void *const *pointer, hsa_status_t status)
{
    return status == HSA_STATUS_SUCCESS && pointer ? (uint64_t)(uintptr_t)*pointer : 0;
}

static uint64_t handle_of(const hsa_amd_vmem_alloc_handle_t *memory, hsa_status_t status)
{
    return status == HSA_STATUS_SUCCESS && memory ? memory->handle : 0;
}

/* One function of the runtime: what it takes, who owns the memory, its address before the call and
 * after it, which may depend on `status`. */
#define SERVICE(function, operation, parameters, arguments, owner, before, bytes, after)           \
    hsa_status_t service_##function parameters                                                     \
    {                                                                                              \
        struct allocation allocation;                                                              \
        allocation_begin(&allocation, runtime, ROCPROFILER_MEMORY_ALLOCATION_##operation, owner,   \
                         before, bytes);                                                           \
        hsa_status_t status = runtime->real.function arguments;                                    \
        allocation_end(&allocation, after, bytes);                                                 \
        return status;                                                                             \
    }

SERVICE(hsa_amd_memory_pool_allocate, ALLOCATE,
        (struct hsa_instance * runtime, hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
         void **pointer),
        (pool, size, flags, pointer), pool.handle, 0, size, address_of(pointer, status))

SERVICE(hsa_memory_allocate, ALLOCATE,
        (struct hsa_instance * runtime, hsa_region_t region, size_t size, void **pointer),
        (region, size, pointer), region.handle, 0, size, address_of(pointer, status))

SERVICE(hsa_amd_memory_pool_free, FREE, (struct hsa_instance * runtime, void *pointer), (pointer),
        0, (uintptr_t)pointer, 0, (uintptr_t)pointer)

SERVICE(hsa_memory_free, FREE, (struct hsa_instance * runtime, void *pointer), (pointer), 0,
        (uintptr_t)pointer, 0, (uintptr_t)pointer)

SERVICE(hsa_amd_vmem_handle_create, VMEM_ALLOCATE,
        (struct hsa_instance * runtime, hsa_amd_memory_pool_t pool, size_t size,
         hsa_amd_memory_type_t type, uint64_t flags, hsa_amd_vmem_alloc_handle_t *memory),
        (pool, size, type, flags, memory), pool.handle, 0, size, handle_of(memory, status))

SERVICE(hsa_amd_vmem_handle_release, VMEM_FREE,
        (struct hsa_instance * runtime, hsa_amd_vmem_alloc_handle_t memory), (memory), 0,
        memory.handle, 0, memory.handle)

static const enum hsa_function functions[] = {
    HSA_FN_hsa_amd_memory_pool_allocate, HSA_FN_hsa_amd_memory_pool_free,
    HSA_FN_hsa_memory_allocate,          HSA_FN_hsa_memory_free,
    HSA_FN_hsa_amd_vmem_handle_create,   HSA_FN_hsa_amd_vmem_handle_release,
};

const struct hsa_service hsa_service_memory = {
    .name = "memory allocation",
    .wanted = memory_wanted,
    .start = memory_start,
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};
