#include "isa/decode_internal.h"

#include <string.h>

unsigned isa_type_dwords(enum operand_type type)
{
    static const uint8_t dwords[] = {
        [TYPE_NONE] = 0,  [TYPE_B16] = 1,   [TYPE_B32] = 1,   [TYPE_B64] = 2,    [TYPE_B96] = 3,
        [TYPE_B128] = 4,  [TYPE_B256] = 8,  [TYPE_B512] = 16, [TYPE_B1024] = 32, [TYPE_I16] = 1,
        [TYPE_U16] = 1,   [TYPE_F16] = 1,   [TYPE_I32] = 1,   [TYPE_U32] = 1,    [TYPE_F32] = 1,
        [TYPE_I64] = 2,   [TYPE_U64] = 2,   [TYPE_F64] = 2,   [TYPE_PK16] = 1,   [TYPE_PKI16] = 1,
        [TYPE_PKF32] = 2, [TYPE_MASK64] = 2};
    return dwords[type];
}

static bool type_is_16(enum operand_type type)
{
    return type == TYPE_B16 || type == TYPE_I16 || type == TYPE_U16 || type == TYPE_F16;
}

static bool type_is_64(enum operand_type type)
{
    return type == TYPE_B64 || type == TYPE_I64 || type == TYPE_U64 || type == TYPE_F64 ||
           type == TYPE_MASK64;
}

/*
 * Inline integers keep their value at every width: 64-bit operands see the sign extended, 16-bit
 * and packed ones the same 32 bits as others, of which op_sel picks a half.
 */
uint64_t inline_integer(enum operand_type type, int32_t value)
{
    if (type_is_64(type))
        return (uint64_t)(int64_t)value;
    uint64_t low = (uint32_t)value;
    return type == TYPE_PKF32 ? low | low << 32 : low;
}

/*
 * Inline floats take the operand's own width; packed f16 see the f16 in the low half only. Integers
 * of 16 bits, packed or not, get no f16 but the 32 bits of the single precision constant, as LLVM
 * found out (getInlineEncodingV216; the manual says nothing).
 */
uint64_t inline_float(enum operand_type type, unsigned encoding)
{
    static const struct {
        uint16_t f16;
        uint32_t f32;
        uint64_t f64;
    } values[] = {
        {0x3800, 0x3f000000, 0x3fe0000000000000}, {0xb800, 0xbf000000, 0xbfe0000000000000},
        {0x3c00, 0x3f800000, 0x3ff0000000000000}, {0xbc00, 0xbf800000, 0xbff0000000000000},
        {0x4000, 0x40000000, 0x4000000000000000}, {0xc000, 0xc0000000, 0xc000000000000000},
        {0x4400, 0x40800000, 0x4010000000000000}, {0xc400, 0xc0800000, 0xc010000000000000},
        {0x3118, 0x3e22f983, 0x3fc45f306dc9c882}};
    if (type_is_64(type))
        return values[encoding - 240].f64;
    if (type == TYPE_F16 || type == TYPE_PK16)
        return values[encoding - 240].f16;
    uint64_t low = values[encoding - 240].f32;
    return type == TYPE_PKF32 ? low | low << 32 : low;
}

static uint64_t literal_value(enum operand_type type, uint32_t literal)
{
    if (type == TYPE_F64)
        return (uint64_t)literal << 32; /* the high half; the low half is zero */
    if (type == TYPE_I64)
        return (uint64_t)(int64_t)(int32_t)literal;
    if (type_is_16(type))
        return literal & 0xffff;
    if (type == TYPE_PKF32)
        return (uint64_t)literal | (uint64_t)literal << 32;
    return literal;
}

/* What a tuple's elements are, of which a constant stands for all: f64's matrices have doubles, all
 * others elements of 32 bits. */
static enum operand_type element_type(const struct isa_entry *entry, enum operand_type type)
{
    return type == TYPE_B256 && entry->types[SLOT_SRC0] == TYPE_F64 ? TYPE_F64 : type;
}

