#include "intercept/hsa/replay_regions.h"

#include <elf.h>
#include <string.h>

#include "intercept/hsa/instance.h"
#include "intercept/hsa/replay_gate.h"
#include "intercept/hsa/replay_memory.h"
#include "intercept/hsa/wrappers.h"

_Atomic bool replay_regions_watched; /* writers and readers: replay_regions.h */

/* What becomes of memory of a pool or region. */
enum fate {
    FATE_NOTED,
    FATE_SHARED, /* the host or another device writes it, too */
    FATE_LEFT    /* of kernel arguments, which kernels do not write */
};

enum { OWNERS_MAX = 1024 };
static struct owners { /* written at start, then immutable */
    struct {
        uint64_t handle, device;
        enum fate fate;
    } all[OWNERS_MAX];
    uint32_t count;
} owners_of[HSA_INSTANCES_MAX];

bool replay_is_configured(void)
{
    return trace_domain_is_wanted(TRACE_KERNEL_REPLAY);
}

uint64_t replay_device_of(const struct hsa_agent_entry *gpu)
{
    return gpu->gpu ? (uint64_t)(uint32_t)gpu->info->logical_node_id + 1 : REPLAY_HOST;
}

/* ---- whose memory it is */

/* The flags of pools and regions are the same bits. */
static enum fate fate_of(const struct hsa_agent_entry *agent, uint32_t flags)
{
    if (!agent->gpu)
        return flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT ? FATE_LEFT : FATE_NOTED;
    return flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED ? FATE_NOTED : FATE_SHARED;
}

static void owner_add(const struct hsa_agent_entry *agent, uint64_t handle, uint32_t flags)
{
    struct owners *owners = &owners_of[hsa_instance_index(agent->runtime)];
    if (owners->count == OWNERS_MAX)
        return;
    owners->all[owners->count].handle = handle;
    owners->all[owners->count].device = replay_device_of(agent);
    owners->all[owners->count++].fate = fate_of(agent, flags);
}

static hsa_status_t pool_add(hsa_amd_memory_pool_t pool, void *data)
{
    const struct hsa_agent_entry *agent = data;
    uint32_t flags = 0;
    agent->runtime->real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
                                                      &flags);
    owner_add(agent, pool.handle, flags);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t region_add(hsa_region_t region, void *data)
{
    const struct hsa_agent_entry *agent = data;
    uint32_t flags = 0;
    agent->runtime->real.hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
    owner_add(agent, region.handle, flags);
    return HSA_STATUS_SUCCESS;
}

/* With retries of page faults kernels write what no function of the runtime has given. */
static bool all_memory_is_reached(const struct hsa_instance *runtime)
{
    bool is_reached = false;
    runtime->real.hsa_system_get_info(
        (hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, &is_reached);
    return is_reached;
}

static bool regions_start(struct hsa_instance *runtime)
{
    const struct hsa_calls *real = &runtime->real;
    owners_of[hsa_instance_index(runtime)].count = 0;
    if (!real->hsa_amd_memory_pool_get_info || !real->hsa_agent_iterate_regions ||
        !real->hsa_region_get_info)
        return false;
    for (uint32_t i = 0; i < runtime->agents.count; i++) {
        struct hsa_agent_entry *entry = &runtime->agents.entries[i];
        real->hsa_amd_agent_iterate_memory_pools(entry->hsa, pool_add, entry);
        real->hsa_agent_iterate_regions(entry->hsa, region_add, entry);
    }
    if (all_memory_is_reached(runtime))
        replay_memory_unknown();
    atomic_store_explicit(&replay_regions_watched, true, memory_order_release);
    return true;
}

void replay_regions_allocated(const struct hsa_instance *runtime, uint64_t owner, uintptr_t address,
                              size_t bytes)
{
    const struct owners *owners = &owners_of[hsa_instance_index(runtime)];
    uint32_t at = 0;
    if (!replay_is_watched())
        return;
    while (at < owners->count && owners->all[at].handle != owner)
        at++;
    if (at == owners->count) {
        replay_memory_unknown();
        return;
    }
    if (owners->all[at].fate == FATE_LEFT)
        return;
    replay_memory_add(owners->all[at].device, address, bytes);
    if (owners->all[at].fate == FATE_SHARED)
        replay_memory_share(address);
}

void replay_regions_freed(uintptr_t address)
{
    if (replay_is_watched())
        replay_memory_remove(address);
}

void replay_regions_forget(const struct hsa_instance *runtime)
{
    if (!replay_is_watched())
        return;
    owners_of[hsa_instance_index(runtime)].count = 0;
    replay_memory_remove_range(0, SIZE_MAX);
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX; i++)
        if (&hsa_instances[i] != runtime && hsa_instance_lives(&hsa_instances[i]))
            replay_memory_unknown(); /* its memory was among that */
}

