/* What is part of a run, and where it is cut. */
#include "translate/run.h"

#include <string.h>

#include "isa_ops.h"
#include "wave/step.h"

/* What changes how others execute, executes others itself, or reads what was counted so far. */
static bool stands_alone(const struct inst *inst)
{
    switch (inst->op) {
    case OP_INVALID:
    case OP_S_SETREG_B32:
    case OP_S_SETREG_IMM32_B32:
    case OP_S_SET_GPR_IDX_ON:
    case OP_S_SET_GPR_IDX_IDX:
    case OP_S_SET_GPR_IDX_MODE:
    case OP_S_SET_GPR_IDX_OFF:
    case OP_S_MEMTIME:
    case OP_S_MEMREALTIME:
        return true;
    default:
        return false;
    }
}

static bool goes_elsewhere(const struct inst *inst)
{
    switch (inst->op) {
    case OP_S_ENDPGM:
    case OP_S_BRANCH:
    case OP_S_SETPC_B64:
    case OP_S_SWAPPC_B64:
    case OP_S_CALL_B64:
        return true;
    default:
        return false;
    }
}

static bool is_branch(const struct inst *inst)
{
    switch (inst->op) {
    case OP_S_CBRANCH_SCC0:
    case OP_S_CBRANCH_SCC1:
    case OP_S_CBRANCH_VCCZ:
    case OP_S_CBRANCH_VCCNZ:
    case OP_S_CBRANCH_EXECZ:
    case OP_S_CBRANCH_EXECNZ:
        return true;
    default:
        return false;
    }
}

enum role run_role(const struct inst *inst, bool inline_lds)
{
    if (inst->op == OP_S_NOP || inst->op == OP_S_WAITCNT)
        return ROLE_NOTHING;
    if (operation_find(inst))
        return ROLE_VECTOR;
    if (scalar_is_known(inst))
        return ROLE_SCALAR;
    if (inline_lds && lds_is_known(inst))
        return ROLE_LDS;
    if (matrix_is_known(inst))
        return ROLE_MATRIX;
    if (!inst->exec || stands_alone(inst))
        return ROLE_NONE;
    if (goes_elsewhere(inst))
        return ROLE_LAST;
    return is_branch(inst) ? ROLE_BRANCH : ROLE_CALL;
}

bool translate_knows(const struct inst *inst)
{
    return run_role(inst, false) != ROLE_NONE;
}

bool counts_in_order(const struct inst *inst)
{
    switch (inst->klass) {
    case CLASS_VMEM_RD:
    case CLASS_VMEM_WR:
    case CLASS_FLAT_RD:
    case CLASS_FLAT_WR:
    case CLASS_LDS:
    case CLASS_GDS:
        return true;
    default:
        return false;
    }
}

/* Is any register of the `dwords` from `first` on part of a pair of the set? `but`: the pair that
 * does not count. */
static bool pairs_touch(const bool *pairs, unsigned first, unsigned dwords, unsigned but)
{
    for (unsigned pair = first ? first - 1 : 0; pair < first + dwords && pair < SREG_COUNT; pair++)
        if (pairs[pair] && pair != but)
            return true;
    return false;
}

bool run_writes_mask(const struct run *run, unsigned first, unsigned dwords)
{
    return pairs_touch(run->mask_written, first, dwords, SREG_COUNT);
}
bool run_touches(const struct run *run, unsigned first, unsigned dwords)
{
    for (unsigned n = first; n < first + dwords; n++)
        if (run->read[n])
            return true;
    return run_writes_mask(run, first, dwords) ||
           pairs_touch(run->mask_read, first, dwords, SREG_COUNT);
}

static bool reads_fit(struct run *run, const struct operation *operation, const struct inst *inst)
{
    for (int n = 0; n < 3; n++) {
        const struct operand *operand = &inst->src[n];
        unsigned dwords = operation->sources[n];
        if (!dwords || operand->kind != OPND_SREG)
            continue;
        if (run_writes_mask(run, operand->index, dwords))
            return false;
        memset(run->read + operand->index, true, dwords);
    }
    if (!(operation->flags & READS_MASK))
        return true;
    unsigned pair = operation_mask_in(inst);
    if (pairs_touch(run->mask_written, pair, 2, pair))
        return false;
    run->mask_read[pair] = true;
    return true;
}

static bool writes_fit(struct run *run, const struct operation *operation, const struct inst *inst)
{
    if (!(operation->flags & WRITES_MASK))
        return true;
    unsigned pair = operation_mask_out(operation, inst);
    if (run->read[pair] || run->read[pair + 1] || pairs_touch(run->mask_read, pair, 2, pair) ||
        pairs_touch(run->mask_written, pair, 2, pair))
        return false;
    run->mask_written[pair] = true;
    return true;
}