static bool operand_special(struct operand *operand, unsigned encoding)
{
    static const uint8_t kinds[256] = {
        [235] = OPND_SHARED_BASE,   [236] = OPND_SHARED_LIMIT, [237] = OPND_PRIVATE_BASE,
        [238] = OPND_PRIVATE_LIMIT, [239] = OPND_POPS_WAVE_ID, [251] = OPND_VCCZ,
        [252] = OPND_EXECZ,         [253] = OPND_SCC,          [254] = OPND_LDS_DIRECT};
    operand->kind = kinds[encoding];
    return operand->kind != OPND_NONE;
}

static bool decode_literal(struct decoding *d, struct operand *operand, enum operand_type type)
{
    if (d->dwords < 2)
        return false;
    d->inst->dwords = 2;
    operand->kind = OPND_CONST;
    operand->literal = 1;
    operand->value = literal_value(type, d->code[1]);
    return true;
}

/* The common 9-bit source field: 0..127 scalar, 128..255 constants and special, 256.. vector. */
static bool decode_source(struct decoding *d, unsigned slot, unsigned encoding,
                          bool literal_allowed)
{
    enum operand_type type = d->entry->types[SLOT_SRC0 + slot];
    struct operand *operand = &d->inst->src[slot];
    operand->type = type;
    operand->dwords = isa_type_dwords(type);
    if (encoding >= SRC_VGPR0) {
        operand->kind = d->entry->acc_slots >> (SLOT_SRC0 + slot) & 1 ? OPND_AGPR : OPND_VGPR;
        operand->index = encoding - SRC_VGPR0;
        return true;
    }
    operand->index = encoding;
    if (encoding < SREG_ENCODINGS) {
        operand->kind = OPND_SREG;
        return encoding != 125; /* reserved */
    }
    if (encoding == SRC_LITERAL)
        return literal_allowed && decode_literal(d, operand, type);
    const enum operand_type element = element_type(d->entry, type);
    if (encoding >= 128 && encoding <= 208) {
        operand->kind = OPND_CONST;
        operand->value =
            inline_integer(element, encoding <= 192 ? (int)encoding - 128 : 192 - (int)encoding);
        return true;
    }
    if (encoding >= 240 && encoding <= 248) {
        operand->kind = OPND_CONST;
        operand->value = inline_float(element, encoding);
        return true;
    }
    return operand_special(operand, encoding);
}

static void set_vector_dst(struct decoding *d, unsigned index)
{
    enum operand_type type = d->entry->types[SLOT_DST];
    if (type == TYPE_NONE)
        return;
    enum operand_kind kind = OPND_VGPR;
    if (d->entry->scalar_slots >> SLOT_DST & 1)
        kind = OPND_SREG;
    else if (d->entry->acc_slots >> SLOT_DST & 1)
        kind = OPND_AGPR;
    set_register(&d->inst->dst, kind, index, type);
}

static void set_scalar_dst(struct decoding *d, unsigned index)
{
    if (d->entry->types[SLOT_DST] != TYPE_NONE)
        set_register(&d->inst->dst, OPND_SREG, index, d->entry->types[SLOT_DST]);
}

static bool scalar_sources(struct decoding *d, unsigned count)
{
    for (unsigned slot = 0; slot < count; slot++) {
        if (has_source(d, slot) && !decode_source(d, slot, bits(d->code[0], 8 * slot, 8), true))
            return false;
    }
    return true;
}

static bool decode_sop1(struct decoding *d)
{
    set_scalar_dst(d, bits(d->code[0], 16, 7));
    return scalar_sources(d, 1);
}

static bool decode_sop2(struct decoding *d)
{
    set_scalar_dst(d, bits(d->code[0], 16, 7));
    return scalar_sources(d, 2);
}

