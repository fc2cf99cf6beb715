/*
 * Matrix instructions of a run. They take nothing but registers and do not mind EXEC, so that they
 * can wait until somebody writes what they read or asks for what they write, or the run is left:
 * strips of what lies between them stay together, and those that add to the same sums are executed
 * as one (valu/chain.h).
 */
#include "translate/frame.h"
#include "valu/chain.h"

static bool overlaps(const struct operand *a, const struct operand *b)
{
    const unsigned dwords_a = a->dwords ? a->dwords : 1, dwords_b = b->dwords ? b->dwords : 1;
    if (a->kind != b->kind || (a->kind != OPND_VGPR && a->kind != OPND_AGPR))
        return false;
    return a->index < b->index + dwords_b && b->index < a->index + dwords_a;
}

/* Does the second one write what the first one reads or writes? */
static bool disturbs(const struct inst *inst, const struct inst *writer)
{
    bool found = overlaps(&inst->dst, &writer->dst);
    for (unsigned n = 0; n < 3; n++)
        found |= overlaps(&inst->src[n], &writer->dst);
    return found;
}

static bool is_apart(const struct inst *a, const struct inst *b)
{
    return !disturbs(a, b) && !disturbs(b, a);
}

bool matrix_is_known(const struct inst *inst)
{
    if (inst->klass != CLASS_MFMA || !inst->exec)
        return false;
    for (unsigned n = 0; n < 3; n++)
        if (inst->src[n].kind != OPND_VGPR && inst->src[n].kind != OPND_AGPR &&
            inst->src[n].kind != OPND_CONST)
            return false;
    return inst->dst.kind == OPND_VGPR || inst->dst.kind == OPND_AGPR;
}

/* Goes on with the next instruction, unless it is the wave's last one, and touches no other vector
 * registers than those that it names. */
static bool can_pass(const struct inst *inst, enum role role)
{
    if (role != ROLE_CALL)
        return role != ROLE_BRANCH && role != ROLE_LAST;
    return inst->format == FMT_DS || inst->format == FMT_FLAT || inst->format == FMT_MUBUF ||
           inst->format == FMT_SMEM;
}

bool matrices_allow(const struct run *run, const struct inst *inst, enum role role)
{
    if (!run->waiting || role == ROLE_MATRIX)
        return true;
    if (!can_pass(inst, role))
        return false;
    for (unsigned n = run->waiting_first; n < run->count; n++)
        if (run->roles[n] == ROLE_MATRIX && !is_apart(run->insts[n], inst))
            return false;
    return true;
}

void matrices_close(struct run *run)
{
    if (!run->waiting)
        return;
    run->segments[run->segment_count++] = (struct segment){.first = run->waiting_first,
                                                           .count = run->count - run->waiting_first,
                                                           .matrices = true,
                                                           .cut = true};
    run->waiting = 0;
}

/* ---- their code ---- */

/* In their order, as long as they have not been executed. */
struct pending {
    const struct run *run;
    unsigned of[TRANSLATE_RUN_MAX], count;
};

static void pending_find(struct pending *p, const struct run *run, unsigned first, unsigned end)
{
    *p = (struct pending){.run = run};
    for (unsigned n = first; n < end; n++)
        if (run->roles[n] == ROLE_MATRIX)
            p->of[p->count++] = n;
}

/* Can it be executed before those that come before it? */
static bool may_be_first(const struct pending *p, unsigned k)
{
    for (unsigned before = 0; before < k; before++)
        if (!is_apart(p->run->insts[p->of[before]], p->run->insts[p->of[k]]))
            return false;
    return true;
}

static void take_out(struct pending *p, unsigned k)
{
    for (p->count--; k < p->count; k++)
        p->of[k] = p->of[k + 1];
}

static bool same_sums(const struct inst *a, const struct inst *b)
{
    return a->op == b->op && a->dst.kind == b->dst.kind && a->dst.index == b->dst.index;
}

/* The first one, and what can be executed with it. Returns how many. */
static unsigned chain_take(struct pending *p, valu_chain_fn **chain,
                           unsigned members[VALU_CHAIN_MAX])
{
    const struct run *run = p->run;
    const struct inst *first = run->insts[p->of[0]];
    unsigned count = 1;
    members[0] = p->of[0];
    take_out(p, 0);
    *chain = run->at[members[0]] <= VALU_CHAIN_SLOTS ? valu_chain(first) : NULL;
    for (unsigned k = 0; *chain && k < p->count && count < VALU_CHAIN_MAX;) {
        const unsigned n = p->of[k];
        if (run->at[n] <= VALU_CHAIN_SLOTS && same_sums(run->insts[n], first) &&
            valu_chain(run->insts[n]) == *chain && may_be_first(p, k)) {
            members[count++] = n;
            take_out(p, k);
        } else {
            k++;
        }
    }
    return count;
}

static void chain_emit(struct frame *f, valu_chain_fn *chain, const unsigned *members,
                       unsigned count)
{
    uint64_t places[2] = {0};
    for (unsigned n = 0; n < count; n++)
        places[n / 4] |= (uint64_t)f->run->at[members[n]] << 16 * (n % 4);
    x86_gpr_move(f->x, RDI, RBX);
    x86_gpr_move(f->x, RSI, RBP);
    x86_gpr_imm64(f->x, RDX, places[0]);
    x86_gpr_imm64(f->x, RCX, places[1]);
    x86_gpr_imm32(f->x, R8, count);
    x86_gpr_imm64(f->x, RAX, (uint64_t)(uintptr_t)chain);
    x86_call(f->x, RAX);
}

static void matrices_emit(struct frame *f, unsigned first, unsigned end)
{
    struct pending pending;
    unsigned members[VALU_CHAIN_MAX];
    valu_chain_fn *chain;
    pending_find(&pending, f->run, first, end);
    frame_idle_lanes_emit(f->x, pending.count - (pending.of[0] == 0));
    while (pending.count) {
        const unsigned count = chain_take(&pending, &chain, members);
        if (count > 1)
            chain_emit(f, chain, members, count);
        else
            frame_handler_emit(f, members[0], false);
    }
}

void frame_matrices_emit(struct frame *f, const struct segment *segment)
{
    matrices_emit(f, segment->first, segment->first + segment->count);
}

void frame_waiting_emit(struct frame *f, unsigned executed, bool called)
{
    for (unsigned k = 0; k < f->run->segment_count; k++) {
        const struct segment *s = &f->run->segments[k];
        const unsigned end = s->first + s->count;
        if (!s->matrices || s->first >= executed || end < executed || (end == executed && !called))
            continue;
        matrices_emit(f, s->first, executed);
        return;
    }
}
