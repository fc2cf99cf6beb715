/*
 * LDS cycles, while counters want them or the instruction is sampled. LDS has 32 banks of a dword;
 * a cycle serves as many lanes as fill them: 32 of a dword, 16 of two. A bank serves one dword per
 * cycle, and lanes that read the same dword share it, so such a part of the wave takes as many
 * cycles as its fullest bank has dwords; atomics at one address are done one after another. A part
 * without active lanes takes its cycle too.
 */
#include <stdlib.h>
#include <string.h>

#include "wave/access.h"
#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/time_note.h"

enum { BANKS = 32, DWORDS_PER_CYCLE = 32, PATTERN_PAIRS = 16, PAIR_SHIFT = 28 };

/* Of all parts of a wave, in cycles but for the last one. */
struct lds_cost {
    uint32_t banks, conflict, address_conflict, unaligned_parts;
};

/*
 * What an access costs is the same wherever it lies, as long as all lanes move by whole dwords: the
 * banks only change their names. Loops repeat few patterns, and know their costs by them.
 */
struct lds_pattern {
    uint32_t relative[WAVE_LANES] __attribute__((aligned(64))); /* to the first active lane */
    uint64_t lanes;
    uint32_t size_bytes; /* of an element; 0: no pattern */
    uint32_t misaligned; /* bytes of the first lane's behind a dword */
    bool is_atomic;
    int64_t lowest, highest; /* of the active lanes' relative offsets */
    struct lds_cost cost;
};

/* Found by a hash, one of two; what was not found replaces the one that was not found last. */
struct lds_patterns {
    struct lds_pattern of[PATTERN_PAIRS][2];
    uint8_t recent[PATTERN_PAIRS];
};

/* The access itself: the lanes' offsets are `address` + `at`. */
struct lds_access {
    const uint32_t *address;
    uint32_t at, size_bytes;
    uint64_t lanes;
    bool is_atomic;
};

/* What the lanes of a part want, in their order. */
struct part {
    uint32_t dwords[DWORDS_PER_CYCLE], count;
    bool rising, unaligned; /* rising: no dword lies below the one before */
};

struct part_cost {
    uint32_t fullest, most_lanes;
};

static inline uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Equal dwords are neighbours. */
static struct part_cost rising_cost(const struct part *part)
{
    uint8_t used[BANKS] = {0};
    struct part_cost cost = {0};
    uint32_t same = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t dword = part->dwords[i];
        same = i > 0 && dword == part->dwords[i - 1] ? same + 1 : 1;
        used[dword % BANKS] = (uint8_t)(used[dword % BANKS] + (same == 1));
        cost.fullest = greater(cost.fullest, used[dword % BANKS]);
        cost.most_lanes = greater(cost.most_lanes, same);
    }
    return cost;
}

/* In each cycle each bank serves one of the dwords that are left, to all lanes that want it. */
static struct part_cost mixed_cost(struct part *part)
{
    uint32_t served[BANKS];
    struct part_cost cost = {0};
    while (part->count) {
        uint32_t left = 0;
        uint8_t lanes[BANKS] = {0};
        for (uint32_t i = 0; i < part->count; i++)
            served[part->dwords[i] % BANKS] = part->dwords[i];
        for (uint32_t i = 0; i < part->count; i++) {
            uint32_t dword = part->dwords[i], bank = dword % BANKS;
            bool is_served = served[bank] == dword;
            lanes[bank] = (uint8_t)(lanes[bank] + is_served);
            cost.most_lanes = greater(cost.most_lanes, lanes[bank]);
            part->dwords[left] = dword;
            left += !is_served;
        }
        part->count = left;
        cost.fullest++;
    }
    return cost;
}

static void part_add(struct lds_cost *cost, struct part *part, bool is_atomic)
{
    struct part_cost own = part->rising ? rising_cost(part) : mixed_cost(part);
    uint32_t cycles = greater(own.fullest, 1);
    cost->banks += cycles;
    cost->conflict += cycles - 1;
    cost->address_conflict += is_atomic && own.most_lanes > 1 ? own.most_lanes - 1 : 0;
    cost->unaligned_parts += part->unaligned;
}

