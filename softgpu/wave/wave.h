/*
 * The state of one wave. Scalar registers lie in one array indexed by their operand encoding, so
 * VCC is s[106..107], M0 s[124], EXEC s[126..127]. Vector registers are rows of 64 lanes.
 */
#ifndef WAVE_WAVE_H
#define WAVE_WAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/inst.h"
#include "wave/gws.h"

enum { WAVE_LANES = 64, SREG_COUNT = 128 };
/* A wave's rows: registers; none, see wave.v; what translated code keeps (translate/lds_known.c).
 */
enum { VGPR_ROWS = 256, AGPR_ROWS = 256, SPARE_ROWS = 32 };
enum {
    KEPT_ROW = VGPR_ROWS + AGPR_ROWS + SPARE_ROWS,
    KEPT_ROWS = 6,
    WAVE_ROWS = KEPT_ROW + KEPT_ROWS
};
enum {
    SREG_FLAT_SCRATCH = 102,
    SREG_XNACK_MASK = 104,
    SREG_VCC = 106,
    SREG_TTMP0 = 108,
    SREG_M0 = 124,
    SREG_EXEC = 126
};

/* MODE hardware register, gfx9 layout. */
enum {
    MODE_ROUND_32_SHIFT = 0,  /* 0 nearest even, 1 +inf, 2 -inf, 3 zero */
    MODE_ROUND_64_SHIFT = 2,  /* f16 and f64 */
    MODE_DENORM_32_SHIFT = 4, /* 0 flush all, 1 flush source, 2 flush result, 3 keep */
    MODE_DENORM_64_SHIFT = 6, /* f16 and f64 */
    MODE_DX10_CLAMP = 1 << 8,
    MODE_IEEE = 1 << 9,
    MODE_FP16_OVFL = 1 << 23 /* f16 and 8-bit floats: numbers too large become the largest, not
                                infinity or NaN */
};

enum wave_stop {
    WAVE_RUNNING,
    WAVE_DONE,    /* s_endpgm */
    WAVE_SLICE,   /* time slice used up: resume at pc */
    WAVE_BARRIER, /* s_barrier: resume at pc when all waves of the group arrived */
    WAVE_GWS,     /* waits at wave->gws, behind its instruction */
    WAVE_SLEEP,   /* s_sleep and friends: give others a turn, then resume */
    WAVE_FAULT    /* see wave->fault */
};

enum fault_kind {
    FAULT_NONE,
    FAULT_MEMORY_READ,
    FAULT_MEMORY_WRITE,
    FAULT_MEMORY_EXEC,
    FAULT_ILLEGAL_INSTRUCTION,
    FAULT_APERTURE,
    FAULT_TRAP,
    FAULT_ASSERT_TRAP
};

/* Of one wave before the next of its group runs. Long enough to amortise the switch, short enough
 * that a spinning wave yields within some tens of microseconds. */
enum { WAVE_SLICE_INSTRUCTIONS = 4096 };

typedef uint32_t lane_row[WAVE_LANES] __attribute__((aligned(64)));

struct workgroup;

struct wave {
    union {
        uint32_t s[SREG_COUNT];
        uint64_t s64[SREG_COUNT / 2];
    };
    uint32_t vgpr_count, agpr_count, sgpr_count;
    uint32_t scc;                      /* 0 or 1 */
    uint32_t mode;                     /* MODE register */
    uint32_t fp_state_32, fp_state_64; /* MXCSR values for `mode`, kept by valu_mode_set() */
    uint32_t trapsts, status;
    /* Instructions until WAVE_SLICE behind the one that runs. Code of several (translate/) takes
     * what it executes besides the first one off, and executes the first one alone where so many
     * are not left. Whatever is counted in `counts` is taken off here, too. */
    int32_t slice_left;
    uint32_t rounds; /* that such code has gone back to its first instruction */
    /* In step with the group's other waves, and the spaces that have been read and written in this
     * turn (step.h). Code of several instructions ends before what conflicts with that. */
    bool in_step;
    uint8_t touched;
    /* Stores since the last fence: what a load behind the s_waitcnt that waits for them must not
     * overtake may still be on its way from the host's processor to its cache. */
    bool stores_pending;
    bool resumed; /* it has stopped, and was to go on */
    enum wave_stop stop;

