/*
 * What the address unit makes of an instruction's lanes, against a reference that goes lane by lane
 * and byte by byte: random and regular patterns of all element sizes. Entries that stand for
 * several lines count as so many. And which scalar reads need no entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem/vm.h"
#include "perf/cache.h"
#include "wave/access.h"
#include "wave/line_log.h"

enum { LINE = 64, BLOCK = 256, PATTERNS = 40000, LINES_MAX = 2 * WAVE_LANES };
enum { RANGE_BYTES = 4 << 20, RANGES = 3 };
#define RANGE_VA(n) (UINT64_C(0x7f0000000000) + (n)*UINT64_C(0x40000000))

static uint32_t random_below(uint32_t end)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % end;
}

struct access {
    struct inst inst;
    uint64_t va[WAVE_LANES], lanes;
    uint32_t size_bytes;
};

/* The lines in the order in which lanes touch them. */
struct expected {
    struct perf_line_access lines[LINES_MAX];
    uint32_t count, handed_on, tags_wait;
    bool coalesced; /* all windows with lanes */
};

static uint32_t line_find(struct expected *e, uint64_t line_va)
{
    uint32_t at = 0;
    while (at < e->count && e->lines[at].line_va != line_va)
        at++;
    if (at == e->count)
        e->lines[e->count++] = (struct perf_line_access){.line_va = line_va};
    return at;
}

/* The bytes of one lane's element, line by line. */
static void lane_touch(struct expected *e, const struct access *access, uint32_t lane,
                       bool touched[LINES_MAX])
{
    uint64_t mask[LINES_MAX] = {0};
    for (uint32_t i = 0; i < access->size_bytes; i++) {
        uint64_t at = access->va[lane] + i;
        mask[line_find(e, at / LINE * LINE)] |= 1ull << at % LINE;
    }
    for (uint32_t n = 0; n < e->count; n++) {
        struct perf_line_access *line = &e->lines[n];
        uint64_t before = (uint64_t)line->bytes_mask_hi << 32 | line->bytes_mask_lo;
        line->conflicts += access->inst.flags & IF_ATOMIC && before & mask[n];
        line->bytes_mask_lo |= (uint32_t)mask[n];
        line->bytes_mask_hi |= (uint32_t)(mask[n] >> 32);
        touched[n] |= mask[n] != 0;
    }
}

/* Cycles in which a window's lines wait for each other's tags, of the GPU's lines: each of four
 * parts of them takes one in a cycle. */
static uint32_t tags_wait(const struct expected *e, const bool touched[LINES_MAX],
                          uint32_t line_shift)
{
    uint64_t known[LINES_MAX];
    uint32_t count = 0, longest = 0;
    for (uint32_t n = 0; n < e->count; n++) {
        const uint64_t line = e->lines[n].line_va >> line_shift;
        uint32_t at = 0;
        while (at < count && known[at] != line)
            at++;
        if (touched[n] && at == count)
            known[count++] = line;
    }
    for (uint32_t part = 0; part < 4; part++) {
        uint32_t cycles = 0;
        for (uint32_t n = 0; n < count; n++)
            cycles += (known[n] & 3) == part;
        longest = cycles > longest ? cycles : longest;
    }
    return longest - (count + 3) / 4;
}

/* Four lanes at a time, or sixteen of up to a dword: each looks each of its lines up once. */
static void expect(struct expected *e, const struct access *access, uint32_t line_shift)
{
    uint32_t width = access->size_bytes <= 4 ? 16 : 4;
    *e = (struct expected){.coalesced = true};
    for (uint32_t first = 0; first < WAVE_LANES; first += width) {
        bool touched[LINES_MAX] = {false};
        uint32_t lines = 0, quads[4] = {0}, lanes = 0;
        for (uint32_t lane = first; lane < first + width; lane++) {
            if (!(access->lanes >> lane & 1))
                continue;
            lane_touch(e, access, lane, touched);
            quads[(lane - first) / 4]++;
            lanes++;
        }
        for (uint32_t n = 0; n < e->count; n++) {
            e->lines[n].tags = (uint8_t)(e->lines[n].tags + touched[n]);
            lines += touched[n];
        }
        e->tags_wait += tags_wait(e, touched, line_shift);
        bool coalesced = lines <= 1 && width == 16;
        e->coalesced &= coalesced || !lanes;
        for (uint32_t quad = 0; quad < width / 4; quad++)
            e->handed_on += coalesced || !quads[quad] ? 1 : quads[quad];
    }
    if (!e->count)
        e->lines[e->count++] = (struct perf_line_access){.flags = ACCESS_NOWHERE};
}