/* ---- variables of code objects */

/* False: that is no file whose segments could be told. */
static bool header_read(Elf64_Ehdr *header, const void *elf, size_t bytes)
{
    if (!elf || bytes < sizeof *header)
        return false;
    memcpy(header, elf, sizeof *header);
    return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phoff <= bytes &&
           header->e_phnum <= (bytes - header->e_phoff) / sizeof(Elf64_Phdr);
}

void replay_regions_loaded(const struct hsa_agent_entry *agent, const void *elf, size_t elf_bytes,
                           uintptr_t load_base, size_t load_bytes, int64_t load_delta)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (!replay_is_watched())
        return;
    if (!header_read(&header, elf, elf_bytes)) {
        replay_memory_add(replay_device_of(agent), load_base, load_bytes);
        return;
    }
    for (uint16_t i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, (const char *)elf + header.e_phoff + i * sizeof segment, sizeof segment);
        uintptr_t address = segment.p_vaddr + (uintptr_t)load_delta;
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_W &&
            address - load_base < load_bytes &&
            segment.p_memsz <= load_bytes - (address - load_base))
            replay_memory_add(replay_device_of(agent), address, segment.p_memsz);
    }
}

void replay_regions_unloaded(uintptr_t load_base, size_t load_bytes)
{
    if (replay_is_watched())
        replay_memory_remove_range(load_base, load_bytes);
}

/* ---- functions that share memory, or bring what others have */

static void agents_reach(const struct hsa_instance *runtime, uintptr_t address,
                         const hsa_agent_t *agents, uint32_t count)
{
    for (uint32_t i = 0; agents && i < count; i++) {
        const struct hsa_agent_entry *entry = agents_find(runtime, agents[i]);
        replay_memory_reach(address, entry ? replay_device_of(entry) : REPLAY_HOST);
    }
}

/* Others write it as well; `agents` may be those that reach it. */
static void foreign_add(const struct hsa_instance *runtime, void *const *memory, size_t bytes,
                        const hsa_agent_t *agents, uint32_t count)
{
    const struct hsa_agent_entry *entry = NULL;
    for (uint32_t i = 0; agents && i < count && (!entry || !entry->gpu); i++)
        entry = agents_find(runtime, agents[i]);
    for (uint32_t i = 0; i < runtime->agents.count && (!entry || !entry->gpu); i++)
        entry = &runtime->agents.entries[i];
    if (!entry || !memory)
        return;
    replay_memory_add(replay_device_of(entry), (uintptr_t)*memory, bytes);
    replay_memory_share((uintptr_t)*memory);
}

/* Before the call, so that a snapshot under way ends before others write. */
hsa_status_t service_hsa_amd_agents_allow_access(struct hsa_instance *runtime, uint32_t num_agents,
                                                 const hsa_agent_t *agents, const uint32_t *flags,
                                                 const void *ptr)
{
    agents_reach(runtime, (uintptr_t)ptr, agents, num_agents);
    return runtime->real.hsa_amd_agents_allow_access(num_agents, agents, flags, ptr);
}

hsa_status_t service_hsa_amd_memory_lock(struct hsa_instance *runtime, void *host_ptr, size_t size,
                                         hsa_agent_t *agents, int num_agent, void **agent_ptr)
{
    hsa_status_t status =
        runtime->real.hsa_amd_memory_lock(host_ptr, size, agents, num_agent, agent_ptr);
    if (status == HSA_STATUS_SUCCESS)
        replay_memory_add(REPLAY_HOST, (uintptr_t)host_ptr, size);
    return status;
}

