#include "translate/translate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "isa_ops.h"
#include "translate/run.h"

#define WAVE(member) ((int32_t)offsetof(struct wave, member))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum translate_mode mode;

static void mode_choose(void)
{
    const char *wanted = getenv("CROCGPU_TRANSLATE");
    if (!x86_level_find(valu_isa_name()) || (wanted && strcmp(wanted, "0") == 0))
        return;
    mode = wanted && strcmp(wanted, "always") == 0 ? TRANSLATE_AT_ONCE : TRANSLATE_HOT;
}

enum translate_mode translate_mode(void)
{
    pthread_once(&once, mode_choose);
    return mode;
}

/* Instructions that do nothing to registers: a run may have them in between, as it may have scalar
 * ones (scalar.c). */
static bool is_transparent(const struct inst *inst)
{
    return inst->op == OP_S_NOP || inst->op == OP_S_WAITCNT;
}

bool translate_knows(const struct inst *inst)
{
    return is_transparent(inst) || scalar_is_known(inst) || operation_find(inst);
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

/* The run takes the instruction, too. One that does not fit may have left marks, which only ever
 * end a run that has ended. */
static bool run_take(struct run *run, const struct inst *inst)
{
    const struct operation *operation = operation_find(inst);
    const bool scalar = scalar_is_known(inst);
    if (!operation && !scalar && !is_transparent(inst))
        return false;
    if (scalar && !scalar_fits(run, inst))
        return false;
    if (operation && !(reads_fit(run, operation, inst) && writes_fit(run, operation, inst)))
        return false;
    run->count++;
    run->dwords += inst->dwords;
    run->vectors += operation != NULL;
    run->scalars += scalar;
    run->needs |= operation ? operation->needs : 0;
    run->waits |= inst->op == OP_S_WAITCNT;
    return true;
}

/* What the run loop counts for the first instruction is left to it. */
static void count_instructions(struct x86 *x, const struct run *run)
{
    int32_t counts[TALLY_SLOTS] = {0};
    for (unsigned n = 1; n < run->count; n++)
        counts[run->insts[n]->tally]++;
    for (unsigned tally = 0; tally < TALLY_SLOTS; tally++)
        if (counts[tally])
            x86_add64_imm(x, RDI, WAVE(counts) + (int32_t)(sizeof(uint64_t) * tally),
                          counts[tally]);
    x86_add32_imm(x, RDI, WAVE(slice_left), -(int32_t)(run->count - 1));
}

/* Lanes that are off: 64 - popcount(EXEC), which RAX has, for each vector instruction. */
static void count_idle_lanes(struct x86 *x, const struct run *run)
{
    x86_gpr_imm32(x, R10, WAVE_LANES);
    x86_gpr_popcount(x, RAX, RAX);
    x86_gpr_sub(x, R10, RAX);
    x86_gpr_multiply(x, R10, (int32_t)run->vectors - 1);
    x86_add64(x, RDI, WAVE(idle_lanes), R10);
}

static void strip_emit(struct x86 *x, const struct run *run, bool masked)
{
    struct emitter e = {.x = x};
    values_begin(&e.values, x, masked);
    for (unsigned n = 0; n < run->count; n++) {
        e.inst = run->insts[n];
        e.operation = operation_find(e.inst);
        if (e.operation)
            e.operation->emit(&e);
        values_next(&e.values);
    }
    values_flush(&e.values);
}

/* A strip without a lane that runs: only the masks that it writes are known, to be 0. */
static void idle_strip_emit(struct x86 *x, const struct run *run)
{
    for (unsigned pair = 0; pair < SREG_COUNT; pair++) {
        if (!run->mask_written[pair])
            continue;
        if (x->level->lanes == 16)
            x86_store16_imm(x, R9, (int32_t)(4 * pair), 0);
        else
            x86_store8_imm(x, R9, (int32_t)(4 * pair), 0);
    }
}

/* RDX, R8: the strip's part of the rows; R9: of the masks; RCX: strips left. */
static void strips_emit(struct x86 *x, const struct run *run, bool masked)
{
    const int8_t lanes = (int8_t)x->level->lanes;
    size_t idle = 0;
    x86_load64(x, RDX, RDI, WAVE(v));
    x86_load64(x, R8, RDI, WAVE(a));
    x86_gpr_move(x, R9, RDI);
    x86_gpr_imm32(x, RCX, WAVE_LANES / x->level->lanes);
    size_t loop = x->count;
    if (masked) {
        (lanes == 16 ? x86_load16 : x86_load8)(x, RAX, R9, WAVE(s) + 4 * SREG_EXEC);
        x86_gpr_test32(x, RAX);
        idle = x86_jump_if(x, JUMP_EQUAL);
        x86_mask_from(x, MASK_EXEC, RAX);
    }
    strip_emit(x, run, masked);
    if (masked) {
        size_t done = x86_jump(x);
        x86_land(x, idle);
        idle_strip_emit(x, run);
        x86_land(x, done);
    }
    x86_gpr_add_imm(x, RDX, (int8_t)(4 * lanes));
    x86_gpr_add_imm(x, R8, (int8_t)(4 * lanes));
    x86_gpr_add_imm(x, R9, lanes / 8);
    x86_gpr_add_imm(x, RCX, -1);
    x86_jump_back_if(x, JUMP_NOT_EQUAL, loop);
    x86_vzeroupper(x);
    x86_lea(x, RAX, RSI, (int32_t)(run->dwords * sizeof(struct inst)));
    x86_return(x);
}

/* What s_waitcnt does, before the run instead of within: vector instructions touch no memory. */
static void wait_emit(struct x86 *x)
{
    x86_compare8_imm(x, RDI, WAVE(stores_pending), 0);
    size_t none = x86_jump_if(x, JUMP_EQUAL);
    x86_fence(x);
    x86_store8_imm(x, RDI, WAVE(stores_pending), 0);
    x86_land(x, none);
}

static void run_emit(struct x86 *x, const struct run *run, inst_exec_fn *plain)
{
    size_t alone[3] = {0};
    x86_compare32_imm(x, RDI, WAVE(slice_left), (int32_t)run->count - 1);
    alone[0] = x86_jump_if(x, JUMP_LESS);
    if (run->needs & NEED_ONE_STATE) {
        x86_load32(x, RAX, RDI, WAVE(fp_state_32));
        x86_compare32(x, RAX, RDI, WAVE(fp_state_64));
        alone[1] = x86_jump_if(x, JUMP_NOT_EQUAL);
    }
    if (run->needs & NEED_IEEE) {
        x86_test32_imm(x, RDI, WAVE(mode), MODE_IEEE);
        alone[2] = x86_jump_if(x, JUMP_EQUAL);
    }
    if (run->waits)
        wait_emit(x);
    count_instructions(x, run);
    if (run->scalars)
        scalars_emit(x, run);
    if (run->needs & NEED_ODD_LANES) {
        x86_gpr_imm32(x, RAX, 0xaaaa);
        x86_mask_from(x, MASK_ODD, RAX);
    }
    x86_load64(x, RAX, RDI, WAVE(s) + 4 * SREG_EXEC);
    x86_gpr_compare_imm(x, RAX, -1);
    size_t partial = x86_jump_if(x, JUMP_NOT_EQUAL);
    strips_emit(x, run, false);
    x86_land(x, partial);
    count_idle_lanes(x, run);
    strips_emit(x, run, true);
    for (int n = 0; n < 3; n++)
        if (alone[n])
            x86_land(x, alone[n]);
    x86_gpr_imm64(x, RAX, (uint64_t)(uintptr_t)plain);
    x86_jump_to(x, RAX);
    x86_constants_flush(x);
}

unsigned translate_run(struct x86 *x, const struct inst *const *insts, unsigned count,
                       inst_exec_fn *plain)
{
    struct run run = {.insts = insts};
    x->level = x86_level_find(valu_isa_name());
    if (!x->level || count == 0 || !operation_find(insts[0]))
        return 0;
    while (run.count < count && run.count < TRANSLATE_RUN_MAX && run_take(&run, insts[run.count]))
        ;
    if (run.vectors < TRANSLATE_RUN_MIN)
        return 0;
    run_emit(x, &run, plain);
    return run.count;
}

void *translated_map(const struct x86 *x)
{
    if (x->failed || !x->count)
        return NULL;
    void *code = mmap(NULL, x->count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return NULL;
    memcpy(code, x->bytes, x->count);
    if (mprotect(code, x->count, PROT_READ | PROT_EXEC) == 0)
        return code;
    munmap(code, x->count);
    return NULL;
}

void translated_unmap(void *code, size_t bytes)
{
    munmap(code, bytes);
}
