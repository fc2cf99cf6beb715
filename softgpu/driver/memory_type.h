/*
 * What a GPU's page table says of memory: how its caches treat it, which goes by how it was
 * allocated, where it is, and the GPU.
 */
#ifndef DRIVER_MEMORY_TYPE_H
#define DRIVER_MEMORY_TYPE_H

#include "core/device.h"
#include "driver/driver.h"
#include "driver/storage.h"
#include "mem/vm.h"

/* `coherence`: of KFD_COHERENCE_FLAGS. */
enum memory_type memory_type_of(enum gpu_gen gen, enum memory_home home, uint32_t coherence);

/* Where memory of a heap is, as the GPU sees it. `owner`: whose the memory is, if it is video
 * memory. */
static inline enum memory_home memory_home_of(const struct gpu *gpu, bool is_vram,
                                              uint32_t owner_gpu_id)
{
    return !is_vram ? HOME_HOST : owner_gpu_id == gpu->gpu_id ? HOME_OWN : HOME_PEER;
}

/* For vm_map(), beside the rights. */
static inline uint32_t memory_vm_flags(const struct gpu *gpu, enum memory_home home,
                                       uint32_t coherence)
{
    return (uint32_t)memory_type_of(gpu->model->gen, home, coherence) << VM_TYPE_SHIFT |
           (uint32_t)home << VM_HOME_SHIFT;
}

static inline uint32_t storage_vm_flags(const struct gpu *gpu, const struct storage *storage)
{
    return memory_vm_flags(gpu, memory_home_of(gpu, storage->vram, storage->gpu_id),
                           storage->coherence);
}

#endif
