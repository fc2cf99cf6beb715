/* Addresses of vector memory instructions: global, flat and scratch (address.c), buffers
 * (descriptor.c). */
#ifndef WAVE_ADDRESS_H
#define WAVE_ADDRESS_H

#include "wave/lanes.h"

/*
 * Host pointers of the active lanes' global addresses. False after wave_fault(): a lane's address
 * is not mapped for `access`.
 */
bool global_pointers(struct wave *wave, const struct inst *inst, const uint64_t *va, uint64_t lanes,
                     uint32_t size_bytes, struct lane_pointers *out);
/* The same for byte offsets into each lane's private memory. Either may write the other lanes'
 * pointers, too. */
bool scratch_pointers(struct wave *wave, const struct inst *inst, const uint32_t *offset,
                      uint64_t lanes, uint32_t size_bytes, struct lane_pointers *out);

/* Elements at offsets from `low` to `high` behind `va`, if one mapping has them: where the host has
 * offset 0, which need not be mapped. NULL: it has not, and nothing has happened. */
uint8_t *offsets_translate(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t low,
                           uint32_t high, uint32_t size_bytes);
/* Tells whoever looks at accesses of them. */
void offsets_note(struct wave *wave, const struct inst *inst, uint64_t va, const uint32_t *offsets,
                  uint64_t lanes, uint32_t size_bytes);

/* Host pointers for a buffer instruction: what its descriptor does not hold has no pointer. */
bool buffer_pointers(struct wave *wave, const struct inst *inst, uint32_t size_bytes,
                     struct lane_pointers *out);
/* Whether a lane's dwords lie apart from each other there, with those of other lanes in between. */
bool buffer_dwords_apart(const struct wave *wave, const struct inst *inst);
struct buffer_dwords {
    uint64_t va;
    uint32_t step_bytes; /* from one to the next */
};
/* How many of a lane's first `dwords` the buffer holds, and where they are. */
uint32_t buffer_dwords_inside(const struct wave *wave, const struct inst *inst, unsigned lane,
                              uint32_t dwords, struct buffer_dwords *out);
/* Where a full wave's elements lie when they follow each other by their offsets, all of them inside
 * the buffer; NULL: elsewhere. */
uint8_t *buffer_contiguous(struct wave *wave, const struct inst *inst, uint32_t bytes,
                           uint32_t access);

/* The same of elements of 4, 8 or 16 bytes where they lie in pieces (pieces.h). */
struct piece_place;
bool buffer_pieces(struct wave *wave, const struct inst *inst, uint32_t element_bytes,
                   struct piece_place *out);
/* The same wherever they lie in a mapping (scattered.h). */
struct scattered_place;
bool buffer_scattered(struct wave *wave, const struct inst *inst, uint32_t element_bytes,
                      struct scattered_place *out);

/* Lowest and highest address of the lanes; both 0 when there is none. */
struct va_extent {
    uint64_t low, high;
};
struct va_extent lanes_extent(const uint64_t *va, uint64_t lanes);

/* va = base + zero-extended offset; va = (high:low) + offset. All 64 lanes. */
void lanes_add(uint64_t *va, const uint32_t *offset, uint64_t base);
void lanes_join(uint64_t *va, const uint32_t *low, const uint32_t *high, uint64_t offset);

static inline uint32_t inst_access(const struct inst *inst)
{
    return inst->flags & IF_ATOMIC  ? VM_READ | VM_WRITE
           : inst->flags & IF_STORE ? VM_WRITE
                                    : VM_READ;
}

#endif
