/*
 * One kernel at a time on a device, while counters are read around kernels.
 *
 * Each serialised dispatch waits, by a barrier packet before it, for the end of the one before it
 * on the same device, whichever queue that went to. Within one queue the packets' barrier bits do.
 * No thread ever waits.
 */
#ifndef INTERCEPT_HSA_SERIALIZE_H
#define INTERCEPT_HSA_SERIALIZE_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Embedded in a dispatch from serialize_begin to serialize_end. */
struct serial_turn {
    struct serial_ticket *own, *before;
};

/* `device` is the agent's logical node. True: `barrier` must be written before the dispatch. False
 * when the dispatch before it went to the same queue or has ended. */
bool serialize_begin(struct serial_turn *turn, int32_t device, const void *queue,
                     hsa_barrier_and_packet_t *barrier);

/* The dispatch has completed (or failed). A zeroed turn is allowed. */
void serialize_end(struct serial_turn *turn);

#endif
