/* Groups of a series (series.h), one after another. What each wave does is its accesses and the
 * vector instructions on what they load (translate/series.c); what a group is asked for besides is
 * whether its scalar loads find the same, and which sampled blocks it touches. */
#include "wave/series.h"

#include <stdlib.h>
#include <string.h>

#include "mem/single_copy.h"
#include "perf/sampling.h"
#include "wave/access.h"
#include "wave/fetch_path.h"
#include "wave/series_note.h"
#include "wave/span_sampled.h"
#include "wave/time_note.h"

enum { GROUPS_LEAST = 8, /* fewer are not worth it */ GROUPS_LATER = 64 };
enum { WAVES_AHEAD = 4, PAGES_AHEAD = 8, PAGE_BYTES = 4096 };
enum { SERIES_PIECES = SERIES_LOADS * SERIES_LOAD_BYTES / 4 };

/* Where the host has it all while this read section lasts. */
struct series_hosts {
    const uint8_t *loads[SERIES_LOADS];
    uint32_t piece_count;
    struct series_piece { /* of the loads: what the host reads at once */
        const uint8_t *host, *value;
        uint32_t bytes;
    } pieces[SERIES_PIECES];
    struct series_span spans[WAVES_PER_GROUP_MAX][SERIES_ACCESSES]; /* of the next group */
    struct series_extent {                                          /* of all groups */
        const uint8_t *low;
        uint64_t bytes;
    } extents[WAVES_PER_GROUP_MAX][SERIES_ACCESSES];
    struct series_access {
        uint32_t bytes;           /* of a wave */
        uint64_t origin;          /* of the mapping */
        bool load, merged;        /* merged: the waves' elements follow each other */
        int64_t page_step;        /* of pages that are asked for together, */
        uint32_t groups, page_in; /* for so many groups, and when for the next ones */
    } accesses[SERIES_ACCESSES];
};

/* ---- is it one? ---- */

/* The waves' run, which has one; NULL: they are no series. */
static const struct fetch_path *path_of(const struct workgroup *group, const struct inst *first)
{
    inst_exec_fn *exec = __atomic_load_n(&first->exec, __ATOMIC_ACQUIRE);
    const struct fetch_path *path = fetch_path_of(first, exec);
    const struct series *series = path ? path->series : NULL;
    if (!series || group->wants & PERF_WANT_TRACE || group->is_traced || group->is_sampled ||
        group->flat_lds_insts || group->executed.waves != group->wave_count)
        return NULL;
    for (uint32_t i = 0; i < group->wave_count; i++)
        if (wave_whole(&group->waves[i]) != series->whole || group->waves[i].idle_lanes)
            return NULL;
    return path;
}

/* The last group that may begin as this one did, if the dispatch goes on so. */
static uint64_t row_last(const struct workgroup *group)
{
    const struct launch *launch = group->launch;
    return group->index - group->id[0] + launch->grid[0] / launch->size[0] - 1;
}

static bool plan_is_good(const struct series_plan *plan, const struct workgroup *group,
                         const struct series *series)
{
    return plan->dispatch == group->dispatch->sequence && plan->series == series &&
           plan->waves == group->wave_count && group->index >= plan->first &&
           group->index < plan->last;
}

/* Nothing is known of another dispatch's groups. */
static void plan_begin(struct series_plan *plan, const struct workgroup *group,
                       const struct series *series)
{
    if (plan->dispatch == group->dispatch->sequence && plan->series == series)
        return;
    plan->dispatch = group->dispatch->sequence;
    plan->series = series;
    plan->far_end = plan->refused_end = 0;
}

/* As far as possible, or a part of it: the last groups may be other ones. */
static bool plan_far(struct series_plan *plan, struct workgroup *group, uint64_t wanted)
{
    enum { PART = 8 };
    const uint64_t most = row_last(group) - group->index, parts[] = {0, most / PART, most / 2};
    for (unsigned n = 0; n < sizeof parts / sizeof *parts; n++)
        if (most - parts[n] > wanted &&
            series_plan_make(plan, group, group->index + most - parts[n]))
            return true;
    return false;
}

