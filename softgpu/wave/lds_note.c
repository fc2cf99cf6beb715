/*
 * LDS cycles, while counters want them or the instruction is sampled. LDS has 32 banks of a dword;
 * a cycle serves as many lanes as fill them: 32 of a dword, 16 of two. A bank serves one dword per
 * cycle, and lanes that read the same dword share it, so such a part of the wave takes as many
 * cycles as its fullest bank has dwords; atomics at one address are done one after another. A part
 * without active lanes takes its cycle too.
 */
#include <string.h>

#include "wave/access.h"
#include "wave/group.h"
#include "wave/time_note.h"

enum { BANKS = 32, DWORDS_PER_CYCLE = 32 };

struct part {
    uint32_t dwords[BANKS][DWORDS_PER_CYCLE]; /* distinct ones, by bank */
    uint32_t lanes[BANKS][DWORDS_PER_CYCLE];  /* that want them */
    uint32_t used[BANKS];
    uint32_t fullest, most_lanes;
    uint32_t end; /* behind the highest dword so far: what lies there is new, without a search */
    bool unaligned;
};

static void dword_note(struct part *part, uint32_t dword)
{
    uint32_t bank = dword % BANKS, n = dword < part->end ? 0 : part->used[bank];
    while (n < part->used[bank] && part->dwords[bank][n] != dword)
        n++;
    if (n == part->used[bank]) {
        part->dwords[bank][n] = dword;
        part->lanes[bank][n] = 0;
        part->used[bank]++;
        part->end = dword < part->end ? part->end : dword + 1;
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

/* The same execution of the instruction may come twice, with an offset each time. */
static void sample_note(struct wave *wave, const struct inst *inst, const struct perf_lds *counts)
{
    struct workgroup *group = wave->group;
    struct lds_noted now = {wave, inst, wave->counts[inst->tally]}, *last = &group->lds_noted;
    bool is_new =
        now.wave != last->wave || now.inst != last->inst || now.executed != last->executed;
    struct perf_lds_sample *sample = &group->lds_samples[perf_lds_kind(inst->tally)];
    sample->instructions += is_new;
    sample->cycles += counts->active;
    *last = now;
}

static void counts_add(struct perf_lds *to, const struct perf_lds *from)
{
    to->active += from->active;
    to->conflict += from->conflict;
    to->address_conflict += from->address_conflict;
    to->unaligned += from->unaligned;
    to->atomic_return += from->atomic_return;
    to->violations += from->violations;
}

void lds_note(struct wave *wave, const struct inst *inst, const uint32_t *offset, uint64_t lanes,
              uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    uint32_t dwords = size_bytes > 8 ? 4 : size_bytes > 4 ? 2 : 1;
    uint32_t width = DWORDS_PER_CYCLE / dwords;
    struct perf_lds counts = {0};
    for (uint32_t at = 0; at < WAVE_LANES; at += width) {
        struct part part;
        memset(part.used, 0, sizeof part.used); /* the rest counts up to there */
        part.fullest = part.most_lanes = part.end = 0;
        part.unaligned = false;
        for (uint64_t left = lanes & ((1ull << width) - 1) << at; left; left &= left - 1) {
            uint32_t start = offset[__builtin_ctzll(left)];
            if ((uint64_t)start + size_bytes > group->lds_bytes) {
                counts.violations++;
                continue;
            }
            part.unaligned |= start % (size_bytes < 4 ? size_bytes : 4) != 0;
            for (uint32_t n = 0; n < (size_bytes + 3) / 4; n++)
                dword_note(&part, start / 4 + n);
        }
        part_note(&counts, inst, &part);
    }
    if (group->wants & PERF_WANT_LDS)
        counts_add(&group->lds_counts, &counts);
    if (time_lds_sampled(wave, inst))
        sample_note(wave, inst, &counts);
}
