/* What a traced group executes, in the thread trace's names for instructions. */
#include <stdlib.h>

#include "isa_ops.h"
#include "wave/group.h"

enum { STEPS_INITIAL = 256, STEPS_MAX = 1 << 20 };

/* Jumps to an address in a register are told apart from branches to a place in the code. */
static uint8_t branch_type(const struct inst *inst, const struct inst *next)
{
    if (inst->format == FMT_SOP1 || inst->format == FMT_SOP2)
        return PERF_INST_PC;
    return next == inst_next(inst) ? PERF_INST_NEXT : PERF_INST_JUMP;
}

static uint8_t memory_type(const struct inst *inst)
{
    bool writes = inst->klass == CLASS_VMEM_WR || inst->klass == CLASS_FLAT_WR;
    if (inst->format == FMT_FLAT)
        return writes ? PERF_INST_FLAT_WR : PERF_INST_FLAT_RD;
    return writes ? PERF_INST_VMEM_WR : PERF_INST_VMEM_RD;
}

/* The suffixes 32 and 64 mean the instruction's own size: a gfx950 names v_lshl_add_u32 VALU_64. */
static uint8_t step_type(const struct inst *inst, const struct inst *next)
{
    switch (inst->klass) {
    case CLASS_VALU:
        return inst->dwords > 1 ? PERF_INST_VALU_64 : PERF_INST_VALU_32;
    case CLASS_MFMA:
        return PERF_INST_MATRIX;
    case CLASS_SALU:
        return inst->dwords > 1 ? PERF_INST_SALU_64 : PERF_INST_SALU_32;
    case CLASS_SMEM:
        return inst->tally == TALLY_SMEM_WRITE || inst->tally == TALLY_SMEM_ATOMIC
                   ? PERF_INST_SMEM_WR
                   : PERF_INST_SMEM_RD;
    case CLASS_VMEM_RD:
    case CLASS_VMEM_WR:
    case CLASS_FLAT_RD:
    case CLASS_FLAT_WR:
        return memory_type(inst);
    case CLASS_LDS:
        return PERF_INST_LDS;
    case CLASS_GDS:
        return PERF_INST_GDS;
    case CLASS_BRANCH:
        return branch_type(inst, next);
    case CLASS_WAITCNT:
    case CLASS_BARRIER:
        return PERF_INST_NONE;
    default:
        return inst->tally == TALLY_INTERNAL ? PERF_INST_NONE : PERF_INST_OTHER;
    }
}

static bool log_grow(struct step_log *log)
{
    uint64_t capacity = log->capacity ? log->capacity * 2 : STEPS_INITIAL;
    struct perf_trace_step *items = realloc(log->items, capacity * sizeof *items);
    if (!items)
        return false;
    log->items = items;
    log->capacity = capacity;
    return true;
}

void step_note(struct wave *wave, const struct inst *inst, const struct inst *next)
{
    struct step_log *log = &wave->group->steps;
    if (log->count == STEPS_MAX || (log->count == log->capacity && !log_grow(log))) {
        log->lost++;
        return;
    }
    struct perf_trace_step *step = &log->items[log->count++];
    *step = (struct perf_trace_step){.wave = (uint8_t)wave->wave_in_group,
                                     .tally = inst->tally,
                                     .type = step_type(inst, next),
                                     .is_userdata = inst->op == OP_S_TTRACEDATA};
    if (step->is_userdata)
        step->value = wave->s[SREG_M0];
    else if (step->type == PERF_INST_PC && next)
        step->value = wave_pc_va(wave, next);
}
