/*
 * Lanes' accesses on each level of the host: every element where it belongs, whole, and in order,
 * while another thread does the opposite. That the threads met is part of each test: it ends when
 * enough new values were seen.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mem/vm.h"
#include "valu/valu.h"
#include "wave/contiguous.h"
#include "wave/flat_rows.h"
#include "wave/host_levels.h"
#include "wave/lanes.h"
#include "wave/scattered.h"

enum { ELEMENT_MAX = 16, AREA_BYTES = 2 * WAVE_LANES * ELEMENT_MAX };
enum { FALLING = 63, VALUES_WANTED = 1000, VALUES_AT_LEAST = 20, PATIENCE_MS = 150 };

static const struct {
    const char *name;
    enum host_level level;
} level_names[] = {{"portable", LEVEL_PORTABLE}, {"avx2", LEVEL_AVX2}, {"avx512", LEVEL_AVX512}};

static void each_level(void (*test)(void))
{
    for (size_t i = 0; i < sizeof level_names / sizeof level_names[0]; i++) {
        if (valu_build_select(level_names[i].name) < 0)
            continue; /* not this CPU */
        host_level = level_names[i].level;
        test();
    }
}

static uint8_t area[AREA_BYTES] __attribute__((aligned(4096)));

enum way {
    LANES,      /* by pointers (lanes.h) */
    OFFSETS,    /* scattered.h */
    CONTIGUOUS, /* by rows_load() and rows_store() */
    HANDLED,    /* by the handlers of whole instructions (flat_rows.h) */
};
static const char *const way_names[] = {"by pointers", "by offsets", "contiguous", "handled"};

/* How a wave's lanes lie in the area. */
struct layout {
    unsigned bytes, offset;
    enum way way;
    unsigned spread; /* lane n's element is number n * spread modulo 64; FALLING: 63 - n */
    uint64_t lanes;
};

static unsigned element_at(const struct layout *l, unsigned lane)
{
    unsigned first = l->spread == FALLING ? WAVE_LANES - 1 : 0;
    return l->offset + (first + lane * l->spread) % WAVE_LANES * l->bytes;
}

static struct lane_pointers pointers_of(const struct layout *l)
{
    struct lane_pointers p = {.lanes = l->lanes};
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        p.host[lane] = area + element_at(l, lane);
    return p;
}

static struct element element_of(const struct layout *l)
{
    return (struct element){.bytes = (uint8_t)l->bytes, .dwords = (uint8_t)((l->bytes + 3) / 4)};
}

/* An instruction's registers: two rows of addresses and four of data. */
enum { DATA_ROW = 2 };

static void handler_run(const struct layout *l, lane_row *registers, uint32_t flags)
{
    struct vm_reader reader = {0};
    struct workgroup group = {.reader = &reader}; /* which samples nothing */
    struct wave wave = {.v = registers, .group = &group};
    struct inst inst[3] = {{.dwords = 2,
                            .flags = flags | IF_SEG_GLOBAL,
                            .offset = (int32_t)l->offset,
                            .dst = {.kind = OPND_VGPR, .index = DATA_ROW},
                            .src = {{.kind = OPND_VGPR}, {.kind = OPND_VGPR, .index = DATA_ROW}}}};
    uint64_t va = (uintptr_t)area;
    *vm_way(&reader, va + l->offset) =
        (struct vm_range){va, va + sizeof area, area, VM_READ | VM_WRITE, 0};
    wave.s64[SREG_EXEC / 2] = UINT64_MAX;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        registers[0][lane] = (uint32_t)va + lane * l->bytes;
        registers[1][lane] = (uint32_t)(va >> 32);
    }
    inst_exec_fn *exec = CALL_LEVEL(flat_rows_handler, inst, l->bytes / 4);
    assert_non_null(exec);
    assert_ptr_equal(exec(&wave, inst), inst + 2);
}

/* Of an instruction whose data is in the first registers. */
static void offsets_run(const struct layout *l, lane_row *rows, bool loads)
{
    const struct inst inst = {.dst = {.kind = OPND_VGPR}, .src[1] = {.kind = OPND_VGPR}};
    const struct element element = element_of(l);
    uint32_t offsets[WAVE_LANES] __attribute__((aligned(64)));
    struct wave wave = {.v = rows};
    struct scattered_place place = {.host = area, .offsets = offsets, .lanes = l->lanes};
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        offsets[lane] = element_at(l, lane);
    if (loads)
        scattered_load(&wave, &inst, &place, &element);
    else
        scattered_store(&wave, &inst, &place, &element);
}

