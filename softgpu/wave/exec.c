/* Finding an instruction's handler, faults, jumps and scalar sources. */
#include "base/log.h"
#include "isa_ops.h"
#include "wave/group.h"

uint64_t wave_pc_va(const struct wave *wave, const struct inst *inst)
{
    return wave->code_va + 4 * (uint64_t)(inst - wave->code);
}

const struct inst *wave_fault(struct wave *wave, const struct inst *inst, enum fault_kind kind,
                              uint64_t va)
{
    wave->fault.kind = kind;
    wave->fault.va = va;
    wave->fault.pc_va = wave_pc_va(wave, inst);
    wave->fault.inst = inst;
    wave->stop = WAVE_FAULT;
    wave->pc = inst;
    return NULL;
}

const struct inst *wave_jump(struct wave *wave, const struct inst *inst, uint64_t va)
{
    struct workgroup *group = wave->group;
    if (!code_enter(engine_code(group->engine), group->reader, wave, va))
        return wave_fault(wave, inst, FAULT_MEMORY_EXEC, va);
    return wave->pc;
}

uint64_t wave_source_scalar(const struct wave *wave, const struct operand *operand)
{
    const struct launch *launch = wave->group ? wave->group->launch : NULL;
    switch (operand->kind) {
    case OPND_SREG: {
        uint64_t low = wave->s[operand->index];
        return operand->dwords < 2 ? low : low | (uint64_t)wave->s[operand->index + 1] << 32;
    }
    case OPND_CONST:
        return operand->value;
    case OPND_SCC:
        return wave->scc;
    case OPND_VCCZ:
        return wave_vcc(wave) == 0;
    case OPND_EXECZ:
        return wave_exec(wave) == 0;
    /* The 64-bit value is the aperture's base; a limit is the last byte of its 4 GiB. */
    case OPND_SHARED_BASE:
        return launch ? (uint64_t)launch->shared_base_hi << 32 : 0;
    case OPND_SHARED_LIMIT:
        return launch ? (uint64_t)launch->shared_base_hi << 32 | 0xffffffff : 0;
    case OPND_PRIVATE_BASE:
        return launch ? (uint64_t)launch->private_base_hi << 32 : 0;
    case OPND_PRIVATE_LIMIT:
        return launch ? (uint64_t)launch->private_base_hi << 32 | 0xffffffff : 0;
    default:
        return 0;
    }
}

static const struct inst *exec_illegal(struct wave *wave, const struct inst *inst)
{
    return wave_fault(wave, inst, FAULT_ILLEGAL_INSTRUCTION, 0);
}

static inst_exec_fn *format_handler(struct inst *inst)
{
    switch (inst->format) {
    case FMT_SOP1:
    case FMT_SOP2:
    case FMT_SOPK:
    case FMT_SOPC:
    case FMT_SOPP: {
        inst_exec_fn *exec = salu_handler(inst);
        return exec ? exec : control_handler(inst);
    }
    case FMT_SMEM:
        return smem_handler(inst);
    case FMT_VOP1:
    case FMT_VOP2:
    case FMT_VOPC:
    case FMT_VOP3:
    case FMT_VOP3P:
        return valu_handler(inst);
    case FMT_DS:
        return ds_handler(inst);
    case FMT_FLAT:
        return flat_handler(inst);
    case FMT_MUBUF:
    case FMT_MTBUF:
        return buffer_handler(inst);
    default:
        return NULL;
    }
}

inst_exec_fn *wave_handler(struct inst *inst)
{
    inst_exec_fn *exec = inst->op == OP_INVALID ? NULL : format_handler(inst);
    return exec ? exec : exec_illegal;
}
