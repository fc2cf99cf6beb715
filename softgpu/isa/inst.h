/*
 * One decoded instruction, and the contract between the decoder (isa/), the vector ALU (valu/)
 * and everything else that executes (wave/).
 *
 * Code is decoded once into an array with one slot for each dword of program memory, so the next
 * instruction is `i + i->dwords` and a branch target is plain pointer arithmetic. `exec` returns
 * the next instruction, or NULL after setting wave->stop.
 */
#ifndef ISA_INST_H
#define ISA_INST_H

#include <stdint.h>

#include "isa/tally.h"

struct wave;
struct inst;
struct fetch_path;
typedef const struct inst *inst_exec_fn(struct wave *wave, const struct inst *inst);

enum isa_format {
    FMT_SOP1,
    FMT_SOP2,
    FMT_SOPK,
    FMT_SOPC,
    FMT_SOPP,
    FMT_SMEM,
    FMT_VOP1,
    FMT_VOP2,
    FMT_VOPC,
    FMT_VOP3,
    FMT_VOP3P,
    FMT_VINTRP,
    FMT_DS,
    FMT_FLAT,
    FMT_MUBUF,
    FMT_MTBUF,
    FMT_MIMG,
    FMT_EXP,
    FMT_COUNT
};

/* Counter class of an instruction; isa/tally.h divides classes further. */
enum inst_class {
    CLASS_VALU,
    CLASS_MFMA,
    CLASS_SALU,
    CLASS_SMEM,
    CLASS_VMEM_RD,
    CLASS_VMEM_WR,
    CLASS_FLAT_RD,
    CLASS_FLAT_WR, /* FLAT with a generic address */
    CLASS_LDS,
    CLASS_GDS,
    CLASS_BRANCH,
    CLASS_SENDMSG,
    CLASS_WAITCNT,
    CLASS_BARRIER,
    CLASS_EXPORT,
    CLASS_OTHER,
    CLASS_COUNT
};

enum operand_kind {
    OPND_NONE,
    OPND_VGPR,  /* index 0..255 */
    OPND_AGPR,  /* index 0..255 */
    OPND_SREG,  /* index = the encoding 0..127: SGPRs, FLAT_SCRATCH, VCC, TTMP, M0, EXEC */
    OPND_CONST, /* value: already widened for the operand's type */
    OPND_SCC,
    OPND_VCCZ,
    OPND_EXECZ,
    OPND_SHARED_BASE,
    OPND_SHARED_LIMIT,
    OPND_PRIVATE_BASE,
    OPND_PRIVATE_LIMIT,
    OPND_LDS_DIRECT,
    OPND_POPS_WAVE_ID
};

/* The value's type, from the instruction table: how a constant widens and what neg/abs mean. */
enum operand_type {
    TYPE_NONE,
    TYPE_B16,
    TYPE_B32,
    TYPE_B64,
    TYPE_B96,
    TYPE_B128,
    TYPE_B256,
    TYPE_B512,
    TYPE_B1024,
    TYPE_I16,
    TYPE_U16,
    TYPE_F16,
    TYPE_I32,
    TYPE_U32,
    TYPE_F32,
    TYPE_I64,
    TYPE_U64,
    TYPE_F64,
    TYPE_PK16,  /* two f16 (VOP3P) */
    TYPE_PKI16, /* two 16-bit integers (VOP3P) */
    TYPE_PKF32, /* two f32 in a register pair (gfx90a v_pk_*_f32), or two dwords (v_pk_mov_b32) */
    TYPE_MASK64 /* a lane mask in a scalar pair */
};

struct operand {
    uint8_t kind;    /* enum operand_kind */
    uint8_t type;    /* enum operand_type */
    uint8_t dwords;  /* register width */
    uint8_t literal; /* came from a 32-bit literal dword */
    uint16_t index;
    uint64_t value; /* OPND_CONST, as the hardware presents it before op_sel: 32 bits for 16-bit
                       and packed types, of which op_sel picks halves */
};

enum inst_modifier { MOD_NONE, MOD_SDWA, MOD_DPP };

