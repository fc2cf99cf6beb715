/* What stands around a run's segments: shared by the run for any EXEC (frame.c) and the one with
 * linear registers (frame_linear.c). */
#ifndef TRANSLATE_FRAME_H
#define TRANSLATE_FRAME_H

#include "translate/run.h"

#define WAVE(member) ((int32_t)offsetof(struct wave, member))

struct linears;

/* Where a run is left before its end. */
struct leave {
    size_t jump;
    unsigned executed;             /* instructions */
    bool branches;                 /* the last one of them is still to be executed */
    const struct linears *restore; /* or NULL */
    /* Where it goes round, if that is not the run's begin, and what has to be where there. */
    size_t again;
    const struct linears *there;
};

/* Where a wave in step leaves it, if it has read what is written next (wave/step.h). */
struct hold {
    size_t jump, back;
    unsigned executed; /* instructions */
    uint8_t conflicts;
    const struct linears *restore;
};

struct frame {
    struct x86 *x;
    const struct run *run;
    struct leave leaves[5 * TRANSLATE_RUN_MAX]; /* of three bodies, and accesses of two of them */
    unsigned leave_count;
    struct hold holds[3 * TRANSLATE_RUN_MAX];
    unsigned hold_count;
    size_t again;                                /* where the run begins once more */
    const struct linears *restore;               /* registers whose rows are stale; NULL: none */
    size_t positions[2 * TRANSLATE_RUN_MAX + 1]; /* of segments, behind their scalars */
    struct partial partials[2 * TRANSLATE_RUN_MAX + 1];
    unsigned partial_count;
    struct lds_detours detours;
};

/* frame.c */
int32_t frame_count_at(unsigned tally);
void frame_slot_emit(struct frame *f, enum x86_gpr gpr, unsigned n);
void frame_leave_add(struct frame *f, size_t jump, unsigned executed, bool branches);
void frame_handler_emit(struct frame *f, unsigned n, bool last);
void frame_touches_note(struct x86 *x, uint8_t touches);
void frame_call_emit(struct frame *f, unsigned n);
/* matrices.c: a segment's; those that wait where a run is left behind so many instructions, the
 * last of which has been called, or before the next segment. */
void frame_matrices_emit(struct frame *f, const struct segment *segment);
void frame_waiting_emit(struct frame *f, unsigned executed, bool called);
/* Lanes that are off, of so many vector instructions that are called. */
void frame_idle_lanes_emit(struct x86 *x, unsigned instructions);
void frame_branch_emit(struct frame *f, unsigned n);
void frame_begin_emit(struct frame *f); /* counts what the run executes */
bool frame_goes_back(const struct frame *f, const struct leave *leave);
/* All of a segment but its cut or strips. */
void frame_segment_begin(struct frame *f, const struct segment *segment);
/* The run's end, where its last instruction has not left it. */
void frame_end_emit(struct frame *f);
/* What s_waitcnt does, before the segment instead of within: its instructions touch no memory. */
void frame_wait_emit(struct x86 *x);

/* frame_linear.c: the run for all lanes and linear registers, if that is worth it; else NULL. What
 * goes on elsewhere does so where the other one has its segments. */
struct linear_frame *frame_linear_emit(struct frame *f);
void frame_linear_land(struct frame *f, struct linear_frame *linear); /* where the other begins */
void frame_linear_rest_emit(struct frame *f, struct linear_frame *linear);
void frame_linear_free(struct linear_frame *linear);
/* Which of a segment's vector instructions are done with numbers. */
struct linear_state;
void linear_plan_make(const struct run *run, const struct segment *segment,
                      const struct linear_state *before, struct strips_plan *plan);
bool linear_mask_unread(const struct run *run, const struct segment *segment, unsigned n);

#endif