static bool decode_sopc(struct decoding *d)
{
    if (d->entry->op != OP_S_SET_GPR_IDX_ON)
        return scalar_sources(d, 2);
    d->inst->offset = bits(d->code[0], 8, 8); /* its second field is an immediate, not a source */
    return scalar_sources(d, 1);
}

static bool decode_sopk(struct decoding *d)
{
    unsigned reg = bits(d->code[0], 16, 7);
    d->inst->offset = sign_extend(d->code[0], 16);
    set_scalar_dst(d, reg);
    if (d->entry->op == OP_S_SETREG_IMM32_B32)
        return decode_literal(d, &d->inst->src[0], TYPE_B32);
    return !has_source(d, 0) || decode_source(d, 0, reg, false);
}

static bool decode_sopp(struct decoding *d)
{
    d->inst->offset = sign_extend(d->code[0], 16);
    return true;
}

static bool decode_sdwa(struct decoding *d)
{
    if (d->dwords < 2)
        return false;
    uint32_t word = d->code[1];
    struct inst *inst = d->inst;
    inst->modifier = MOD_SDWA;
    inst->dwords = 2;
    if (!decode_source(d, 0, bits(word, 0, 8) + (bit(word, 23) ? 0 : SRC_VGPR0), false))
        return false;
    unsigned src1 = bits(d->code[0], 9, 8);
    if (has_source(d, 1) && inst->format != FMT_VOP1 &&
        !decode_source(d, 1, src1 + (bit(word, 31) ? 0 : SRC_VGPR0), false))
        return false;
    inst->sdwa.src0_sel = bits(word, 16, 3);
    inst->sdwa.src1_sel = bits(word, 24, 3);
    inst->neg = bit(word, 20) | bit(word, 28) << 1;
    inst->abs = bit(word, 21) | bit(word, 29) << 1;
    inst->flags |= (bit(word, 19) ? IF_SRC0_SEXT : 0) | (bit(word, 27) ? IF_SRC1_SEXT : 0);
    if (inst->format == FMT_VOPC) {
        if (bit(word, 15))
            inst->sdst.index = bits(word, 8, 7);
        return true;
    }
    inst->sdwa.dst_sel = bits(word, 8, 3);
    inst->sdwa.dst_unused = bits(word, 11, 2);
    inst->flags |= bit(word, 13) ? IF_CLAMP : 0;
    inst->omod = bits(word, 14, 2);
    return true;
}

static bool decode_dpp(struct decoding *d)
{
    if (d->dwords < 2)
        return false;
    uint32_t word = d->code[1];
    struct inst *inst = d->inst;
    inst->modifier = MOD_DPP;
    inst->dwords = 2;
    inst->dpp.ctrl = bits(word, 8, 9);
    inst->dpp.bank_mask = bits(word, 24, 4);
    inst->dpp.row_mask = bits(word, 28, 4);
    inst->flags |= bit(word, 19) ? IF_DPP_BOUND_CTRL : 0;
    inst->neg = bit(word, 20) | bit(word, 22) << 1;
    inst->abs = bit(word, 21) | bit(word, 23) << 1;
    if (inst->format != FMT_VOP1 && has_source(d, 1) &&
        !decode_source(d, 1, bits(d->code[0], 9, 8) + SRC_VGPR0, false))
        return false;
    return decode_source(d, 0, bits(word, 0, 8) + SRC_VGPR0, false);
}

/* v_madmk (K is the second factor) and v_madak (K is the addend) always carry a literal. */
static bool decode_literal_mad(struct decoding *d, bool k_is_addend)
{
    unsigned k = k_is_addend ? 2 : 1, vector = k_is_addend ? 1 : 2;
    struct operand *constant = &d->inst->src[k];
    constant->type = d->entry->types[SLOT_SRC0 + k];
    constant->dwords = 1;
    return decode_source(d, 0, bits(d->code[0], 0, 9), true) &&
           decode_source(d, vector, bits(d->code[0], 9, 8) + SRC_VGPR0, false) &&
           decode_literal(d, constant, constant->type);
}

