/*
 * AQL vendor packets that make the queue's packet processor jump into a PM4 command buffer.
 */
#ifndef GPU_AQL_VENDOR_H
#define GPU_AQL_VENDOR_H

#include <stdint.h>

struct aql_pm4_packet {
    uint16_t header;
    uint16_t format; /* AQL_FORMAT_PM4_IB */
    uint32_t indirect_buffer[4];
    uint32_t dwords_left;
    uint32_t reserved[8];
    uint64_t completion_signal; /* hsa_signal_t handle */
};
_Static_assert(sizeof(struct aql_pm4_packet) == 64, "an AQL packet");

enum { AQL_FORMAT_PM4_IB = 1, AQL_DWORDS_LEFT = 10 };

/* Header and signal stay 0: whoever submits the packet decides about ordering. */
void aql_pm4_packet_fill(struct aql_pm4_packet *packet, uint64_t commands_va, uint32_t dwords);

/* Vendor packet header with the barrier bit and system-scope fences on both sides. */
uint16_t aql_vendor_header(void);

#endif