    const struct inst *pc;   /* valid while resident */
    const struct inst *code; /* slot of code_va */
    uint64_t code_va;        /* GPU VA of code[0]; pc_va = code_va + 4 * (pc - code) */

    struct gws_wait gws;    /* while stop == WAVE_GWS */
    uint32_t scratch_bytes; /* per lane */
    uint32_t scratch_stride;
    uint64_t fetch_window; /* 32-byte window of the last instruction, while fetches are counted */
    uint64_t idle_lanes;   /* lanes switched off, summed over those of VALU and MFMA */
    /* Of a wave that has ended: the run of code (translate/) that was all it has executed in its
     * last slice, 0: none was; and the vector registers that it may have written there. */
    uint64_t whole_rows;
    uint32_t whole;

    /* What stands before this is the same for a wave of every group that begins as this one did,
     * but for the group's number (start.c): whole cache lines. Always WAVE_ROWS rows, so that no
     * register number a decoder lets through can reach outside them, whatever the kernel declared.
     */
    lane_row *v __attribute__((aligned(64))); /* vector registers */
    lane_row *a; /* accumulation registers: v + accum_offset where unified */
    struct workgroup *group;
    uint8_t *scratch; /* private memory: each lane's bytes together, scratch_stride apart */
    uint32_t wave_in_group;
    struct {
        enum fault_kind kind;
        uint64_t va; /* faulting address */
        uint64_t pc_va;
        const struct inst *inst;
    } fault;
    uint64_t counts[TALLY_SLOTS] __attribute__((aligned(64))); /* executed instructions */
} __attribute__((aligned(64)));
enum { WAVE_FIRST_BYTES = offsetof(struct wave, v) };

static inline uint64_t wave_exec(const struct wave *w)
{
    return w->s64[SREG_EXEC / 2];
}
/* The run that was all that the ended wave has executed, or 0. */
static inline uint32_t wave_whole(const struct wave *w)
{
    return w->resumed ? 0 : w->whole;
}
static inline uint64_t wave_vcc(const struct wave *w)
{
    return w->s64[SREG_VCC / 2];
}

/* The 64-bit value of a source operand that names no vector register: scalar registers, constants,
 * SCC, VCCZ, EXECZ and the aperture bases. 16- and 32-bit operands use the low half. */
uint64_t wave_source_scalar(const struct wave *wave, const struct operand *operand);

/*
 * valu/: vector ALU instructions (VOP1, VOP2, VOPC, VOP3, VOP3P, MFMA), lane crossing
 * (readlane, DPP, v_readfirstlane, v_permlane, mbcnt) included. Built three times (AVX-512, AVX2,
 * portable) and chosen once at run time.
 */
/* Handler for a decoded vector instruction, or NULL when it is not implemented. */
inst_exec_fn *valu_handler(const struct inst *inst);
/* Call whenever wave->mode changed: derives the host's floating-point states. */
void valu_mode_set(struct wave *wave, uint32_t mode);
/* Around a run of instructions on this host thread: valu_enter loads MXCSR for a wave, valu_switch
 * for the next one to run, valu_leave restores the thread's own. Inside, the host FP state is
 * fp_state_32; handlers of f16/f64 operations switch to fp_state_64 and back only where the two
 * differ. */
void valu_enter(const struct wave *wave);
void valu_switch(const struct wave *wave);
void valu_leave(void);
/* Around what memory and LDS compute with floats, inside such a run: rounded to the nearest,
 * whatever MODE says; `denormals` as in MODE's field of single precision, the same at both ends. */
void valu_nearest_begin(const struct wave *wave, uint32_t denormals);
void valu_nearest_end(const struct wave *wave, uint32_t denormals);
const char *valu_isa_name(void); /* "avx512", "avx2" or "portable" */

#endif
