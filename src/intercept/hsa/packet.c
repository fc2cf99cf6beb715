#include "intercept/hsa/packet.h"

void packet_put(const struct hsa_calls *real, hsa_queue_t *queue, const void *packet,
                amd_signal_t *signal)
{
    uint64_t index = real->hsa_queue_add_write_index_scacq_screl(queue, 1);
    union packet *place = (union packet *)queue->base_address + index % queue->size;
    uint32_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(place->bytes + sizeof header, (const char *)packet + sizeof header,
           sizeof *place - sizeof header);
    packet_signal_store(place, signal);
    /* Release: the packet processor looks at the rest once the header is valid. */
    __atomic_store_n((uint32_t *)(void *)place, header, __ATOMIC_RELEASE);
    real->hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}