/* What has been tried in vain is not tried again soon. */
static void plan_refuse(struct series_plan *plan, uint64_t end)
{
    plan->last = 0;
    plan->refused_end = end;
}

static bool plan_find(struct series_plan *plan, struct workgroup *group,
                      const struct series *series, uint64_t end)
{
    enum { LATER = 16 };
    const uint64_t wanted = end - 1 - group->index;
    if (plan_is_good(plan, group, series))
        return series_plan_holds(plan, group);
    plan_begin(plan, group, series);
    plan->last = 0;
    if (group->index < plan->refused_end)
        return false;
    if (group->index >= plan->far_end) {
        if (plan_far(plan, group, wanted))
            return true;
        plan->far_end = group->index + LATER * wanted;
    }
    if (series_plan_make(plan, group, group->index + wanted))
        return true;
    plan_refuse(plan, group->index + LATER * wanted);
    return false;
}

/* ---- where it is ---- */

/* As scalar loads read: aligned pieces as wide as they can be. */
static void pieces_add(struct series_hosts *hosts, const uint8_t *host,
                       const struct series_load *load)
{
    enum { WIDEST = sizeof(quad), LEAST = 4 };
    for (uint32_t at = 0, bytes; at < load->bytes; at += bytes) {
        for (bytes = WIDEST; bytes > LEAST; bytes /= 2)
            if ((uintptr_t)(host + at) % bytes == 0 && bytes <= load->bytes - at)
                break;
        hosts->pieces[hosts->piece_count++] =
            (struct series_piece){host + at, load->value + at, bytes};
    }
}

static bool loads_find(const struct workgroup *group, const struct series_plan *plan,
                       struct series_hosts *hosts)
{
    hosts->piece_count = 0;
    for (uint32_t n = 0; n < plan->load_count; n++) {
        const struct series_load *load = &plan->loads[n];
        hosts->loads[n] = vm_translate(group->reader, load->va, load->bytes, VM_READ);
        if (!hosts->loads[n])
            return false;
        pieces_add(hosts, hosts->loads[n], load);
    }
    return true;
}

/* What is stored there is loaded by no scalar load. */
static bool is_apart(const struct series_plan *plan, const struct series_hosts *hosts,
                     const uint8_t *low, uint64_t bytes)
{
    for (uint32_t n = 0; n < plan->load_count; n++)
        if ((uintptr_t)hosts->loads[n] - (uintptr_t)low + plan->loads[n].bytes <
            bytes + plan->loads[n].bytes)
            return false;
    return true;
}

/* Whether a wave's elements lie in one mapping as they have to, of groups first to last, counted
 * from the plan's first one; where those of the first one do. */
static bool span_find(const struct workgroup *group, const struct series_plan *plan,
                      const struct series_place *place, const struct inst *inst,
                      const uint64_t between[2], struct series_hosts *hosts,
                      struct series_access *access, struct series_span *span,
                      struct series_extent *extent)
{
    enum { ALIGNED = 16 };
    const bool load = inst->flags & IF_LOAD;
    const uint32_t rights = load ? VM_READ : VM_WRITE;
    const uint64_t a = place->va + (uint64_t)place->step * between[0];
    const uint64_t b = place->va + (uint64_t)place->step * between[1];
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    const struct vm_range *range = vm_range_for(group->reader, low, rights);
    access->bytes = WAVE_LANES * 4 * dwords_moved(inst);
    access->load = load;
    if (!range || high >> 48 /* perhaps an aperture */ || high >= range->end ||
        access->bytes > range->end - high || !(range->flags & rights))
        return false;
    span->host = range->host + (a - range->start);
    *extent =
        (struct series_extent){range->host + (low - range->start), high - low + access->bytes};
    access->origin = range->start;
    return (uintptr_t)span->host % ALIGNED == 0 && place->step % ALIGNED == 0 &&
           (load || is_apart(plan, hosts, extent->low, extent->bytes));
}

