/*
 * Memory that a GPU's packet processor and this process both read and write, for command buffers
 * and results of counting. Implemented over the HSA runtime by whoever holds its table.
 */
#ifndef MODEL_COUNTING_H
#define MODEL_COUNTING_H

#include <stddef.h>
#include <stdint.h>

struct counting_memory_ops {
    /* Page-aligned, zeroed, visible to the agent; NULL when it cannot be had. */
    void *(*allocate)(uint64_t hsa_agent, size_t bytes);
    void (*release)(void *memory);
};

/* Registered when the HSA table is installed (before any dispatch), NULL when it goes away. */
void counting_memory_register(const struct counting_memory_ops *ops);

#endif
