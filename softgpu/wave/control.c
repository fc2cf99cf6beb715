/* Program control and state: SOPP, jumps, hardware registers, VGPR index mode. */
#include <string.h>
#include <time.h>

#include "core/device.h"
#include "isa_ops.h"
#include "mem/single_copy.h"
#include "wave/group.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)
#define ENTRY(name)   [OP_##name] = exec_##name,

enum { TRAP_ABORT = 2, TRAP_DEBUG = 3, MSG_INTERRUPT = 1 };
enum {
    MODE_GPR_IDX_EN = 1 << 27,
    STATUS_SCC = 1 << 0,
    STATUS_EXECZ = 1 << 9,
    STATUS_VCCZ = 1 << 10
};

EXEC_FN(NOTHING)
{
    (void)w;
    return inst_next(i);
}

/* The host's own stores may be seen after its later loads; a device's whose counter has been waited
 * for may not. Loads are done when their instruction is. */
EXEC_FN(S_WAITCNT)
{
    if (w->stores_pending)
        single_fence();
    w->stores_pending = false;
    return inst_next(i);
}

EXEC_FN(S_ENDPGM)
{
    w->pc = i;
    w->stop = WAVE_DONE;
    return NULL;
}

EXEC_FN(S_BARRIER)
{
    w->pc = inst_next(i);
    if (w->group->wave_count == 1)
        return w->pc; /* nobody to wait for */
    w->stop = WAVE_BARRIER;
    return NULL;
}

EXEC_FN(S_SLEEP)
{
    w->pc = inst_next(i);
    w->stop = WAVE_SLEEP;
    return NULL;
}

/* Whether the branch is taken; unconditional ones are. */
static inline bool branch_taken(const struct wave *w, unsigned op)
{
    switch (op) {
    case OP_S_CBRANCH_SCC0:
        return !w->scc;
    case OP_S_CBRANCH_SCC1:
        return w->scc;
    case OP_S_CBRANCH_VCCZ:
        return wave_vcc(w) == 0;
    case OP_S_CBRANCH_VCCNZ:
        return wave_vcc(w) != 0;
    case OP_S_CBRANCH_EXECZ:
        return wave_exec(w) == 0;
    case OP_S_CBRANCH_EXECNZ:
        return wave_exec(w) != 0;
    default:
        return true;
    }
}

#define BRANCHES(X)                                                                                \
    X(S_BRANCH)                                                                                    \
    X(S_CBRANCH_SCC0)                                                                              \
    X(S_CBRANCH_SCC1) X(S_CBRANCH_VCCZ) X(S_CBRANCH_VCCNZ) X(S_CBRANCH_EXECZ) X(S_CBRANCH_EXECNZ)
