/* Allocations: hsa_amd_memory_pool_allocate, hsa_memory_allocate, virtual memory handles. */
#include "base/clock.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/wrappers.h"
#include "model/trace.h"

/* Pools and regions belong to agents; found at start, since the runtime has no such query. */
enum { OWNERS_MAX = 1024 };
static struct owner {
    uint64_t handle;
    rocprofiler_agent_id_t agent;
} owners[OWNERS_MAX];
static uint32_t owner_count;

static bool memory_wanted(void)
{
    return trace_domain_is_configured(TRACE_MEMORY_ALLOCATION);
}

static void owner_add(uint64_t handle, const struct hsa_agent_entry *agent)
{
    if (owner_count < OWNERS_MAX)
        owners[owner_count++] = (struct owner){.handle = handle, .agent = agent->id};
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

static bool memory_start(void)
{
    uint32_t count;
    const struct hsa_agent_entry *entries = agents_all(&count);

    owner_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        void *entry = (void *)(uintptr_t)&entries[i];
        hsa_real.hsa_amd_agent_iterate_memory_pools(entries[i].hsa, pool_add, entry);
        hsa_real.hsa_agent_iterate_regions(entries[i].hsa, region_add, entry);
    }
    return true;
}

static rocprofiler_agent_id_t owner_of(uint64_t handle)
{
    for (uint32_t i = 0; i < owner_count; i++)
        if (owners[i].handle == handle)
            return owners[i].agent;
    return (rocprofiler_agent_id_t){0};
}

struct allocation {
    struct trace_event event;
    uint64_t start_ns;
    rocprofiler_agent_id_t agent;
    int32_t operation;
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

static bool allocation_begin(struct allocation *allocation, int32_t operation, uint64_t owner,
                             uint64_t address, uint64_t bytes)
{
    if (trace_set_load(TRACE_MEMORY_ALLOCATION, operation) == NULL ||
        !trace_event_open(&allocation->event, TRACE_MEMORY_ALLOCATION, operation))
        return false;
    allocation->operation = operation;
    allocation->agent = owner_of(owner);
    callbacks_run(allocation, ROCPROFILER_CALLBACK_PHASE_ENTER, 0, address, bytes);
    allocation->start_ns = trace_time_ns();
    return true;
}

static void allocation_end(struct allocation *allocation, uint64_t address, uint64_t bytes)
{
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
    return status == HSA_STATUS_SUCCESS && pointer != NULL ? (uint64_t)(uintptr_t)*pointer : 0;
}

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t memory_pool, size_t size, uint32_t flags,
                                  void **ptr)
{
    struct allocation allocation;
    bool traced = allocation_begin(&allocation, ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE,
                                   memory_pool.handle, 0, size);
    hsa_status_t status = hsa_real.hsa_amd_memory_pool_allocate(memory_pool, size, flags, ptr);

    if (traced)
        allocation_end(&allocation, address_of(ptr, status), size);
    return status;
}

static hsa_status_t region_allocate(hsa_region_t region, size_t size, void **ptr)
{
    struct allocation allocation;
    bool traced = allocation_begin(&allocation, ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE,
                                   region.handle, 0, size);
    hsa_status_t status = hsa_real.hsa_memory_allocate(region, size, ptr);

    if (traced)
        allocation_end(&allocation, address_of(ptr, status), size);
    return status;
}

static hsa_status_t pool_free(void *ptr)
{
    struct allocation allocation;
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    bool traced = allocation_begin(&allocation, ROCPROFILER_MEMORY_ALLOCATION_FREE, 0, address, 0);
    hsa_status_t status = hsa_real.hsa_amd_memory_pool_free(ptr);

    if (traced)
        allocation_end(&allocation, address, 0);
    return status;
}

static hsa_status_t region_free(void *ptr)
{
    struct allocation allocation;
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    bool traced = allocation_begin(&allocation, ROCPROFILER_MEMORY_ALLOCATION_FREE, 0, address, 0);
    hsa_status_t status = hsa_real.hsa_memory_free(ptr);

    if (traced)
        allocation_end(&allocation, address, 0);
    return status;
}

static hsa_status_t vmem_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type,
                                uint64_t flags, hsa_amd_vmem_alloc_handle_t *memory_handle)
{
    struct allocation allocation;
    bool traced = allocation_begin(&allocation, ROCPROFILER_MEMORY_ALLOCATION_VMEM_ALLOCATE,
                                   pool.handle, 0, size);
    hsa_status_t status =
        hsa_real.hsa_amd_vmem_handle_create(pool, size, type, flags, memory_handle);

    if (traced)
        allocation_end(&allocation,
                       status == HSA_STATUS_SUCCESS && memory_handle ? memory_handle->handle : 0,
                       size);
    return status;
}

static hsa_status_t vmem_release(hsa_amd_vmem_alloc_handle_t memory_handle)
{
    struct allocation allocation;
    bool traced = allocation_begin(&allocation, ROCPROFILER_MEMORY_ALLOCATION_VMEM_FREE, 0,
                                   memory_handle.handle, 0);
    hsa_status_t status = hsa_real.hsa_amd_vmem_handle_release(memory_handle);

    if (traced)
        allocation_end(&allocation, memory_handle.handle, 0);
    return status;
}

static const struct hsa_wrapper wrappers[] = {
    {HSA_FN_hsa_amd_memory_pool_allocate, (void *)pool_allocate},
    {HSA_FN_hsa_amd_memory_pool_free, (void *)pool_free},
    {HSA_FN_hsa_memory_allocate, (void *)region_allocate},
    {HSA_FN_hsa_memory_free, (void *)region_free},
    {HSA_FN_hsa_amd_vmem_handle_create, (void *)vmem_create},
    {HSA_FN_hsa_amd_vmem_handle_release, (void *)vmem_release},
};

const struct hsa_service hsa_service_memory = {
    .name = "memory allocation",
    .wanted = memory_wanted,
    .start = memory_start,
    .wrappers = wrappers,
    .wrapper_count = sizeof wrappers / sizeof wrappers[0],
};
