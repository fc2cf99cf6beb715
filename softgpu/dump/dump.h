/* Shows PM4 command buffers as text. This knows packets and registers from data/, and nothing of
 * who wrote them. It reads only the dwords that it is given, and answers any input. */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include <stddef.h>
#include <stdint.h>

/* Families whose registers differ. */
enum dump_family {
    DUMP_GFX9,
    DUMP_GFX90A, /* as gfx9, with SDMA registers of its own */
    DUMP_GFX94,  /* likewise */
    DUMP_GFX101,
    DUMP_GFX103,
    DUMP_GFX11,
    DUMP_GFX12,
    DUMP_FAMILIES
};

/* Returns the family of "gfx90a", "gfx1030", "gfx11" ..., or -1 when it is not known. */
int dump_family_find(const char *architecture);

/* Returns a name such as "SQ_PERFCOUNTER0_SELECT", or NULL. `reg` is an absolute dword offset. */
const char *dump_register_name(enum dump_family family, uint32_t reg);

struct dump_packet {
    const char *name; /* "COPY_DATA" */
    uint32_t opcode;
    const uint32_t *body;
    uint32_t body_dwords;
};

/* Reads the packet at dwords[0 .. count). Returns its length, or 0 when it is not a known packet of
 * a possible length that lies within. */
uint32_t dump_decode(const uint32_t *dwords, uint32_t count, struct dump_packet *packet);

/* Writes the packet's meaning, ended by a NUL, cut to `text_bytes`. Fields that are 0 are left out.
 */
void dump_format(enum dump_family family, const struct dump_packet *packet, char *text,
                 size_t text_bytes);

#endif