/* The same of all waves, which have one mapping. */
static bool access_find(const struct workgroup *group, const struct series_plan *plan,
                        const struct inst *inst, const uint64_t between[2],
                        struct series_hosts *hosts, unsigned k)
{
    struct series_access *access = &hosts->accesses[k];
    access->merged = true;
    for (uint32_t w = 0; w < plan->waves; w++) {
        const struct series_place *place = &plan->places[w][k];
        const uint64_t origin = access->origin;
        if (!span_find(group, plan, place, inst, between, hosts, access, &hosts->spans[w][k],
                       &hosts->extents[w][k]) ||
            (w > 0 && access->origin != origin))
            return false;
        if (w > 0)
            access->merged &= place->va == plan->places[w - 1][k].va + access->bytes &&
                              place->step == plan->places[w - 1][k].step;
    }
    return true;
}

/* The host has nothing of both in its memory, or each lane's alone: strips of one access come
 * before other strips of another one (translate/series.c), which no lane sees then. */
static bool pair_is_apart(const struct series_plan *plan, const struct series_hosts *hosts,
                          uint32_t w, unsigned a, unsigned b)
{
    const struct series_extent *x = &hosts->extents[w][a], *y = &hosts->extents[w][b];
    const int64_t a_bytes = hosts->accesses[a].bytes, b_bytes = hosts->accesses[b].bytes;
    const struct series_span *at = &hosts->spans[w][a], *bt = &hosts->spans[w][b];
    if ((uintptr_t)x->low - (uintptr_t)y->low + x->bytes >= y->bytes + x->bytes)
        return true;
    const int64_t distance = (int64_t)((uintptr_t)at->host - (uintptr_t)bt->host);
    return plan->places[w][a].step == plan->places[w][b].step &&
           (distance >= b_bytes || -distance >= a_bytes || (distance == 0 && a_bytes == b_bytes));
}

static bool pairs_are_apart(const struct series_plan *plan, const struct series_hosts *hosts)
{
    for (unsigned a = 0; a < plan->series->accesses; a++)
        for (unsigned b = a + 1; b < plan->series->accesses; b++)
            for (uint32_t w = 0; w < plan->waves; w++)
                if (!(hosts->accesses[a].load && hosts->accesses[b].load) &&
                    !pair_is_apart(plan, hosts, w, a, b))
                    return false;
    return true;
}

/* Some waves later the same access finds what it asks for now. */
static void spans_foresee(const struct series_plan *plan, struct series_hosts *hosts)
{
    for (uint32_t w = 0; w < plan->waves; w++)
        for (unsigned k = 0; k < plan->series->accesses; k++) {
            const uint32_t later = w + WAVES_AHEAD;
            struct series_span *span = &hosts->spans[w][k];
            const struct series_span *then = &hosts->spans[later % plan->waves][k];
            const int64_t step = plan->places[later % plan->waves][k].step;
            span->ahead = then->host - span->host + later / plan->waves * step;
        }
}

/*
 * The first access of a page makes the host look for it, 150 ns where it is a guest with pages of
 * 4 KiB. It looks for several at once if it is asked to: the triad gains a tenth (Zen 4).
 */
static void pages_begin(const struct series_plan *plan, struct series_hosts *hosts)
{
    for (unsigned k = 0; k < plan->series->accesses; k++) {
        struct series_access *access = &hosts->accesses[k];
        const int64_t step = plan->places[0][k].step;
        const int64_t length = step < 0 ? -step : step;
        const bool follows = access->merged && length == (int64_t)plan->waves * access->bytes;
        const int64_t page = follows || length < PAGE_BYTES ? PAGE_BYTES : length;
        access->page_step = step < 0 ? -page : page;
        access->groups = length ? (uint32_t)(PAGES_AHEAD * page / length) : UINT32_MAX;
        access->page_in = 0;
    }
}

