/*
 * Groups that did what the one before did may come as a number: counters and times are then those
 * of the same groups, one by one, whoever counts, traces or reads meanwhile. Where their accesses
 * are counted these are those of the group before, moved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/all_counted.h"

#define REG(name) REG_GFX90A_##name

enum { DISPATCHES = 300, GROUPS_MOST = 2000, RUN_MOST = 300, KINDS = 3, COUNTERS = 6 };
enum { STREAMS_LEAST = 1000, FEW_UNITS = 24 };

static uint32_t random32(uint32_t below)
{
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

/* The same device twice: one is told of each group, the other of runs of them. */
struct twins {
    const struct gpu_model *model;
    struct perf *singly, *together;
    uint32_t units;
    uint64_t seq;
};

static void both_write(const struct twins *t, uint32_t xcc_mask, uint32_t reg, uint32_t value)
{
    assert_true(perf_reg_write(t->singly, xcc_mask, reg, value));
    assert_true(perf_reg_write(t->together, xcc_mask, reg, value));
}

static uint32_t event_of(const struct twins *t, const char *name)
{
    struct perf_event event;
    size_t at = 0;
    while (perf_event_next(t->model->gen, &at, &event))
        if (strcmp(event.name, name) == 0)
            return event.number;
    fail_msg("no event %s", name);
    return 0;
}

static void counting_start(const struct twins *t)
{
    static const char *const names[COUNTERS] = {"SQ_WAVES",      "SQ_BUSY_CYCLES", "SQ_ITEMS",
                                                "SQ_INSTS_SALU", "SQ_WAVE_CYCLES", "SQ_WAIT_ANY"};
    uint32_t all = (1u << t->model->xcc_count) - 1;
    both_write(t, all, REG(GRBM_GFX_INDEX), 0xe0000000);
    for (uint32_t i = 0; i < COUNTERS; i++)
        both_write(t, all, REG(SQ_PERFCOUNTER0_SELECT) + i, event_of(t, names[i]) | 0x0f0ff000u);
    both_write(t, all, REG(SPI_PERFCOUNTER0_SELECT), event_of(t, "SPI_RA_REQ_NO_ALLOC"));
    both_write(t, all, REG(CP_PERFMON_CNTL), 0);
    both_write(t, all, REG(SQ_PERFCOUNTER_MASK), 0xffffffff);
    both_write(t, all, REG(SQ_PERFCOUNTER_CTRL), 0xffff0057);
    both_write(t, all, REG(CP_PERFMON_CNTL), 1);
}

static void counting_stop(const struct twins *t)
{
    both_write(t, (1u << t->model->xcc_count) - 1, REG(CP_PERFMON_CNTL), 2);
}

/* Returns what all values come to. */
static uint64_t values_check(const struct twins *t)
{
    uint64_t singly, together, sum = 0;
    const uint32_t spi = REG(SPI_PERFCOUNTER0_LO);
    uint32_t low[2];
    for (uint32_t xcc = 0; xcc < t->model->xcc_count; xcc++)
        for (uint32_t se = 0; se < t->model->se_count; se++) {
            both_write(t, 1u << xcc, REG(GRBM_GFX_INDEX), 0x60000000 | se << 16);
            for (uint32_t i = 0; i < COUNTERS; i++) {
                uint32_t reg = REG(SQ_PERFCOUNTER0_LO) + 2 * i;
                assert_true(perf_counter_read(t->singly, xcc, reg, &singly));
                assert_true(perf_counter_read(t->together, xcc, reg, &together));
                assert_int_equal(singly, together);
                sum += singly;
            }
            assert_true(perf_reg_read(t->singly, xcc, spi, &low[0]));
            assert_true(perf_reg_read(t->together, xcc, spi, &low[1]));
            assert_int_equal(low[0], low[1]);
        }
    assert_true(all_counted_same(t->singly, t->together));
    return sum;
}

