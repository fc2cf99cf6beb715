/* Finding an instruction's handler. */
#include "isa_ops.h"
#include "wave/group.h"

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
    case FMT_MIMG:
        return image_handler(inst);
    default:
        return NULL;
    }
}

static inst_exec_fn *wave_handler(struct inst *inst)
{
    inst_exec_fn *exec = inst->op == OP_INVALID ? NULL : format_handler(inst);
    return exec ? exec : exec_illegal;
}

const struct code_handlers wave_handlers = {.find = wave_handler, .far_branch = control_far_branch};