hsa_status_t service_hsa_amd_memory_lock_to_pool(struct hsa_instance *runtime, void *host_ptr,
                                                 size_t size, hsa_agent_t *agents, int num_agent,
                                                 hsa_amd_memory_pool_t pool, uint32_t flags,
                                                 void **agent_ptr)
{
    hsa_status_t status = runtime->real.hsa_amd_memory_lock_to_pool(
        host_ptr, size, agents, num_agent, pool, flags, agent_ptr);
    if (status == HSA_STATUS_SUCCESS)
        replay_memory_add(REPLAY_HOST, (uintptr_t)host_ptr, size);
    return status;
}

hsa_status_t service_hsa_amd_memory_unlock(struct hsa_instance *runtime, void *host_ptr)
{
    replay_memory_remove((uintptr_t)host_ptr);
    return runtime->real.hsa_amd_memory_unlock(host_ptr);
}

hsa_status_t service_hsa_amd_ipc_memory_create(struct hsa_instance *runtime, void *ptr, size_t len,
                                               hsa_amd_ipc_memory_t *handle)
{
    replay_memory_share((uintptr_t)ptr);
    return runtime->real.hsa_amd_ipc_memory_create(ptr, len, handle);
}

hsa_status_t service_hsa_amd_ipc_memory_attach(struct hsa_instance *runtime,
                                               const hsa_amd_ipc_memory_t *handle, size_t len,
                                               uint32_t num_agents,
                                               const hsa_agent_t *mapping_agents, void **mapped_ptr)
{
    hsa_status_t status = runtime->real.hsa_amd_ipc_memory_attach(handle, len, num_agents,
                                                                  mapping_agents, mapped_ptr);
    if (status == HSA_STATUS_SUCCESS)
        foreign_add(runtime, mapped_ptr, len, mapping_agents, num_agents);
    return status;
}

hsa_status_t service_hsa_amd_ipc_memory_detach(struct hsa_instance *runtime, void *mapped_ptr)
{
    replay_memory_remove((uintptr_t)mapped_ptr);
    return runtime->real.hsa_amd_ipc_memory_detach(mapped_ptr);
}

hsa_status_t service_hsa_amd_interop_map_buffer(struct hsa_instance *runtime, uint32_t num_agents,
                                                hsa_agent_t *agents, int interop_handle,
                                                uint32_t flags, size_t *size, void **ptr,
                                                size_t *metadata_size, const void **metadata)
{
    hsa_status_t status = runtime->real.hsa_amd_interop_map_buffer(
        num_agents, agents, interop_handle, flags, size, ptr, metadata_size, metadata);
    if (status == HSA_STATUS_SUCCESS && size)
        foreign_add(runtime, ptr, *size, agents, num_agents);
    return status;
}

hsa_status_t service_hsa_amd_interop_unmap_buffer(struct hsa_instance *runtime, void *ptr)
{
    replay_memory_remove((uintptr_t)ptr);
    return runtime->real.hsa_amd_interop_unmap_buffer(ptr);
}

hsa_status_t service_hsa_amd_portable_export_dmabuf(struct hsa_instance *runtime, const void *ptr,
                                                    size_t size, int *dmabuf, uint64_t *offset)
{
    replay_memory_share((uintptr_t)ptr);
    return runtime->real.hsa_amd_portable_export_dmabuf(ptr, size, dmabuf, offset);
}

hsa_status_t service_hsa_amd_portable_export_dmabuf_v2(struct hsa_instance *runtime,
                                                       const void *ptr, size_t size, int *dmabuf,
                                                       uint64_t *offset, uint64_t flags)
{
    replay_memory_share((uintptr_t)ptr);
    return runtime->real.hsa_amd_portable_export_dmabuf_v2(ptr, size, dmabuf, offset, flags);
}

