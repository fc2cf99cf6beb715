/*
 * What time waits for besides instructions. In a compute unit: LDS, the address unit, and loads,
 * which take as long as their slowest line. Behind it: an L2 channel serves a request a cycle, and
 * memory reaches 85 % of its peak, as streaming programs measure on the MI200 and MI300. A unit is
 * busy for as long as what it needs most, a dispatch for as long as the longest of units, channels
 * and memory. Every stall is one of these differences, so no part is longer than the whole.
 *
 * How many instructions there are is known exactly, what one of them needs from those that were
 * sampled (sample.h), whatever else is counted: a dispatch's time is the same either way. Where
 * nobody sees it nothing is sampled, and what is made of it is the time of instructions alone.
 */
#include "perf/bounds_inside.h"
#include "perf/clock.h"
#include "perf/transfers.h"

enum {
    LDS_EFFICIENCY_PERCENT = 97, /* leaves room for what sampling may be off by */
    ADDRESS_CYCLES_MIN = 4,      /* of an instruction: 64 lanes, sixteen at a time */
    LDS_CYCLES_MIN = 2,
    LINES_ALIKE = 4, /* of a load: neighbours are in the L2, or not, together */
    FINE = 256       /* parts of a cycle, where averages are multiplied */
};

/* Until its SIMD has issued everything and its longest waits are over; groups share their unit. */
static uint64_t group_resident(const struct perf_group *group, uint64_t load_wait)
{
    uint64_t alone = group->simd_cycles + load_wait + group->longest_other_wait;
    return greater(alone, group->simd_cycles * group->beside);
}

void perf_group_time(struct perf_group *group)
{
    uint64_t resident = group_resident(group, group->longest_load_wait);
    group->wave_cycles = resident * group->waves;
    group->busy_cycles = (resident + group->beside - 1) / group->beside;
}

/* Its times as its instructions have them, where nothing else is known of it. */
static void plain_add(const struct perf_group *group, uint64_t groups, uint64_t *cu,
                      struct unit_time *unit)
{
    uint64_t own = group->issue_cycles + group->wait_cycles;
    cu[SRC_CU_BUSY] += groups * group->busy_cycles;
    cu[SRC_WAVE_CYCLES] += groups * group->wave_cycles;
    cu[SRC_WAIT_CYCLES] += groups * group->wait_cycles;
    cu[SRC_ARBITER_CYCLES] += group->wave_cycles > own ? groups * (group->wave_cycles - own) : 0;
    if (unit)
        unit->busy_cycles += groups * group->busy_cycles;
}

static struct work_sums instructions_of(const struct perf_group *group)
{
    struct work_sums sums = {0};
    for (uint32_t i = 0; i < group->tally_count; i++) {
        uint32_t tally = group->tallies[i], klass = tally_class[tally];
        uint64_t count = group->counts[i];
        bool vector = klass >= CLASS_VMEM_RD && klass <= CLASS_FLAT_WR;
        sums.vector += vector ? count : 0;
        sums.loads += vector && clock_costs[tally].wait == WAIT_LOAD ? count : 0;
        sums.lds += klass == CLASS_LDS && tally != TALLY_LDS_PERMUTE ? count : 0;
        sums.permutes += tally == TALLY_LDS_PERMUTE ? count : 0;
    }
    sums.lds += group->flat_lds_insts;
    return sums;
}

static void unit_sums_add(const struct perf_group *group, const uint32_t rounds[2],
                          struct unit_time *unit)
{
    uint64_t groups = (uint64_t)rounds[0] + rounds[1], waves = groups * group->waves;
    const struct work_sums own = instructions_of(group);
    unit->beside = greater(unit->beside, group->beside);
    unit->simd += groups * group->simd_cycles;
    unit->load_wait += groups * group->longest_load_wait;
    unit->other_wait += groups * group->longest_other_wait;
    unit->waves += waves;
    unit->waves_simd += waves * group->simd_cycles;
    unit->waves_load += waves * group->longest_load_wait;
    unit->waves_other += waves * group->longest_other_wait;
    unit->issue += groups * group->issue_cycles;
    unit->own_load += groups * group->load_wait_cycles;
    unit->own_other += groups * (group->wait_cycles - group->load_wait_cycles);
    for (int i = 0; i < 2; i++) {
        unit->rounds[i].vector += rounds[i] * own.vector;
        unit->rounds[i].loads += rounds[i] * own.loads;
        unit->rounds[i].lds += rounds[i] * own.lds;
        unit->rounds[i].permutes += rounds[i] * own.permutes;
    }
}

