/* Who notes the memory that replayed kernels may write (replay_memory.h): wrappers of the runtime's
 * functions that give, take and share it. Internal to this folder. */
#ifndef INTERCEPT_HSA_REPLAY_REGIONS_H
#define INTERCEPT_HSA_REPLAY_REGIONS_H

#include "intercept/hsa/agents.h"
#include "model/trace.h"

/* A context wants kernels repeated, started or not. */
bool replay_is_configured(void);

/* True once a runtime's wrappers note memory: from then on all work on devices is watched. Any
 * thread, at each launch. */
extern _Atomic bool replay_regions_watched; /* writer: start, release; readers: acquire */
static inline bool replay_is_watched(void)
{
    return atomic_load_explicit(&replay_regions_watched, memory_order_acquire);
}

/* What replay_memory.h calls a device. */
uint64_t replay_device_of(const struct hsa_agent_entry *gpu);

/* `owner` is a pool's or region's handle. Nothing is done while nothing is watched. */
void replay_regions_allocated(const struct hsa_instance *runtime, uint64_t owner, uintptr_t address,
                              size_t bytes);
void replay_regions_freed(uintptr_t address);

/* A code object whose ELF file lies there; NULL: it does not lie in memory. */
void replay_regions_loaded(const struct hsa_agent_entry *agent, const void *elf, size_t elf_bytes,
                           uintptr_t load_base, size_t load_bytes, int64_t load_delta);
void replay_regions_unloaded(uintptr_t load_base, size_t load_bytes);

/* The runtime has gone, with all of its memory. */
void replay_regions_forget(const struct hsa_instance *runtime);

#endif
