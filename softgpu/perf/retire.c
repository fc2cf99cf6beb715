/*
 * Groups that retire. Some of what one did has its place in an order: accesses, and what was looked
 * at for modelled time. All else is summed up, and groups of a kernel mostly did the same. So a
 * dispatch keeps what its last group did, and its units count groups that did that, until a group
 * differs, totals are read or the dispatch ends: then they are added, all at once.
 */
#include <string.h>

#include "perf/clock.h"
#include "perf/internal.h"

enum { WAVE_ITEMS = 64 };

struct running_dispatch **dispatch_find(struct perf *perf, uint64_t seq)
{
    struct running_dispatch **at = &perf->running;
    while (*at && (*at)->seq != seq)
        at = &(*at)->next;
    return at;
}

/* What an instruction of the class keeps in flight; loads of vectors: bounds.c. */
static void latency_add(enum inst_class klass, enum clock_wait wait, uint64_t cycles, uint64_t *cu)
{
    if (klass >= CLASS_VMEM_RD && klass <= CLASS_FLAT_WR && wait != WAIT_LOAD)
        cu[SRC_VMEM_LATENCY] += cycles;
    if (klass == CLASS_LDS)
        cu[SRC_LDS_LATENCY] += cycles;
}

static void tally_add(const struct clock_cost *costs, enum inst_tally tally, uint64_t count,
                      uint64_t *cu)
{
    _Static_assert(SRC_INST_OTHER - SRC_INST_VALU == CLASS_OTHER - CLASS_VALU, "same order");
    enum inst_class klass = tally_class[tally];
    cu[tally] += count;
    cu[SRC_INST_VALU + klass] += count;
    cu[SRC_MATRIX_CYCLES] += count * costs[tally].matrix_cycles;
    latency_add(klass, (enum clock_wait)costs[tally].wait, count * costs[tally].wait_cycles, cu);
}

static void instructions_add(const struct perf *perf, const struct perf_group *group,
                             uint64_t groups, uint64_t *cu)
{
    for (uint32_t i = 0; i < group->tally_count; i++)
        tally_add(perf->costs, group->tallies[i], groups * group->counts[i], cu);
    cu[SRC_VALU_LANES] += groups * group->valu_lanes;
    cu[SRC_FLAT_LDS] += groups * group->flat_lds_insts;
    cu[SRC_FLAT_LDS_ONLY] += groups * group->flat_lds_only;
    cu[SRC_IFETCH] += groups * group->fetches;
    cu[SRC_IFETCH_LATENCY] += SCALAR_HIT_CYCLES * groups * group->fetches;
}

/* All waves are full but the last. */
static void waves_add(const struct perf_group *group, uint64_t groups, uint64_t *cu)
{
    uint32_t left = group->work_items;
    cu[SRC_GROUPS] += groups;
    cu[SRC_WAVES] += groups * group->waves;
    cu[SRC_ITEMS] += groups * group->work_items;
    for (uint32_t i = 0; i < group->waves; i++) {
        uint32_t items = left < WAVE_ITEMS ? left : WAVE_ITEMS;
        left -= items;
        cu[SRC_WAVES_EQ_64] += items == 64 ? groups : 0;
        cu[SRC_WAVES_LT_64] += items < 64 ? groups : 0;
        cu[SRC_WAVES_LT_48] += items < 48 ? groups : 0;
        cu[SRC_WAVES_LT_32] += items < 32 ? groups : 0;
        cu[SRC_WAVES_LT_16] += items < 16 ? groups : 0;
    }
}

static void lds_add(const struct perf_lds *lds, uint64_t groups, uint64_t *cu)
{
    cu[SRC_LDS_ACTIVE] += groups * lds->active;
    cu[SRC_LDS_CONFLICT] += groups * lds->conflict;
    cu[SRC_LDS_ADDRESS_CONFLICT] += groups * lds->address_conflict;
    cu[SRC_LDS_UNALIGNED] += groups * lds->unaligned;
    cu[SRC_LDS_RETURN] += groups * lds->atomic_return;
    cu[SRC_LDS_VIOLATIONS] += groups * lds->violations;
}

