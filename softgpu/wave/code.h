/*
 * Decoded program memory of one device. A region mirrors one mapped range of GPU memory with one
 * slot for each dword; a slot is decoded when it is first executed.
 */
#ifndef WAVE_CODE_H
#define WAVE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "mem/vm.h"
#include "wave/wave.h"

struct code;

/* Who executes what is decoded. */
struct code_handlers {
    inst_exec_fn *(*find)(struct inst *inst); /* never NULL */
    inst_exec_fn *far_branch;                 /* a branch out of the region: goes by address */
};

/* `handlers` lives as long as the code. */
int code_create(enum gpu_gen gen, const struct code_handlers *handlers, struct code **code);
void code_destroy(struct code *code);

/* Points the wave at `va`: sets code, code_va and pc. False when no executable memory is there.
 * Call inside the reader's read section. */
bool code_enter(struct code *code, struct vm_reader *reader, struct wave *wave, uint64_t va);

/* The instruction cache was invalidated, or memory was mapped anew: decoded slots whose dwords
 * have changed are forgotten. */
void code_revalidate(struct code *code, struct vm_reader *reader);

/* Of a slot's exec: it decodes the slot, whose other fields are not what memory holds. */
bool code_is_stub(inst_exec_fn *exec);

/* Code has become hot: runs of vector instructions that were executed since the last time are
 * translated (translate/). Does nothing if there are none. */
void code_translate(struct code *code);
bool code_is_fresh(const struct code *code); /* whether there are some; a hint */

/* Before a dispatch: what code_revalidate() does for the page of its first instruction, and for
 * everything when the page table changed. */
void code_check(struct code *code, struct vm_reader *reader, uint64_t entry_va);

/* A wave in step has stopped in front of the instruction, where it will go on: a run begins there
 * when code is next translated. inst->held is written once, by the first who finds it 0, and read
 * by code_translate.c; nothing else goes by it. */
void code_hold(struct code *code, const struct inst *inst);
static inline void code_note_held(struct code *code, const struct inst *inst)
{
    if (__builtin_expect(!__atomic_load_n(&inst->held, __ATOMIC_RELAXED), 0))
        code_hold(code, inst);
}

/*
 * How a branch went when it was executed first, in its slot's aux: how often it was taken, up to
 * BRANCH_TIMES, and passed meanwhile. Written by whoever executes it, read by code_translate.c,
 * all relaxed: nothing else goes by it, and a count that is lost among threads is one of many.
 */
enum { BRANCH_TAKEN, BRANCH_PASSED, BRANCH_TIMES = 64 };
static inline void branch_note(const struct inst *inst, bool taken)
{
    uint8_t *times = (uint8_t *)(uintptr_t)inst->aux;
    if (__atomic_load_n(&times[BRANCH_TAKEN], __ATOMIC_RELAXED) >= BRANCH_TIMES)
        return;
    uint8_t *one = &times[taken ? BRANCH_TAKEN : BRANCH_PASSED];
    const uint8_t before = __atomic_load_n(one, __ATOMIC_RELAXED);
    if (before < UINT8_MAX)
        __atomic_store_n(one, before + 1, __ATOMIC_RELAXED);
}
static inline bool branch_was_taken(const struct inst *inst)
{
    return __atomic_load_n(&inst->aux[BRANCH_TAKEN], __ATOMIC_RELAXED) >= BRANCH_TIMES &&
           __atomic_load_n(&inst->aux[BRANCH_PASSED], __ATOMIC_RELAXED) == 0;
}
/* A run goes on at its target, as it was taken whenever it was executed: from now on that is not
 * noted where it is, but would be where it is not. It counts as often enough. */
static inline void branch_settle(struct inst *inst)
{
    if (__atomic_load_n(&inst->aux[BRANCH_PASSED], __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&inst->aux[BRANCH_TAKEN], BRANCH_TIMES, __ATOMIC_RELAXED);
}

#endif
