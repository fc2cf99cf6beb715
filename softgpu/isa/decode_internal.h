/* What the files of the decoder share. */
#ifndef ISA_DECODE_INTERNAL_H
#define ISA_DECODE_INTERNAL_H

#include <stdbool.h>

#include "isa/decode.h"
#include "isa/tables.h"

enum {
    SREG_ENCODINGS = 128,
    SRC_LITERAL = 255,
    SRC_SDWA = 249,
    SRC_DPP = 250,
    SRC_VGPR0 = 256,
    SADDR_OFF = 0x7f
};

/* What the field decoders share: the instruction words and the table entry. */
struct decoding {
    const uint32_t *code;
    size_t dwords;
    enum gpu_gen gen;
    const struct isa_entry *entry;
    struct inst *inst;
};

static inline uint32_t bits(uint32_t word, unsigned low, unsigned width)
{
    return word >> low & ((1u << width) - 1);
}

static inline bool bit(uint32_t word, unsigned n)
{
    return word >> n & 1;
}

static inline int32_t sign_extend(uint32_t value, unsigned width)
{
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* What a constant operand of the type holds. */
uint64_t inline_integer(enum operand_type type, int32_t value);
uint64_t inline_float(enum operand_type type, unsigned encoding);

static inline bool has_source(const struct decoding *d, unsigned slot)
{
    return d->entry->types[SLOT_SRC0 + slot] != TYPE_NONE;
}

static inline void set_register(struct operand *operand, enum operand_kind kind, unsigned index,
                                enum operand_type type)
{
    *operand = (struct operand){
        .kind = kind, .type = type, .index = index, .dwords = isa_type_dwords(type)};
}

/* decode_memory.c */
bool decode_smem(struct decoding *d);
bool decode_ds(struct decoding *d);
bool decode_flat(struct decoding *d);
bool decode_buffer(struct decoding *d);
bool decode_image(struct decoding *d);

#endif
