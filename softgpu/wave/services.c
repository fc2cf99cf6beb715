/* What every handler uses: the wave's address, faults, scalar sources, and what a wave reaches of
 * its device. Nothing below calls out. */
#include "wave/engine.h"

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

struct code *engine_code(struct engine *engine)
{
    return engine->code;
}

struct gws *engine_gws(struct engine *engine)
{
    return &engine->gws;
}

struct unit_place group_place(const struct workgroup *group)
{
    return launch_place(group->launch, group->engine->model, group->index);
}

const struct gpu_model *engine_model(const struct engine *engine)
{
    return engine->model;
}

void dispatch_interrupt(struct dispatch *dispatch, uint32_t event_id)
{
    if (dispatch && dispatch->request.interrupt)
        dispatch->request.interrupt(dispatch->request.arg, event_id);
}

uint64_t dispatch_begin_ticks(const struct dispatch *dispatch)
{
    return dispatch ? dispatch->request.begin_ticks : 0;
}
