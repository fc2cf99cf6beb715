#include "isa/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct writer {
    char *text;
    size_t size, length;
    bool first; /* no operand yet */
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out->text + out->length, out->size - out->length, format, args);
    va_end(args);
    if (n > 0 && out->length + (size_t)n < out->size)
        out->length += (size_t)n;
}

static void separator(struct writer *out)
{
    put(out, out->first ? " " : ", ");
    out->first = false;
}

static void put_tuple(struct writer *out, const char *file, unsigned index, unsigned dwords)
{
    if (dwords <= 1)
        put(out, "%s%u", file, index);
    else
        put(out, "%s[%u:%u]", file, index, index + dwords - 1);
}

static void put_scalar(struct writer *out, unsigned index, unsigned dwords)
{
    static const struct {
        unsigned index;
        const char *name;
    } pairs[] = {{102, "flat_scratch"}, {104, "xnack_mask"}, {106, "vcc"}, {126, "exec"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (index == pairs[i].index && dwords == 2) {
            put(out, "%s", pairs[i].name);
            return;
        }
        if (dwords <= 1 && (index | 1) == (pairs[i].index | 1)) {
            put(out, "%s_%s", pairs[i].name, index & 1 ? "hi" : "lo");
            return;
        }
    }
    if (index == 124)
        put(out, "m0");
    else if (index >= 108 && index < 124)
        put_tuple(out, "ttmp", index - 108, dwords);
    else
        put_tuple(out, "s", index, dwords);
}

static void put_constant(struct writer *out, const struct operand *o)
{
    static const char *const floats[] = {"0.5", "-0.5", "1.0", "-1.0",
                                         "2.0", "-2.0", "4.0", "-4.0"};
    bool wide = (o->dwords == 2 && o->type != TYPE_PKF32) || o->type == TYPE_B256;
    if (o->literal)
        put(out, "0x%x", (uint32_t)(o->type == TYPE_F64 ? o->value >> 32 : o->value));
    else if (o->index >= 240 && o->index < 248)
        put(out, "%s", floats[o->index - 240]);
    else if (o->index == 248)
        put(out, "%s", wide ? "0.15915494309189532" : "0.15915494");
    else
        put(out, "%d", o->index <= 192 ? o->index - 128 : 192 - o->index);
}

static void put_bare(struct writer *out, const struct operand *o)
{
    static const char *const names[] = {[OPND_SCC] = "src_scc",
                                        [OPND_VCCZ] = "src_vccz",
                                        [OPND_EXECZ] = "src_execz",
                                        [OPND_SHARED_BASE] = "src_shared_base",
                                        [OPND_SHARED_LIMIT] = "src_shared_limit",
                                        [OPND_PRIVATE_BASE] = "src_private_base",
                                        [OPND_PRIVATE_LIMIT] = "src_private_limit",
                                        [OPND_LDS_DIRECT] = "src_lds_direct",
                                        [OPND_POPS_WAVE_ID] = "src_pops_exiting_wave_id"};
    switch (o->kind) {
    case OPND_VGPR:
        put_tuple(out, "v", o->index, o->dwords);
        break;
    case OPND_AGPR:
        put_tuple(out, "a", o->index, o->dwords);
        break;
    case OPND_SREG:
        put_scalar(out, o->index, o->dwords);
        break;
    case OPND_CONST:
        put_constant(out, o);
        break;
    case OPND_NONE:
        put(out, "off");
        break;
    default:
        put(out, "%s", names[o->kind]);
        break;
    }
}

static void put_operand(struct writer *out, const struct operand *o)
{
    separator(out);
    put_bare(out, o);
}

static bool is_mix(const struct inst *i)
{
    return i->op == OP_V_FMA_MIX_F32 || i->op == OP_V_FMA_MIXLO_F16 || i->op == OP_V_FMA_MIXHI_F16;
}

static void put_source(struct writer *out, const struct inst *i, unsigned slot)
{
    /* v_fma_mix takes the packed formats' neg_hi bits for absolute values. */
    bool mix = is_mix(i), neg = i->neg >> slot & 1 && (i->format != FMT_VOP3P || mix);
    bool abs = (mix ? i->neg_hi : i->abs) >> slot & 1;
    bool sext = slot < 2 && i->flags & (slot ? IF_SRC1_SEXT : IF_SRC0_SEXT);
    bool worded = neg && !abs && i->src[slot].kind == OPND_CONST; /* "--2.0" would not parse */
    separator(out);
    put(out, "%s%s%s", worded ? "neg(" : neg ? "-" : "", abs ? "|" : "", sext ? "sext(" : "");
    put_bare(out, &i->src[slot]);
    put(out, "%s%s%s", sext ? ")" : "", abs ? "|" : "", worded ? ")" : "");
}

static void put_flag(struct writer *out, const struct inst *i, uint32_t flag, const char *name)
{
    if (i->flags & flag)
        put(out, " %s", name);
}

static void put_bits(struct writer *out, const char *name, unsigned bits, unsigned count)
{
    put(out, " %s:[", name);
    for (unsigned n = 0; n < count; n++)
        put(out, "%s%u", n ? "," : "", bits >> n & 1);
    put(out, "]");
}

static void put_sdwa(struct writer *out, const struct inst *i)
{
    static const char *const sel[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                      "WORD_0", "WORD_1", "DWORD",  "?"};
    static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};
    if (i->format != FMT_VOPC)
        put(out, " dst_sel:%s dst_unused:%s", sel[i->sdwa.dst_sel], unused[i->sdwa.dst_unused]);
    if (i->src[0].kind != OPND_NONE)
        put(out, " src0_sel:%s", sel[i->sdwa.src0_sel]);
    if (i->format != FMT_VOP1)
        put(out, " src1_sel:%s", sel[i->sdwa.src1_sel]);
}