void bounds_groups(const struct perf_group *group, const uint32_t rounds[2], uint64_t *cu,
                   struct unit_time *unit)
{
    uint64_t groups = (uint64_t)rounds[0] + rounds[1];
    cu[SRC_ISSUE_CYCLES] += groups * group->issue_cycles;
    if (unit && group->beside)
        unit_sums_add(group, rounds, unit);
    else
        plain_add(group, groups, cu, unit);
}

/* What an instruction needs on average, from those that were sampled: as sums of both. */
struct average {
    uint64_t sum, count;
};

struct averages {
    struct average address, data, serial, read_tags, write_tags; /* of vector memory */
    struct average reads, writes, misses;
    struct average lds;
    struct average load; /* its latency, in FINE parts of a cycle */
};

/* How many of 1024 loads wait for memory. */
static uint64_t memory_loads(const struct dispatch_sample *sample, const struct group_sample *seen,
                             uint64_t requests)
{
    uint64_t bytes = requests * sample->model->tcp_line_bytes, read_bytes = 0;
    for (int home = 0; home < MEMORY_HOMES; home++)
        read_bytes += sample->homes[home].read_bytes;
    uint64_t misses = bytes ? less(share(1024, read_bytes, bytes), 1024) : 1024;
    uint64_t each = seen->leaving ? seen->leaving_reads / seen->leaving / LINES_ALIKE : 0;
    uint64_t hit = 1024;
    for (uint64_t i = 0; i < greater(each, 1); i++)
        hit = hit * (1024 - misses) / 1024;
    return 1024 - hit;
}

/* How much longer than the GPU's own takes memory where it is, on average. */
static uint64_t link_average(const struct dispatch_sample *sample)
{
    uint64_t reads = 0, cycles = 0;
    for (int home = 0; home < MEMORY_HOMES; home++) {
        reads += sample->homes[home].reads;
        cycles += sample->homes[home].reads * link_cycles((enum memory_home)home);
    }
    return reads ? cycles / reads : 0;
}

static struct average load_average(const struct dispatch_sample *sample,
                                   const struct group_sample *seen, uint64_t requests)
{
    uint64_t away = L2_HIT_CYCLES + L1_HIT_CYCLES / 2;
    uint64_t memory = L2_MISS_CYCLES - L2_HIT_CYCLES + link_average(sample);
    uint64_t stays = seen->loads - seen->nowhere - seen->leaving;
    uint64_t cycles = seen->nowhere * NOWHERE_CYCLES + stays * L1_HIT_CYCLES +
                      seen->leaving * away + seen->serial_cycles;
    cycles =
        cycles * FINE + seen->leaving * memory * FINE * memory_loads(sample, seen, requests) / 1024;
    if (!seen->loads) /* as the clock assumes */
        return (struct average){CYCLES_PER_LOAD * FINE, 1};
    return (struct average){cycles, seen->loads};
}

/* Nothing was sampled: full waves of coalesced dwords. */
static const struct group_sample nothing_seen = {.instructions = 1,
                                                 .address_cycles = ADDRESS_CYCLES_MIN,
                                                 .data_cycles = ADDRESS_CYCLES_MIN,
                                                 .reads = LINES_ALIKE};