/* Units in another order than theirs, as masks of queues make it, each of them once. */
static void place_set(const struct twins *t, struct perf_group *group)
{
    const struct gpu_model *model = t->model;
    uint32_t n = (uint32_t)(group->group_index * 5 % group->units);
    group->round = group->group_index / group->units;
    group->xcc = n % model->xcc_count;
    n /= model->xcc_count;
    group->se = n % model->se_count;
    n /= model->se_count;
    group->sh = n % model->sh_per_se;
    group->cu = n / model->sh_per_se;
    group->array_units = 3;
}

static struct perf_group group_of(const struct twins *t, uint64_t index, uint32_t kind,
                                  const struct perf_block *block)
{
    struct perf_group group = {.dispatch_seq = t->seq,
                               .group_index = index,
                               .units = t->units,
                               .sample_limit = 1 << 16,
                               .capacity = 4,
                               .waves = 1 + kind / 2,
                               .work_items = 64 * (1 + kind / 2) - kind,
                               .simd_cycles = 100 + kind,
                               .longest_other_wait = 10,
                               .issue_cycles = 100 + kind,
                               .wait_cycles = 10,
                               .beside = 2,
                               .blocks = block,
                               .block_count = block != NULL};
    place_set(t, &group);
    perf_group_count(&group, TALLY_SALU, 17 + kind);
    perf_group_count(&group, TALLY_GLOBAL_READ, 100);
    perf_group_time(&group);
    return group;
}

/* A group's accesses, each of which moves by a step from group to group. */
enum { ACCESSES = 16, STEPS_MOST = 9, STILL_SETS = 3 };
#define PLACE (UINT64_C(1) << 40)
enum { PAGE_BYTES = 2 << 20, PAGES = 100, SCALAR_SETS_BYTES = 4096 };
struct run_accesses {
    struct perf_line_access items[ACCESSES];
    int64_t steps[ACCESSES];
};

/* Where all are, and of which memory. */
struct region {
    uint64_t place;
    uint32_t blocks, stretch, kinds;
};

static void access_make(struct run_accesses *accesses, unsigned n, const struct region *region)
{
    static const uint8_t kinds[] = {ACCESS_READ, ACCESS_WRITE, ACCESS_FETCH, ACCESS_SCALAR_READ};
    struct perf_line_access *item = &accesses->items[n];
    item->kind = kinds[random32(region->kinds)];
    if (item->kind > ACCESS_WRITE) {
        item->line_va = PLACE + SCALAR_SETS_BYTES * (uint64_t)random32(24) + 64 * random32(2);
        return;
    }
    item->more = random32(2) ? 3 : 0;
    item->line_va = region->place + CACHE_BLOCK_BYTES * (uint64_t)random32(region->blocks) +
                    (item->more ? 0 : 64 * random32(4));
    accesses->steps[n] = CACHE_BLOCK_BYTES * (int64_t)region->stretch *
                         ((int64_t)random32(STEPS_MOST) - STEPS_MOST / 2);
}

/* Of few sets of lines, the first of which is more than a set of its cache holds. */
static bool still_make(struct perf_line_access *item, unsigned n, uint32_t set)
{
    if (set ? n % 5 != set : n % 2)
        return false;
    item->kind = set && n % 2 ? ACCESS_FETCH : ACCESS_SCALAR_READ;
    item->line_va = PLACE + SCALAR_SETS_BYTES * (uint64_t)(n + 2 * set);
    return true;
}

/* Blocks that move, but for those. */
static void stream_access_make(struct run_accesses *accesses, unsigned n,
                               const struct region *region, uint32_t set)
{
    struct perf_line_access *item = &accesses->items[n];
    if (still_make(item, n, set))
        return;
    item->kind = random32(2) ? ACCESS_READ : ACCESS_WRITE;
    item->more = 3;
    item->flags = (uint8_t)(random32(4) * ACCESS_COALESCED | (random32(99) ? 0 : ACCESS_GLC));
    item->lanes = (uint16_t)(item->flags & ACCESS_FIRST ? 16 : 0);
    item->line_va = region->place + CACHE_BLOCK_BYTES * (uint64_t)random32(region->blocks);
    accesses->steps[n] = CACHE_BLOCK_BYTES * (int64_t)region->stretch * (1 + random32(STEPS_MOST));
}

