/*
 * What counting needs from a runtime: memory that a GPU's packet processor and this process both
 * read and write, and a queue on each GPU that belongs to no program. src/intercept/hsa
 * registers them, src/session/counting uses them: neither knows the other.
 */
#ifndef MODEL_COUNTING_H
#define MODEL_COUNTING_H

#include <rocprofiler-sdk/fwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a GPU writes into for long: a thread trace. */
struct counting_buffer {
    void *address; /* the GPU's; the host's, too, unless it is local */
    size_t bytes;
    bool is_local;      /* in the GPU's memory */
    uint64_t hsa_agent; /* whose GPU */
    const void *owner;  /* of the implementation */
};

struct counting_memory_ops {
    /* Aligned to 256 bytes, zeroed, visible to the agent; NULL when it cannot be had. */
    void *(*allocate)(uint64_t hsa_agent, size_t bytes);
    void (*release)(void *memory);
    /* Page-aligned, with anything in it. False, with a message: it cannot be had. */
    bool (*buffer_allocate)(uint64_t hsa_agent, size_t bytes, bool is_local,
                            struct counting_buffer *buffer);
    void (*buffer_release)(const struct counting_buffer *buffer);
    /* Copies to the host's memory. False: the runtime refuses. */
    bool (*buffer_read)(const struct counting_buffer *buffer, size_t offset, void *to,
                        size_t bytes);
};

/* Registered when the HSA table is installed (before any dispatch), NULL when it goes away. Each
 * call makes memory of earlier runtimes unusable. */
void counting_memory_register(const struct counting_memory_ops *ops);

/* A packet on its way; owned by the implementation. */
struct counting_flight;

struct counting_queue_ops {
    /* Makes the device's queue at the first call. False, with a message, when there is none. */
    bool (*open)(rocprofiler_agent_id_t agent, uint64_t *hsa_agent);
    /* Queues one 64-byte packet behind all earlier ones of the device; its signal field is
     * overwritten. With `done`, that is called once, on a thread of ours, when the packet ended or
     * the queue died (`failed`). Without, the caller owes a flight_wait. NULL: not queued. Any
     * thread; waits, with a limit, while the queue is full. */
    struct counting_flight *(*submit)(rocprofiler_agent_id_t agent, const void *packet,
                                      void (*done)(void *data, bool failed), void *data);
    /* True when the packet ended. False: the queue died, or nothing happened for `limit_ns`; what
     * the packet writes to must then stay allocated. The flight is gone either way. */
    bool (*flight_wait)(struct counting_flight *flight, uint64_t limit_ns);
    /* Waits until `done` was called for every packet submitted so far, at most limit_ns; returns at
     * once where that would wait for itself. */
    void (*drain)(rocprofiler_agent_id_t agent, uint64_t limit_ns);
};

/* Registered after the memory, with no lock held: devices that wait for a runtime begin to count
 * before it returns. NULL when the runtime goes away, while it still answers and has its memory:
 * what counts is stopped before it returns; contexts stay started. In a forked child counting has
 * forgotten both by itself. */
void counting_queue_register(const struct counting_queue_ops *ops);

#endif