static struct averages averages_of(const struct group_sample *seen,
                                   const struct perf_lds_sample *lds)
{
    const struct group_sample *from = seen->instructions ? seen : &nothing_seen;
    uint64_t count = from->instructions, of_lds = lds->instructions;
    return (struct averages){
        .address = {greater(from->address_cycles, ADDRESS_CYCLES_MIN * count), count},
        .data = {from->data_cycles, count},
        .serial = {from->serial_cycles, count},
        .read_tags = {from->read_tags, count},
        .write_tags = {from->write_tags, count},
        .reads = {from->reads, count},
        .writes = {from->writes, count},
        .misses = {from->translation_misses, count},
        .lds = of_lds ? (struct average){greater(lds->cycles, LDS_CYCLES_MIN * of_lds), of_lds}
                      : (struct average){LDS_CYCLES_MIN, 1},
    };
}

static uint64_t times(struct average average, uint64_t count)
{
    return share_up(count, average.sum, average.count);
}

static void seen_add(struct group_sample *to, const struct group_sample *from)
{
    uint64_t *sums = (uint64_t *)to; /* of equal members */
    const uint64_t *more = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sums; i++)
        sums[i] += more[i];
}

/* Is there anything to multiply averages by? */
static bool any_sums(const struct running_dispatch *dispatch)
{
    uint64_t any = 0;
    for (uint32_t at = 0; at < dispatch->used_count; at++)
        for (int i = 0; i < 2; i++) {
            const struct work_sums *sums = &dispatch->units[dispatch->used[at]].rounds[i];
            any |= sums->vector | sums->lds | sums->permutes;
        }
    return any != 0;
}

/* Averages of the first round of groups and of the later ones; where one of them has none, of
 * both. */
static void averages_find(const struct running_dispatch *dispatch, struct averages averages[2])
{
    struct group_sample seen[2] = {0}, all = {0};
    struct perf_lds_sample lds[2] = {0}, all_lds = {0};
    uint64_t requests = 0, vector[2] = {0};
    for (uint32_t at = 0; at < dispatch->used_count; at++)
        for (int i = 0; i < 2; i++)
            vector[i] += dispatch->units[dispatch->used[at]].rounds[i].vector;
    for (int i = 0; i < 2 && dispatch->sample; i++) {
        seen[i] = round_estimate(&dispatch->sample->rounds[i], &lds[i]);
        seen_add(&all, &seen[i]);
        all_lds.instructions += lds[i].instructions;
        all_lds.cycles += lds[i].cycles;
    }
    for (int i = 0; i < 2; i++) {
        averages[i] = averages_of(seen[i].instructions ? &seen[i] : &all,
                                  lds[i].instructions ? &lds[i] : &all_lds);
        requests += times(averages[i].reads, vector[i]);
    }
    if (dispatch->sample)
        dispatch_sample_uncached(dispatch->sample, all.uncached_reads, all.uncached);
    for (int i = 0; i < 2; i++)
        averages[i].load =
            dispatch->sample
                ? load_average(dispatch->sample, seen[i].loads ? &seen[i] : &all, requests)
                : (struct average){CYCLES_PER_LOAD * FINE, 1};
}

/* What a unit's groups need together. */
static struct unit_needs unit_needs(const struct unit_time *unit, const struct averages averages[2])
{
    struct unit_needs needs = {0};
    uint64_t loads = 0, fine = 0;
    for (int i = 0; i < 2; i++) {
        const struct work_sums *sums = &unit->rounds[i];
        if (!(sums->vector | sums->lds | sums->permutes)) /* nothing: of loads there are fewer */
            continue;
        needs.instructions += sums->vector;
        needs.address += times(averages[i].address, sums->vector);
        needs.data += times(averages[i].data, sums->vector);
        needs.serial += times(averages[i].serial, sums->vector);
        needs.read_tags += times(averages[i].read_tags, sums->vector);
        needs.write_tags += times(averages[i].write_tags, sums->vector);
        needs.reads += times(averages[i].reads, sums->vector);
        needs.writes += times(averages[i].writes, sums->vector);
        needs.misses += times(averages[i].misses, sums->vector);
        needs.lds += times(averages[i].lds, sums->lds) + LDS_CYCLES_MIN * sums->permutes;
        fine += times(averages[i].load, sums->loads);
        loads += sums->loads;
    }
    needs.lds = needs.lds * 100 / LDS_EFFICIENCY_PERCENT;
    needs.latency = fine / FINE;
    needs.load_wait = share(unit->load_wait, fine, loads * CYCLES_PER_LOAD * FINE);
    needs.waves_load = share(unit->waves_load, fine, loads * CYCLES_PER_LOAD * FINE);
    needs.own_load = share(unit->own_load, fine, loads * CYCLES_PER_LOAD * FINE);
    return needs;
}

