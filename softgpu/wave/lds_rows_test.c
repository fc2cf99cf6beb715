/*
 * Rows of LDS elements against one lane at a time: contiguous, scattered and shared by lanes, in
 * shapes that differ between sixteen lanes and the next, misaligned, with lanes switched off and
 * beyond the end, at every level that this CPU has.
 */
#include "wave/lds_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "valu/valu.h"
#include "wave/host_levels.h"

enum { LDS_BYTES = 4096 - 4, GUARD_BYTES = 64, ROWS = 6, ROUNDS = 400 };

static uint8_t lds[LDS_BYTES + GUARD_BYTES], expected_lds[LDS_BYTES + GUARD_BYTES];
static lane_row rows[ROWS], expected[ROWS];

static uint32_t random_state = 12345;
static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

enum pattern { CONTIGUOUS, ALMOST, ALIGNED, ANYWHERE, SHARED, MIXED, OUTSIDE, PATTERNS };

/* What sixteen lanes may have in common, or just not. */
enum shape { ONE_PLACE, ASCENDING, DESCENDING, SWIZZLED, STRIDED, NEARBY, FAR_APART, SHAPES };

static uint32_t shape_offset(enum shape shape, uint32_t lane, uint32_t bytes)
{
    const uint32_t number = shape == ASCENDING    ? lane
                            : shape == DESCENDING ? 15 - lane
                            : shape == SWIZZLED   ? lane ^ 5
                            : shape == STRIDED    ? 2 * lane
                                                  : 0;
    if (shape == NEARBY) /* up to a vector or two of the host's, and one dword more */
        return random_below(34) * 4;
    return shape == FAR_APART ? random_below(200) * 4 : number * bytes;
}

/* Each sixteen lanes have a shape of their own, which one lane often breaks by a dword or byte. */
static void mixed_make(uint32_t *offset, unsigned dwords)
{
    const uint32_t room = LDS_BYTES - 4 * dwords;
    for (uint32_t first = 0; first < WAVE_LANES; first += 16) {
        const enum shape shape = (enum shape)random_below(SHAPES);
        const uint32_t near_end = random_below(3) == 0 ? room - 16 * random_below(16) : 0;
        const uint32_t base =
            near_end ? near_end : random_below(room / 4) * 4 + random_below(8) / 7;
        const uint32_t odd = first + random_below(16);
        for (uint32_t lane = first; lane < first + 16; lane++)
            offset[lane] = base + shape_offset(shape, lane - first, 4 * dwords);
        if (random_below(2))
            offset[odd] += random_below(4) == 0 ? 1 : random_below(2) ? 4 : (uint32_t)-4;
        for (uint32_t lane = first; lane < first + 16; lane++)
            offset[lane] = (int32_t)offset[lane] < 0 ? 0
                           : offset[lane] > room     ? room
                                                     : offset[lane];
    }
}

static void addresses_make(uint32_t *address, enum pattern pattern, unsigned dwords, uint32_t at)
{
    const uint32_t room = LDS_BYTES - 4 * dwords, first = random_below(64) * 4;
    uint32_t mixed[WAVE_LANES];
    if (pattern == MIXED)
        mixed_make(mixed, dwords);
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t offset = first + lane * 4 * dwords;
        if (pattern == ALIGNED)
            offset = random_below(room / 4) * 4;
        if (pattern == ANYWHERE)
            offset = random_below(room + 1);
        if (pattern == SHARED)
            offset = lane / 8 * 16;
        if (pattern == MIXED)
            offset = mixed[lane];
        address[lane] = offset - at; /* wraps around below zero, as the sum does again */
    }
    if (pattern == ALMOST)
        address[random_below(WAVE_LANES)] = room - at;
    if (pattern == OUTSIDE)
        address[random_below(WAVE_LANES)] = room + 1 + random_below(3) * 0x10000000 - at;
}

static bool any_outside(const struct lds_span *s, unsigned dwords)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        const uint32_t offset = s->address[lane] + s->at;
        if (s->lanes >> lane & 1 && (uint64_t)offset + 4 * dwords > s->lds_bytes)
            return true;
    }
    return false;
}

/* As who has looked knows it, or not. */
static enum lds_follows follows_of(const struct lds_span *s, unsigned dwords)
{
    if (random_below(2))
        return FOLLOWS_UNKNOWN;
    return lds_rows_follow(s, dwords) ? FOLLOWS : FOLLOWS_NOT;
}

