#include "wave/time_note.h"

#include <stdlib.h>
#include <string.h>

#include "perf/l2_mix.h"
#include "wave/host_levels.h"

uint32_t time_limit_first(const struct perf *perf, uint64_t waves)
{
    return perf_samples_all(perf) ? SAMPLE_POSITIONS : sample_limit(waves);
}

void time_note_begin(struct workgroup *group, const struct perf *perf, uint64_t group_total)
{
    const struct launch *launch = group->launch;
    const bool is_timed = launch->sample_limit != 0, all = is_timed && perf_samples_all(perf);
    group->sample_slot =
        is_timed ? sample_unit(group->index, group_total, launch->units) : SAMPLE_UNITS;
    group->samples_all = all;
    group->notes_places = launch->l2_mixes;
    group->is_sampled = all || group->sample_slot < SAMPLE_UNITS;
    group->sample_limit = launch->sample_limit;
    group->blocks.count = group->blocks.noted = group->blocks.run_block = 0;
    group->blocks.mapping_bytes = 0;
    memset(group->lds_samples, 0, sizeof group->lds_samples);
    group->lds_noted = (struct lds_noted){0};
}

/* The log has the mapping of another address. False: it has none. */
static __attribute__((noinline)) bool mapping_look_up(struct workgroup *group, uint64_t va)
{
    struct block_log *log = &group->blocks;
    const struct vm_range *range = vm_range_at(group->reader, va);
    if (!range)
        return false;
    log->mapping = range->start;
    log->mapping_bytes = range->end - range->start;
    log->place = (uint64_t)range->place << VM_PLACE_BITS;
    log->memory = (uint8_t)((range->flags & VM_MEMORY_MASK) >> VM_TYPE_SHIFT);
    return true;
}

static inline bool mapping_find(struct workgroup *group, uint64_t va)
{
    const struct block_log *log = &group->blocks;
    return __builtin_expect(va - log->mapping < log->mapping_bytes, 1) ||
           mapping_look_up(group, va);
}

/* What its mapping says of a block: what memory it is, and where it lies. What has none, private
 * memory, is the GPU's own and lies at its address. */
static inline void mapping_note(struct workgroup *group, uint64_t va, struct perf_block *block)
{
    const struct block_log *log = &group->blocks;
    const bool has = mapping_find(group, va);
    block->memory = has ? log->memory : 0;
    if (!group->notes_places)
        return;
    const uint64_t place = has ? log->place + (va - log->mapping) : va;
    block->mixed = l2_block_mixed(place / SAMPLE_BLOCK_BYTES) & ((1u << L2_MIX_BITS) - 1);
}

/* Goes on with half the blocks. */
static __attribute__((noinline)) void blocks_halve(struct workgroup *group)
{
    struct block_log *log = &group->blocks;
    uint64_t kept = 0;
    group->sample_limit /= 2;
    log->noted = 0;
    for (uint64_t i = 0; i < log->count; i++) {
        if (log->items[i].position >= group->sample_limit)
            continue;
        log->noted += 1 + log->items[i].repeats;
        log->items[kept++] = log->items[i];
    }
    log->count = kept;
}

static __attribute__((noinline)) bool blocks_grow(struct block_log *log)
{
    uint64_t capacity = log->capacity ? log->capacity * 2 : 16;
    void *items = realloc(log->items, capacity * sizeof *log->items);
    if (!items)
        return false; /* modelled time loses an access; the program does not */
    log->items = items;
    log->capacity = capacity;
    return true;
}

static inline struct perf_block *block_slot(struct workgroup *group)
{
    struct block_log *log = &group->blocks;
    log->run_block = 0;
    if (__builtin_expect(blocks_full(group), 0))
        blocks_halve(group);
    if (__builtin_expect(log->count == log->capacity, 0) && !blocks_grow(log))
        return NULL;
    log->noted++;
    return &log->items[log->count++];
}

/* These bytes, too. */
static inline void block_touch(struct perf_block *block, uint8_t kind, uint64_t va, uint32_t bytes)
{
    uint32_t first = (uint32_t)va & (SAMPLE_BLOCK_BYTES - 1), last = first + bytes - 1;
    last = last < SAMPLE_BLOCK_BYTES ? last : SAMPLE_BLOCK_BYTES - 1;
    block->sectors |= (uint8_t)block_parts(first, last, SAMPLE_SECTOR_BYTES);
    if (kind == ACCESS_WRITE || kind == ACCESS_ATOMIC)
        block->halves |= (uint8_t)block_parts(first, last, SAMPLE_HALF_BYTES);
}

static uint8_t block_kind(const struct inst *inst)
{
    if (inst->klass == CLASS_SMEM)
        return ACCESS_SCALAR_READ;
    return inst->flags & IF_ATOMIC  ? ACCESS_ATOMIC
           : inst->flags & IF_STORE ? ACCESS_WRITE
                                    : ACCESS_READ;
}

/* NULL: there is no memory for it. */
static inline struct perf_block *block_add(struct workgroup *group, uint8_t kind, uint64_t va,
                                           uint64_t origin, uint32_t bytes)
{
    struct perf_block *block = block_slot(group);
    if (__builtin_expect(!block, 0))
        return NULL;
    *block = (struct perf_block){.va = va,
                                 .number = (uint32_t)((va - origin) / SAMPLE_BLOCK_BYTES),
                                 .position = (uint16_t)sample_position(va - origin),
                                 .kind = kind};
    mapping_note(group, va, block);
    block_touch(block, kind, va, bytes);
    return block;
}