static void compare(const struct expected *e, const struct access *access, struct workgroup *group)
{
    const struct access_log *log = &group->accesses;
    uint32_t n = 0, flags = access->inst.flags;
    uint8_t kind = flags & IF_ATOMIC  ? ACCESS_ATOMIC
                   : flags & IF_STORE ? ACCESS_WRITE
                                      : ACCESS_READ;
    uint8_t common =
        (uint8_t)((flags & IF_GLC ? ACCESS_GLC : 0) |
                  (access->inst.format == FMT_MUBUF ? ACCESS_BUFFER : 0) |
                  (e->coalesced ? ACCESS_COALESCED : 0) | (group->is_sampled ? ACCESS_SAMPLED : 0));
    const bool waits = group->is_sampled && kind != ACCESS_ATOMIC && access->lanes;
    for (uint64_t i = 0; i < log->count; i++) {
        struct perf_line_access is = log->items[i];
        assert_true(!is.more || kind != ACCESS_ATOMIC);
        assert_true(is.line_va % BLOCK + LINE * is.more < BLOCK);
        for (uint32_t more = 0; more <= is.more; more++, n++) {
            const struct perf_line_access *line = &e->lines[n];
            assert_true(n < e->count);
            uint64_t va = line->flags & ACCESS_NOWHERE ? 0 : vm_place(group->reader, line->line_va);
            assert_int_equal(is.line_va + LINE * more, va);
            assert_int_equal(is.bytes_mask_lo, line->bytes_mask_lo);
            assert_int_equal(is.bytes_mask_hi, line->bytes_mask_hi);
            assert_int_equal(is.kind, kind);
            assert_int_equal(is.tags, line->tags);
            assert_int_equal(is.conflicts, i == 0 && waits ? e->tags_wait : line->conflicts);
            assert_int_equal(is.flags, common | line->flags | (i == 0 ? ACCESS_FIRST : 0));
        }
        assert_int_equal(is.lanes, i == 0 ? e->handed_on : 0);
    }
    assert_int_equal(n, e->count);
}

/* Where lanes lie. */
static uint64_t lane_va(uint32_t kind, uint64_t start, uint32_t lane, uint32_t size_bytes,
                        uint32_t stride)
{
    switch (kind) {
    case 0: /* side by side */
    case 1:
        return start + (uint64_t)lane * size_bytes;
    case 2:
        return start + (uint64_t)lane * stride;
    case 3: /* backwards */
        return start + (uint64_t)(WAVE_LANES - lane) * size_bytes;
    case 4: /* few places */
        return start + (uint64_t)random_below(8) * 24;
    case 5: /* several mappings */
        return RANGE_VA(random_below(RANGES)) + random_below(RANGE_BYTES - LINE);
    default:
        return start + random_below(1 << 14);
    }
}

static void access_make(struct access *access)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 12, 16, 4};
    static const uint32_t aligns[] = {BLOCK, BLOCK, LINE, 16, 4, 1};
    static const uint32_t flags[] = {0, 0, IF_STORE, IF_ATOMIC, IF_GLC, IF_ATOMIC | IF_GLC};
    uint32_t kind = random_below(7), stride = random_below(300);
    uint64_t start = RANGE_VA(random_below(RANGES)) + random_below(1 << 20);
    start -= start % aligns[random_below(6)];
    *access = (struct access){.size_bytes = sizes[random_below(7)], .lanes = ~0ull};
    access->inst.flags = flags[random_below(6)];
    access->inst.format = random_below(4) ? FMT_FLAT : FMT_MUBUF;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        access->va[lane] = lane_va(kind, start, lane, access->size_bytes, stride);
    if (random_below(3) == 0)
        access->lanes = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);
    if (random_below(50) == 0)
        access->lanes = random_below(2) ? 0 : 0xffff;
}

/* Ranges that nobody goes to, of which each begins so much behind a multiple of a place. */
static void ranges_map(struct vm **vm, struct vm_reader *reader, uint64_t behind)
{
    assert_int_equal(vm_create(vm), 0);
    for (uint32_t i = 0; i < RANGES; i++)
        assert_int_equal(vm_map(*vm, RANGE_VA(i) + i * behind, RANGE_BYTES,
                                (void *)(uintptr_t)RANGE_VA(i), VM_READ | VM_WRITE),
                         0);
    vm_reader_register(*vm, reader);
    vm_reader_enter(reader);
}