static bool vop_sources(struct decoding *d)
{
    unsigned src0 = bits(d->code[0], 0, 9);
    if (src0 == SRC_SDWA)
        return decode_sdwa(d);
    if (src0 == SRC_DPP)
        return decode_dpp(d);
    if (has_source(d, 0) && !decode_source(d, 0, src0, true))
        return false;
    return d->inst->format == FMT_VOP1 || !has_source(d, 1) ||
           decode_source(d, 1, bits(d->code[0], 9, 8) + SRC_VGPR0, false);
}

static bool decode_vop1(struct decoding *d)
{
    set_vector_dst(d, bits(d->code[0], 17, 8));
    return !has_source(d, 0) || vop_sources(d);
}

static void set_vcc_operands(struct decoding *d)
{
    if (d->entry->types[SLOT_SDST] != TYPE_NONE)
        set_register(&d->inst->sdst, OPND_SREG, 106, TYPE_MASK64);
    if (d->entry->types[SLOT_SRC2] == TYPE_MASK64)
        set_register(&d->inst->src[2], OPND_SREG, 106, TYPE_MASK64);
}

static bool decode_vop2(struct decoding *d)
{
    set_vector_dst(d, bits(d->code[0], 17, 8));
    switch (d->entry->op) {
    case OP_V_MADMK_F32:
    case OP_V_MADMK_F16:
    case OP_V_FMAMK_F32:
        return decode_literal_mad(d, false);
    case OP_V_MADAK_F32:
    case OP_V_MADAK_F16:
    case OP_V_FMAAK_F32:
        return decode_literal_mad(d, true);
    default:
        set_vcc_operands(d);
        return vop_sources(d);
    }
}

static bool decode_vopc(struct decoding *d)
{
    set_vcc_operands(d);
    return vop_sources(d);
}

static bool vop3_sources(struct decoding *d)
{
    for (unsigned slot = 0; slot < 3; slot++) {
        if (has_source(d, slot) && !decode_source(d, slot, bits(d->code[1], 9 * slot, 9), false))
            return false;
    }
    return true;
}

static bool decode_vop3(struct decoding *d)
{
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    bool compare = bits(low, 16, 10) < 256;
    bool carry = d->entry->types[SLOT_SDST] != TYPE_NONE && !compare;
    set_vector_dst(d, bits(low, 0, 8));
    if (compare)
        set_register(&inst->sdst, OPND_SREG, bits(low, 0, 8), TYPE_MASK64);
    if (carry)
        set_register(&inst->sdst, OPND_SREG, bits(low, 8, 7), TYPE_MASK64);
    else {
        inst->abs = bits(low, 8, 3);
        inst->op_sel = bits(low, 11, 4);
    }
    inst->neg = bits(high, 29, 3);
    inst->omod = bits(high, 27, 2);
    inst->flags |= (bit(low, 15) ? IF_CLAMP : 0) | IF_VOP3;
    return inst->sdst.index < SREG_ENCODINGS && vop3_sources(d);
}

static bool decode_mfma(struct decoding *d)
{
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    inst->mfma.cbsz = bits(low, 8, 3);
    inst->mfma.abid = bits(low, 11, 4);
    const bool negates =
        d->entry->op == OP_V_MFMA_F64_16X16X4_F64 || d->entry->op == OP_V_MFMA_F64_4X4X4_4B_F64;
    *(negates ? &inst->neg : &inst->mfma.blgp) = bits(high, 29, 3) & 7;
    if (!vop3_sources(d))
        return false;
    set_vector_dst(d, bits(low, 0, 8));
    /* gfx908 has no choice: C and D are accumulation registers. */
    bool acc_cd = d->gen == GPU_GFX908 || bit(low, 15);
    inst->dst.kind = acc_cd ? OPND_AGPR : OPND_VGPR;
    /* A sparse matrix's third source is no C, but a vector register with its indices. */
    const bool sparse = d->entry->types[SLOT_SRC2] != d->entry->types[SLOT_DST];
    if (!sparse && (inst->src[2].kind == OPND_AGPR || inst->src[2].kind == OPND_VGPR))
        inst->src[2].kind = inst->dst.kind;
    for (unsigned slot = 0; slot < 2; slot++) {
        if (bit(high, 27 + slot) && inst->src[slot].kind == OPND_VGPR)
            inst->src[slot].kind = OPND_AGPR;
    }
    return true;
}

