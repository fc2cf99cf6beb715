/* Memory formats: SMEM, DS, FLAT and its segments, MUBUF, MTBUF, MIMG. */
#include "isa/decode_internal.h"

static void set_scalar_data(struct decoding *d, unsigned index)
{
    if (d->entry->types[SLOT_DST] != TYPE_NONE)
        set_register(&d->inst->dst, OPND_SREG, index, d->entry->types[SLOT_DST]);
}

bool decode_smem(struct decoding *d)
{
    uint32_t low = d->code[0], high = d->code[1];
    bool immediate = bit(low, 17), soffset = bit(low, 14);
    struct inst *inst = d->inst;
    inst->flags |= bit(low, 16) ? IF_GLC : 0;
    inst->flags |= bit(low, 15) ? IF_NV : 0;
    unsigned data = bits(low, 6, 7);
    if (has_source(d, 1))
        set_register(&inst->src[1], OPND_SREG, data, d->entry->types[SLOT_SRC1]);
    if (!(inst->flags & IF_ATOMIC) || inst->flags & IF_GLC)
        set_scalar_data(d, data);
    if (!has_source(d, 0))
        return true;
    set_register(&inst->src[0], OPND_SREG, bits(low, 0, 6) * 2, d->entry->types[SLOT_SRC0]);
    if (immediate)
        inst->offset = sign_extend(high, 21);
    if (soffset || !immediate) {
        /* Before gfx9 the SGPR number sat in the offset field; that form still assembles. */
        inst->flags |= IF_SOFFSET;
        set_register(&inst->src[2], OPND_SREG, soffset ? bits(high, 25, 7) : bits(high, 0, 7),
                     TYPE_B32);
    }
    return true;
}

/* Data registers of memory instructions: on gfx90a and later the acc bit selects the AGPR file. */
static void set_data(struct decoding *d, unsigned index, unsigned dst_index)
{
    struct inst *inst = d->inst;
    enum operand_kind kind = inst->flags & IF_DATA_AGPR ? OPND_AGPR : OPND_VGPR;
    for (unsigned slot = 1; slot < 3; slot++) {
        if (has_source(d, slot) && (slot == 1 || inst->format == FMT_DS))
            set_register(&inst->src[slot], kind, slot == 1 ? index : bits(d->code[1], 16, 8),
                         d->entry->types[SLOT_SRC0 + slot]);
    }
    if (d->entry->types[SLOT_DST] != TYPE_NONE)
        set_register(&inst->dst, kind, dst_index, d->entry->types[SLOT_DST]);
}

bool decode_ds(struct decoding *d)
{
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    inst->offset = inst->flags & IF_PAIR ? bits(low, 0, 8) : bits(low, 0, 16);
    inst->ds.offset1 = bits(low, 8, 8);
    if (bit(low, 16)) {
        inst->flags |= IF_GDS;
        inst->klass = CLASS_GDS;
        inst->tally = TALLY_GDS;
    }
    if (bit(low, 25)) {
        if (d->gen < GPU_GFX90A)
            return false;
        inst->flags |= IF_DATA_AGPR;
    }
    if (has_source(d, 0))
        set_register(&inst->src[0], OPND_VGPR, bits(high, 0, 8), TYPE_B32);
    /* GWS operations have no address: their value stands in its place. */
    bool gws = inst->op >= OP_DS_GWS_BARRIER && inst->op <= OP_DS_GWS_SEMA_V;
    if (gws && !(inst->flags & IF_GDS))
        return false;
    set_data(d, bits(high, gws ? 0 : 8, 8), bits(high, 24, 8));
    return true;
}

/* An atomic returns the old value only with GLC. */
static void settle_return(struct inst *inst)
{
    _Static_assert(TALLY_BUFFER_ATOMIC_RETURN == TALLY_BUFFER_ATOMIC + 1 &&
                       TALLY_IMAGE_ATOMIC_RETURN == TALLY_IMAGE_ATOMIC + 1 &&
                       TALLY_GLOBAL_ATOMIC_RETURN == TALLY_GLOBAL_ATOMIC + 1 &&
                       TALLY_FLAT_ATOMIC_RETURN == TALLY_FLAT_ATOMIC + 1,
                   "the returning form's tally follows");
    if (!(inst->flags & IF_ATOMIC))
        return;
    if (inst->flags & IF_GLC)
        inst->tally++;
    else
        inst->dst = (struct operand){0};
}

static void set_flat_address(struct decoding *d, unsigned segment)
{
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    unsigned saddr = bits(high, 16, 7);
    bool scalar = segment != 0 && saddr != SADDR_OFF;
    /* Scratch before gfx942 takes one address register or the other, never both. */
    bool vector = segment != 1 || (d->gen == GPU_GFX942 ? bit(low, 13) : !scalar);
    if (scalar) {
        inst->flags |= IF_SADDR;
        set_register(&inst->src[2], OPND_SREG, saddr, segment == 1 ? TYPE_B32 : TYPE_B64);
    }
    if (vector)
        set_register(&inst->src[0], OPND_VGPR, bits(high, 0, 8),
                     segment == 1 || scalar ? TYPE_B32 : TYPE_B64);
}