/* What groups of a unit did, each the same: to the totals of the unit and of its dispatch. */
static void sums_add(struct perf *perf, const struct perf_group *group, const uint32_t rounds[2],
                     struct running_dispatch *dispatch, size_t at)
{
    uint64_t *cu = perf->cu[at], groups = (uint64_t)rounds[0] + rounds[1];
    instructions_add(perf, group, groups, cu);
    waves_add(group, groups, cu);
    lds_add(&group->lds, groups, cu);
    bounds_groups(group, rounds, cu, dispatch ? &dispatch->units[at] : NULL);
    if (dispatch && dispatch->sample)
        dispatch_sample_executed(dispatch->sample, group, rounds);
    perf->array_changes[at / perf->model->cu_per_sh]++;
}

static void alike_add(struct running_dispatch *dispatch, uint32_t at, uint32_t later,
                      uint32_t groups)
{
    uint32_t *alike = dispatch->units[at].alike;
    if (!(alike[0] | alike[1]))
        dispatch->unsettled[dispatch->unsettled_count++] = at;
    alike[later] += groups;
}

/* Groups of later rounds become those of their units. */
static void range_settle(struct running_dispatch *dispatch)
{
    const uint64_t units = dispatch->turn_count, first = dispatch->alike_range.first;
    const uint64_t count = dispatch->alike_range.end - first, least = count ? count / units : 0;
    uint64_t turn = count ? first % units : 0;
    for (uint64_t n = 0; n < units && n < count; n++) {
        const uint32_t at = dispatch->turns[turn];
        const uint32_t groups = (uint32_t)(least + (n < count % units));
        alike_add(dispatch, at, 1, groups);
        dispatch->units[at].groups += groups;
        turn = turn + 1 < units ? turn + 1 : 0;
    }
    dispatch->alike_range.first = dispatch->alike_range.end = 0;
}

void dispatch_settle(struct perf *perf, struct running_dispatch *dispatch)
{
    range_settle(dispatch);
    for (uint32_t i = 0; i < dispatch->unsettled_count; i++) {
        uint32_t at = dispatch->unsettled[i], *rounds = dispatch->units[at].alike;
        sums_add(perf, &dispatch->alike, rounds, dispatch, at);
        rounds[0] = rounds[1] = 0;
    }
    dispatch->unsettled_count = 0;
}

void dispatches_settle(struct perf *perf)
{
    memory_settle(&perf->memory);
    if (!perf->is_unsettled)
        return;
    for (struct running_dispatch *each = perf->running; each; each = each->next)
        dispatch_settle(perf, each);
    perf->is_unsettled = false;
}

static const uint8_t *sums_of(const struct perf_group *group)
{
    return (const uint8_t *)group + PERF_SUMS_AT;
}

static bool is_alike(struct perf_group *known, const struct perf_group *group)
{
    uint32_t tallies = group->tally_count;
    if (group->sums_id && group->sums_id == known->sums_id)
        return true;
    if (tallies != known->tally_count ||
        memcmp(sums_of(group), sums_of(known), PERF_SUMS_BYTES) != 0 ||
        memcmp(group->tallies, known->tallies, tallies) != 0 ||
        memcmp(group->counts, known->counts, tallies * sizeof group->counts[0]) != 0)
        return false;
    known->sums_id = group->sums_id;
    return true;
}

static void alike_set(struct running_dispatch *dispatch, const struct perf_group *group)
{
    struct perf_group *known = &dispatch->alike;
    memcpy((uint8_t *)known + PERF_SUMS_AT, sums_of(group), PERF_SUMS_BYTES);
    known->tally_count = group->tally_count;
    memcpy(known->tallies, group->tallies, group->tally_count);
    memcpy(known->counts, group->counts, group->tally_count * sizeof group->counts[0]);
    known->sums_id = group->sums_id;
    dispatch->alike_known = true;
}

/* What the groups that are counted did is what this one did. */
static void alike_make(struct perf *perf, struct running_dispatch *dispatch,
                       const struct perf_group *group)
{
    perf->is_unsettled = true;
    if (dispatch->alike_known && is_alike(&dispatch->alike, group))
        return;
    dispatch_settle(perf, dispatch);
    alike_set(dispatch, group);
}

/* A group of a later round, and those that did the same: all it takes is to know how far they
 * reach. False: the first round has not told whose turn it is. */
