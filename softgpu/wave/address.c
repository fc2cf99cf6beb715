#include "wave/address.h"

#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/time_note.h"

/* 64-bit minimum and zero extension have no SSE2 instruction. */
ALWAYS_INLINE struct va_extent extent_of_all(const uint64_t *va)
{
    struct va_extent extent = {va[0], va[0]};
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        extent.low = va[lane] < extent.low ? va[lane] : extent.low;
        extent.high = va[lane] > extent.high ? va[lane] : extent.high;
    }
    return extent;
}

ALWAYS_INLINE void add_offsets(uint64_t *va, const uint32_t *offset, uint64_t base)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        va[lane] = base + offset[lane];
}

ALWAYS_INLINE void join_halves(uint64_t *va, const uint32_t *low, const uint32_t *high,
                               uint64_t offset)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        va[lane] = (low[lane] | (uint64_t)high[lane] << 32) + offset;
}

ALWAYS_INLINE uint32_t most_of(const uint32_t *offset, uint64_t lanes)
{
    uint32_t most = 0;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        const uint32_t at = lanes >> lane & 1 ? offset[lane] : 0;
        most = at > most ? at : most;
    }
    return most;
}

ALWAYS_INLINE void add_strides(uint8_t **host, const uint32_t *offset, uint8_t *base, size_t stride)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        host[lane] = base + lane * stride + offset[lane];
}