static void wave_load(const struct layout *l, lane_row *rows)
{
    lane_row registers[DATA_ROW + 4];
    if (l->way == HANDLED) {
        memcpy(registers + DATA_ROW, rows, 4 * sizeof(lane_row));
        handler_run(l, registers, IF_LOAD);
        memcpy(rows, registers + DATA_ROW, 4 * sizeof(lane_row));
        return;
    }
    struct element element = element_of(l);
    struct lane_pointers pointers = pointers_of(l);
    if (l->way == CONTIGUOUS)
        rows_load(rows, area + l->offset, element.dwords);
    else if (l->way == OFFSETS)
        offsets_run(l, rows, true);
    else
        lanes_load(&pointers, rows, &element);
}

static void wave_store(const struct layout *l, lane_row *rows)
{
    lane_row registers[DATA_ROW + 4];
    if (l->way == HANDLED) {
        memcpy(registers + DATA_ROW, rows, 4 * sizeof(lane_row));
        handler_run(l, registers, IF_STORE);
        return;
    }
    struct element element = element_of(l);
    struct lane_pointers pointers = pointers_of(l);
    if (l->way == CONTIGUOUS)
        rows_store(rows, area + l->offset, element.dwords);
    else if (l->way == OFFSETS)
        offsets_run(l, rows, false);
    else
        lanes_store(&pointers, rows, &element);
}

static const uint64_t lane_sets[] = {UINT64_MAX, 0x7777777777777777, 1, 0x8000000000000000};

static void check_load(const struct layout *l)
{
    lane_row rows[4];
    uint8_t got[ELEMENT_MAX];
    for (unsigned i = 0; i < AREA_BYTES; i++)
        area[i] = (uint8_t)(rand() >> 4);
    memset(rows, 0xa5, sizeof rows);
    wave_load(l, rows);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        uint8_t expected[ELEMENT_MAX] = {0};
        for (unsigned n = 0; n < 4; n++)
            memcpy(got + 4 * n, &rows[n][lane], 4);
        if (l->lanes >> lane & 1)
            memcpy(expected, area + element_at(l, lane), l->bytes);
        else
            memset(expected, 0xa5, sizeof expected);
        assert_memory_equal(got, expected, (l->bytes + 3) / 4 * 4);
    }
}

static void check_store(const struct layout *l)
{
    lane_row rows[4];
    uint8_t expected[AREA_BYTES];
    for (unsigned n = 0; n < 4; n++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            rows[n][lane] = (uint32_t)rand() * 2654435761u;
    memset(area, 0x5a, sizeof area);
    memset(expected, 0x5a, sizeof expected);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        for (unsigned byte = 0; l->lanes >> lane & 1 && byte < l->bytes; byte++)
            expected[element_at(l, lane) + byte] =
                (uint8_t)(rows[byte / 4][lane] >> 8 * (byte % 4));
    wave_store(l, rows);
    assert_memory_equal(area, expected, sizeof expected);
}

static void all_layouts(void)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 12, 16}, spreads[] = {1, 37, FALLING};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (unsigned offset = 0; offset <= 20; offset++) {
            struct layout l = {sizes[s], offset, CONTIGUOUS, 1, UINT64_MAX};
            if (l.bytes >= 4)
                check_load(&l), check_store(&l);
            l.way = HANDLED;
            if (l.bytes >= 4 && offset % 16 == 0)
                check_load(&l), check_store(&l);
            for (size_t n = 0; n < 6 * sizeof lane_sets / sizeof lane_sets[0]; n++) {
                l.way = n % 2 ? LANES : OFFSETS;
                l.spread = spreads[n / 2 % 3];
                l.lanes = lane_sets[n / 6];
                check_load(&l), check_store(&l);
            }
        }
    }
}

static void elements_are_where_they_belong(void **state)
{
    (void)state;
    each_level(all_layouts);
}

/* Two threads: one stores k = 1, 2, 3 ... with all bytes of an element, or their low bits, in all
 * lanes; the other loads until it has seen enough of them. */
struct race {
    struct layout layout;
    int stop; /* written by the reader, read by the writer; relaxed: nothing else depends on it */
};

static uint32_t filled(const struct layout *l, uint32_t k)
{
    return l->bytes == 2 ? (k & 0xff) * 0x101 : l->bytes == 4 ? (k & 0xffff) * 0x10001 : k;
}

