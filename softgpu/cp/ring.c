/*
 * An AQL queue's memory that it shares with the host. Each of its cache lines that both sides touch
 * travels between two processors for every packet, which takes as long as some hundreds of
 * instructions: so an empty slot is looked at and nothing else, and slots that were worked off go
 * back together, behind the packets that a host may wait for.
 */
#include <hsa/amd_hsa_queue.h>
#include <stddef.h>
#include <string.h>

#include "cp/internal.h"

enum { LAG_PART = 16 }; /* of a ring */

uint64_t ring_packet_va(const struct cp_queue *queue, uint64_t index)
{
    return queue->config.ring_va + (index & (queue->packet_count - 1)) * AQL_PACKET_BYTES;
}

/* Small mappings lie side by side in one way of the reader's, and would each time be looked up. */
static void places_find(struct cp_queue *queue)
{
    struct vm_reader *reader = &queue->device->access.reader;
    const struct cp_queue_config *config = &queue->config;
    const uint32_t kind = VM_READ | VM_WRITE;
    const uint64_t properties_va = queue_amd_va(queue) + offsetof(amd_queue_t, queue_properties);
    struct ring_places *places = &queue->places;
    *places = (struct ring_places){.generation = reader->generation};
    if (config->ring_bytes <= UINT32_MAX && config->ring_va % AQL_PACKET_BYTES == 0)
        places->ring = vm_translate(reader, config->ring_va, (uint32_t)config->ring_bytes, kind);
    if (config->read_pointer_va % sizeof(uint64_t) == 0)
        places->read_index =
            vm_translate(reader, config->read_pointer_va, sizeof(uint64_t), VM_WRITE);
    if (properties_va % sizeof(uint32_t) == 0)
        places->properties = vm_translate(reader, properties_va, sizeof(uint32_t), VM_READ);
}

/* Good until the read section ends. */
static inline struct ring_places *places_of(struct cp_queue *queue)
{
    if (__builtin_expect(queue->places.generation != queue->device->access.reader.generation, 0))
        places_find(queue);
    return &queue->places;
}

/* NULL is a fault; it is remembered. */
static _Atomic uint16_t *header_of(struct cp_queue *queue, uint64_t index, uint32_t kind)
{
    uint8_t *ring = places_of(queue)->ring;
    if (__builtin_expect(ring != NULL, 1))
        return (_Atomic uint16_t *)(void *)(ring +
                                            (index & (queue->packet_count - 1)) * AQL_PACKET_BYTES);
    struct access *access = &queue->device->access;
    const uint64_t va = ring_packet_va(queue, index);
    return access_word(access, va, sizeof(uint16_t), kind)
               ? access_pointer(access, va, AQL_PACKET_BYTES, kind)
               : NULL;
}

static bool read_index_store(struct cp_queue *queue, uint64_t index)
{
    _Atomic uint64_t *place = places_of(queue)->read_index;
    if (!place)
        return access_store64(&queue->device->access, queue->config.read_pointer_va, index);
    /* release, pairs with the acquire of the host that wants to use the slots again: they are
     * empty. */
    atomic_store_explicit(place, index, memory_order_release);
    return true;
}

bool ring_release(struct cp_queue *queue)
{
    if (queue->released == queue->retire)
        return true;
    while (queue->released != queue->retire) {
        _Atomic uint16_t *header = header_of(queue, queue->released, VM_WRITE);
        if (!header)
            return false;
        /* release, pairs with the acquire of a host that looks at headers: the packet was read. */
        atomic_store_explicit(header, HSA_PACKET_TYPE_INVALID, memory_order_release);
        queue->released++;
    }
    return read_index_store(queue, queue->released);
}

/* The doorbell's value plays no part: two host threads may ring in the wrong order, and the last
 * value then lies below packets that are ready. */
static enum step written_look(struct cp_queue *queue)
{
    uint64_t write_index;
    if (!access_load64(&queue->device->access, queue->config.write_pointer_va, &write_index))
        return queue_fault(queue, &queue->device->access, "write_dispatch_id");
    return queue->fetch < write_index ? STEP_MORE : STEP_IDLE;
}

static bool is_empty(uint16_t header)
{
    return (header >> HSA_PACKET_HEADER_TYPE & 0xff) == HSA_PACKET_TYPE_INVALID;
}

/* STEP_MORE: *packet is a copy of what is in the slot. */
static enum step slot_read(struct cp_queue *queue, union aql_packet *packet)
{
    _Atomic uint16_t *ring = header_of(queue, queue->fetch, VM_READ);
    if (!ring)
        return queue_fault(queue, &queue->device->access, "AQL ring");
    /* acquire, pairs with the host's release store of the header: the rest is written. */
    uint16_t header = atomic_load_explicit(ring, memory_order_acquire);
    if (is_empty(header))
        return STEP_IDLE;
    memcpy(packet, (const void *)ring, sizeof *packet);
    packet->header = header;
    return STEP_MORE;
}

/* The write index decides: hosts of one thread may write a whole packet, its header first, and say
 * that it is there by the index alone. So the slot is read after that. */
static enum step slot_take(struct cp_queue *queue, union aql_packet *packet)
{
    enum step step = written_look(queue);
    if (step != STEP_MORE)
        return step;
    step = slot_read(queue, packet);
    if (step == STEP_IDLE)
        timeline_unready(&queue->timeline, gpu_clock_ticks());
    return step;
}

/* The index's cache line, which the host is about to change, is left alone as long as the slot is
 * empty; but modelled time wants to know when a packet was not ready. */
static bool slot_is_empty(struct cp_queue *queue)
{
    if (queue->is_modelled || !places_of(queue)->ring)
        return false;
    /* Relaxed: what is there is read behind the index. */
    return is_empty(
        atomic_load_explicit(header_of(queue, queue->fetch, VM_READ), memory_order_relaxed));
}

enum step ring_take(struct cp_queue *queue, union aql_packet *packet)
{
    /* The slot is the oldest one's that has not gone back; and hosts that count on slots soon
     * behind signals, in small rings, get them. */
    const bool is_full = queue->fetch - queue->released >= queue->packet_count;
    const bool lags = queue->retire - queue->released > queue->packet_count / LAG_PART;
    if ((is_full || lags) && !ring_release(queue))
        return queue_fault(queue, &queue->device->access, "AQL ring");
    return slot_is_empty(queue) ? STEP_IDLE : slot_take(queue, packet);
}

enum step ring_properties_read(struct cp_queue *queue)
{
    const _Atomic uint32_t *place = places_of(queue)->properties;
    uint32_t properties;
    if (place) /* acquire, pairs with the runtime's store when it is told to profile the queue */
        properties = atomic_load_explicit(place, memory_order_acquire);
    else if (!access_load32(&queue->device->access,
                            queue_amd_va(queue) + offsetof(amd_queue_t, queue_properties),
                            &properties))
        return queue_fault(queue, &queue->device->access, "queue properties");
    queue->profiled = properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
    return STEP_MORE;
}
