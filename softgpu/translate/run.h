/*
 * A run of instructions, and what it is cut into. Vector instructions that follow each other are a
 * segment, which is executed strip by strip; so are transfers of LDS that no lane of another strip
 * can notice. Between segments stand instructions that are executed for the whole wave by the
 * interpreter's handlers: memory, EXEC, whatever is not translated. Branches leave the run.
 */
#ifndef TRANSLATE_RUN_H
#define TRANSLATE_RUN_H

#include "translate/emit.h"
#include "translate/translate.h"
#include "wave/wave.h"

enum role {
    ROLE_NONE,    /* no part of any run */
    ROLE_NOTHING, /* s_nop, s_waitcnt: see segment.waits */
    ROLE_SCALAR,  /* executed before its segment's vector instructions (scalar.c) */
    ROLE_VECTOR,
    ROLE_SPAN,   /* of a series' phase alone: a load or store of elements behind each other (span.c)
                  */
    ROLE_LDS,    /* lds.c */
    ROLE_MATRIX, /* waits for a later cut (matrices.c) */
    ROLE_CALL,   /* its handler, which may leave the run */
    ROLE_BRANCH, /* leaves the run where it is taken */
    ROLE_LAST    /* its handler, behind which nothing follows */
};

struct segment {
    unsigned first, count;     /* instructions; one where its role is that of a cut */
    unsigned vectors, scalars; /* of them; vectors: those that idle lanes are counted for */
    unsigned strips;           /* of them, those that are executed strip by strip */
    uint8_t part;              /* LDS writes to two places: which */
    uint8_t conflicts;         /* of all of its instructions (wave/step.h) */
    bool cut, waits, lds;
    bool matrices; /* a cut: the matrix instructions of these, which other segments have, too */
    uint8_t spans; /* of a phase: the first one's number */
    bool forgets;  /* nobody reads what it leaves in vector registers */
};

struct run {
    const struct inst *const *insts;
    enum role roles[TRANSLATE_RUN_MAX];
    uint32_t at[TRANSLATE_RUN_MAX + 1]; /* slots from the first one on; the last: behind it */
    unsigned count;
    struct segment segments[2 * TRANSLATE_RUN_MAX + 1];
    unsigned segment_count;
    uint8_t needs;
    /* Matrix instructions that wait (matrices.c), when a run is made: how many, and the first. */
    unsigned waiting, waiting_first;
    bool inline_lds, lds;
    span_find_fn *spans;   /* or NULL */
    struct series *series; /* or NULL; told what the run is where it is all that its waves are */
    /* Of the last segment: scalar registers that vector instructions read as values, and as strips
     * of a mask from or to a pair that begins there. A strip's code sees what earlier strips have
     * written: only a mask's own bits are the same wherever it stands. */
    bool read[SREG_COUNT], mask_read[SREG_COUNT], mask_written[SREG_COUNT];
    bool lds_read, lds_written;
};

/* run.c */
enum role run_role(const struct inst *inst, bool inline_lds);
/* The longest run that insts[0..count) begin with. */
void run_take(struct run *run, const struct inst *const *insts, unsigned count, bool inline_lds);
/* Does a vector instruction of the last segment write a mask, or do anything, there? */
bool run_writes_mask(const struct run *run, unsigned first, unsigned dwords);
bool run_touches(const struct run *run, unsigned first, unsigned dwords);
/* Its place in the order of its kind decides whether it is sampled (wave/time_note.h): it is
 * counted when it is executed. All others' counts are added when the run begins. */
bool counts_in_order(const struct inst *inst);

/* Does the branch go to the run's begin; does any? */
bool run_goes_back(const struct run *run, unsigned n);
bool run_loops(const struct run *run);

/* matrices.c */
bool matrix_is_known(const struct inst *inst);
/* Can the instruction, which is the run's next one, be executed before those that wait? */
bool matrices_allow(const struct run *run, const struct inst *inst, enum role role);
/* None waits any longer. */
void matrices_close(struct run *run);

/* scalar.c */
bool scalar_is_known(const struct inst *inst);
bool scalar_fits(const struct run *run, const struct inst *inst);
bool scalar_code_exists(const struct inst *inst); /* scalar_code.c */
void scalar_code_emit(struct x86 *x, const struct inst *inst);
void scalars_emit(struct x86 *x, const struct run *run, const struct segment *segment);

/*
 * frame.c. In a run's code RBX is the wave and RBP the first instruction; RDI is the wave but
 * behind calls, and whoever calls says where RSI points. Below the stack pointer's top lie what
 * lds.c wants: limits of offsets, and a strip's lanes.
 */