/* Managed memory: the host's, wherever its pages are just now. */
hsa_status_t service_hsa_amd_svm_attributes_set(struct hsa_instance *runtime, void *ptr,
                                                size_t size,
                                                hsa_amd_svm_attribute_pair_t *attribute_list,
                                                size_t attribute_count)
{
    hsa_status_t status =
        runtime->real.hsa_amd_svm_attributes_set(ptr, size, attribute_list, attribute_count);
    if (status == HSA_STATUS_SUCCESS)
        replay_memory_add(REPLAY_HOST, (uintptr_t)ptr, size);
    return status;
}

/* Any process may have the handle. */
hsa_status_t service_hsa_amd_vmem_map(struct hsa_instance *runtime, void *va, size_t size,
                                      size_t in_offset, hsa_amd_vmem_alloc_handle_t memory_handle,
                                      uint64_t flags)
{
    hsa_status_t status = runtime->real.hsa_amd_vmem_map(va, size, in_offset, memory_handle, flags);
    if (status == HSA_STATUS_SUCCESS)
        foreign_add(runtime, &va, size, NULL, 0);
    return status;
}

hsa_status_t service_hsa_amd_vmem_unmap(struct hsa_instance *runtime, void *va, size_t size)
{
    replay_memory_remove((uintptr_t)va);
    return runtime->real.hsa_amd_vmem_unmap(va, size);
}

/* ---- functions that write memory themselves */

static void devices_enter(const struct hsa_instance *runtime, void (*move)(uint32_t device))
{
    for (uint32_t i = 0; i < runtime->agents.count; i++)
        if (runtime->agents.entries[i].gpu)
            move((uint32_t)runtime->agents.entries[i].info->logical_node_id);
}

hsa_status_t service_hsa_memory_copy(struct hsa_instance *runtime, void *dst, const void *src,
                                     size_t size)
{
    devices_enter(runtime, replay_gate_enter);
    hsa_status_t status = runtime->real.hsa_memory_copy(dst, src, size);
    devices_enter(runtime, replay_gate_leave);
    return status;
}

hsa_status_t service_hsa_amd_memory_fill(struct hsa_instance *runtime, void *ptr, uint32_t value,
                                         size_t count)
{
    devices_enter(runtime, replay_gate_enter);
    hsa_status_t status = runtime->real.hsa_amd_memory_fill(ptr, value, count);
    devices_enter(runtime, replay_gate_leave);
    return status;
}

/* Its copies end in signals that are not looked at. */
hsa_status_t service_hsa_amd_memory_async_batch_copy(struct hsa_instance *runtime,
                                                     const void *copy_ops, uint32_t num_copy_ops,
                                                     uint32_t num_dep_signals,
                                                     const hsa_signal_t *dep_signals)
{
    devices_enter(runtime, replay_gate_enter);
    replay_memory_unknown();
    hsa_status_t status = runtime->real.hsa_amd_memory_async_batch_copy(
        copy_ops, num_copy_ops, num_dep_signals, dep_signals);
    devices_enter(runtime, replay_gate_leave);
    return status;
}

static const enum hsa_function functions[] = {
    HSA_FN_hsa_amd_agents_allow_access,
    HSA_FN_hsa_amd_interop_map_buffer,
    HSA_FN_hsa_amd_interop_unmap_buffer,
    HSA_FN_hsa_amd_ipc_memory_attach,
    HSA_FN_hsa_amd_ipc_memory_create,
    HSA_FN_hsa_amd_ipc_memory_detach,
    HSA_FN_hsa_amd_memory_async_batch_copy,
    HSA_FN_hsa_amd_memory_fill,
    HSA_FN_hsa_amd_memory_lock,
    HSA_FN_hsa_amd_memory_lock_to_pool,
    HSA_FN_hsa_amd_memory_unlock,
    HSA_FN_hsa_amd_portable_export_dmabuf,
    HSA_FN_hsa_amd_portable_export_dmabuf_v2,
    HSA_FN_hsa_amd_svm_attributes_set,
    HSA_FN_hsa_amd_vmem_map,
    HSA_FN_hsa_amd_vmem_unmap,
    HSA_FN_hsa_memory_copy,
};

const struct hsa_service hsa_service_replay = {
    .name = "kernel replay",
    .wanted = replay_is_configured,
    .start = regions_start,
    .needs_agents = true,
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};