/* Adds to a unit's total what the sequencers' counters may not see. */
static void unit_add(struct perf *perf, const struct running_dispatch *dispatch, size_t at,
                     enum perf_source source, uint64_t value)
{
    perf->cu[at][source] += value;
    if (!dispatch->is_counted)
        perf->hidden_cu[at][source] += value;
}

/* The unit's time, and what happens in it. */
static void unit_close(struct perf *perf, struct running_dispatch *dispatch, size_t at,
                       const struct unit_needs *needs)
{
    struct unit_time *unit = &dispatch->units[at];
    uint64_t beside = greater(unit->beside, 1), shared = greater(needs->address, needs->lds);
    uint64_t waits = needs->load_wait + unit->other_wait, alone = unit->simd + waits;
    uint64_t issued = greater(alone, unit->simd * beside);
    uint64_t resident = greater(issued, shared * beside), busy = (resident + beside - 1) / beside;
    uint64_t waves_alone = unit->waves_simd + needs->waves_load + unit->waves_other;
    uint64_t waves = share(waves_alone, resident, alone);
    uint64_t wait =
        unit->own_other + needs->own_load + share(waves_alone, resident - issued, alone);
    uint64_t own = unit->issue + wait, working = greater(shared, unit->simd);
    uint64_t latency = share(busy > working ? busy - working : 0, needs->load_wait, waits);
    uint64_t others = greater(unit->simd, greater(needs->lds, issued / beside));
    unit->busy_cycles += busy;
    unit->wave_cycles += waves;
    unit->instructions = needs->instructions;
    unit->reads = needs->reads;
    unit->writes = needs->writes;
    unit->address_cycles = needs->address;
    unit->data_cycles = needs->data;
    unit->active_cycles = needs->address + latency;
    dispatch->translation_misses += needs->misses;
    unit_add(perf, dispatch, at, SRC_CU_BUSY, busy);
    unit_add(perf, dispatch, at, SRC_WAVE_CYCLES, waves);
    unit_add(perf, dispatch, at, SRC_WAIT_CYCLES, wait);
    unit_add(perf, dispatch, at, SRC_ARBITER_CYCLES, waves > own ? waves - own : 0);
    unit_add(perf, dispatch, at, SRC_VMEM_LATENCY, needs->latency);
    unit_add(perf, dispatch, at, SRC_TCP_SERIAL, less(needs->serial, needs->address));
    unit_add(perf, dispatch, at, SRC_TCP_READ_TAGS, less(needs->read_tags, needs->address));
    unit_add(perf, dispatch, at, SRC_TCP_WRITE_TAGS, less(needs->write_tags, needs->address));
    unit_add(perf, dispatch, at, SRC_TA_CYCLES, needs->address);
    unit_add(perf, dispatch, at, SRC_TD_CYCLES, less(needs->data, needs->address) + latency);
    unit_add(perf, dispatch, at, SRC_TCP_ACTIVE, needs->address + latency);
    unit_add(perf, dispatch, at, SRC_TCP_LATENCY_WAIT, latency);
    unit_add(perf, dispatch, at, SRC_TA_FULL,
             needs->address > others ? needs->address - others : 0);
}

/* Newton's method, from above. */
static uint64_t root(uint64_t value)
{
    uint64_t x = value, next = value / 2 + 1;
    while (next < x) {
        x = next;
        next = (x + value / x) / 2;
    }
    return x;
}

/* How much more than the mean the busiest of the channels has, of all. */
static struct average excess(const uint64_t *channels, uint64_t count, uint64_t all,
                             uint64_t chance)
{
    uint64_t most = 0, usual = all / count + chance;
    for (size_t i = 0; i < count; i++)
        most = greater(most, channels[i]);
    return (struct average){most > usual ? most - usual : 0, greater(all, 1)};
}