void time_note_block(struct workgroup *group, const struct inst *inst, uint64_t va, uint64_t origin,
                     uint32_t bytes)
{
    struct block_log *log = &group->blocks;
    const uint8_t kind = block_kind(inst);
    bool scalar = kind == ACCESS_SCALAR_READ;
    if (scalar && time_note_repeated(group, va, bytes))
        return;
    uint64_t number = va / SAMPLE_BLOCK_BYTES + 1;
    uint32_t before = log->run_block == number ? log->run_sectors : 0;
    const struct perf_block *block = block_add(group, kind, va, origin, bytes);
    if (!block || !scalar)
        return;
    log->run_block = number;
    log->run_sectors = before | block->sectors;
}

/* 1 for each lane whose block is sampled. */
ALWAYS_INLINE void lanes_flag(const uint64_t *va, uint64_t origin, uint32_t limit, uint8_t *flags)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        flags[lane] = sample_position(va[lane] - origin) < limit;
}

#define DEFINE_LEVEL(level, options)                                                               \
    options static void flag_##level(const uint64_t *va, uint64_t origin, uint32_t limit,          \
                                     uint8_t *flags)                                               \
    {                                                                                              \
        lanes_flag(va, origin, limit, flags);                                                      \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

/* The lanes whose blocks are sampled. */
static uint64_t lanes_sampled(const uint64_t *va, uint64_t origin, uint32_t limit)
{
    uint64_t lanes = 0, eight;
    uint8_t flags[WAVE_LANES];
    CALL_LEVEL(flag, va, origin, limit, flags);
    for (unsigned i = 0; i < WAVE_LANES / 8; i++) { /* eight bytes become a byte */
        memcpy(&eight, flags + 8 * i, sizeof eight);
        lanes |= (eight * 0x0102040810204080 >> 56) << 8 * i;
    }
    return lanes;
}

/* Lanes' elements of one instruction. */
struct lanes_noted {
    const uint64_t *va;
    uint64_t origin; /* where their mapping begins */
    uint32_t bytes;
    uint8_t kind;
};

/* A lane's bytes join those that its instruction, whose first block is number `before`, has there
 * already. */
static void lane_note(struct workgroup *group, const struct lanes_noted *noted, uint64_t va,
                      uint64_t before)
{
    struct block_log *log = &group->blocks;
    uint64_t n = log->count;
    while (n > before && (log->items[n - 1].va ^ va) / SAMPLE_BLOCK_BYTES)
        n--;
    if (n > before)
        block_touch(&log->items[n - 1], noted->kind, va, noted->bytes);
    else
        block_add(group, noted->kind, va, noted->origin, noted->bytes);
}

/* The same of many lanes, whose blocks may all be others: a hash finds those that are there, as
 * long as the group does not go on with half of them. Returns the lanes that are left. */
static uint64_t lanes_note_hashed(struct workgroup *group, const struct lanes_noted *noted,
                                  uint64_t lanes)
{
    enum { SLOT_BITS = 7, SLOTS = 1 << SLOT_BITS };
    _Static_assert(SLOTS >= 2 * WAVE_LANES, "at most half of them are used");
    struct block_log *log = &group->blocks;
    const uint64_t before = log->count, origin = noted->origin;
    const uint32_t limit = group->sample_limit, bytes = noted->bytes;
    const uint8_t kind = noted->kind;
    uint8_t slots[SLOTS] = {0}; /* number of the block's item + 1 */
    for (; lanes && group->sample_limit == limit; lanes &= lanes - 1) {
        const uint64_t at = noted->va[__builtin_ctzll(lanes)];
        uint32_t slot = (uint32_t)(at / SAMPLE_BLOCK_BYTES) * 0x9e3779b1u >> (32 - SLOT_BITS);
        while (slots[slot] && (log->items[before + slots[slot] - 1].va ^ at) / SAMPLE_BLOCK_BYTES)
            slot = (slot + 1) % SLOTS;
        if (slots[slot])
            block_touch(&log->items[before + slots[slot] - 1], kind, at, bytes);
        else if (block_add(group, kind, at, origin, bytes))
            slots[slot] = (uint8_t)(log->count - before);
    }
    return lanes;
}

void time_note_lanes(struct workgroup *group, const struct inst *inst, const uint64_t *va,
                     uint64_t lanes, uint64_t origin, uint32_t size_bytes)
{
    enum { FEW = 6 };
    const struct lanes_noted noted = {va, origin, size_bytes, block_kind(inst)};
    uint64_t before = group->blocks.count;
    if (lanes && group->sample_limit < SAMPLE_POSITIONS)
        lanes &= lanes_sampled(va, origin, group->sample_limit);
    if (__builtin_popcountll(lanes) > FEW)
        lanes = lanes_note_hashed(group, &noted, lanes);
    for (uint64_t left = lanes; left; left &= left - 1)
        lane_note(group, &noted, va[__builtin_ctzll(left)], before);
}