bool decode_flat(struct decoding *d)
{
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    unsigned segment = bits(low, 14, 2); /* 0 flat, 1 scratch, 2 global */
    if (segment == 3)
        return false;
    inst->flags |= (bit(low, 16) ? IF_GLC : 0) | (bit(low, 17) ? IF_SLC : 0);
    inst->flags |= bit(low, 25) && d->gen >= GPU_GFX90A ? IF_DLC_SCC : 0;
    inst->flags |= bit(high, 23) && d->gen >= GPU_GFX90A ? IF_DATA_AGPR : 0;
    /* gfx942 loads into LDS by opcode; its scratch instructions use the bit for the address. */
    bool lds = bit(low, 13);
    if (d->gen == GPU_GFX942 && segment != 1 && lds)
        return false;
    inst->flags |= lds && d->gen != GPU_GFX942 ? IF_LDS : 0;
    inst->flags |= segment == 1 ? IF_SEG_SCRATCH : segment == 2 ? IF_SEG_GLOBAL : 0;
    inst->offset = segment == 0 ? (int32_t)bits(low, 0, 12) : sign_extend(low, 13);
    set_flat_address(d, segment);
    set_data(d, bits(high, 8, 8), bits(high, 24, 8));
    if (inst->flags & IF_LDS)
        inst->dst = (struct operand){0};
    settle_return(inst);
    return true;
}

bool decode_buffer(struct decoding *d)
{
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    bool typed = inst->format == FMT_MTBUF;
    inst->offset = bits(low, 0, 12);
    inst->flags |=
        (bit(low, 12) ? IF_OFFEN : 0) | (bit(low, 13) ? IF_IDXEN : 0) | (bit(low, 14) ? IF_GLC : 0);
    if (inst->flags & IF_LDS && !bit(low, 16)) /* buffer_store_lds_dword needs the bit, too */
        return false;
    if (typed)
        inst->flags |= bit(high, 22) ? IF_SLC : 0;
    else
        inst->flags |= (bit(low, 16) ? IF_LDS : 0) | (bit(low, 17) ? IF_SLC : 0);
    if (d->gen >= GPU_GFX90A) {
        inst->flags |= (typed ? bit(high, 21) : bit(low, 15)) ? IF_DLC_SCC : 0;
        inst->flags |= bit(high, 23) ? IF_DATA_AGPR : 0;
    }
    if (d->entry->types[SLOT_SRC2] == TYPE_NONE)
        return true; /* cache control: no address */
    unsigned address_dwords = bit(low, 12) + bit(low, 13);
    if (address_dwords)
        set_register(&inst->src[0], OPND_VGPR, bits(high, 0, 8),
                     address_dwords == 2 ? TYPE_B64 : TYPE_B32);
    set_data(d, bits(high, 8, 8), bits(high, 8, 8));
    set_register(&inst->src[2], OPND_SREG, bits(high, 16, 5) * 4, TYPE_B128);
    settle_return(inst);
    unsigned soffset = bits(high, 24, 8);
    inst->soffset.index = soffset;
    inst->soffset.kind = soffset < SREG_ENCODINGS ? OPND_SREG : OPND_CONST;
    inst->soffset.data_format = typed ? (uint8_t)bits(low, 19, 4) : 0;
    inst->soffset.number_format = typed ? (uint8_t)bits(low, 23, 3) : 0;
    if (soffset >= 128 && soffset <= 208)
        inst->soffset.value =
            inline_integer(TYPE_B32, soffset <= 192 ? (int)soffset - 128 : 192 - (int)soffset);
    else if (soffset >= 240 && soffset <= 248)
        inst->soffset.value = inline_float(TYPE_B32, soffset);
    else
        return soffset < SREG_ENCODINGS;
    return true;
}

/* Registers of an image instruction's data. */
static unsigned image_data_dwords(const struct inst *inst)
{
    bool gathers = inst->op >= OP_IMAGE_GATHER4 && inst->op <= OP_IMAGE_GATHER4_O;
    unsigned components = gathers ? 4 : (unsigned)__builtin_popcount(inst->image.dmask);
    components += components == 0; /* no component counts as one that reads 0 */
    unsigned dwords = inst->image.flags & IMAGE_D16 ? (components + 1) / 2 : components;
    return dwords + (inst->image.flags & IMAGE_STATUS ? 1 : 0);
}

bool decode_image(struct decoding *d)
{
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    bool acc = d->gen >= GPU_GFX90A; /* the bit that elsewhere asks for a status */
    if (bit(low, 0))
        return false; /* opcodes of later generations */
    inst->image.dmask = (uint8_t)bits(low, 8, 4);
    inst->image.sampler = (uint8_t)(bits(high, 21, 5) * 4);
    inst->image.flags = (bit(low, 12) ? IMAGE_UNORM : 0) | (bit(low, 14) ? IMAGE_ARRAY : 0) |
                        (bit(low, 15) ? IMAGE_A16 : 0) | (bit(high, 31) ? IMAGE_D16 : 0) |
                        (bit(low, 17) || (bit(low, 16) && !acc) ? IMAGE_STATUS : 0);
    inst->flags |= (bit(low, 13) ? IF_GLC : 0) | (bit(low, 25) ? IF_SLC : 0);
    if (acc)
        inst->flags |= (bit(low, 7) ? IF_DLC_SCC : 0) | (bit(low, 16) ? IF_DATA_AGPR : 0);
    bool stores = inst->flags & (IF_STORE | IF_ATOMIC);
    struct operand data = {.kind = inst->flags & IF_DATA_AGPR ? OPND_AGPR : OPND_VGPR,
                           .type = TYPE_B32,
                           .index = (uint16_t)bits(high, 8, 8),
                           .dwords = (uint8_t)image_data_dwords(inst)};
    set_register(&inst->src[0], OPND_VGPR, bits(high, 0, 8), TYPE_B32);
    set_register(&inst->src[2], OPND_SREG, bits(high, 16, 5) * 4, TYPE_B256);
    if (stores)
        inst->src[1] = data;
    if (!(inst->flags & IF_STORE))
        inst->dst = data;
    inst->src_count = 3;
    settle_return(inst);
    return inst->image.sampler + 4 <= SREG_ENCODINGS;
}
