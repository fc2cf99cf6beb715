/* Packets on their way to the queue, written as many at once as the runtime allows. Internal to
 * this folder. */
#ifndef INTERCEPT_HSA_PACKET_WRITER_H
#define INTERCEPT_HSA_PACKET_WRITER_H

#include "intercept/hsa/packet.h"
#include "intercept/hsa/ring_guard.h"

enum { PACKETS_AT_ONCE = 32 };

/* Of one call of the interceptor; lives on its stack. */
struct packet_writer {
    union packet packets[PACKETS_AT_ONCE];
    uint32_t count;
    struct ring_guard *guard;
    void (*write)(const void *packets, uint64_t count);
};

static inline void writer_flush(struct packet_writer *writer)
{
    if (writer->count > 0)
        writer->write(writer->packets, writer->count);
    writer->guard->written += writer->count;
    writer->count = 0;
}

/* A copy of the packet, which may be changed until the next call. */
static inline union packet *writer_put(struct packet_writer *writer, const void *packet)
{
    if (writer->count == PACKETS_AT_ONCE)
        writer_flush(writer);
    union packet *copy = &writer->packets[writer->count++];
    memcpy(copy, packet, sizeof *copy);
    return copy;
}

static inline void writer_put_many(struct packet_writer *writer, const void *packets,
                                   uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        writer_put(writer, (const union packet *)packets + i);
}

/* The one that was put last; there must be one since the last flush. */
static inline union packet *writer_last(struct packet_writer *writer)
{
    return &writer->packets[writer->count - 1];
}

#endif