static bool decode_vop3p(struct decoding *d)
{
    if (d->entry->klass == CLASS_MFMA)
        return decode_mfma(d);
    uint32_t low = d->code[0], high = d->code[1];
    struct inst *inst = d->inst;
    set_vector_dst(d, bits(low, 0, 8));
    if (d->entry->op == OP_V_ACCVGPR_READ_B32 || d->entry->op == OP_V_ACCVGPR_WRITE_B32)
        return vop3_sources(d); /* its modifier bits are acc bits that the mnemonic implies */
    inst->neg_hi = bits(low, 8, 3);
    inst->op_sel = bits(low, 11, 3);
    inst->op_sel_hi = bits(high, 27, 2) | bit(low, 14) << 2;
    inst->neg = bits(high, 29, 3);
    inst->flags |= bit(low, 15) ? IF_CLAMP : 0;
    return vop3_sources(d);
}

static bool decode_name_only(struct decoding *d)
{
    (void)d; /* recognised so that a fault can name it; nothing executes it yet */
    return true;
}

struct encoding {
    uint32_t mask, value;
    uint8_t table, format, dwords, opcode_low, opcode_width;
    bool (*decode)(struct decoding *d);
};

/* The first match wins: the scalar one-operand formats lie inside SOP2's space, VOP1 and VOPC
 * inside VOP2's, VOP3P inside VOP3's. */
static const struct encoding encodings[] = {
    {0xff800000, 0xbe800000, TABLE_SOP1, FMT_SOP1, 1, 8, 8, decode_sop1},
    {0xff800000, 0xbf000000, TABLE_SOPC, FMT_SOPC, 1, 16, 7, decode_sopc},
    {0xff800000, 0xbf800000, TABLE_SOPP, FMT_SOPP, 1, 16, 7, decode_sopp},
    {0xf0000000, 0xb0000000, TABLE_SOPK, FMT_SOPK, 1, 23, 5, decode_sopk},
    {0xc0000000, 0x80000000, TABLE_SOP2, FMT_SOP2, 1, 23, 7, decode_sop2},
    {0xfe000000, 0x7e000000, TABLE_VOP1, FMT_VOP1, 1, 9, 8, decode_vop1},
    {0xfe000000, 0x7c000000, TABLE_VOPC, FMT_VOPC, 1, 17, 8, decode_vopc},
    {0x80000000, 0x00000000, TABLE_VOP2, FMT_VOP2, 1, 25, 6, decode_vop2},
    {0xfc000000, 0xc0000000, TABLE_SMEM, FMT_SMEM, 2, 18, 8, decode_smem},
    {0xff800000, 0xd3800000, TABLE_VOP3P, FMT_VOP3P, 2, 16, 7, decode_vop3p},
    {0xfc000000, 0xd0000000, TABLE_VOP3, FMT_VOP3, 2, 16, 10, decode_vop3},
    {0xfc000000, 0xd8000000, TABLE_DS, FMT_DS, 2, 17, 8, decode_ds},
    {0xfc00c000, 0xdc000000, TABLE_FLAT, FMT_FLAT, 2, 18, 7, decode_flat},
    {0xfc00c000, 0xdc004000, TABLE_SCRATCH, FMT_FLAT, 2, 18, 7, decode_flat},
    {0xfc00c000, 0xdc008000, TABLE_GLOBAL, FMT_FLAT, 2, 18, 7, decode_flat},
    {0xfc000000, 0xe0000000, TABLE_MUBUF, FMT_MUBUF, 2, 18, 7, decode_buffer},
    {0xfc000000, 0xe8000000, TABLE_MTBUF, FMT_MTBUF, 2, 15, 4, decode_buffer},
    {0xfc000000, 0xf0000000, TABLE_MIMG, FMT_MIMG, 2, 18, 7, decode_image},
    {0xfc000000, 0xc4000000, TABLE_EXP, FMT_EXP, 2, 0, 0, decode_name_only},
    {0xfc000000, 0xd4000000, TABLE_VINTRP, FMT_VINTRP, 1, 16, 2, decode_name_only},
};