/*
 * The busiest channel, when all together have so many requests. Sampled blocks do not fall evenly
 * on the channels; what exceeds the mean by no more than chance would is taken for even: three
 * times the deviation of as many blocks as there are, each with as many requests. A block that
 * everybody asks for has too much weight if it is sampled: that its channel has more is seen by
 * sampled groups, too, which in turn take what only they ask for to be everybody's.
 */
static uint64_t busiest_channel(const struct perf *perf, const struct dispatch_sample *sample,
                                uint64_t requests)
{
    if (!requests)
        return 0;
    uint64_t channels = channels_of(perf), weight = sample_weight(sample->limit);
    uint64_t blocks = sample->entered / weight, asked = 0;
    uint64_t chance =
        weight == 1 || !blocks
            ? 0
            : share(3 * sample->touched, root(FINE * FINE * blocks / channels), blocks * FINE);
    for (size_t i = 0; i < channels; i++)
        asked += sample->asked[i];
    struct average by_blocks = excess(sample->touches, channels, sample->touched, chance);
    struct average by_groups = excess(sample->asked, channels, asked, 0);
    uint64_t more = times(by_blocks, requests);
    if (weight > 1)
        more = less(more, times(by_groups, requests));
    return (requests + channels - 1) / channels + more;
}

static struct dispatch_cycles dispatch_cycles(const struct perf *perf,
                                              const struct running_dispatch *dispatch)
{
    const struct dispatch_sample *sample = dispatch->sample;
    struct dispatch_cycles cycles = {0};
    for (uint32_t i = 0; i < dispatch->used_count; i++) {
        const struct unit_time *unit = &dispatch->units[dispatch->used[i]];
        cycles.units = greater(cycles.units, unit->busy_cycles);
        cycles.address = greater(cycles.address, unit->address_cycles);
        cycles.active = greater(cycles.active, unit->active_cycles);
        cycles.requests += unit->reads + unit->writes;
    }
    if (!sample)
        return cycles;
    cycles.channels = busiest_channel(perf, sample, cycles.requests);
    for (int home = 0; home < MEMORY_HOMES; home++)
        cycles.homes[home] = transfers_cycles(sample, (enum memory_home)home);
    return cycles;
}

/* The unit is busy, and its waves wait, for longer, in proportion to the longest. */
static void unit_stretch(struct perf *perf, struct running_dispatch *dispatch, size_t at,
                         uint64_t more, uint64_t longest, const struct memory_waits *waits)
{
    struct unit_time *unit = &dispatch->units[at];
    if (!unit->busy_cycles)
        return;
    uint64_t busy = share(unit->busy_cycles, more, longest);
    uint64_t wait = share(unit->wave_cycles, more, longest);
    uint64_t requests = unit->reads + unit->writes, refused = waits_part(busy, waits->refused);
    unit->busy_cycles += busy;
    unit_add(perf, dispatch, at, SRC_CU_BUSY, busy);
    unit_add(perf, dispatch, at, SRC_WAVE_CYCLES, wait);
    unit_add(perf, dispatch, at, SRC_WAIT_CYCLES, wait);
    unit_add(perf, dispatch, at, SRC_SQC_STALL,
             share(refused, unit->shared_misses, requests + unit->shared_misses));
    if (!requests)
        return;
    unit->address_cycles += busy;
    unit->active_cycles += busy;
    unit_add(perf, dispatch, at, SRC_VMEM_LATENCY, wait);
    /* Each of an instruction's requests is on its way, or waits to be sent, for as long as the
     * instruction waits. */
    unit_add(perf, dispatch, at, SRC_TCP_READ_LATENCY,
             share(waits_part(wait, waits->reads_on_way), unit->reads, unit->instructions));
    unit_add(perf, dispatch, at, SRC_TCP_WRITE_LATENCY,
             share(waits_part(wait, waits->writes_on_way), unit->writes, unit->instructions));
    unit_add(perf, dispatch, at, SRC_TA_CYCLES, busy);
    unit_add(perf, dispatch, at, SRC_TD_CYCLES, busy);
    unit_add(perf, dispatch, at, SRC_TCP_ACTIVE, busy);
    unit_add(perf, dispatch, at, SRC_TCP_STALL, refused);
    unit_add(perf, dispatch, at, SRC_TCP_LATENCY_WAIT, busy - refused);
    unit_add(perf, dispatch, at, SRC_TCP_WRITE_STALL,
             share(waits_part(busy, waits->write_data), unit->writes, requests));
    unit_add(perf, dispatch, at, SRC_TA_FULL, busy);
}

