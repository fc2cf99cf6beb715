/*
 * Inside the vector ALU: the operation table and what the builds for different host
 * instruction sets share.
 */
#ifndef VALU_VALU_H
#define VALU_VALU_H

#include <stdint.h>

#include "isa/inst.h"
#include "isa_ops.h"
#include "valu/chain.h"

struct wave;

/* MXCSR bits. */
enum {
    MXCSR_DAZ = 0x40,
    MXCSR_FTZ = 0x8000,
    MXCSR_FLUSH = MXCSR_DAZ | MXCSR_FTZ,
    MXCSR_MASKED = 0x1f80,
    MXCSR_ROUND_SHIFT = 13
};

enum valu_op_flag {
    OPF_STATE64 = 1 << 0,    /* rounding and denormals of f64 */
    OPF_STATE16 = 1 << 1,    /* the same fields, but f16 values computed in f32 */
    OPF_ACCUMULATE = 1 << 2, /* the destination is the third source */
    OPF_KEEP_HIGH = 1 << 3,  /* a 16-bit result leaves the register's other half alone */
    OPF_MASK_C = 1 << 4,     /* the third source is a lane mask, as a row of 0 and ~0 */
    OPF_MASK_OUT = 1 << 5,   /* writes a second result: a lane mask (row of 0 and ~0) */
    OPF_COMPARE = 1 << 6,    /* the result is a lane mask */
    OPF_WRITE_EXEC = 1 << 7, /* v_cmpx: the mask goes to EXEC too */
    OPF_F16_OUT = 1 << 8,
    OPF_F32_OUT = 1 << 9,
    OPF_F64_OUT = 1 << 10,
    OPF_PACKED = 1 << 11,     /* 16-bit halves: the kernel runs once for each half */
    OPF_PACKED_F32 = 1 << 12, /* register pairs: the kernel runs once for each dword */
    OPF_CLAMP_SELF = 1 << 13, /* `clamped` saturates: integers, packed halves */
    OPF_FLUSH32 = 1 << 15,    /* f32 with denormals flushed whatever MODE says */
    OPF_STATES = OPF_STATE64 | OPF_STATE16 | OPF_FLUSH32,
    OPF_MASK_SELF = 1 << 16, /* vv and sv read and write their lane masks themselves */
    OPF_VCC_IN = 1 << 14     /* the kernel gets VCC as the row m */
};

typedef void valu_kernel(uint32_t *d, uint32_t *m, const uint32_t *a, const uint32_t *b,
                         const uint32_t *c, const struct wave *w);

/* What absolute values and negation do to the bits of each source. */
struct source_signs {
    uint32_t keep[3], flip[3];
};
typedef void valu_signed_kernel(uint32_t *d, const uint32_t *a, const uint32_t *b,
                                const uint32_t *c, const struct wave *w,
                                const struct source_signs *s);

struct valu_op {
    uint16_t op;
    uint8_t dwords[4]; /* destination, sources; 0: none */
    uint32_t flags;    /* enum valu_op_flag */
    valu_kernel *kernel;
    valu_kernel *clamped;
    valu_kernel *pairs; /* of both halves at once, where f16 rounds to the nearest and keeps its
                           denormals; NULL: none */
    valu_signed_kernel *with_signs; /* for sources that are negated or made absolute; NULL: none */
    inst_exec_fn *vv, *sv;          /* NULL: the general handlers only */
};

/* One build of the vector ALU. */
struct valu_build {
    const char *name;
    inst_exec_fn *(*handler)(const struct inst *inst);
    valu_chain_fn *(*chain)(const struct inst *inst);
    void (*init)(void); /* fills the build's table; once, before any handler runs */
};

extern const struct valu_build valu_build_avx512, valu_build_avx2, valu_build_portable;

/* For tests: makes valu_handler() use the named build. Returns -1 when the CPU lacks it. */
int valu_build_select(const char *name);

#endif
