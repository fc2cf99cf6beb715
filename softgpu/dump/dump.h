/* PM4 command buffers as text. Knows packets and registers from data/, and nothing of who wrote
 * them. Reads only the dwords that it is given; any input is answered. */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include <stddef.h>
#include <stdint.h>

/* Families whose registers differ. */
enum dump_family {
    DUMP_GFX9,
    DUMP_GFX90A, /* as gfx9, with other SDMA registers; so is gfx94x */
    DUMP_GFX94,
    DUMP_GFX101,
    DUMP_GFX103,
    DUMP_GFX11,
    DUMP_GFX12,
    DUMP_FAMILIES
};

/* The family of "gfx90a", "gfx1030", "gfx11" ...; -1: no known one. */
int dump_family_find(const char *architecture);

/* "SQ_PERFCOUNTER0_SELECT", or NULL. `reg` is an absolute dword offset. */
const char *dump_register_name(enum dump_family family, uint32_t reg);

struct dump_packet {
    const char *name; /* "COPY_DATA" */
    uint32_t opcode;
    const uint32_t *body;
    uint32_t body_dwords;
};

/* The packet at dwords[0 .. count); returns its length, 0 when it is not a known packet of a
 * possible length that lies within. */
uint32_t dump_decode(const uint32_t *dwords, uint32_t count, struct dump_packet *packet);

/* Writes the packet's meaning, ended by a NUL, cut to `text_bytes`. Fields that are 0 are left out.
 */
void dump_format(enum dump_family family, const struct dump_packet *packet, char *text,
                 size_t text_bytes);

#endif