/*
 * What the data unit waits for, when it is known how long all takes. A new wave's registers are
 * written to its SIMD, which data return to, too, by chance. And lines that the L1 had to ask for
 * come when they come: two at once, as often as a queue says that is served a line in a cycle. (A
 * copy of an MI210 has 401 and 3677 such cycles in the middle, 416 and 3886 by this.)
 */
static void unit_data_stalls(struct perf *perf, const struct running_dispatch *dispatch, size_t at)
{
    const struct unit_time *unit = &dispatch->units[at];
    const uint64_t busy = unit->busy_cycles, lines = less(unit->reads, unit->data_cycles);
    unit_add(perf, dispatch, at, SRC_TD_REGISTER_STALL,
             share(less(unit->waves, busy), less(unit->data_cycles, busy),
                   busy * perf->model->simd_per_cu));
    unit_add(perf, dispatch, at, SRC_TD_BURSTS, share(lines, lines, 2 * greater(busy, lines)));
}

/* Its waves' cycles with requests of vector memory. */
static uint64_t waves_cycles(const struct running_dispatch *dispatch)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < dispatch->used_count; i++) {
        const struct unit_time *unit = &dispatch->units[dispatch->used[i]];
        sum += unit->instructions ? unit->wave_cycles : 0;
    }
    return sum;
}

void bounds_dispatch(struct perf *perf, struct running_dispatch *dispatch)
{
    struct averages averages[2] = {0};
    if (dispatch->sample)
        dispatch_sample_end(dispatch->sample);
    if (any_sums(dispatch))
        averages_find(dispatch, averages);
    for (uint32_t i = 0; i < dispatch->used_count; i++) {
        struct unit_needs needs = unit_needs(&dispatch->units[dispatch->used[i]], averages);
        if (dispatch->units[dispatch->used[i]].beside)
            unit_close(perf, dispatch, dispatch->used[i], &needs);
    }
    struct dispatch_cycles cycles = dispatch_cycles(perf, dispatch);
    uint64_t within = greater(cycles.units, cycles.channels);
    uint64_t transfers = cycles.homes[longest_home(&cycles)];
    uint64_t elapsed = greater(within, transfers), more = elapsed - cycles.units;
    uint64_t waited = share(waves_cycles(dispatch), elapsed - within, cycles.units);
    bool own = transfers > within && longest_home(&cycles) == HOME_OWN;
    const struct memory_waits *waits =
        own ? memory_waits_own(perf->model->gen) : memory_waits_other();
    if (dispatch->sample)
        channels_add(perf, dispatch, &cycles, elapsed, elapsed - within, waited, waits);
    if (more && cycles.units) {
        for (uint32_t i = 0; i < dispatch->used_count; i++)
            unit_stretch(perf, dispatch, dispatch->used[i], more, cycles.units, waits);
        cycles = dispatch_cycles(perf, dispatch);
    }
    for (uint32_t i = 0; i < dispatch->used_count; i++)
        unit_data_stalls(perf, dispatch, dispatch->used[i]);
    xccs_add(perf, SRC_TA_BUSY, cycles.address);
    xccs_add(perf, SRC_TC_BUSY, greater(cycles.active, cycles.channels));
    xccs_add(perf, SRC_EA_BUSY, transfers);
    xccs_add(perf, SRC_UTCL2_BUSY, less(dispatch->translation_misses, elapsed));
}
