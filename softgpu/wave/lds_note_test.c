/* What LDS needs for an access, against a reference that counts dwords of banks in the plainest
 * way: random patterns, each several times at several places, so that costs which were kept are
 * used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

#include "valu/valu.h"
#include "wave/access.h"
#include "wave/group.h"
#include "wave/host_levels.h"

enum { LDS_BYTES = 7168, BANKS = 32, PATTERNS = 3000, PLACES = 4 };

/* Before libc's, for what costs are kept in: who reads behind it faults. Never given back. */
void *aligned_alloc(size_t alignment, size_t size)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = (size + page_bytes - 1) / page_bytes * page_bytes;
    char *memory = mmap(NULL, room + page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, room, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return memory + (room - size) / alignment * alignment;
}

static uint32_t seed = 1;

static uint32_t random_below(uint32_t end)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % end;
}

/* Of the dwords that the lanes `first` to `end` want: how many different ones the fullest bank has,
 * and how many lanes want the same one. */
static void reference_part(const uint32_t *offset, uint64_t lanes, uint32_t first, uint32_t end,
                           uint32_t size_bytes, uint32_t *fullest, uint32_t *most)
{
    static uint8_t wanted[LDS_BYTES / 4 + 4];
    uint32_t used[BANKS] = {0};
    memset(wanted, 0, sizeof wanted);
    *fullest = *most = 0;
    for (uint32_t lane = first; lane < end; lane++) {
        if (!(lanes >> lane & 1) || offset[lane] > LDS_BYTES - size_bytes)
            continue;
        for (uint32_t n = 0; n < (size_bytes + 3) / 4; n++) {
            uint32_t dword = offset[lane] / 4 + n, *bank = &used[dword % BANKS];
            *bank += wanted[dword]++ == 0;
            *fullest = *bank > *fullest ? *bank : *fullest;
            *most = wanted[dword] > *most ? wanted[dword] : *most;
        }
    }
}

static struct perf_lds reference(const struct inst *inst, const uint32_t *offset, uint64_t lanes,
                                 uint32_t size_bytes)
{
    struct perf_lds sum = {0};
    uint32_t width = size_bytes > 8 ? 8 : size_bytes > 4 ? 16 : 32;
    uint32_t align = size_bytes < 4 ? size_bytes : 4;
    for (uint32_t first = 0; first < WAVE_LANES; first += width) {
        uint32_t fullest, most, unaligned = 0;
        reference_part(offset, lanes, first, first + width, size_bytes, &fullest, &most);
        for (uint32_t lane = first; lane < first + width; lane++) {
            bool inside = offset[lane] <= LDS_BYTES - size_bytes, active = lanes >> lane & 1;
            sum.violations += active && !inside;
            unaligned |= active && inside && offset[lane] % align;
        }
        uint32_t cycles = fullest ? fullest : 1;
        uint32_t extra = inst->flags & IF_ATOMIC && most ? most - 1 : 0;
        sum.active += cycles + extra;
        sum.conflict += cycles - 1;
        sum.address_conflict += extra;
        sum.unaligned += inst->format == FMT_FLAT && unaligned;
        if (inst->flags & IF_ATOMIC && inst->dst.kind != OPND_NONE)
            sum.atomic_return += cycles + extra;
    }
    return sum;
}

static void pattern_make(uint32_t address[WAVE_LANES])
{
    uint32_t kind = random_below(6);
    uint32_t start = random_below(8) ? random_below(64) : LDS_BYTES - random_below(512);
    uint32_t stride = kind == 0 ? 4 : kind == 1 ? 1u << random_below(8) : random_below(120);
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        address[lane] = start + lane * stride;
        if (kind == 3)
            address[lane] = random_below(512) * 4;
        if (kind == 4)
            address[lane] = start + (WAVE_LANES - 1 - lane) * stride;
        if (kind == 5 && random_below(20) == 0)
            address[lane] = random_below(2) ? UINT32_MAX - random_below(8) : LDS_BYTES - 4;
    }
}

static uint64_t lanes_make(void)
{
    uint64_t some = (uint64_t)random_below(1 << 24) << 40 ^ (uint64_t)random_below(1 << 24) << 20 ^
                    random_below(1 << 24);
    uint32_t kind = random_below(4);
    return kind == 0 ? some : kind == 1 ? some & 1ull << random_below(64) : ~0ull;
}

static bool follow(const uint32_t *offset, uint32_t size_bytes)
{
    for (uint32_t lane = 1; lane < WAVE_LANES; lane++)
        if (offset[lane] != offset[0] + lane * size_bytes)
            return false;
    return true;
}

static void level_costs(void)
{
    uint32_t rows = 0, refused = 0;
    static const uint32_t sizes[] = {1, 2, 4, 8, 12, 16};
    static const uint32_t moves[PLACES] = {0, 128, 4, 6};
    struct workgroup group = {.lds_bytes = LDS_BYTES, .wants = PERF_WANT_LDS};
    struct wave *wave = calloc(1, sizeof *wave);
    assert_non_null(wave);
    wave->group = &group;
    for (int i = 0; i < PATTERNS; i++) {
        uint32_t room[WAVE_LANES + 4] __attribute__((aligned(64))), offset[WAVE_LANES];
        uint32_t *address = room + random_below(4); /* a row, or what generic accesses found out */
        uint64_t lanes = lanes_make();
        uint32_t size_bytes = sizes[random_below(6)];
        struct inst inst = {.format = random_below(4) ? FMT_DS : FMT_FLAT,
                            .flags = random_below(3) ? 0 : IF_ATOMIC};
        inst.dst.kind = random_below(2) ? OPND_VGPR : OPND_NONE;
        pattern_make(address);
        for (uint32_t n = 0; n < PLACES; n++) {
            for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
                offset[lane] = address[lane] + moves[n];
            struct perf_lds wanted = reference(&inst, offset, lanes, size_bytes);
            group.lds_counts = (struct perf_lds){0};
            lds_note(wave, &inst, address, moves[n], lanes, size_bytes);
            assert_memory_equal(&group.lds_counts, &wanted, sizeof wanted);
            if (lanes != ~0ull || size_bytes < 4 || inst.flags & IF_ATOMIC ||
                !follow(offset, size_bytes))
                continue;
            group.lds_counts = (struct perf_lds){0};
            const bool noted = lds_note_row(wave, &inst, offset[0], size_bytes);
            rows += noted;
            refused += !noted;
            if (noted)
                assert_memory_equal(&group.lds_counts, &wanted, sizeof wanted);
        }
    }
    assert_non_null(group.lds_patterns);
    assert_true(rows > PATTERNS / 100 && refused > PATTERNS / 100);
    free(wave);
}

static void costs_are_those_of_the_reference(void **state)
{
    static const char *const names[] = {"avx512", "avx2", "portable"};
    static const enum host_level of[] = {LEVEL_AVX512, LEVEL_AVX2, LEVEL_PORTABLE};
    (void)state;
    for (unsigned level = 0; level < 3; level++) {
        if (valu_build_select(names[level]) != 0)
            continue;
        host_level = of[level];
        level_costs();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