static void put_dpp(struct writer *out, const struct inst *i)
{
    static const struct {
        uint16_t from, to;
        const char *name;
    } controls[] = {
        {0x101, 0x10f, "row_shl:"}, {0x111, 0x11f, "row_shr:"}, {0x121, 0x12f, "row_ror:"}};
    static const struct {
        uint16_t ctrl;
        const char *name;
    } single[] = {{0x130, "wave_shl:1"},   {0x134, "wave_rol:1"},  {0x138, "wave_shr:1"},
                  {0x13c, "wave_ror:1"},   {0x140, "row_mirror"},  {0x141, "row_half_mirror"},
                  {0x142, "row_bcast:15"}, {0x143, "row_bcast:31"}};
    unsigned ctrl = i->dpp.ctrl;
    if (ctrl < 0x100)
        put(out, " quad_perm:[%u,%u,%u,%u]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3, ctrl >> 6 & 3);
    for (size_t n = 0; n < sizeof controls / sizeof controls[0]; n++) {
        if (ctrl >= controls[n].from && ctrl <= controls[n].to)
            put(out, " %s%u", controls[n].name, ctrl & 15);
    }
    for (size_t n = 0; n < sizeof single / sizeof single[0]; n++) {
        if (ctrl == single[n].ctrl)
            put(out, " %s", single[n].name);
    }
    put(out, " row_mask:0x%x bank_mask:0x%x", i->dpp.row_mask, i->dpp.bank_mask);
    put_flag(out, i, IF_DPP_BOUND_CTRL, "bound_ctrl:1");
}

static void put_vop3p(struct writer *out, const struct inst *i)
{
    unsigned all = (1u << i->src_count) - 1;
    if (i->klass == CLASS_MFMA) {
        put(out, i->mfma.cbsz ? " cbsz:%u" : "", i->mfma.cbsz);
        put(out, i->mfma.abid ? " abid:%u" : "", i->mfma.abid);
        put(out, i->mfma.blgp ? " blgp:%u" : "", i->mfma.blgp);
        if (i->neg)
            put_bits(out, "neg", i->neg, 3);
        return;
    }
    if (i->op == OP_V_ACCVGPR_READ_B32 || i->op == OP_V_ACCVGPR_WRITE_B32)
        return;
    if (i->op_sel & all)
        put_bits(out, "op_sel", i->op_sel, i->src_count);
    bool mix = is_mix(i);
    if (mix ? (i->op_sel_hi & all) != 0 : (i->op_sel_hi & all) != all)
        put_bits(out, "op_sel_hi", i->op_sel_hi, i->src_count);
    if (!mix && i->neg & all)
        put_bits(out, "neg_lo", i->neg, i->src_count);
    if (!mix && i->neg_hi & all)
        put_bits(out, "neg_hi", i->neg_hi, i->src_count);
}

static void text_vop(struct writer *out, const struct inst *i)
{
    static const char *const omod[] = {"", " mul:2", " mul:4", " div:2"};
    if (i->dst.kind != OPND_NONE)
        put_operand(out, &i->dst);
    if (i->sdst.kind != OPND_NONE)
        put_operand(out, &i->sdst);
    for (unsigned slot = 0; slot < i->src_count; slot++)
        put_source(out, i, slot);
    if (i->format == FMT_VOP3 && i->op_sel)
        put_bits(out, "op_sel",
                 (i->op_sel & ((1u << i->src_count) - 1)) | (unsigned)(i->op_sel >> 3)
                                                                << i->src_count,
                 i->src_count + 1u);
    if (i->format == FMT_VOP3P)
        put_vop3p(out, i);
    put_flag(out, i, IF_CLAMP, "clamp");
    put(out, "%s", omod[i->omod]);
    if (i->modifier == MOD_SDWA)
        put_sdwa(out, i);
    if (i->modifier == MOD_DPP)
        put_dpp(out, i);
}

static void text_scalar(struct writer *out, const struct inst *i)
{
    bool two_address = i->op == OP_S_CMOVK_I32 || i->op == OP_S_ADDK_I32 || i->op == OP_S_MULK_I32;
    if (i->format == FMT_SOPP)
        return;
    if (i->dst.kind != OPND_NONE)
        put_operand(out, &i->dst);
    for (unsigned slot = 0; slot < i->src_count && !two_address; slot++) {
        if (i->src[slot].kind != OPND_NONE)
            put_operand(out, &i->src[slot]);
    }
}

static void text_smem(struct writer *out, const struct inst *i)
{
    const struct operand *data = i->src[1].kind != OPND_NONE ? &i->src[1] : &i->dst;
    if (data->kind != OPND_NONE)
        put_operand(out, data);
    if (i->src[0].kind == OPND_NONE)
        return;
    put_operand(out, &i->src[0]);
    if (i->flags & IF_SOFFSET) {
        put_operand(out, &i->src[2]);
        if (i->offset)
            put(out, i->offset < 0 ? " offset:-0x%x" : " offset:0x%x",
                i->offset < 0 ? -i->offset : i->offset);
    } else {
        separator(out);
        put(out, i->offset < 0 ? "-0x%x" : "0x%x", i->offset < 0 ? -i->offset : i->offset);
    }
    put_flag(out, i, IF_GLC, "glc");
}

static void text_flat(struct writer *out, const struct inst *i)
{
    bool segment = i->flags & (IF_SEG_GLOBAL | IF_SEG_SCRATCH);
    if (i->dst.kind != OPND_NONE)
        put_operand(out, &i->dst);
    put_operand(out, &i->src[0]);
    if (i->src[1].kind != OPND_NONE)
        put_operand(out, &i->src[1]);
    if (segment)
        put_operand(out, &i->src[2]);
    if (i->offset)
        put(out, " offset:%d", i->offset);
    put_flag(out, i, IF_GLC, "glc");
    put_flag(out, i, IF_SLC, "slc");
    put_flag(out, i, IF_DLC_SCC, "scc");
    if (!strstr(isa_op_names[i->op], "_lds_"))
        put_flag(out, i, IF_LDS, "lds");
}

static void put_cache_bits(struct writer *out, const struct inst *i)
{
    put_flag(out, i, IF_GLC, "glc");
    put_flag(out, i, IF_SLC, "slc");
    put_flag(out, i, IF_DLC_SCC, "scc");
}

/* LLVM leaves out data format 8 together with number format UNORM, and so do we. */
static void put_buffer_format(struct writer *out, const struct inst *i)
{
    static const char *const data[16] = {"INVALID",     "8",          "16",          "8_8",
                                         "32",          "16_16",      "10_11_11",    "11_11_10",
                                         "10_10_10_2",  "2_10_10_10", "8_8_8_8",     "32_32",
                                         "16_16_16_16", "32_32_32",   "32_32_32_32", "RESERVED_15"};
    static const char *const number[8] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                          "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
    unsigned data_format = i->soffset.data_format, number_format = i->soffset.number_format;
    if (data_format == 1 && number_format == 0)
        return;
    put(out, " format:[");
    if (data_format != 1)
        put(out, "BUF_DATA_FORMAT_%s", data[data_format & 15]);
    if (data_format != 1 && number_format != 0)
        put(out, ",");
    if (number_format != 0)
        put(out, "BUF_NUM_FORMAT_%s", number[number_format & 7]);
    put(out, "]");
}

static void text_buffer(struct writer *out, const struct inst *i)
{
    const struct operand *data = i->src[1].kind != OPND_NONE ? &i->src[1] : &i->dst;
    if (i->src[2].kind == OPND_NONE) {
        put_cache_bits(out, i);
        return;
    }
    bool from_lds = i->op == OP_BUFFER_STORE_LDS_DWORD; /* no registers at all */
    if (data->kind != OPND_NONE && !(i->flags & IF_LDS))
        put_operand(out, data);
    if (!from_lds)
        put_operand(out, &i->src[0]);
    put_operand(out, &i->src[2]);
    struct operand soffset = {.kind = i->soffset.kind,
                              .index = i->soffset.index,
                              .dwords = 1,
                              .type = TYPE_B32,
                              .value = i->soffset.value};
    put_operand(out, &soffset);
    if (i->format == FMT_MTBUF)
        put_buffer_format(out, i);
    put_flag(out, i, IF_IDXEN, "idxen");
    put_flag(out, i, IF_OFFEN, "offen");
    if (i->offset)
        put(out, " offset:%d", i->offset);
    if (from_lds)
        put(out, " lds");
    put_cache_bits(out, i);
    if (!from_lds)
        put_flag(out, i, IF_LDS, "lds");
}

static bool is_sampled(const struct inst *i)
{
    const char *name = isa_op_names[i->op];
    return strstr(name, "_sample") || strstr(name, "_gather4") || strstr(name, "_get_lod");
}

static void text_image(struct writer *out, const struct inst *i)
{
    static const struct {
        unsigned flag;
        const char *name;
    } flags[] = {
        {IMAGE_A16, " a16"}, {IMAGE_STATUS, " tfe"}, {IMAGE_ARRAY, " da"}, {IMAGE_D16, " d16"}};
    put_operand(out, i->src[1].kind != OPND_NONE ? &i->src[1] : &i->dst);
    put_operand(out, &i->src[0]);
    put_operand(out, &i->src[2]);
    struct operand sampler = {
        .kind = OPND_SREG, .index = i->image.sampler, .dwords = 4, .type = TYPE_B128};
    if (is_sampled(i))
        put_operand(out, &sampler);
    put(out, " dmask:0x%x%s", i->image.dmask, i->image.flags & IMAGE_UNORM ? " unorm" : "");
    put_cache_bits(out, i);
    for (size_t n = 0; n < sizeof flags / sizeof flags[0]; n++)
        put(out, "%s", i->image.flags & flags[n].flag ? flags[n].name : "");
}

static void text_ds(struct writer *out, const struct inst *i)
{
    if (i->dst.kind != OPND_NONE)
        put_operand(out, &i->dst);
    for (unsigned slot = 0; slot < 3; slot++) {
        if (i->src[slot].kind != OPND_NONE)
            put_operand(out, &i->src[slot]);
    }
    if (i->flags & IF_PAIR) {
        put(out, i->offset ? " offset0:%d" : "", i->offset);
        put(out, i->ds.offset1 ? " offset1:%u" : "", i->ds.offset1);
    } else if (i->op != OP_DS_SWIZZLE_B32) {
        put(out, i->offset ? " offset:%d" : "", i->offset);
    }
    put_flag(out, i, IF_GDS, "gds");
}

void isa_text(const struct inst *i, char *text, size_t size_bytes)
{
    struct writer out = {text, size_bytes, 0, true};
    put(&out, "%s", isa_op_names[i->op]);
    switch (i->format) {
    case FMT_SOP1:
    case FMT_SOP2:
    case FMT_SOPC:
    case FMT_SOPK:
    case FMT_SOPP:
        text_scalar(&out, i);
        break;
    case FMT_SMEM:
        text_smem(&out, i);
        break;
    case FMT_VOP1:
    case FMT_VOP2:
    case FMT_VOPC:
    case FMT_VOP3:
    case FMT_VOP3P:
        text_vop(&out, i);
        break;
    case FMT_FLAT:
        text_flat(&out, i);
        break;
    case FMT_MUBUF:
    case FMT_MTBUF:
        text_buffer(&out, i);
        break;
    case FMT_MIMG:
        text_image(&out, i);
        break;
    case FMT_DS:
        text_ds(&out, i);
        break;
    default:
        break;
    }
}
