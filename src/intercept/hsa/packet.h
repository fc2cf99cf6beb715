/* Packets of ours in a queue. Internal to this folder. */
#ifndef INTERCEPT_HSA_PACKET_H
#define INTERCEPT_HSA_PACKET_H

#include "intercept/hsa/tables.h"

#include <hsa/amd_hsa_signal.h>

/* One packet of 64 bytes behind all others, with `signal` as its completion signal; NULL: none.
 * There must be room. */
void packet_put(const struct hsa_calls *real, hsa_queue_t *queue, const void *packet,
                amd_signal_t *signal);

#endif