static void ranges_unmap(struct vm *vm, struct vm_reader *reader)
{
    vm_reader_leave(reader);
    vm_reader_unregister(reader);
    vm_destroy(vm);
}

static void lines_are_those_of_the_lanes(void **state)
{
    struct vm *vm;
    struct vm_reader reader = {0};
    struct launch launch = {0};
    struct workgroup group = {.wants = PERF_WANT_MEMORY, .reader = &reader, .launch = &launch};
    struct wave wave = {.group = &group};
    uint64_t joined = 0, waited = 0;
    (void)state;
    ranges_map(&vm, &reader, 0);
    for (uint32_t i = 0; i < PATTERNS; i++) {
        struct access access;
        struct expected expected;
        access_make(&access);
        launch.l1_line_shift = 6 + random_below(2);
        group.is_sampled = group.samples_all = random_below(2);
        group.accesses.count = group.accesses.placed = 0;
        access_log_vector(&wave, &access.inst, access.va, access.lanes, access.size_bytes);
        access_log_place(&group);
        expect(&expected, &access, launch.l1_line_shift);
        compare(&expected, &access, &group);
        joined += expected.count - group.accesses.count;
        waited += group.is_sampled && expected.tags_wait;
    }
    assert_true(joined > PATTERNS / 10);
    assert_true(waited > PATTERNS / 10);
    ranges_unmap(vm, &reader);
    free(group.accesses.items);
}

static bool line_hits(struct cache *cache, uint64_t place)
{
    uint32_t way;
    return cache_set_reach(cache_set(cache, place), cache->way_count, cache_number(cache, place),
                           &way, NULL);
}

/* A group's scalar reads, of which all lines go to the one cache, and those that are logged to the
 * other one. Both hit as often. */
static uint64_t scalar_reads(struct wave *wave, struct cache *all, struct cache *logged)
{
    enum { READS = 60 };
    const struct inst inst = {.format = FMT_SMEM, .klass = CLASS_SMEM};
    struct workgroup *group = wave->group;
    const uint64_t start = random_below(RANGE_BYTES / 2) / 4 * 4;
    uint64_t hits = 0, own_hits = 0;
    line_log_clear(&group->accesses);
    for (int i = 0; i < READS; i++) {
        const uint32_t bytes = 4u << random_below(5);
        const uint64_t va = RANGE_VA(random_below(RANGES)) + (RANGES << 12) + start +
                            (uint64_t)random_below(24) * 4 + (uint64_t)random_below(6) * 4096;
        assert_non_null(vm_translate(group->reader, va, bytes, VM_READ));
        access_log_scalar(wave, &inst, va, bytes);
        for (uint64_t at = va / LINE * LINE; at < va + bytes; at += LINE)
            hits += line_hits(all, vm_place(group->reader, at));
    }
    access_log_place(group);
    for (uint64_t i = 0; i < group->accesses.count; i++)
        own_hits += line_hits(logged, group->accesses.items[i].line_va);
    assert_int_equal(own_hits + group->accesses.scalar_repeats, hits);
    return group->accesses.scalar_repeats;
}

static void scalar_reads_that_are_left_out_are_hits(void **state)
{
    enum { GROUPS = 2000, CACHE_BYTES = 16384, WAYS = 4 };
    struct vm *vm;
    struct vm_reader reader = {0};
    struct launch launch = {0};
    struct workgroup group = {.wants = PERF_WANT_MEMORY, .reader = &reader, .launch = &launch};
    struct wave wave = {.group = &group};
    struct cache all, logged;
    uint64_t left_out = 0;
    (void)state;
    ranges_map(&vm, &reader, 4096 + 3 * LINE);
    assert_int_equal(cache_create(&all, CACHE_BYTES, LINE, WAYS), 0);
    assert_int_equal(cache_create(&logged, CACHE_BYTES, LINE, WAYS), 0);
    for (int i = 0; i < GROUPS; i++)
        left_out += scalar_reads(&wave, &all, &logged);
    assert_true(left_out > 10 * GROUPS);
    cache_destroy(&all);
    cache_destroy(&logged);
    ranges_unmap(vm, &reader);
    free(group.accesses.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_the_lanes),
        cmocka_unit_test(scalar_reads_that_are_left_out_are_hits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