static bool range_count(struct perf *perf, struct running_dispatch *dispatch,
                        const struct perf_group *group)
{
    if (!group->round || !group->units || group->units != dispatch->turn_count)
        return false;
    alike_make(perf, dispatch, group);
    if (dispatch->alike_range.end != group->group_index) {
        range_settle(dispatch);
        dispatch->alike_range.first = group->group_index;
    }
    dispatch->alike_range.end = group->group_index + 1 + group->repeats;
    return true;
}

/* What has its place in the order of groups, for the unit's totals and its channels': of a group,
 * or of its repeat number `n`. */
static void accesses_add(struct perf *perf, const struct perf_group *group, size_t at,
                         struct running_dispatch *dispatch, uint32_t n)
{
    const uint64_t round = n ? (group->group_index + n) / group->units : group->round;
    const bool begins = perf_round_begins(group, round);
    size_t channels = at / perf->units * perf->model->tcc_channels;
    struct memory_totals totals = {
        .cu = perf->cu[at],
        .channel = perf->channel + channels,
        .work = (dispatch ? dispatch->work : perf->stray) + channels,
    };
    const uint64_t before = totals.cu[SRC_SQC_MISS] + totals.cu[SRC_ICACHE_MISS];
    memory_group(&perf->memory, group, (uint32_t)at, &totals, n > 0, begins);
    if (dispatch && !begins) /* until then the L2 has little to do */
        dispatch->units[at].shared_misses +=
            totals.cu[SRC_SQC_MISS] + totals.cu[SRC_ICACHE_MISS] - before;
    perf->array_changes[at / perf->model->cu_per_sh]++;
}

/* The same of a group and its repeats, each in its turn. */
static void repeats_add(struct perf *perf, const struct perf_group *group, size_t at,
                        struct running_dispatch *dispatch)
{
    uint64_t turn = group->repeats ? group->group_index % group->units : 0;
    accesses_add(perf, group, at, dispatch, 0);
    for (uint32_t n = 1; n <= group->repeats; n++) {
        turn = turn + 1 < group->units ? turn + 1 : 0;
        accesses_add(perf, group, dispatch->turns[turn], dispatch, n);
    }
}

static void unit_enter(const struct perf *perf, const struct perf_group *group,
                       struct running_dispatch *dispatch, size_t at)
{
    struct unit_time *unit = &dispatch->units[at];
    const size_t units = (size_t)perf->model->xcc_count * perf->units;
    if (unit->groups++ == 0) {
        dispatch->used[dispatch->used_count++] = (uint32_t)at;
        unit->array_units = group->array_units;
    }
    if (group->group_index == dispatch->turn_count && group->units > dispatch->turn_count &&
        group->units <= units)
        dispatch->turns[dispatch->turn_count++] = (uint32_t)at;
    dispatch->capacity = group->capacity;
    dispatch->limit = group->limit;
}

static bool is_counted(struct perf *perf, const struct running_dispatch *dispatch, uint32_t xcc)
{
    return dispatch ? dispatch->is_counted
                    : *storage_at(perf, REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE, xcc, 0) & 1;
}

/* A group without a dispatch, or one that the sequencers' counters do not see while they count. */
static __attribute__((noinline)) void apart_add(struct perf *perf, const struct perf_group *group,
                                                struct running_dispatch *dispatch, size_t at)
{
    const uint32_t rounds[2] = {group->round == 0, group->round > 0};
    uint64_t before[SRC_CU_COUNT];
    memcpy(before, perf->cu[at], sizeof before);
    sums_add(perf, group, rounds, dispatch, at);
    accesses_add(perf, group, at, dispatch, 0);
    if (perf->sequencers_counting && !is_counted(perf, dispatch, group->xcc))
        growth_add(perf->cu[at], before, SRC_CU_COUNT, perf->hidden_cu[at]);
}

static bool is_apart(const struct perf *perf, const struct running_dispatch *dispatch)
{
    return !dispatch || (perf->sequencers_counting && !dispatch->is_counted);
}