static const struct encoding *encoding_find(uint32_t word)
{
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        if ((word & encodings[i].mask) == encodings[i].value)
            return &encodings[i];
    }
    return NULL;
}

static void count_sources(struct inst *inst, const struct isa_entry *entry)
{
    for (unsigned slot = 0; slot < 3; slot++) {
        if (entry->types[SLOT_SRC0 + slot] != TYPE_NONE)
            inst->src_count = slot + 1;
    }
}

static int decode_fail(const uint32_t *code, size_t dwords, struct inst *inst)
{
    memset(inst, 0, sizeof *inst);
    inst->dwords = 1;
    inst->klass = CLASS_OTHER;
    inst->tally = TALLY_INTERNAL;
    inst->raw[0] = dwords > 0 ? code[0] : 0;
    inst->raw[1] = dwords > 1 ? code[1] : 0;
    return 0;
}

/* A register tuple must lie inside its file: execution trusts this and does not check again. */
static bool operand_fits(const struct operand *operand)
{
    if (operand->kind == OPND_SREG)
        return operand->index + operand->dwords <= SREG_ENCODINGS;
    if (operand->kind == OPND_VGPR || operand->kind == OPND_AGPR)
        return operand->index + operand->dwords <= 256;
    return true;
}

static bool operands_fit(const struct inst *inst)
{
    return operand_fits(&inst->dst) && operand_fits(&inst->sdst) && operand_fits(&inst->src[0]) &&
           operand_fits(&inst->src[1]) && operand_fits(&inst->src[2]);
}

/* According to AMD, V_DOT2 and MFMA of MI200, and of no other GPU, flush denormals of f16 and bf16
 * to zero. */
static uint32_t flags_of(enum gpu_gen gen, const struct isa_entry *entry)
{
    const bool dot2 = entry->op == OP_V_DOT2_F32_F16 || entry->op == OP_V_DOT2C_F32_F16;
    const bool mfma = entry->tally >= TALLY_MFMA_F16_X4 && entry->tally <= TALLY_MFMA_BF16_1K_X32;
    return entry->flags | (gen == GPU_GFX90A && (dot2 || mfma) ? IF_FLUSH_F16 : 0);
}

int isa_decode(enum gpu_gen gen, const uint32_t *code, size_t dwords, struct inst *inst)
{
    const struct encoding *encoding = dwords > 0 ? encoding_find(code[0]) : NULL;
    if (!encoding || dwords < encoding->dwords)
        return decode_fail(code, dwords, inst);
    unsigned opcode = bits(code[0], encoding->opcode_low, encoding->opcode_width);
    const struct isa_entry *entry = &isa_entries[isa_index[gen][encoding->table][opcode]];
    if (entry->op == OP_INVALID)
        return decode_fail(code, dwords, inst);
    memset(inst, 0, sizeof *inst);
    inst->op = entry->op;
    inst->format = encoding->format;
    inst->dwords = encoding->dwords;
    inst->klass = entry->klass;
    inst->tally = entry->tally;
    inst->flags = flags_of(gen, entry);
    inst->raw[0] = code[0];
    inst->raw[1] = dwords > 1 ? code[1] : 0;
    count_sources(inst, entry);
    struct decoding decoding = {code, dwords, gen, entry, inst};
    if (!encoding->decode(&decoding) || !operands_fit(inst))
        return decode_fail(code, dwords, inst);
    return inst->dwords;
}
