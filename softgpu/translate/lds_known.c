/*
 * What is known of rows of LDS addresses. It is found when a run is translated; its numbers are
 * written when the run is executed, to rows of the wave's behind its registers (wave.h), a strip's
 * to the strip's part: RDX has it, as of registers.
 */
#include "isa_ops.h"
#include "translate/lds_code.h"

enum { WINDOWS_AT = KEPT_ROW, NUMBERS_AT = WINDOWS_AT + LDS_WINDOWS, FOLLOWS_AT, KEPT_END };
_Static_assert(KEPT_END <= KEPT_ROW + KEPT_ROWS, "the wave has them all");

static struct x86_rm kept(unsigned row, unsigned dword)
{
    return x86_memory(RDX, (int32_t)(row * ROW_BYTES + dword * sizeof(uint32_t)), false);
}

static bool row_find(const struct lds_row *rows, unsigned count, struct place place, unsigned kind,
                     unsigned *n)
{
    for (*n = 0; *n < count; (*n)++)
        if (rows[*n].kind == kind && rows[*n].place.index == place.index)
            return true;
    return false;
}

bool lds_follow_find(const struct lds_known *known, struct place place, unsigned kind,
                     struct x86_rm *first)
{
    unsigned n;
    const bool found = row_find(known->follows, LDS_FOLLOWS, place, kind, &n);
    *first = kept(FOLLOWS_AT, n);
    return found;
}

struct x86_rm lds_follow_add(struct lds_known *known, struct place place, unsigned kind)
{
    const unsigned n = known->next_follow++ % LDS_FOLLOWS;
    known->follows[n] = (struct lds_row){.place = place, .kind = (uint8_t)kind};
    return kept(FOLLOWS_AT, n);
}

static struct lds_window window_at(unsigned n)
{
    return (struct lds_window){kept(WINDOWS_AT + n, 0), kept(NUMBERS_AT, 2 * n),
                               kept(NUMBERS_AT, 2 * n + 1)};
}

bool lds_window_find(const struct lds_known *known, struct place place, unsigned dwords,
                     struct lds_window *window)
{
    unsigned n;
    const bool found = row_find(known->windows, LDS_WINDOWS, place, dwords, &n);
    *window = window_at(n);
    return found;
}

struct lds_window lds_window_add(struct lds_known *known, struct place place, unsigned dwords)
{
    const unsigned n = known->next_window++ % LDS_WINDOWS;
    known->windows[n] = (struct lds_row){.place = place, .kind = (uint8_t)dwords};
    return window_at(n);
}

static void rows_forget(struct lds_row *rows, unsigned count, const struct operand *dst)
{
    const unsigned dwords = dst->dwords ? dst->dwords : 1;
    for (unsigned n = 0; n < count; n++)
        if (rows[n].place.index >= dst->index && rows[n].place.index < dst->index + dwords)
            rows[n].kind = 0;
}

void lds_forget(struct lds_known *known, const struct inst *inst)
{
    if (inst->dst.kind != OPND_VGPR)
        return;
    rows_forget(known->follows, LDS_FOLLOWS, &inst->dst);
    rows_forget(known->windows, LDS_WINDOWS, &inst->dst);
}

/* Writes no registers but those that it names, and EXEC is not among them. */
static bool writes_its_own(const struct inst *inst)
{
    switch (inst->format) {
    case FMT_DS:
    case FMT_FLAT:
    case FMT_MUBUF:
        return true;
    case FMT_SMEM:
        return inst->dst.kind == OPND_SREG && inst->dst.index + inst->dst.dwords <= SREG_EXEC;
    case FMT_SOPP:
        return inst->op == OP_S_BARRIER || inst->klass == CLASS_BRANCH;
    default:
        return inst->klass == CLASS_MFMA;
    }
}

void lds_forget_called(struct lds_known *known, const struct inst *inst)
{
    if (writes_its_own(inst))
        lds_forget(known, inst);
    else
        *known = (struct lds_known){.next_follow = 0};
}