static void lane_add(struct part *part, uint32_t start, uint32_t size_bytes)
{
    part->unaligned |= start % (size_bytes < 4 ? size_bytes : 4) != 0;
    for (uint32_t n = 0; n < (size_bytes + 3) / 4; n++) {
        uint32_t dword = start / 4 + n;
        part->rising &= part->count == 0 || dword >= part->dwords[part->count - 1];
        part->dwords[part->count++] = dword;
    }
}

/* All lanes lie inside. */
static struct lds_cost cost_of(const struct lds_access *access)
{
    uint32_t dwords = access->size_bytes > 8 ? 4 : access->size_bytes > 4 ? 2 : 1;
    uint32_t width = DWORDS_PER_CYCLE / dwords;
    struct lds_cost cost = {0};
    for (uint32_t at = 0; at < WAVE_LANES; at += width) {
        struct part part;
        part.count = 0;
        part.rising = true;
        part.unaligned = false;
        for (uint64_t left = access->lanes & ((1ull << width) - 1) << at; left; left &= left - 1)
            lane_add(&part, access->address[__builtin_ctzll(left)] + access->at,
                     access->size_bytes);
        part_add(&cost, &part, access->is_atomic);
    }
    return cost;
}

/*
 * A full wave whose parts want each bank once, as lanes do that lie side by side, or at an odd
 * stride: there are no conflicts, and nothing needs to be known of the pattern. Elements of so many
 * dwords, one or two, that lie inside and at multiples of their size. The banks' names do not
 * matter: they are those of the addresses, whatever is added to all of them.
 */
