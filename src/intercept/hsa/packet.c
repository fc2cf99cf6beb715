#include "intercept/hsa/packet.h"

#include <string.h>

#include "intercept/hsa/signals.h"

enum { PACKET_BYTES = 64, SIGNAL_OFFSET = 56 };

void packet_put(const struct hsa_calls *real, hsa_queue_t *queue, const void *packet,
                amd_signal_t *signal)
{
    uint64_t index = real->hsa_queue_add_write_index_scacq_screl(queue, 1);
    char *place = (char *)queue->base_address + index % queue->size * PACKET_BYTES;
    hsa_signal_t handle = signal_handle(signal);
    uint32_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(place + sizeof header, (const char *)packet + sizeof header,
           PACKET_BYTES - sizeof header);
    memcpy(place + SIGNAL_OFFSET, &handle, sizeof handle);
    /* Release: the packet processor looks at the rest once the header is valid. */
    __atomic_store_n((uint32_t *)(void *)place, header, __ATOMIC_RELEASE);
    real->hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}
