/*
 * Private memory of an AQL queue: how much the runtime has given it, and the exchange with the
 * runtime when a dispatch needs more. The bytes themselves lie with the waves (wave/launch.c); what
 * is exchanged is what the hardware exchanges, so that the runtime allocates, reduces how many
 * waves run at once, takes memory back and tells its tools.
 */
#ifndef CP_SCRATCH_H
#define CP_SCRATCH_H

#include <hsa/hsa.h>
#include <stdint.h>

enum scratch_state {
    SCRATCH_READY,
    SCRATCH_ASKED,   /* the runtime shall give more: until its signal is 0 again */
    SCRATCH_ONCE,    /* a dispatch runs in memory that was given for it alone */
    SCRATCH_RETURNED /* the runtime shall take that back: until the queue's property is cleared */
};

struct cp_queue;

/* At creation, outside a read section: tells the runtime what this packet processor understands. */
void scratch_announce(struct cp_queue *queue);

/* STEP_IDLE when no exchange with the runtime is under way. */
enum step scratch_step(struct cp_queue *queue);

/* The packet at `fetch` needs private memory. STEP_IDLE: it has it, for *waves at once; else more
 * was asked for and the packet is looked at again. */
enum step scratch_take(struct cp_queue *queue, const hsa_kernel_dispatch_packet_t *packet,
                       uint32_t *waves);

#endif