enum {
    FRAME_LIMITS = 0,     /* lds.c: dwords */
    FRAME_LANES = 64,     /* lds.c: five rows of a strip */
    FRAME_STATE = 384,    /* strips.c: MXCSR that flushes denormals */
    FRAME_RETURNED = 392, /* frame.c: what a handler has returned */
    FRAME_LANE = 448,     /* linear_code.c: numbers of a strip's lanes */
    FRAME_ASIDE = 512,    /* emit_half.c: four host registers */
    FRAME_SLOTS = 768,    /* linear_code.c: dwords */
    FAR_ROWS = 2,
    FRAME_FAR = FRAME_SLOTS + 4 * 192,                 /* far_lanes.c: rows */
    FRAME_BYTES = FRAME_FAR + FAR_ROWS * ROW_BYTES + 8 /* keeps the stack's alignment in calls */
};
/* Emits the run. `plain` is executed in place of the first instruction where the run cannot be;
 * NULL: what the buffer has behind the run. */
void frame_emit(struct x86 *x, const struct run *run, inst_exec_fn *plain);

/* Nobody reads the mask that the segment's instruction writes before another one of it writes it.
 */
bool mask_is_unread(const struct run *run, const struct segment *segment, unsigned n);
struct linear_state;
/* Which of a segment's instructions, from its first one on, have been executed with linear
 * registers; and what was known of those before. Those that have not are left to strips of all
 * lanes; without a plan all are. */
struct strips_plan {
    const struct linear_state *before;
    bool direct[TRANSLATE_RUN_MAX];
    unsigned left;
};
void segment_rest_emit(struct x86 *x, const struct run *run, const struct segment *segment,
                       struct strips_plan *plan);

/* span.c: a series' access of that number, once for all strips, and each strip's part. RBP has its
 * spans, R10 how far the strip's lanes are from the first one's if each has a dword. */
void span_begin(struct x86 *x, const struct inst *inst, unsigned number);
void span_emit(struct emitter *e, unsigned number);

/* far_lanes.c: may the last segment have the instruction, too? When a segment begins: the rows that
 * it asks the frame for. */
bool far_fits(const struct run *run, const struct inst *inst);
void far_rows_emit(struct x86 *x, const struct run *run, const struct segment *segment);

/* What loads or stores a full wave's elements by the first one's address; NULL: handlers do. */
span_fn *linear_access(const struct run *run, const struct inst *inst);

/*
 * lds_known.c: what is known of rows of addresses, from one segment to the next, as long as nothing
 * writes them or EXEC. Of the elements' kind (lds.c; 0: nothing is known): where each strip's lanes
 * begin, if they follow each other; or the window that they lie in, and where in it.
 */
enum { LDS_FOLLOWS = 4, LDS_WINDOWS = 4 };
struct lds_known {
    struct lds_row {
        struct place place;
        uint8_t kind;
    } follows[LDS_FOLLOWS], windows[LDS_WINDOWS];
    unsigned next_follow, next_window; /* to be replaced */
};
/* The instruction writes registers. */
void lds_forget(struct lds_known *known, const struct inst *inst);
/* A handler has been called for it. */
void lds_forget_called(struct lds_known *known, const struct inst *inst);

/* lds.c */
/* Where a strip's lanes lie otherwise than expected: that code stands behind the run. */
struct lds_detour {
    enum lds_detour_kind { DETOUR_FORGET, DETOUR_LOAD, DETOUR_STORE } kind;
    size_t jump, back;
    int32_t slot; /* from RDX, to be forgotten */
    uint32_t at;
    struct place place; /* of the addresses, which are there, or in a register */
    bool is_home, home_is_good;
    uint8_t address, temporaries[4], hosts[4], mask, dwords;
    uint8_t small; /* bytes, where they are less than a dword */
    bool sign, masked;
};
struct lds_detours { /* four of an instruction, for all lanes and for some */
    struct lds_detour of[8 * TRANSLATE_RUN_MAX];
    unsigned count;
};
bool lds_is_known(const struct inst *inst);
bool lds_is_store(const struct inst *inst);
unsigned lds_parts(const struct inst *inst); /* segments that it takes */
void lds_emit(struct emitter *e, unsigned part, struct lds_known *known,
              struct lds_detours *detours);
/* When a run begins: what its transfers share. RAX is the group. */
void lds_frame_emit(struct x86 *x, const struct run *run);
/* Jumps to land where the group's LDS is too small, or somebody looks at it. */
enum { LDS_REFUSALS = 3 };
void lds_refusals_emit(struct x86 *x, size_t jumps[LDS_REFUSALS]);
/* When a segment begins: R10. */
void lds_segment_emit(struct x86 *x);

/* lds_detours.c */
void lds_detours_emit(struct x86 *x, const struct lds_detours *detours);

/*
 * strips.c: a segment's strips, for all lanes; and for those of EXEC, which stand behind the run
 * like all that is rarely executed: what is fits into fewer lines of the host's cache.
 */
struct partial {
    const struct segment *segment;
    size_t jump, back;
    struct lds_known known; /* before it */
};
void segment_emit(struct x86 *x, const struct run *run, const struct segment *segment,
                  struct lds_known *known, struct lds_detours *detours, struct partial *partial);
void segment_partial_emit(struct x86 *x, const struct run *run, struct partial *partial,
                          struct lds_detours *detours);

#endif