static void one_round(enum pattern pattern, unsigned dwords, unsigned address_row)
{
    static const uint64_t masks[] = {~0ull, ~0ull,  0x5555555555555555, 1ull << 63,
                                     0,     0xffff, 0xfffe7fff00f00008};
    const uint32_t at = random_below(2) ? 0 : random_below(65536);
    addresses_make(rows[address_row], pattern, dwords, at);
    memcpy(expected, rows, sizeof rows);
    lane_row address;
    memcpy(address, rows[address_row], sizeof address);
    struct lds_span s = {lds, LDS_BYTES, at, address, masks[random_below(7)], FOLLOWS_UNKNOWN};
    s.follows = follows_of(&s, dwords);
    struct lds_span own = s; /* as an instruction has it, whose result may be its address */
    own.address = rows[address_row];
    const bool outside = any_outside(&s, dwords);
    for (unsigned lane = 0; !outside && lane < WAVE_LANES; lane++)
        for (unsigned n = 0; n < dwords && s.lanes >> lane & 1; n++)
            memcpy(&expected[n][lane], lds + (uint32_t)(address[lane] + at) + 4 * n, 4);
    assert_int_equal(lds_rows_load(&own, rows, dwords), !outside);
    assert_memory_equal(rows, expected, sizeof rows);

    for (unsigned n = 0; n < ROWS; n++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            rows[n][lane] = random_below(1u << 24) * 256 + lane;
    memcpy(expected_lds, lds, sizeof lds);
    for (unsigned lane = 0; !outside && lane < WAVE_LANES; lane++)
        for (unsigned n = 0; n < dwords && s.lanes >> lane & 1; n++)
            memcpy(expected_lds + (uint32_t)(address[lane] + at) + 4 * n, &rows[n][lane], 4);
    assert_int_equal(lds_rows_store(&s, rows, dwords), !outside);
    assert_memory_equal(lds, expected_lds, sizeof lds);
}

/* Two elements a lane, the second one mostly inside, too. */
static void one_round_of_two(enum pattern pattern, unsigned dwords, unsigned address_row)
{
    static const uint64_t masks[] = {~0ull, ~0ull, 0x5555555555555555, 0xfffe7fff00f00008};
    lane_row address;
    addresses_make(rows[address_row], pattern, dwords, 0);
    memcpy(expected, rows, sizeof rows);
    memcpy(address, rows[address_row], sizeof address);
    struct lds_span s = {
        lds, LDS_BYTES, 0, rows[address_row], masks[random_below(4)], FOLLOWS_UNKNOWN};
    s.follows = follows_of(&s, dwords);
    const uint32_t second_at = random_below(2) ? 4 * dwords : random_below(256) * 4;
    const struct lds_span first = {lds, LDS_BYTES, 0, address, s.lanes, s.follows};
    const struct lds_span second = {lds, LDS_BYTES, second_at, address, s.lanes, s.follows};
    const bool outside = any_outside(&first, dwords) || any_outside(&second, dwords);
    for (unsigned lane = 0; !outside && lane < WAVE_LANES; lane++)
        for (unsigned n = 0; n < dwords && s.lanes >> lane & 1; n++) {
            memcpy(&expected[n][lane], lds + address[lane] + 4 * n, 4);
            memcpy(&expected[dwords + n][lane], lds + address[lane] + second_at + 4 * n, 4);
        }
    assert_int_equal(lds_rows_load_two(&s, second_at, rows, dwords), !outside);
    assert_memory_equal(rows, expected, sizeof rows);
}

static void as_lane_by_lane(void **state)
{
    static const char *const names[] = {"avx512", "avx2", "portable"};
    static const enum host_level of[] = {LEVEL_AVX512, LEVEL_AVX2, LEVEL_PORTABLE};
    (void)state;
    for (unsigned level = 0; level < 3; level++) {
        if (valu_build_select(names[level]) != 0)
            continue;
        host_level = of[level];
        for (unsigned round = 0; round < ROUNDS; round++)
            for (unsigned dwords = 1; dwords <= 4; dwords++)
                for (enum pattern pattern = 0; pattern < PATTERNS; pattern++)
                    one_round(pattern, dwords, random_below(ROWS));
        for (unsigned round = 0; round < ROUNDS; round++)
            for (unsigned dwords = 1; dwords <= 2; dwords++)
                for (enum pattern pattern = 0; pattern < PATTERNS; pattern++)
                    one_round_of_two(pattern, dwords, random_below(ROWS));
    }
}

/* An LDS that is smaller than an element holds none. */
static void smaller_than_an_element(void **state)
{
    (void)state;
    memset(rows, 0, sizeof rows);
    for (uint32_t bytes = 0; bytes < 16; bytes++) {
        const struct lds_span s = {lds, bytes, 0, rows[0], 1, FOLLOWS_UNKNOWN};
        for (unsigned dwords = 1; dwords <= 4; dwords++)
            assert_int_equal(lds_rows_load(&s, rows + 1, dwords), bytes >= 4 * dwords);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_lane_by_lane),
        cmocka_unit_test(smaller_than_an_element),
    };
    for (unsigned n = 0; n < sizeof lds; n++)
        lds[n] = (uint8_t)(n * 37);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
