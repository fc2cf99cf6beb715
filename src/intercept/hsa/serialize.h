/*
 * One kernel at a time on a device, while counters are read around kernels.
 *
 * Each serialised dispatch waits, by a barrier packet before it, for the end of the one before it
 * on the same device, whichever queue that went to. Within one queue the packets' barrier bits do.
 * No thread ever waits.
 *
 * A kernel may wait for another one that serialising holds back (a flag that a later kernel sets, a
 * stream that waits for a value). The program works without a profiler, so it must not hang with
 * one: a kernel that keeps others waiting for SERIALIZE_LIMIT_MS loses its exclusivity. The counter
 * values of the kernels that then overlap include each other's work, which is said once.
 */
#ifndef INTERCEPT_HSA_SERIALIZE_H
#define INTERCEPT_HSA_SERIALIZE_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hsa_agent_entry;

struct hsa_instance;

/* CROCPROF_SERIALIZE_LIMIT_MS in the environment replaces it. */
enum { SERIALIZE_LIMIT_MS = 10000 };

/* Embedded in a dispatch from serialize_begin to serialize_end. */
struct serial_turn {
    struct serial_ticket *own, *before;
};

/* The device is the agent's logical node, whichever runtime calls it so. True: `barrier` must be
 * written before the dispatch. False when the dispatch before it went to the same queue or has
 * ended. */
bool serialize_begin(struct serial_turn *turn, const struct hsa_agent_entry *agent,
                     const void *queue, hsa_barrier_and_packet_t *barrier);

/* Lets pass who has waited too long. On the completion thread, from time to time. */
void serialize_tick(uint64_t now_ns);

/* The runtime has gone, with the memory of its signals: who waited for one of them is gone, too. */
void serialize_abandon(const struct hsa_instance *runtime);

/* The dispatch has completed (or failed). A zeroed turn is allowed. */
void serialize_end(struct serial_turn *turn);

#endif