/* A strip's lanes must not see what a later one writes first, nor overwrite what it has written. */
static bool lds_fits(struct run *run, const struct inst *inst)
{
    bool store = lds_is_store(inst);
    if (run->lds_written || (store && run->lds_read))
        return false;
    run->lds_written = store;
    run->lds_read = !store;
    return true;
}

/* Can the last segment have the instruction, too? If not, it may have left marks there. */
static bool segment_fits(struct run *run, const struct inst *inst, enum role role)
{
    const struct operation *operation = operation_find(inst);
    switch (role) {
    case ROLE_VECTOR:
        return far_fits(run, inst) && reads_fit(run, operation, inst) &&
               writes_fit(run, operation, inst);
    case ROLE_SCALAR:
        return scalar_fits(run, inst);
    case ROLE_LDS:
        return lds_fits(run, inst);
    default:
        return true;
    }
}

static struct segment *segment_begin(struct run *run, unsigned first, bool cut)
{
    struct segment *segment = &run->segments[run->segment_count++];
    *segment = (struct segment){.first = first, .cut = cut};
    memset(run->read, false, sizeof run->read);
    memset(run->mask_read, false, sizeof run->mask_read);
    memset(run->mask_written, false, sizeof run->mask_written);
    run->lds_read = run->lds_written = false;
    return segment;
}

static void segment_add(struct run *run, const struct inst *inst, enum role role)
{
    struct segment *segment = &run->segments[run->segment_count - 1];
    segment->count++;
    segment->vectors +=
        role != ROLE_MATRIX && (inst->klass == CLASS_VALU || inst->klass == CLASS_MFMA);
    segment->scalars += role == ROLE_SCALAR;
    segment->strips += role == ROLE_VECTOR || role == ROLE_LDS;
    segment->waits |= inst->op == OP_S_WAITCNT;
    segment->lds |= role == ROLE_LDS;
    segment->conflicts |= step_conflicts(inst);
}

/* One that does not fit into a segment of its own reads, as a value, of the mask that it writes. */
static enum role role_by_itself(struct run *run, const struct inst *inst, enum role role)
{
    if (segment_fits(run, inst, role))
        return role;
    return inst->exec ? ROLE_CALL : ROLE_NONE;
}

bool run_goes_back(const struct run *run, unsigned n)
{
    return (int64_t)run->at[n] + 1 + run->insts[n]->offset == 0;
}

bool run_loops(const struct run *run)
{
    for (unsigned n = 0; n < run->count; n++)
        if (run->roles[n] == ROLE_BRANCH && run_goes_back(run, n))
            return true;
    return false;
}

static bool is_cut(enum role role)
{
    return role == ROLE_CALL || role == ROLE_BRANCH || role == ROLE_LAST;
}

/* Writes to a second place come behind all lanes' writes to the first one. */
static void parts_add(struct run *run, unsigned n)
{
    for (unsigned part = 1; part < lds_parts(run->insts[n]); part++) {
        struct segment *again = segment_begin(run, n, false);
        *again = (struct segment){.first = n, .part = (uint8_t)part, .lds = true};
        again->count = again->strips = 1;
        run->lds_written = true;
    }
}

/* The last segment has the instruction, too. */
static bool segment_goes_on(struct run *run, const struct inst *inst, enum role role)
{
    if (!run->segment_count || run->segments[run->segment_count - 1].cut || is_cut(role))
        return false;
    return segment_fits(run, inst, role);
}

/* False: the run ends before the instruction. */
static bool run_add(struct run *run, const struct inst *inst)
{
    const unsigned n = run->count;
    enum role role = run_role(inst, run->inline_lds);
    if (role == ROLE_NONE)
        return false;
    if (!matrices_allow(run, inst, role))
        matrices_close(run);
    if (!segment_goes_on(run, inst, role)) {
        struct segment *segment = segment_begin(run, n, is_cut(role));
        role = role_by_itself(run, inst, role);
        if (role == ROLE_NONE) {
            run->segment_count--;
            return false;
        }
        segment->cut = is_cut(role);
    }
    segment_add(run, inst, role);
    run->roles[n] = role;
    run->at[n] = (uint32_t)(inst - run->insts[0]);
    run->at[n + 1] = run->at[n] + inst->dwords;
    run->count++;
    if (role == ROLE_MATRIX && run->waiting++ == 0)
        run->waiting_first = n;
    run->needs |= role == ROLE_VECTOR ? operation_find(inst)->needs : 0;
    if (role == ROLE_LDS) {
        run->lds = true;
        parts_add(run, n);
    }
    return true;
}

void run_take(struct run *run, const struct inst *const *insts, unsigned count, bool inline_lds)
{
    memset(run, 0, sizeof *run);
    run->insts = insts;
    run->inline_lds = inline_lds;
    while (run->count < count && run->count < TRANSLATE_RUN_MAX && run_add(run, insts[run->count]))
        if (run->roles[run->count - 1] == ROLE_LAST)
            break;
    matrices_close(run);
}
