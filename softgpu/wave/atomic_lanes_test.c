/*
 * Atomic instructions whose lanes meet: random operations on a few places against the lanes one
 * after the other, and what two threads draw from one place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "wave/each_level.h"
#include "wave/lanes.h"

enum { PLACES = 64, ROWS = 6, ROUNDS = 4000 };

static struct atomic_op random_op(void)
{
    static const struct atomic_op packed[] = {{ATOMIC_ADD, ATOMIC_PK_F16, 4},
                                              {ATOMIC_ADD, ATOMIC_PK_BF16, 4}};
    static const uint8_t of_floats[] = {ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_CMPSWAP};
    const uint8_t bytes = below(2) ? 4 : 8;
    switch (below(4)) {
    case 0:
        return packed[below(2)];
    case 1:
        return (struct atomic_op){of_floats[below(4)], ATOMIC_FLOAT, bytes};
    default:
        return (struct atomic_op){(uint8_t)below(ATOMIC_DEC + 1),
                                  below(2) ? ATOMIC_UINT : ATOMIC_INT, bytes};
    }
}

/* Small numbers meet comparands and turn increments; others are bits of floats. */
static uint32_t random_word(void)
{
    return below(2) ? below(5) : random_dword();
}

/* What a wave's lanes are given: places, of which some are outside, rows, and where results go. */
struct wave_case {
    struct atomic_op op;
    struct lane_pointers pointers;
    uint8_t place[WAVE_LANES]; /* PLACES: outside */
    uint64_t memory[PLACES];
    lane_row rows[ROWS];
    unsigned data, old; /* rows, which may be the same */
    bool returns;
};

static void case_make(struct wave_case *c)
{
    static const uint8_t some[] = {1, 2, 3, 16, PLACES};
    const unsigned places = some[below(sizeof some)], outside = below(4);
    c->op = random_op();
    c->pointers.lanes = below(2) ? ~0ull : (uint64_t)random_dword() << 32 | random_dword();
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        c->place[lane] = (uint8_t)below(places);
        if (outside == 0 && below(3) == 0)
            c->place[lane] = PLACES;
        c->pointers.host[lane] =
            c->place[lane] < PLACES ? (uint8_t *)&c->memory[c->place[lane]] : NULL;
    }
    for (unsigned n = 0; n < PLACES; n++)
        c->memory[n] = (uint64_t)random_word() << 32 | random_word();
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            c->rows[row][lane] = random_word();
    c->data = below(2);
    c->old = below(4);
    c->returns = below(2);
}

static uint64_t value_of(const struct wave_case *c, unsigned row, unsigned lane)
{
    const uint64_t high = c->op.bytes == 8 ? c->rows[row + 1][lane] : 0;
    return high << 32 | c->rows[row][lane];
}

/* The lanes one after the other. */
static void case_expect(struct wave_case *c)
{
    const unsigned words = c->op.bytes / 4;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        if (!(c->pointers.lanes >> lane & 1))
            continue;
        const uint64_t data = value_of(c, c->data, lane);
        const uint64_t compare =
            c->op.kind == ATOMIC_CMPSWAP ? value_of(c, c->data + words, lane) : 0;
        uint64_t old = 0;
        if (c->place[lane] < PLACES) {
            memcpy(&old, &c->memory[c->place[lane]], c->op.bytes);
            const uint64_t new = atomic_compute(&c->op, old, data, compare);
            memcpy(&c->memory[c->place[lane]], &new, c->op.bytes);
        }
        if (!c->returns)
            continue;
        c->rows[c->old][lane] = (uint32_t)old;
        if (words > 1)
            c->rows[c->old + 1][lane] = (uint32_t)(old >> 32);
    }
}

static void lanes_round(void)
{
    static struct wave_case made, expected;
    case_make(&made);
    expected = made;
    case_expect(&expected);
    lanes_atomic(&made.pointers, &made.rows[made.data], made.returns ? &made.rows[made.old] : NULL,
                 &made.op);
    assert_memory_equal(made.memory, expected.memory, sizeof made.memory);
    assert_memory_equal(made.rows, expected.rows, sizeof made.rows);
}

static void lanes_one_after_the_other(void **state)
{
    (void)state;
    each_level(ROUNDS, lanes_round);
}

/* Two waves draw 64 numbers at a time from one place, or from two in turns. */
enum { DRAWS = 20000, WAVES = 2 };

struct drawer {
    struct lane_pointers pointers;
    struct atomic_op op;
    unsigned places;
    bool parted; /* some instruction's numbers were not behind each other */
};

static void *draw(void *argument)
{
    struct drawer *drawer = argument;
    const unsigned places = drawer->places;
    lane_row data, old;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        data[lane] = drawer->op.kind == ATOMIC_INC ? UINT32_MAX : 1;
    for (unsigned n = 0; n < DRAWS; n++) {
        lanes_atomic(&drawer->pointers, &data, &old, &drawer->op);
        for (unsigned lane = places; lane < WAVE_LANES; lane++)
            drawer->parted |= old[lane] != old[lane - places] + 1;
    }
    return NULL;
}

static void draw_check(struct atomic_op op, unsigned places)
{
    uint64_t memory[2] = {0};
    struct drawer drawers[WAVES];
    pthread_t threads[WAVES];
    for (unsigned n = 0; n < WAVES; n++) {
        drawers[n] = (struct drawer){.pointers.lanes = ~0ull, .op = op, .places = places};
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            drawers[n].pointers.host[lane] = (uint8_t *)&memory[lane % places];
        assert_int_equal(pthread_create(&threads[n], NULL, draw, &drawers[n]), 0);
    }
    for (unsigned n = 0; n < WAVES; n++) {
        pthread_join(threads[n], NULL);
        assert_false(drawers[n].parted);
    }
    for (unsigned n = 0; n < places; n++)
        assert_int_equal(memory[n], WAVES * DRAWS * WAVE_LANES / places);
}

static void nobody_comes_between(void **state)
{
    (void)state;
    host_level_choose();
    for (unsigned places = 1; places <= 2; places++) {
        draw_check((struct atomic_op){ATOMIC_INC, ATOMIC_UINT, 4}, places);
        draw_check((struct atomic_op){ATOMIC_ADD, ATOMIC_UINT, 4}, places);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_one_after_the_other),
                                       cmocka_unit_test(nobody_comes_between)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