static void pages_ask(const struct series_plan *plan, struct series_hosts *hosts)
{
    for (unsigned k = 0; k < plan->series->accesses; k++) {
        struct series_access *access = &hosts->accesses[k];
        if (access->page_in-- > 0)
            continue;
        access->page_in = access->groups - 1;
        for (int n = 1; n <= PAGES_AHEAD; n++)
            __builtin_prefetch(hosts->spans[0][k].host + n * access->page_step, 0, 2);
    }
}

static bool hosts_find(const struct workgroup *group, const struct series_plan *plan,
                       uint64_t first, uint64_t last, struct series_hosts *hosts)
{
    const uint64_t between[2] = {first - plan->first, last - plan->first};
    unsigned k = 0;
    if (!loads_find(group, plan, hosts))
        return false;
    for (unsigned n = 0; n < plan->series->count; n++)
        if (plan->series->steps[n].role == SERIES_ACCESS &&
            !access_find(group, plan, plan->series->steps[n].inst, between, hosts, k++))
            return false;
    spans_foresee(plan, hosts);
    pages_begin(plan, hosts);
    return pairs_are_apart(plan, hosts);
}

static void hosts_next(const struct series_plan *plan, struct series_hosts *hosts)
{
    for (uint32_t w = 0; w < plan->waves; w++)
        for (unsigned k = 0; k < plan->series->accesses; k++)
            hosts->spans[w][k].host += plan->places[w][k].step;
}

/* ---- a group ---- */

static bool piece_same(const struct series_piece *piece)
{
    uint64_t wide;
    uint32_t dword;
    quad four;
    switch (piece->bytes) {
    case sizeof four:
        memcpy(&four, piece->value, sizeof four);
        four ^= single_load_quad(piece->host);
        return _mm_movemask_epi8(_mm_cmpeq_epi32((__m128i)four, _mm_setzero_si128())) == 0xffff;
    case sizeof wide:
        memcpy(&wide, piece->value, sizeof wide);
        return single_load_64(piece->host) == wide;
    default:
        memcpy(&dword, piece->value, sizeof dword);
        return single_load_32(piece->host) == dword;
    }
}

static bool loads_same(const struct series_hosts *hosts)
{
    bool same = true;
    for (uint32_t n = 0; n < hosts->piece_count; n++)
        same &= piece_same(&hosts->pieces[n]);
    return same;
}

/* As span_sampled() has it, of longer ones. */
static bool is_sampled(uint64_t va, uint32_t bytes, uint64_t origin, uint32_t limit)
{
    enum { BLOCKS = 8, PART = (BLOCKS - 1) * SAMPLE_BLOCK_BYTES };
    bool sampled = false;
    for (; bytes > PART; bytes -= PART, va += PART)
        sampled |= span_sampled(va, PART, origin, limit);
    return sampled | span_sampled(va, bytes, origin, limit);
}

/* Does a vector access of the group touch a sampled block? */
static bool group_is_sampled(const struct workgroup *group, const struct series_plan *plan,
                             const struct series_hosts *hosts)
{
    const uint64_t at = group->index - plan->first;
    if (!group->sample_limit)
        return false;
    for (unsigned k = 0; k < plan->series->accesses; k++) {
        const struct series_access *access = &hosts->accesses[k];
        const uint32_t times = access->merged ? plan->waves : 1;
        for (uint32_t w = 0; w < plan->waves; w += times) {
            const struct series_place *place = &plan->places[w][k];
            if (is_sampled(place->va + (uint64_t)place->step * at, access->bytes * times,
                           access->origin, group->sample_limit))
                return true;
        }
    }
    return false;
}

