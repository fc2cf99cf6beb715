/* PM4 command buffers as text: one packet a line, registers by name. */
#ifndef GPU_PM4_DISASM_H
#define GPU_PM4_DISASM_H

#include <stdint.h>

#include "gpu/pm4/packet.h"

struct pm4_packet {
    enum pm4_opcode opcode;
    const char *name; /* "COPY_DATA" */
    const uint32_t *body;
    uint32_t body_dwords;
};

/* The packet at dwords[0 .. count); returns its length, 0 when it is not a known packet of a
 * possible length that lies within. */
uint32_t pm4_decode(const uint32_t *dwords, uint32_t count, struct pm4_packet *packet);

/* Writes the packet's meaning, cut to `text_bytes`. */
void pm4_format(const struct pm4_packet *packet, char *text, uint32_t text_bytes);

/* "SQ_PERFCOUNTER0_SELECT", or NULL. */
const char *pm4_register_name(uint32_t reg);

#endif