typedef uint32_t dwords_8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t dwords_16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint64_t pairs_8 __attribute__((vector_size(32), may_alias));
typedef uint64_t pairs_16 __attribute__((vector_size(64), may_alias));
typedef dwords_16 dwords_avx512;
typedef dwords_8 dwords_avx2, dwords_portable;
typedef pairs_16 pairs_avx512;
typedef pairs_8 pairs_avx2, pairs_portable;
#define DEFINE_ONCE(level, options)                                                                \
    options ALWAYS_INLINE uint32_t any_of_##level(dwords_##level v)                                \
    {                                                                                              \
        const pairs_##level pairs = (pairs_##level)v;                                              \
        uint64_t any = 0;                                                                          \
        for (uint32_t n = 0; n < sizeof pairs / sizeof any; n++)                                   \
            any |= pairs[n];                                                                       \
        return (uint32_t)any | (uint32_t)(any >> 32);                                              \
    }                                                                                              \
    options ALWAYS_INLINE bool banks_once_##level(const uint32_t *address, uint32_t dwords,        \
                                                  uint32_t *bits)                                  \
    {                                                                                              \
        enum { LANES = sizeof(dwords_##level) / 4 };                                               \
        const uint32_t width = DWORDS_PER_CYCLE / dwords;                                          \
        dwords_##level all = {0};                                                                  \
        uint32_t once = UINT32_MAX;                                                                \
        for (uint32_t first = 0; first < WAVE_LANES; first += width) {                             \
            dwords_##level banks = {0};                                                            \
            for (uint32_t lane = first; lane < first + width; lane += LANES) {                     \
                const dwords_##level own =                                                         \
                    *(const dwords_##level *)(const void *)(address + lane);                       \
                banks |= ((dwords_##level){0} + (dwords > 1 ? 3 : 1)) << (own / 4 % BANKS);        \
                all |= own;                                                                        \
            }                                                                                      \
            once &= any_of_##level(banks);                                                         \
        }                                                                                          \
        *bits = any_of_##level(all);                                                               \
        return once == UINT32_MAX && *bits % (4 * dwords) == 0;                                    \
    }                                                                                              \
    options static __attribute__((noinline)) bool once_##level(const uint32_t *address,            \
                                                               uint32_t dwords, uint32_t *bits)    \
    {                                                                                              \
        return dwords == 1 ? banks_once_##level(address, 1, bits)                                  \
                           : banks_once_##level(address, 2, bits);                                 \
    }
DEFINE_LEVELS(DEFINE_ONCE)

ALWAYS_INLINE uint32_t relative_differences(const uint32_t *relative, const uint32_t *address,
                                            uint32_t first)
{
    uint32_t differs = 0;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        differs |= relative[lane] ^ (address[lane] - first);
    return differs;
}

#define DEFINE_LEVEL(level, options)                                                               \
    options static uint32_t differs_##level(const uint32_t *relative, const uint32_t *address,     \
                                            uint32_t first)                                        \
    {                                                                                              \
        return relative_differences(relative, address, first);                                     \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

/* The pair that holds the pattern, if it is kept. */
static inline uint32_t pair_of(const struct lds_access *access)
{
    const uint32_t *address = access->address;
    uint32_t near = address[1] - address[0], far = address[WAVE_LANES - 1] - address[0];
    uint32_t middle = address[WAVE_LANES / 2 + 5] - address[0];
    uint32_t hash = (near * 31 + middle) * 31 + far + access->size_bytes * 2 + access->is_atomic;
    return hash * 0x9e3779b1u >> PAIR_SHIFT;
}

static void pattern_keep(struct lds_pattern *pattern, const struct lds_access *access,
                         uint32_t first, struct lds_cost cost)
{
    *pattern = (struct lds_pattern){.lanes = access->lanes,
                                    .size_bytes = access->size_bytes,
                                    .misaligned = (first + access->at) % 4,
                                    .is_atomic = access->is_atomic,
                                    .cost = cost};
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t relative = access->address[lane] - first;
        int64_t active = access->lanes >> lane & 1 ? (int32_t)relative : 0;
        pattern->relative[lane] = relative;
        pattern->lowest = active < pattern->lowest ? active : pattern->lowest;
        pattern->highest = active > pattern->highest ? active : pattern->highest;
    }
}

/* Whether the access has the pattern, and none of its lanes lies outside. */
static inline bool pattern_fits(const struct lds_pattern *pattern, const struct lds_access *access,
                                uint32_t first, uint32_t lds_bytes)
{
    int64_t start = (uint32_t)(first + access->at);
    return pattern->size_bytes == access->size_bytes && pattern->lanes == access->lanes &&
           pattern->misaligned == start % 4 && pattern->is_atomic == access->is_atomic &&
           start + pattern->lowest >= 0 &&
           start + pattern->highest + access->size_bytes <= lds_bytes &&
           CALL_LEVEL(differs, pattern->relative, access->address, first) == 0;
}

/* Takes the lanes outside off. Returns how many there were. */
static uint32_t lanes_outside(struct lds_access *access, uint32_t lds_bytes)
{
    uint64_t outside = 0;
    for (uint64_t left = access->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t start = access->address[lane] + access->at;
        outside |= (uint64_t)((uint64_t)start + access->size_bytes > lds_bytes) << lane;
    }
    access->lanes &= ~outside;
    return (uint32_t)__builtin_popcountll(outside);
}

static struct lds_patterns *patterns_of(struct workgroup *group)
{
    if (!group->lds_patterns) {
        group->lds_patterns = aligned_alloc(64, sizeof *group->lds_patterns);
        if (group->lds_patterns)
            memset(group->lds_patterns, 0, sizeof *group->lds_patterns);
    }
    return group->lds_patterns;
}

/* Nothing is kept where lanes lie outside, or where there is no memory for it. */
static struct lds_cost cost_new(struct lds_patterns *patterns, uint32_t pair,
                                struct lds_access *access, uint32_t lds_bytes, uint32_t *outside)
{
    uint32_t first = access->lanes ? access->address[__builtin_ctzll(access->lanes)] : 0;
    *outside = lanes_outside(access, lds_bytes);
    struct lds_cost cost = cost_of(access);
    if (!patterns || !access->lanes || *outside)
        return cost;
    patterns->recent[pair] ^= 1;
    pattern_keep(&patterns->of[pair][patterns->recent[pair]], access, first, cost);
    return cost;
}

/* No address of a full wave is above that. */
static __attribute__((noinline)) bool all_below(const uint32_t *address, uint64_t last)
{
    uint32_t highest = 0;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        highest = greater(highest, address[lane]);
    return highest <= last;
}

static inline bool is_once(const struct workgroup *group, const uint32_t *address, uint32_t at,
                           uint64_t lanes, uint32_t size_bytes)
{
    const uint64_t end = (uint64_t)at + size_bytes;
    uint32_t bits; /* of all addresses */
    if (lanes != ~UINT64_C(0) || (size_bytes != 4 && size_bytes != 8) || at & (size_bytes - 1) ||
        end > group->lds_bytes || !CALL_LEVEL(once, address, size_bytes / 4, &bits))
        return false;
    return bits + end <= group->lds_bytes || all_below(address, group->lds_bytes - end);
}

static inline struct lds_cost cost_find(struct workgroup *group, struct lds_access *access,
                                        uint32_t *outside)
{
    uint32_t first = access->lanes ? access->address[__builtin_ctzll(access->lanes)] : 0;
    struct lds_patterns *patterns = patterns_of(group);
    uint32_t pair = pair_of(access);
    *outside = 0;
    for (uint32_t n = 0; patterns && n < 2; n++) {
        uint32_t way = patterns->recent[pair] ^ n;
        if (!pattern_fits(&patterns->of[pair][way], access, first, group->lds_bytes))
            continue;
        patterns->recent[pair] = (uint8_t)way;
        return patterns->of[pair][way].cost;
    }
    return cost_new(patterns, pair, access, group->lds_bytes, outside);
}

/* The same execution of the instruction may come twice, with an offset each time. */
static void sample_note(struct wave *wave, const struct inst *inst, uint64_t cycles)
{
    struct workgroup *group = wave->group;
    struct lds_noted now = {wave, inst, wave->counts[inst->tally]}, *last = &group->lds_noted;
    bool is_new =
        now.wave != last->wave || now.inst != last->inst || now.executed != last->executed;
    struct perf_lds_sample *sample = &group->lds_samples[perf_lds_kind(inst->tally)];
    sample->instructions += is_new;
    sample->cycles += cycles;
    *last = now;
}

static void counts_add(struct perf_lds *to, const struct inst *inst, const struct lds_cost *cost,
                       uint32_t outside)
{
    uint64_t cycles = cost->banks + cost->address_conflict;
    to->active += cycles;
    to->conflict += cost->conflict;
    to->address_conflict += cost->address_conflict;
    to->violations += outside;
    if (inst->format == FMT_FLAT)
        to->unaligned += cost->unaligned_parts;
    if (inst->flags & IF_ATOMIC && inst->dst.kind != OPND_NONE)
        to->atomic_return += cycles;
}

static __attribute__((noinline)) void cost_note(struct wave *wave, const struct inst *inst,
                                                const struct lds_cost *cost, uint32_t outside)
{
    struct workgroup *group = wave->group;
    if (group->wants & PERF_WANT_LDS)
        counts_add(&group->lds_counts, inst, cost, outside);
    if (time_lds_sampled(wave, inst))
        sample_note(wave, inst, cost->banks + cost->address_conflict);
}

bool lds_note_row(struct wave *wave, const struct inst *inst, uint32_t start, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    const uint32_t dwords = size_bytes > 8 ? 4 : size_bytes > 4 ? 2 : 1;
    const struct lds_cost cost = {.banks = WAVE_LANES * dwords / DWORDS_PER_CYCLE};
    if (start % 4 || (uint64_t)start + WAVE_LANES * size_bytes > group->lds_bytes)
        return false;
    if (group->is_sampled)
        cost_note(wave, inst, &cost, 0);
    else /* it is watched because it is counted */
        group->lds_counts.active += cost.banks;
    return true;
}

static __attribute__((noinline)) void pattern_note(struct wave *wave, const struct inst *inst,
                                                   struct lds_access *access)
{
    uint32_t outside;
    const struct lds_cost cost = cost_find(wave->group, access, &outside);
    cost_note(wave, inst, &cost, outside);
}

void lds_note(struct wave *wave, const struct inst *inst, const uint32_t *address, uint32_t at,
              uint64_t lanes, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    const struct lds_cost once = {.banks = WAVE_LANES * size_bytes / 4 / DWORDS_PER_CYCLE};
    if (!is_once(group, address, at, lanes, size_bytes)) {
        struct lds_access access = {address, at, size_bytes, lanes, inst->flags & IF_ATOMIC};
        pattern_note(wave, inst, &access);
    } else if (group->is_sampled || inst->flags & IF_ATOMIC) {
        cost_note(wave, inst, &once, 0);
    } else { /* it is watched because it is counted */
        group->lds_counts.active += once.banks;
    }
}