/* What was looked at of a group and its repeats, which are settled: once in each XCC. */
static void repeats_sample(const struct perf *perf, const struct running_dispatch *dispatch,
                           const struct perf_group *group)
{
    const uint32_t all = (1u << perf->model->xcc_count) - 1;
    uint32_t seen = 0;
    for (uint32_t n = 0; n <= group->repeats && n < group->units && seen != all; n++) {
        uint32_t at = dispatch->turns[(group->group_index + n) % group->units];
        if (seen >> at / perf->units & 1)
            continue;
        seen |= 1u << at / perf->units;
        dispatch_sample_group(dispatch->sample, group, at);
    }
}

static void group_retire(struct perf *perf, const struct perf_group *group,
                         struct running_dispatch *dispatch)
{
    const struct gpu_model *model = perf->model;
    uint32_t unit = (group->se * model->sh_per_se + group->sh) * model->cu_per_sh + group->cu;
    if (group->xcc >= model->xcc_count || unit >= perf->units)
        return;
    size_t at = (size_t)group->xcc * perf->units + unit;
    bool apart = is_apart(perf, dispatch);
    bool in_range = !apart && range_count(perf, dispatch, group);
    if (dispatch && !in_range)
        unit_enter(perf, group, dispatch, at);
    if (dispatch)
        trace_group(perf, group, dispatch->begin_cycles);
    if (apart) {
        apart_add(perf, group, dispatch, at);
    } else {
        if (!in_range) {
            alike_make(perf, dispatch, group);
            alike_add(dispatch, (uint32_t)at, group->round > 0, 1);
        }
        if (group->wants & PERF_WANT_L2)
            repeats_add(perf, group, at, dispatch);
    }
    if (!dispatch || !dispatch->sample || !dispatch_sample_wants(dispatch->sample, group))
        return;
    if (group->repeats)
        repeats_sample(perf, dispatch, group);
    else
        dispatch_sample_group(dispatch->sample, group, (uint32_t)at);
}

/* The next group, which did what this one did, in the unit whose turn it is. */
static void group_move(const struct perf *perf, const struct running_dispatch *dispatch,
                       struct perf_group *group)
{
    const struct gpu_model *model = perf->model;
    group->round = ++group->group_index / group->units;
    uint32_t at = dispatch->turns[group->group_index % group->units];
    group->array_units = dispatch->units[at].array_units;
    group->xcc = at / perf->units;
    at %= perf->units;
    group->cu = at % model->cu_per_sh;
    at /= model->cu_per_sh;
    group->sh = at % model->sh_per_se;
    group->se = at / model->sh_per_se;
}

/* One by one, because each is to be seen: in its trace, or by counters that others are hidden from,
 * or for what was looked at of it. Nobody knows whose turn it was of a dispatch that there was no
 * memory for. */
static __attribute__((noinline)) void
repeats_retire(struct perf *perf, const struct perf_group *group, struct running_dispatch *dispatch)
{
    struct perf_group each = *group;
    const bool has_turns = dispatch && group->units && group->units == dispatch->turn_count;
    each.repeats = 0;
    group_retire(perf, &each, dispatch);
    for (uint32_t n = 0; n < group->repeats; n++) {
        if (has_turns)
            group_move(perf, dispatch, &each);
        if (group->moves)
            perf_accesses_move(group->moves);
        group_retire(perf, &each, dispatch);
    }
}

static bool is_each_seen(const struct perf *perf, const struct running_dispatch *dispatch,
                         const struct perf_group *group)
{
    return is_apart(perf, dispatch) || group->units != dispatch->turn_count || !group->round ||
           trace_is_on(perf) ||
           (dispatch->sample && dispatch_sample_wants(dispatch->sample, group) &&
            !dispatch_sample_is_settled(group));
}

bool groups_account(struct perf *perf, perf_next_fn *next, void *arg, uint32_t count)
{
    struct running_dispatch *dispatch = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct perf_group *group = next(arg);
        if (!group)
            return true;
        if (!dispatch || dispatch->seq != group->dispatch_seq)
            dispatch = *dispatch_find(perf, group->dispatch_seq);
        if (group->repeats && is_each_seen(perf, dispatch, group))
            repeats_retire(perf, group, dispatch);
        else
            group_retire(perf, group, dispatch);
        if (group->wants & PERF_WANT_L2) /* each took its time, not the first one alone */
            i += group->repeats;
    }
    return count == 0;
}
