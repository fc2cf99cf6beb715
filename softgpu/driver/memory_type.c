/*
 * The rules are those of Linux' amdgpu for gfx9 (gmc_v9_0_get_coherence_flags, and for shared
 * virtual memory svm_range_get_pte_flags), with the module's parameters as they are by default.
 */
#include "driver/memory_type.h"

#include "driver/kfd_abi.h"

/* gfx908 and gfx90a: own memory is RW, CC if it is fine-grained. */
static enum memory_type type_mi100(enum memory_home home, uint32_t coherence)
{
    if (coherence & KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED)
        return MEMORY_UC;
    if (home == HOME_OWN)
        return coherence ? MEMORY_CC : MEMORY_RW;
    return coherence ? MEMORY_UC : MEMORY_NC;
}

/* gfx942: own memory is coherent as RW; the host's is never cached. */
static enum memory_type type_mi300(enum memory_home home, uint32_t coherence)
{
    if (coherence & KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED)
        return MEMORY_UC;
    if (coherence & KFD_ALLOC_EXT_COHERENT)
        return home == HOME_OWN ? MEMORY_CC : MEMORY_UC;
    return home == HOME_OWN ? MEMORY_RW : home == HOME_PEER ? MEMORY_NC : MEMORY_UC;
}

enum memory_type memory_type_of(enum gpu_gen gen, enum memory_home home, uint32_t coherence)
{
    switch (gen) {
    case GPU_GFX908:
    case GPU_GFX90A:
        return type_mi100(home, coherence);
    case GPU_GFX942:
        return type_mi300(home, coherence);
    default: /* NC is what its own memory has; caches treat that as RW, and no counter tells */
        return coherence ? MEMORY_UC : home == HOME_OWN ? MEMORY_RW : MEMORY_NC;
    }
}