static void *store_on(void *arg)
{
    struct race *race = arg;
    lane_row rows[4];
    for (uint32_t k = 1; !__atomic_load_n(&race->stop, __ATOMIC_RELAXED); k++) {
        for (unsigned n = 0; n < 4; n++)
            for (unsigned lane = 0; lane < WAVE_LANES; lane++)
                rows[n][lane] = filled(&race->layout, k);
        wave_store(&race->layout, rows);
    }
    return NULL;
}

static bool torn(const struct layout *l, const lane_row *rows, unsigned lane)
{
    uint32_t value = rows[0][lane], differs = 0;
    if (l->bytes == 2)
        return (value & 0xff) != value >> 8;
    if (l->bytes == 4)
        return (value & 0xffff) != value >> 16;
    for (unsigned n = 1; n < l->bytes / 4; n++)
        differs |= rows[n][lane] ^ value;
    return differs != 0;
}

/* A lane at a higher address must not be newer than one at a lower address: stores rise, loads
 * fall. Counts wrap for elements of 2 and 4 bytes, whose order is that of the others. */
static bool overtaken(const struct layout *l, const lane_row *rows, unsigned lane)
{
    unsigned below = l->spread == FALLING ? lane + 1 : lane - 1;
    if (lane == 0 || (l->spread == FALLING && lane == 63) || l->spread == 37 || l->bytes < 8)
        return false;
    if (!(l->lanes >> lane & l->lanes >> below & 1))
        return false;
    return (int32_t)(rows[0][below] - rows[0][lane]) < 0;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* CROC_RACE_VALUES: as many, however long it takes. On a busy machine threads seldom meet. */
static bool enough(uint32_t fresh, uint64_t started_ms)
{
    const char *wanted = getenv("CROC_RACE_VALUES");
    if (wanted)
        return fresh >= (uint32_t)atol(wanted);
    return fresh >= (now_ms() - started_ms < PATIENCE_MS ? VALUES_WANTED : VALUES_AT_LEAST);
}

static void run_race(struct layout layout)
{
    struct race race = {.layout = layout};
    pthread_t thread;
    lane_row rows[4];
    uint32_t last = 0, fresh = 0;
    uint64_t started_ms = now_ms();
    unsigned long long torn_count = 0, overtaken_count = 0;
    memset(area, 0, sizeof area);
    assert_int_equal(pthread_create(&thread, NULL, store_on, &race), 0);
    while (!enough(fresh, started_ms)) {
        wave_load(&layout, rows);
        for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
            if (!(layout.lanes >> lane & 1))
                continue;
            torn_count += torn(&layout, rows, lane);
            overtaken_count += overtaken(&layout, rows, lane);
        }
        fresh += rows[0][1] != last;
        last = rows[0][1];
    }
    __atomic_store_n(&race.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    if (torn_count || overtaken_count)
        print_message("level %d, %u bytes at %u, %s, lanes %u apart: %llu torn, %llu overtaken\n",
                      host_level, layout.bytes, layout.offset, way_names[layout.way], layout.spread,
                      torn_count, overtaken_count);
    assert_int_equal(torn_count, 0);
    assert_int_equal(overtaken_count, 0);
}

static void contiguous_races(void)
{
    for (unsigned bytes = 4; bytes <= ELEMENT_MAX; bytes *= 2) {
        run_race((struct layout){bytes, 0, CONTIGUOUS, 1, UINT64_MAX});
        run_race((struct layout){bytes, bytes, CONTIGUOUS, 1, UINT64_MAX});
        run_race((struct layout){bytes, 16, HANDLED, 1, UINT64_MAX});
    }
}

static void scattered_races_by(enum way way)
{
    static const unsigned spreads[] = {1, 37, FALLING};
    for (unsigned bytes = 2; bytes <= ELEMENT_MAX; bytes *= 2) {
        for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
            run_race((struct layout){bytes, bytes, way, spreads[i], UINT64_MAX});
            run_race((struct layout){bytes, 0, way, spreads[i], 0x7777777777777777});
        }
    }
}
static void scattered_races(void)
{
    scattered_races_by(OFFSETS);
}

static void elements_are_whole_and_in_order(void **state)
{
    (void)state;
    each_level(contiguous_races);
    each_level(scattered_races);
    scattered_races_by(LANES); /* the same on every level */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_where_they_belong),
        cmocka_unit_test(elements_are_whole_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