static void accesses_make(struct run_accesses *accesses)
{
    const struct region region = {
        .place = PLACE + PAGE_BYTES * (uint64_t)random32(PAGES) +
                 (random32(6) ? 0 : (uint64_t)MEMORY_NC << VM_PLACE_TYPE_SHIFT),
        .blocks = random32(3) ? 1u << 11 : 1u << 18,
        .stretch = random32(2) ? 1 : 4096,
        .kinds = 2 + 2 * random32(2)};
    const uint32_t set = random32(3) ? 1 : random32(STILL_SETS);
    const bool stream = random32(3) > 0;
    _Static_assert(ACCESS_FIRST == 2 * ACCESS_COALESCED, "either, or both");
    memset(accesses, 0, sizeof *accesses);
    for (unsigned n = 0; n < ACCESSES; n++) {
        struct perf_line_access *item = &accesses->items[n];
        if (stream)
            stream_access_make(accesses, n, &region, set);
        else
            access_make(accesses, n, &region);
        item->bytes_mask_lo = item->bytes_mask_hi = UINT32_MAX;
        item->tags = item->kind <= ACCESS_WRITE;
    }
}

/* The same further on, as the next record of a series has them. */
static void accesses_go_on(struct run_accesses *accesses, uint32_t groups)
{
    for (unsigned n = 0; n < ACCESSES; n++)
        accesses->items[n].line_va += (uint64_t)(accesses->steps[n] * (int64_t)groups);
}

/* The group's, and its repeats'. */
static struct perf_moves *moves_of(const struct run_accesses *accesses)
{
    struct perf_moves *moves = calloc(1, sizeof *moves + ACCESSES * sizeof moves->each[0]);
    struct perf_line_access *items = malloc(sizeof accesses->items);
    assert_true(moves && items);
    memcpy(items, accesses->items, sizeof accesses->items);
    moves->accesses = items;
    for (uint32_t n = 0; n < ACCESSES; n++)
        moves->each[moves->count++] = (struct perf_move){n + 1, accesses->steps[n]};
    return moves;
}

static void together_retire(const struct twins *t, const struct perf_group *first, uint32_t count,
                            const struct run_accesses *accesses)
{
    struct perf_group run = *first;
    struct perf_moves *moves = accesses ? moves_of(accesses) : NULL;
    run.repeats = count - 1;
    run.moves = moves;
    run.accesses = moves ? moves->accesses : NULL;
    perf_group_retire(t->together, &run);
    if (moves)
        free(moves->accesses);
    free(moves);
}

/* `accesses` NULL: they are not counted. */
static void run_retire(const struct twins *t, struct perf_group *first, uint32_t count,
                       const struct run_accesses *accesses)
{
    struct perf_line_access items[ACCESSES];
    if (accesses) {
        first->wants = PERF_WANT_L2;
        first->access_count = ACCESSES;
        first->fetches = 7;
    }
    together_retire(t, first, count, accesses);
    for (uint32_t n = 0; n < count; n++) {
        struct perf_group each = *first;
        for (uint32_t at = 0; accesses && at < ACCESSES; at++) {
            items[at] = accesses->items[at];
            items[at].line_va += (uint64_t)(accesses->steps[at] * (int64_t)n);
        }
        each.accesses = accesses ? items : NULL;
        each.group_index = first->group_index + n;
        place_set(t, &each);
        each.units = 0; /* nothing is known of whose turn it is */
        perf_group_retire(t->singly, &each);
    }
}

static void trace_write(const struct twins *t, bool on)
{
    both_write(t, 1, REG(GRBM_GFX_INDEX), 0xe0000000);
    both_write(t, 1, REG(SQ_THREAD_TRACE_SIZE), 16);
    both_write(t, 1, REG(SQ_THREAD_TRACE_TOKEN_MASK), 0xffff);
    both_write(t, 1, REG(SQ_THREAD_TRACE_MODE), on ? 1u << 21 | 1u << 18 : 0);
}

