/*
 * LDS cycles, while counters want them. LDS has 32 banks of a dword; a cycle serves as many lanes
 * as fill them: 32 of a dword, 16 of two. A bank serves one dword per cycle, and lanes that read
 * the same dword share it, so such a part of the wave takes as many cycles as its fullest bank has
 * dwords; atomics at one address are done one after another. A part without active lanes takes its
 * cycle too.
 */
#include "wave/access.h"
#include "wave/group.h"

enum { BANKS = 32, DWORDS_PER_CYCLE = 32 };

struct part {
    uint32_t dwords[BANKS][DWORDS_PER_CYCLE]; /* distinct ones, by bank */
    uint32_t lanes[BANKS][DWORDS_PER_CYCLE];  /* that want them */
    uint32_t used[BANKS];
    uint32_t fullest, most_lanes;
    bool unaligned;
};

static void dword_note(struct part *part, uint32_t dword)
{
    uint32_t bank = dword % BANKS, n = 0;
    while (n < part->used[bank] && part->dwords[bank][n] != dword)
        n++;
    if (n == part->used[bank]) {
        part->dwords[bank][n] = dword;
        part->lanes[bank][n] = 0;
        part->used[bank]++;
    }
    part->lanes[bank][n]++;
    part->fullest = part->used[bank] > part->fullest ? part->used[bank] : part->fullest;
    part->most_lanes =
        part->lanes[bank][n] > part->most_lanes ? part->lanes[bank][n] : part->most_lanes;
}

static void part_note(struct perf_lds *counts, const struct inst *inst, const struct part *part)
{
    uint64_t cycles = part->fullest > 1 ? part->fullest : 1, extra = 0;
    if (inst->flags & IF_ATOMIC && part->most_lanes > 1)
        extra = part->most_lanes - 1;
    counts->active += cycles + extra;
    counts->conflict += cycles - 1;
    counts->address_conflict += extra;
    counts->unaligned += inst->format == FMT_FLAT && part->unaligned;
    if (inst->flags & IF_ATOMIC && inst->dst.kind != OPND_NONE)
        counts->atomic_return += cycles + extra;
}

void lds_note(struct wave *wave, const struct inst *inst, const uint32_t *offset, uint64_t lanes,
              uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    uint32_t dwords = size_bytes > 8 ? 4 : size_bytes > 4 ? 2 : 1;
    uint32_t width = DWORDS_PER_CYCLE / dwords;
    for (uint32_t at = 0; at < WAVE_LANES; at += width) {
        struct part part = {.used = {0}};
        for (uint64_t left = lanes & ((1ull << width) - 1) << at; left; left &= left - 1) {
            uint32_t start = offset[__builtin_ctzll(left)];
            if ((uint64_t)start + size_bytes > group->lds_bytes) {
                group->lds_counts.violations++;
                continue;
            }
            part.unaligned |= start % (size_bytes < 4 ? size_bytes : 4) != 0;
            for (uint32_t n = 0; n < (size_bytes + 3) / 4; n++)
                dword_note(&part, start / 4 + n);
        }
        part_note(&group->lds_counts, inst, &part);
    }
}
