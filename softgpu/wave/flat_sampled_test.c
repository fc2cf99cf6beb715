/* Full waves whose elements follow each other are copied as one span; only where a block of it is
 * sampled for modelled time are its accesses looked at one by one. */
#define ROWS_LEVEL portable
#include "wave/flat_rows.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { TRIES = 200000, DWORDS_MAX = 4 };

static uint64_t seed = 88172645463325252u;

static uint64_t random_below(uint64_t end)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed % end;
}

/* Byte by byte, as if each were an access. */
static bool is_sampled(uint64_t va, uint32_t bytes, uint64_t origin, uint32_t limit)
{
    bool sampled = false;
    for (uint32_t n = 0; n < bytes && !sampled; n++)
        sampled = sample_position(va + n - origin) < limit;
    return sampled;
}

static void a_span_is_sampled_where_a_block_is(void **state)
{
    uint32_t counts[2] = {0};
    (void)state;
    for (uint32_t n = 0; n < TRIES; n++) {
        uint64_t origin = 0x7f0000000000 + SAMPLE_BLOCK_BYTES * random_below(1 << 20);
        uint64_t va = origin + 4 * random_below(1 << 24);
        uint32_t bytes = 4 * WAVE_LANES * (1 + (uint32_t)random_below(DWORDS_MAX));
        uint32_t limit = (uint32_t)random_below(5) ? SAMPLE_POSITIONS >> random_below(12) : 0;
        bool sampled = span_sampled(va, bytes, origin, limit);
        counts[sampled]++;
        assert_int_equal(sampled, is_sampled(va, bytes, origin, limit));
    }
    assert_true(counts[0] > TRIES / 10 && counts[1] > TRIES / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_span_is_sampled_where_a_block_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
