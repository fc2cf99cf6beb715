/*
 * What the memory instruction files share: the element a load or store moves, atomic operations,
 * and the log of cache-line requests.
 */
#ifndef WAVE_ACCESS_H
#define WAVE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wave/group.h"

enum atomic_kind {
    ATOMIC_SWAP,
    ATOMIC_CMPSWAP,
    ATOMIC_ADD,
    ATOMIC_SUB,
    ATOMIC_RSUB,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_MSKOR,
    ATOMIC_WRAP
};
enum atomic_type { ATOMIC_UINT, ATOMIC_INT, ATOMIC_FLOAT, ATOMIC_PK_F16, ATOMIC_PK_BF16 };

struct atomic_op {
    uint8_t kind, type, bytes;
};

/* What the mnemonic says; false when it is none of ours. */
bool atomic_op_find(const struct inst *inst, struct atomic_op *op);
/* The new value. `data` is the operand, `compare` the value to compare with (or the mask of
 * mskor's and wrap's second operand). */
uint64_t atomic_compute(const struct atomic_op *op, uint64_t old, uint64_t data, uint64_t compare);
/* Whether memory with these flags (vm_range.flags) does nothing and returns 0, where a GPU reaches
 * the host by PCIe: that has add, swap and compare-and-swap of integers, and what is not cached is
 * not done in the L2 (AMD's "Hardware atomics operation support", of MI100 and MI200). The first
 * time in a process it is said. */
bool atomic_refused(const struct inst *inst, uint32_t memory_flags);
/* Around operations on floats of memory or LDS, which have a rounding of their own, not the wave's;
 * nothing happens for others. */
void atomic_float_begin(const struct wave *wave, const struct atomic_op *op, bool lds);
void atomic_float_end(const struct wave *wave, const struct atomic_op *op, bool lds);
/* Atomically, also towards the host; returns the old value. */
uint64_t atomic_apply(const struct atomic_op *op, void *host, uint64_t data, uint64_t compare);
/* Compare-and-swap data of vector and scalar memory: data[0] low part is the new value, the part
 * behind it the compared one. Splits data[0..1] into the two arguments above. */
void atomic_split_compare(const struct atomic_op *op, uint64_t data[2]);

/* A load's or store's element. */
struct element {
    uint8_t bytes;  /* in memory */
    uint8_t dwords; /* registers */
    bool sign;      /* sub-dword loads: sign extension */
    bool d16, high; /* 16-bit register half; the other half becomes 0 by loads */
};
/* Of as many bytes; less than a dword with zeros above. */
static inline struct element plain_element(uint32_t bytes)
{
    return (struct element){.bytes = (uint8_t)bytes, .dwords = (uint8_t)((bytes + 3) / 4)};
}
bool element_find(const struct inst *inst, struct element *element);

/* Found once, when the handler is chosen, and kept in inst->aux. */
bool inst_keep_element(struct inst *inst);
bool inst_keep_atomic(struct inst *inst);

static inline struct element inst_element(const struct inst *inst)
{
    struct element element;
    memcpy(&element, inst->aux, sizeof element);
    return element;
}

static inline struct atomic_op inst_atomic(const struct inst *inst)
{
    struct atomic_op op;
    memcpy(&op, inst->aux, sizeof op);
    return op;
}

/* Scalar memory ignores the two low bits of each component of an address, not of their sum. */
static inline uint64_t whole_dwords(uint64_t bytes)
{
    return bytes & ~UINT64_C(3);
}

void access_log_scalar(struct wave *wave, const struct inst *inst, uint64_t va,
                       uint32_t size_bytes);
/* Only what counters want of it, which has been asked. The address has been translated. */
void access_log_scalar_lines(struct wave *wave, const struct inst *inst, uint64_t va,
                             uint32_t size_bytes);
/* The wave empties its compute unit's L1. */
void access_log_invalidate(struct wave *wave, const struct inst *inst);
/* At the end of a slice: what it logged lies where its memory has its place (mem/vm.h). */
void access_log_place(struct workgroup *group);
void access_log_vector(struct wave *wave, const struct inst *inst, const uint64_t *va,
                       uint64_t lanes, uint32_t size_bytes);
/* A full wave's elements that follow each other. */
void access_log_span(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t size_bytes);
/* Its lines alone; somebody has asked for them, and fetch_note_before() was called. */
void access_log_span_lines(struct wave *wave, const struct inst *inst, uint64_t va,
                           uint32_t size_bytes);

/* The same of private memory, by offsets in the lanes' own. */
void access_log_private(struct wave *wave, const struct inst *inst, const uint32_t *offset,
                        uint64_t lanes, uint32_t size_bytes);

/* lds_note.c: the lanes access LDS, each at its `address` + `at`. The caller has seen that perf
 * wants it. */
void lds_note(struct wave *wave, const struct inst *inst, const uint32_t *address, uint32_t at,
              uint64_t lanes, uint32_t size_bytes);
/* The same of a full wave's elements of whole dwords, which follow each other from `start` on: they
 * want each bank once. Not of atomics. False: they do not lie at dwords, or not all inside, and
 * nothing is noted. */
bool lds_note_row(struct wave *wave, const struct inst *inst, uint32_t start, uint32_t size_bytes);

#endif
