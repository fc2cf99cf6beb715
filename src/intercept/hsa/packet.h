/* AQL packets, and one of ours in a queue. Internal to this folder. */
#ifndef INTERCEPT_HSA_PACKET_H
#define INTERCEPT_HSA_PACKET_H

#include <hsa/amd_hsa_signal.h>
#include <stddef.h>
#include <string.h>

#include "intercept/hsa/signals.h"
#include "intercept/hsa/tables.h"

union packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier;
    unsigned char bytes[64];
};
_Static_assert(sizeof(union packet) == 64, "AQL packets are 64 bytes");

/* Every kind of AQL packet has its completion signal in the last eight bytes. */
enum { COMPLETION_SIGNAL_OFFSET = 56 };
_Static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) ==
                   COMPLETION_SIGNAL_OFFSET,
               "AQL layout");

static inline void packet_signal_store(union packet *packet, amd_signal_t *signal)
{
    hsa_signal_t handle = signal_handle(signal);
    memcpy(packet->bytes + COMPLETION_SIGNAL_OFFSET, &handle, sizeof handle);
}

static inline hsa_signal_t packet_signal(const union packet *packet)
{
    hsa_signal_t handle;
    memcpy(&handle, packet->bytes + COMPLETION_SIGNAL_OFFSET, sizeof handle);
    return handle;
}

/* One packet of 64 bytes behind all others, with `signal` as its completion signal; NULL: none.
 * There must be room. */
void packet_put(const struct hsa_calls *real, hsa_queue_t *queue, const void *packet,
                amd_signal_t *signal);

#endif
