#include "intercept/hsa/packet_writer.h"

#include <string.h>

void writer_flush(struct packet_writer *writer)
{
    if (writer->count > 0)
        writer->write(writer->packets, writer->count);
    writer->guard->written += writer->count;
    writer->count = 0;
}

union packet *writer_put(struct packet_writer *writer, const void *packet)
{
    if (writer->count == PACKETS_AT_ONCE)
        writer_flush(writer);
    union packet *copy = &writer->packets[writer->count++];
    memcpy(copy, packet, sizeof *copy);
    return copy;
}

void writer_put_many(struct packet_writer *writer, const void *packets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        writer_put(writer, (const union packet *)packets + i);
}

union packet *writer_last(struct packet_writer *writer)
{
    return &writer->packets[writer->count - 1];
}