/* What a trace has, which is the bytes of both. */
static size_t traces_check(const struct twins *t)
{
    struct perf_trace_chunk a, b;
    uint32_t value;
    size_t bytes = 0;
    both_write(t, 1, REG(GRBM_GFX_INDEX), 0x60000000);
    assert_true(perf_reg_read(t->singly, 0, REG(SQ_THREAD_TRACE_WPTR), &value));
    assert_true(perf_reg_read(t->together, 0, REG(SQ_THREAD_TRACE_WPTR), &value));
    while (perf_trace_take(t->singly, &a)) {
        assert_true(perf_trace_take(t->together, &b));
        assert_int_equal(a.size_bytes, b.size_bytes);
        assert_memory_equal(a.bytes, b.bytes, a.size_bytes);
        bytes += a.size_bytes;
        free(a.bytes);
        free(b.bytes);
    }
    assert_false(perf_trace_take(t->together, &b));
    return bytes;
}

static void runs_retire(struct twins *t, uint64_t groups, uint64_t *sum)
{
    uint64_t index = 0;
    struct run_accesses turns[2], *accesses = turns; /* one goes on behind the other one */
    accesses_make(&turns[0]);
    accesses_make(&turns[1]);
    while (index < groups) {
        const uint32_t channel = random32(4);
        const struct perf_block block = {.va = 0x1000 + 256 * channel,
                                         .number = channel,
                                         .kind = random32(2) ? ACCESS_READ : ACCESS_SCALAR_READ,
                                         .sectors = 15};
        struct perf_group first =
            group_of(t, index, random32(4) ? 0 : random32(KINDS), random32(6) ? NULL : &block);
        uint64_t most = index < t->units ? 1 : 1 + random32(RUN_MOST);
        most = most < groups - index ? most : groups - index;
        accesses = &turns[random32(2)];
        if (random32(8) == 0)
            accesses_make(accesses);
        run_retire(t, &first, (uint32_t)most, random32(3) ? accesses : NULL);
        accesses_go_on(accesses, (uint32_t)most);
        index += most;
        if (random32(8) == 0)
            *sum += values_check(t);
    }
}

/* Who counts, and who does not; whether there is a trace; which of the units are used. */
static size_t dispatch_check(struct twins *t, uint64_t *sum)
{
    const struct gpu_model *model = t->model;
    const bool counted = random32(3) > 0, traced = random32(4) == 0, counts = random32(4) > 0;
    uint32_t all = model->xcc_count * model->se_count * model->sh_per_se * model->cu_per_sh;
    size_t bytes = 0;
    t->seq++;
    do
        t->units = 1 + random32(random32(2) ? all : FEW_UNITS);
    while (t->units % 5 == 0);
    if (counts)
        counting_start(t);
    if (traced)
        trace_write(t, true);
    perf_dispatch_begin(t->singly, t->seq, counted);
    perf_dispatch_begin(t->together, t->seq, counted);
    runs_retire(t, 1 + random32(GROUPS_MOST), sum);
    assert_int_equal(perf_dispatch_end(t->singly, t->seq), perf_dispatch_end(t->together, t->seq));
    *sum += values_check(t);
    if (traced) {
        trace_write(t, false);
        bytes = traces_check(t);
    }
    if (counts)
        counting_stop(t);
    return bytes;
}

static void runs_are_their_groups_on(const char *gpu)
{
    struct twins t = {.model = gpu_model_find(gpu)};
    uint64_t sum = 0;
    size_t traced_bytes = 0;
    assert_int_equal(perf_create(t.model, &t.singly), 0);
    assert_int_equal(perf_create(t.model, &t.together), 0);
    for (int i = 0; i < DISPATCHES; i++)
        traced_bytes += dispatch_check(&t, &sum);
    assert_true(sum > 0 && traced_bytes > 0);
    assert_true(t.together->memory.streams.groups > STREAMS_LEAST);
    perf_destroy(t.singly);
    perf_destroy(t.together);
}

static void runs_are_their_groups(void **state)
{
    (void)state;
    runs_are_their_groups_on("gfx90a");
    runs_are_their_groups_on("gfx942");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_are_their_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