#define DEFINE_LEVEL(level, options)                                                               \
    options static struct va_extent extent_##level(const uint64_t *va)                             \
    {                                                                                              \
        return extent_of_all(va);                                                                  \
    }                                                                                              \
    options static uint32_t most_##level(const uint32_t *offset, uint64_t lanes)                   \
    {                                                                                              \
        return most_of(offset, lanes);                                                             \
    }                                                                                              \
    options static void strides_##level(uint8_t **host, const uint32_t *offset, uint8_t *base,     \
                                        size_t stride)                                             \
    {                                                                                              \
        add_strides(host, offset, base, stride);                                                   \
    }                                                                                              \
    options static void offsets_##level(uint64_t *va, const uint32_t *offset, uint64_t base)       \
    {                                                                                              \
        add_offsets(va, offset, base);                                                             \
    }                                                                                              \
    options static void join_##level(uint64_t *va, const uint32_t *low, const uint32_t *high,      \
                                     uint64_t offset)                                              \
    {                                                                                              \
        join_halves(va, low, high, offset);                                                        \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

void lanes_add(uint64_t *va, const uint32_t *offset, uint64_t base)
{
    CALL_LEVEL(offsets, va, offset, base);
}

void lanes_join(uint64_t *va, const uint32_t *low, const uint32_t *high, uint64_t offset)
{
    CALL_LEVEL(join, va, low, high, offset);
}

struct va_extent lanes_extent(const uint64_t *va, uint64_t lanes)
{
    struct va_extent extent = {0, 0};
    if (!lanes)
        return extent;
    if (lanes == ~0ull)
        return CALL_LEVEL(extent, va);
    extent.low = extent.high = va[__builtin_ctzll(lanes)];
    for (uint64_t left = lanes; left; left &= left - 1) {
        uint64_t at = va[__builtin_ctzll(left)];
        extent.low = at < extent.low ? at : extent.low;
        extent.high = at > extent.high ? at : extent.high;
    }
    return extent;
}

static const struct inst *access_fault(struct wave *wave, const struct inst *inst, uint64_t va)
{
    bool writes = inst->flags & (IF_STORE | IF_ATOMIC);
    return wave_fault(wave, inst, writes ? FAULT_MEMORY_WRITE : FAULT_MEMORY_READ, va);
}

/* Lanes in several mapped ranges: each is translated by itself. */
static bool pointers_one_by_one(struct wave *wave, const struct inst *inst, const uint64_t *va,
                                uint64_t lanes, uint32_t size_bytes, struct lane_pointers *out)
{
    struct vm_reader *reader = wave->group->reader;
    for (uint64_t left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        out->host[lane] = vm_translate_element(reader, va[lane], size_bytes, inst_access(inst));
        if (!out->host[lane]) {
            access_fault(wave, inst, va[lane]);
            return false;
        }
    }
    return true;
}

static bool lane_refused(struct wave *wave, const struct inst *inst, uint64_t va)
{
    const struct vm_range *range = vm_range_at(wave->group->reader, va);
    return range && atomic_refused(inst, range->flags);
}

/* Lanes whose memory does not do this atomic have no pointer. In one mapping the first one says it
 * of all. */
static void atomics_refuse(struct wave *wave, const struct inst *inst, const uint64_t *va,
                           bool in_one, struct lane_pointers *out)
{
    if (in_one && out->lanes && !lane_refused(wave, inst, va[__builtin_ctzll(out->lanes)]))
        return;
    for (uint64_t left = out->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        if (in_one || lane_refused(wave, inst, va[lane]))
            out->host[lane] = NULL;
    }
}

bool global_pointers(struct wave *wave, const struct inst *inst, const uint64_t *va, uint64_t lanes,
                     uint32_t size_bytes, struct lane_pointers *out)
{
    struct va_extent extent = lanes_extent(va, lanes);
    uint64_t span = extent.high - extent.low + size_bytes;
    out->lanes = lanes;
    out->some_outside = false;
    access_log_vector(wave, inst, va, lanes, size_bytes);
    /* Nearly always one allocation holds all lanes' addresses: one look-up for the wave. */
    uint8_t *host = lanes && span <= UINT32_MAX ? vm_translate(wave->group->reader, extent.low,
                                                               (uint32_t)span, inst_access(inst))
                                                : NULL;
    if (!host && !pointers_one_by_one(wave, inst, va, lanes, size_bytes, out))
        return false;
    for (unsigned lane = 0; lane < WAVE_LANES && host; lane++)
        out->host[lane] = host + (va[lane] - extent.low);
    if (inst->flags & IF_ATOMIC && wave->group->launch->few_host_atomics)
        atomics_refuse(wave, inst, va, host != NULL, out);
    return true;
}

uint8_t *offsets_translate(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t low,
                           uint32_t high, uint32_t size_bytes)
{
    const uint64_t span = (uint64_t)high - low + size_bytes;
    uint8_t *first = span > UINT32_MAX ? NULL
                                       : vm_translate(wave->group->reader, va + low, (uint32_t)span,
                                                      inst_access(inst));
    return first ? first - low : NULL;
}

void offsets_note(struct wave *wave, const struct inst *inst, uint64_t va, const uint32_t *offsets,
                  uint64_t lanes, uint32_t size_bytes)
{
    uint64_t each[WAVE_LANES];
    if (!memory_noted(wave->group))
        return;
    lanes_add(each, offsets, va);
    access_log_vector(wave, inst, each, lanes, size_bytes);
}

/* The first lane that is on and lies outside. */
static const struct inst *scratch_fault(struct wave *wave, const struct inst *inst,
                                        const uint32_t *offset, uint64_t lanes, uint32_t size_bytes)
{
    const uint64_t base = (uint64_t)wave->group->launch->private_base_hi << 32;
    uint64_t left = lanes;
    while ((uint64_t)offset[__builtin_ctzll(left)] + size_bytes <= wave->scratch_bytes)
        left &= left - 1;
    return access_fault(wave, inst, base | offset[__builtin_ctzll(left)]);
}

bool scratch_pointers(struct wave *wave, const struct inst *inst, const uint32_t *offset,
                      uint64_t lanes, uint32_t size_bytes, struct lane_pointers *out)
{
    out->lanes = lanes;
    out->some_outside = false;
    access_log_private(wave, inst, offset, lanes, size_bytes);
    if (lanes && (uint64_t)CALL_LEVEL(most, offset, lanes) + size_bytes > wave->scratch_bytes) {
        scratch_fault(wave, inst, offset, lanes, size_bytes);
        return false;
    }
    CALL_LEVEL(strides, out->host, offset, wave->scratch, wave->scratch_stride);
    return true;
}
