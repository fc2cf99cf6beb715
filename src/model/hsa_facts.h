/*
 * What the HSA runtimes know of their agents, memories, kernels and the dispatch just being
 * submitted, for front ends that report more than the engine's own records hold. Made by
 * src/intercept/hsa, handed to front ends by session: neither knows the other.
 */
#ifndef MODEL_HSA_FACTS_H
#define MODEL_HSA_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct hsa_queue_s;

struct hsa_agent_facts {
    bool gpu;
    uint32_t number; /* GPU: the driver's node number; others: counted from 0 */
};

struct hsa_memory_facts {
    uint32_t segment;      /* hsa_amd_segment_t */
    uint32_t global_flags; /* hsa_amd_memory_pool_global_flag_t */
};

struct hsa_submission {
    const void *packet;
    struct hsa_queue_s *queue;
    uint32_t device; /* the driver's node number */
    uint64_t agent;  /* hsa_agent_t */
    uint64_t index;  /* of the packet in the queue */
};

/* Any thread; the runtime lives. */
struct hsa_facts {
    bool (*agent)(uint64_t agent, struct hsa_agent_facts *facts);    /* false: unknown */
    void (*region)(uint64_t region, struct hsa_memory_facts *facts); /* unknown: zeroes */
    void (*pool)(uint64_t pool, struct hsa_memory_facts *facts);     /* the same */
    /* Tells the agents that may use memory of the pool without being asked for it. */
    void (*pool_agents)(uint64_t pool, void (*tell)(uint64_t agent, void *data), void *data);
    /* As the code object spells it, never freed; NULL: unknown. */
    const char *(*kernel_name)(uint64_t kernel_id);
    /* During the ENTER callbacks of a dispatch and while it is chosen what is counted of it, on
     * that thread; false elsewhere. */
    bool (*submission)(struct hsa_submission *submission);
};

extern const struct hsa_facts hsa_facts __attribute__((visibility("hidden")));

#endif