enum inst_flag {
    IF_CLAMP = 1 << 0,
    IF_GLC = 1 << 1,
    IF_SLC = 1 << 2,
    IF_DLC_SCC = 1 << 3,
    IF_LDS = 1 << 4,
    IF_NV = 1 << 5,
    IF_OFFEN = 1 << 6,
    IF_IDXEN = 1 << 7,
    IF_GDS = 1 << 8,
    IF_SEG_SCRATCH = 1 << 9,
    IF_SEG_GLOBAL = 1 << 10,
    IF_SADDR = 1 << 11,   /* FLAT family: scalar address operand in use */
    IF_SOFFSET = 1 << 12, /* SMEM: offset comes from an SGPR */
    IF_DPP_BOUND_CTRL = 1 << 13,
    IF_SRC0_SEXT = 1 << 14,
    IF_SRC1_SEXT = 1 << 15, /* SDWA */
    IF_VOP3 = 1 << 16,      /* the 64-bit form of a VOP1/VOP2/VOPC instruction */
    IF_ATOMIC = 1 << 17,
    IF_STORE = 1 << 18,
    IF_LOAD = 1 << 19,
    IF_DATA_AGPR = 1 << 20, /* memory data lives in AGPRs (gfx90a acc bit) */
    IF_PAIR = 1 << 21,      /* DS: two addresses, each with its own 8-bit offset */
    IF_FLUSH_F16 = 1 << 22  /* denormal packed f16 sources count as zeros, whatever MODE says; of
                               matrix instructions f16, bf16 and what C and D hold */
};

enum image_flag {
    IMAGE_UNORM = 1 << 0, /* coordinates count texels, whatever the sampler says */
    IMAGE_ARRAY = 1 << 1, /* the address names a layer */
    IMAGE_A16 = 1 << 2,   /* 16-bit addresses */
    IMAGE_D16 = 1 << 3,
    IMAGE_STATUS = 1 << 4 /* a register behind the data gets the residency status (TFE, LWE) */
};

struct inst {
    inst_exec_fn *exec;
    uint16_t op;      /* enum isa_op (generated): one number per mnemonic, whatever the encoding */
    uint8_t format;   /* enum isa_format */
    uint8_t dwords;   /* encoded length, 1..3 */
    uint8_t klass;    /* enum inst_class */
    uint8_t tally;    /* enum inst_tally */
    uint8_t modifier; /* enum inst_modifier */
    uint8_t src_count;
    uint8_t neg, abs;          /* bit n: source n (VOP3P: neg = neg_lo) */
    uint8_t neg_hi;            /* VOP3P */
    uint8_t op_sel, op_sel_hi; /* bit n: source n; op_sel bit 3: destination half */
    uint8_t omod;              /* 0 none, 1 *2, 2 *4, 3 /2 */
    uint8_t held;              /* the executor's (wave/code.h): atomic, relaxed */
    uint32_t flags;            /* enum inst_flag */
    struct operand dst;        /* vector destination, or scalar destination of scalar formats */
    struct operand sdst;       /* second destination: carry-out or compare mask */
    struct operand src[3]; /* ALU: sources in order (VOPC: two). Carry-in is src[2], TYPE_MASK64.
                              mad/fma with a literal K: in the order D = src0 * src1 + src2.
                              Two-address ops (mac, fmac, dot*c): the accumulator is dst only.
                              FLAT/DS/MUBUF/MIMG: src[0] address, src[1] data, src[2] saddr or
                              srsrc (DS second data word: src[2]). How many registers an image's
                              address takes its descriptor decides: src[0] names the first */
    int32_t offset;        /* SOPK/SOPP simm16 (sign-extended), memory immediate, SMEM immediate,
                              DS offset0 (or the 16-bit offset) */
    union {
        struct { /* MOD_SDWA */
            uint8_t dst_sel, dst_unused, src0_sel, src1_sel;
        } sdwa;
        struct { /* MOD_DPP */
            uint16_t ctrl;
            uint8_t row_mask, bank_mask;
        } dpp;
        struct { /* DS */
            uint8_t offset1;
        } ds;
        struct { /* MUBUF, MTBUF: soffset operand; MTBUF: BUF_DATA_FORMAT, BUF_NUM_FORMAT */
            uint8_t kind, index;
            uint8_t data_format, number_format;
            uint32_t value;
        } soffset;
        struct { /* VOP3P MFMA */
            uint8_t cbsz, abid, blgp;
        } mfma;
        struct { /* MIMG: components, first register of the sampler's descriptor, enum image_flag */
            uint8_t dmask, sampler, flags;
        } image;
    };
    uint32_t raw[2]; /* first encoded dwords, for messages */
    uint8_t aux[8];  /* the executor's: what its handler worked out when it was chosen */
    /* The same, of what begins here and is executed as one (wave/fetch_path.h). Atomic, relaxed:
     * written by who translates, before `exec` is released; good where it names the `exec` that was
     * acquired. */
    const struct fetch_path *path;
};

#endif
