/*
 * The generated instruction tables: for a target and an encoding, opcode -> entry.
 */
#ifndef ISA_TABLES_H
#define ISA_TABLES_H

#include <stdint.h>

#include "isa/inst.h"
#include "isa_ops.h"

/* Same order as TABLES in gen/isa_tables.py. */
enum isa_table {
    TABLE_SOP1,
    TABLE_SOPC,
    TABLE_SOPP,
    TABLE_SOPK,
    TABLE_SOP2,
    TABLE_SMEM,
    TABLE_VOP1,
    TABLE_VOPC,
    TABLE_VOP2,
    TABLE_VINTRP,
    TABLE_VOP3P,
    TABLE_VOP3,
    TABLE_DS,
    TABLE_FLAT,
    TABLE_SCRATCH,
    TABLE_GLOBAL,
    TABLE_MUBUF,
    TABLE_MTBUF,
    TABLE_MIMG,
    TABLE_EXP,
    TABLE_COUNT
};

enum { ISA_TARGET_COUNT = 4 }; /* numbered as enum gpu_gen */
enum isa_slot { SLOT_DST, SLOT_SDST, SLOT_SRC0, SLOT_SRC1, SLOT_SRC2, SLOT_COUNT };

struct isa_entry {
    uint16_t op;
    uint8_t klass, tally;
    uint8_t acc_slots;    /* bit per slot: always an accumulation register */
    uint8_t scalar_slots; /* bit per slot: a vector encoding's field that names a scalar register */
    uint8_t types[SLOT_COUNT];
    uint32_t flags; /* IF_LOAD, IF_STORE, IF_ATOMIC */
};

extern const struct isa_entry isa_entries[];
/* isa_entries[isa_index[target][table][opcode]]; entry 0 is the illegal instruction. */
extern const uint16_t *const isa_index[ISA_TARGET_COUNT][TABLE_COUNT];

#endif