/* No sampled block is noted. */
static void blocks_begin(struct workgroup *group)
{
    group->sample_limit = group->launch->sample_limit;
    group->blocks.count = group->blocks.noted = group->blocks.run_block = 0;
}

static void group_begin(struct workgroup *group)
{
    group->index++;
    group->id[0]++;
    group->is_alike = true;
    blocks_begin(group);
}

static void group_execute(struct workgroup *group, const struct series_plan *plan,
                          const struct series_hosts *hosts)
{
    const struct inst *first = plan->series->steps[0].inst;
    for (uint32_t w = 0; w < plan->waves; w++)
        plan->series->exec(&group->waves[w], first, hosts->spans[w]);
}

/* The head's group has touched sampled blocks with scalar loads alone, as all groups of the series
 * do. */
static bool head_is_plain(const struct workgroup *group)
{
    const struct finished_group *head = group->head;
    if (group->full->record.sample_limit != group->launch->sample_limit)
        return false;
    for (uint64_t n = 0; n < head->blocks.count; n++)
        if (head->blocks.items[n].kind != ACCESS_SCALAR_READ)
            return false;
    return true;
}

/* Notes what a group leaves behind besides its memory. `follows`: but for its blocks that follows
 * from the last one's with a record. Returns whether it does of the next one. */
static bool group_note(struct engine *engine, struct workgroup *group,
                       const struct series_plan *plan, bool follows, bool sampled)
{
    const uint32_t limit = group->full->record.sample_limit;
    if (follows && group->sample_limit == limit) {
        series_note_next(group, plan, sampled);
        if (group->sample_limit == limit) {
            group_record_like(group);
            return true;
        }
        blocks_begin(group);
    }
    follows = series_note(group, plan);
    group_record_known(engine, group);
    return follows;
}

/* Groups from the next one on to before `end`, as long as nothing changes. */
static struct series_count groups_run(struct engine *engine, struct workgroup *group,
                                      const struct series_plan *plan, struct series_hosts *hosts,
                                      uint64_t end)
{
    struct series_count count = {0, 0};
    /* Where accesses are counted, a head says how they go on: the first one's record is made. */
    bool follows = !(group->wants & PERF_WANT_L2), plain = follows && head_is_plain(group);
    while (group->index + 1 < end && perf_wants(engine->perf) == group->wants &&
           loads_same(hosts)) {
        group_begin(group);
        const bool sampled = group_is_sampled(group, plan, hosts);
        if (!plain || sampled) {
            follows = group_note(engine, group, plan, follows, sampled);
            plain = follows && !sampled;
        } else {
            group->head->repeats++;
            count.repeats++;
        }
        pages_ask(plan, hosts);
        group_execute(group, plan, hosts);
        hosts_next(plan, hosts);
        count.groups++;
    }
    return count;
}

struct series_count series_run(struct engine *engine, struct workgroup *group,
                               const struct inst *first, uint64_t end)
{
    const struct series_count none = {0, 0};
    struct series_hosts hosts;
    if (group->index + GROUPS_LEAST > end)
        return none;
    const struct fetch_path *path = path_of(group, first);
    if (!path)
        return none;
    if (!group->plan)
        group->plan = calloc(1, sizeof *group->plan);
    struct series_plan *plan = group->plan;
    if (!plan || !plan_find(plan, group, path->series, end))
        return none;
    plan->path = path;
    end = plan->last + 1 < end ? plan->last + 1 : end;
    if (group->index + 1 >= end)
        return none;
    if (!hosts_find(group, plan, group->index + 1, end - 1, &hosts)) {
        plan_refuse(plan, group->index + GROUPS_LATER);
        return none;
    }
    const struct series_count count = groups_run(engine, group, plan, &hosts, end);
    if (count.groups == 0) /* the arguments have changed */
        plan_refuse(plan, group->index + GROUPS_LATER);
    group->heat += count.groups * plan->waves * plan->series->count;
    return count;
}