/* The target's slot is armed when the branch is decoded: plain pointer arithmetic reaches it. */
#define DEFINE_BRANCH(name)                                                                        \
    EXEC_FN(name)                                                                                  \
    {                                                                                              \
        const bool taken = branch_taken(w, OP_##name);                                             \
        branch_note(i, taken);                                                                     \
        return i + 1 + (taken ? i->offset : 0);                                                    \
    }
BRANCHES(DEFINE_BRANCH)

/* A branch out of the decoded window goes by address: there is no slot for its target. */
const struct inst *control_far_branch(struct wave *w, const struct inst *i)
{
    if (!branch_taken(w, i->op))
        return i + 1;
    return wave_jump(w, i, wave_pc_va(w, i) + 4 + 4 * (uint64_t)(int64_t)i->offset);
}

static void write_pc(struct wave *w, const struct operand *dst, uint64_t va)
{
    memcpy(&w->s[dst->index], &va, sizeof va);
}

EXEC_FN(S_GETPC_B64)
{
    write_pc(w, &i->dst, wave_pc_va(w, i) + 4);
    return inst_next(i);
}

EXEC_FN(S_SETPC_B64)
{
    return wave_jump(w, i, wave_source_scalar(w, &i->src[0]) & ~3ull);
}

EXEC_FN(S_SWAPPC_B64)
{
    uint64_t target = wave_source_scalar(w, &i->src[0]) & ~3ull;
    write_pc(w, &i->dst, wave_pc_va(w, i) + 4);
    return wave_jump(w, i, target);
}

EXEC_FN(S_CALL_B64)
{
    uint64_t pc = wave_pc_va(w, i) + 4;
    write_pc(w, &i->dst, pc);
    return wave_jump(w, i, pc + 4 * (uint64_t)(int64_t)i->offset);
}

EXEC_FN(S_SENDMSG)
{
    if ((i->offset & 15) == MSG_INTERRUPT)
        dispatch_interrupt(w->group->dispatch, w->s[SREG_M0]);
    return inst_next(i);
}

EXEC_FN(S_TRAP)
{
    unsigned id = (unsigned)i->offset & 0xff;
    if (id == TRAP_DEBUG || id == 0)
        return inst_next(i); /* a debugger's; nobody listens */
    return wave_fault(w, i, id == TRAP_ABORT ? FAULT_ASSERT_TRAP : FAULT_TRAP, 0);
}

/* Hardware registers (s_getreg, s_setreg): id in bits 5:0, offset 10:6, width - 1 in 15:11. */
enum hwreg {
    HWREG_MODE = 1,
    HWREG_STATUS = 2,
    HWREG_TRAPSTS = 3,
    HWREG_HW_ID = 4,
    HWREG_GPR_ALLOC = 5,
    HWREG_LDS_ALLOC = 6,
    HWREG_IB_STS = 7,
    HWREG_SH_MEM_BASES = 15,
    HWREG_XCC_ID = 20
};

static uint32_t hw_id(const struct wave *w)
{
    const struct workgroup *group = w->group;
    const struct unit_place place = group_place(group);
    uint32_t simd = w->wave_in_group & 3, slot = w->wave_in_group >> 2;
    return (slot & 15) | simd << 4 | (place.cu & 15) << 8 | (place.sh & 1) << 12 |
           (place.se & 7) << 13;
}

static uint32_t hwreg_read(const struct wave *w, unsigned id)
{
    const struct launch *launch = w->group->launch;
    switch (id) {
    case HWREG_MODE:
        return w->mode;
    case HWREG_STATUS:
        return w->status | (w->scc ? STATUS_SCC : 0) | (wave_exec(w) ? 0 : STATUS_EXECZ) |
               (wave_vcc(w) ? 0 : STATUS_VCCZ);
    case HWREG_TRAPSTS:
        return w->trapsts;
    case HWREG_HW_ID:
        return hw_id(w);
    case HWREG_GPR_ALLOC:
        return ((w->vgpr_count + 7) / 8 & 63) << 8;
    case HWREG_LDS_ALLOC:
        return (launch->lds_bytes + 255) / 256 << 12;
    case HWREG_SH_MEM_BASES: /* bits 63:48 of the apertures: private low, shared high */
        return launch->private_base_hi >> 16 | (launch->shared_base_hi & 0xffff0000);
    case HWREG_XCC_ID:
        return group_place(w->group).xcc;
    default:
        return 0;
    }
}

static void hwreg_write(struct wave *w, unsigned id, uint32_t value)
{
    if (id == HWREG_MODE)
        valu_mode_set(w, value);
    if (id == HWREG_TRAPSTS)
        w->trapsts = value;
}

EXEC_FN(S_GETREG_B32)
{
    unsigned control = (uint16_t)i->offset, width = (control >> 11) + 1;
    uint32_t value = hwreg_read(w, control & 63) >> (control >> 6 & 31);
    w->s[i->dst.index] = width < 32 ? value & ((1u << width) - 1) : value;
    return inst_next(i);
}

EXEC_FN(S_SETREG_B32)
{
    unsigned control = (uint16_t)i->offset, width = (control >> 11) + 1, shift = control >> 6 & 31;
    uint32_t mask = (width < 32 ? (1u << width) - 1 : ~0u) << shift;
    uint32_t value = (uint32_t)wave_source_scalar(w, &i->src[0]) << shift;
    uint32_t old = hwreg_read(w, control & 63);
    hwreg_write(w, control & 63, (old & ~mask) | (value & mask));
    return inst_next(i);
}

/*
 * VGPR index mode: between s_set_gpr_idx_on and _off, M0[7:0] is added to the register numbers
 * that M0[15:12] selects (source 0, 1, 2, destination). Each instruction runs from a copy with
 * the numbers already moved, so that ordinary handlers pay nothing for this mode.
 */
static void move_register(struct operand *operand, uint32_t by)
{
    if (operand->kind == OPND_VGPR)
        operand->index =
            (operand->index + by + operand->dwords <= VGPR_ROWS) ? operand->index + by : 0;
}

static const struct inst *run_indexed(struct wave *w, const struct inst *i)
{
    struct inst moved = *i;
    uint32_t by = w->s[SREG_M0] & 0xff, select = w->s[SREG_M0] >> 12;
    for (unsigned slot = 0; slot < 3; slot++) {
        if (select >> slot & 1)
            move_register(&moved.src[slot], by);
    }
    if (select >> 3 & 1)
        move_register(&moved.dst, by);
    inst_exec_fn *exec = moved.op == OP_INVALID ? NULL : valu_handler(&moved);
    if (!exec)
        return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    if (exec(w, &moved))
        return inst_next(i);
    w->pc = i;
    w->fault.inst = i;
    w->fault.pc_va = wave_pc_va(w, i);
    return NULL;
}

static bool is_vector(const struct inst *i)
{
    return i->format == FMT_VOP1 || i->format == FMT_VOP2 || i->format == FMT_VOPC ||
           i->format == FMT_VOP3;
}

/* Runs up to s_set_gpr_idx_off; compilers put a handful of instructions in between. A slot that is
 * to be decoded still says what stood there before, where code was replaced. */
static const struct inst *run_index_mode(struct wave *w, const struct inst *i)
{
    int32_t slice_left = w->slice_left;
    w->slice_left = 0; /* one by one: nothing translated knows of this mode */
    while (w->mode & MODE_GPR_IDX_EN) {
        inst_exec_fn *exec = __atomic_load_n(&i->exec, __ATOMIC_ACQUIRE);
        uint64_t mask = wave_exec(w);
        const bool indexed = is_vector(i) && !code_is_stub(exec);
        const struct inst *next = indexed ? run_indexed(w, i) : exec(w, i);
        wave_count(w, i, mask);
        slice_left--;
        i = next;
        if (!next)
            break;
    }
    w->slice_left = slice_left;
    return i;
}

EXEC_FN(S_SET_GPR_IDX_ON)
{
    uint32_t index = (uint32_t)wave_source_scalar(w, &i->src[0]) & 0xff;
    w->s[SREG_M0] = (w->s[SREG_M0] & ~0xf0ffu) | index | ((uint32_t)i->offset & 15) << 12;
    w->mode |= MODE_GPR_IDX_EN;
    return run_index_mode(w, inst_next(i));
}

EXEC_FN(S_SET_GPR_IDX_IDX)
{
    w->s[SREG_M0] = (w->s[SREG_M0] & ~0xffu) | ((uint32_t)wave_source_scalar(w, &i->src[0]) & 0xff);
    return inst_next(i);
}

EXEC_FN(S_SET_GPR_IDX_MODE)
{
    w->s[SREG_M0] = (w->s[SREG_M0] & ~0xf000u) | ((uint32_t)i->offset & 15) << 12;
    return inst_next(i);
}

EXEC_FN(S_SET_GPR_IDX_OFF)
{
    w->mode &= ~(uint32_t)MODE_GPR_IDX_EN;
    return inst_next(i);
}

static inst_exec_fn *const handlers[OP_COUNT] = {
    [OP_S_NOP] = exec_NOTHING,
    [OP_S_WAKEUP] = exec_NOTHING,
    [OP_S_SETKILL] = exec_NOTHING,
    [OP_S_SETPRIO] = exec_NOTHING,
    [OP_S_ICACHE_INV] = exec_NOTHING,
    [OP_S_INCPERFLEVEL] = exec_NOTHING,
    [OP_S_DECPERFLEVEL] = exec_NOTHING,
    [OP_S_TTRACEDATA] = exec_NOTHING,
    [OP_S_SETREG_IMM32_B32] = exec_S_SETREG_B32,
    [OP_S_SETHALT] = exec_NOTHING,
    /* No debugger sets the conditions of these branches. */
    [OP_S_CBRANCH_CDBGSYS] = exec_NOTHING,
    [OP_S_CBRANCH_CDBGUSER] = exec_NOTHING,
    [OP_S_CBRANCH_CDBGSYS_OR_USER] = exec_NOTHING,
    [OP_S_CBRANCH_CDBGSYS_AND_USER] = exec_NOTHING,
    BRANCHES(ENTRY) ENTRY(S_WAITCNT) ENTRY(S_ENDPGM) ENTRY(S_BARRIER) ENTRY(S_SLEEP)
        ENTRY(S_GETPC_B64) ENTRY(S_SETPC_B64) ENTRY(S_SWAPPC_B64) ENTRY(S_CALL_B64) ENTRY(S_SENDMSG)
            ENTRY(S_TRAP) ENTRY(S_GETREG_B32) ENTRY(S_SETREG_B32) ENTRY(S_SET_GPR_IDX_ON)
                ENTRY(S_SET_GPR_IDX_IDX) ENTRY(S_SET_GPR_IDX_MODE) ENTRY(S_SET_GPR_IDX_OFF)};

inst_exec_fn *control_handler(const struct inst *inst)
{
    return handlers[inst->op];
}
