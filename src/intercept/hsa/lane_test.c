/* The table in lane.h, row by row: each method on a lane in each state that it may find. */
#include "intercept/hsa/lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { EPOCH = 7 * LANE_EPOCH_STEP, OLD_EPOCH = 6 * LANE_EPOCH_STEP };
enum { LISTED = EPOCH | LANE_LISTED, PARKING = EPOCH | LANE_PARKING };

/* What stands in the lane's stack before the method is called. */
static struct inflight before;
static struct inflight posted;

static bool put(struct inflight_lane *lane)
{
    return lane_put(lane, &posted, LISTED);
}

static bool claim(struct inflight_lane *lane)
{
    return lane_claim(lane, LISTED);
}

static bool park(struct inflight_lane *lane)
{
    lane_park(lane, LISTED);
    return false;
}

static bool park_end(struct inflight_lane *lane)
{
    return lane_park_end(lane, LISTED);
}

static const struct row {
    const char *name;
    bool (*method)(struct inflight_lane *lane);
    uint32_t state;
    bool mail, closing;
    uint32_t next;
    bool answer;
} rows[] = {
    {"put unknown", put, LANE_UNKNOWN, false, false, LANE_UNKNOWN, true},
    {"put listed", put, LISTED, false, false, LISTED, false},
    {"put parking", put, PARKING, false, false, PARKING, true},
    {"put listed by the parent", put, OLD_EPOCH | LANE_LISTED, true, false, LANE_UNKNOWN, true},
    {"put parked by the parent", put, OLD_EPOCH | LANE_PARKING, true, false, LANE_UNKNOWN, true},
    {"claim unknown", claim, LANE_UNKNOWN, true, false, LISTED, true},
    {"claim listed", claim, LISTED, true, false, LISTED, false},
    {"claim parking", claim, PARKING, true, false, LISTED, true},
    {"park listed", park, LISTED, false, false, PARKING, false},
    {"park_end parking", park_end, PARKING, false, false, LANE_UNKNOWN, false},
    {"park_end parking with mail", park_end, PARKING, true, false, LISTED, true},
    {"park_end claimed", park_end, LISTED, true, false, LISTED, false},
    {"forget listed", lane_forget, LISTED, false, false, LISTED, false},
    {"forget listed with mail", lane_forget, LISTED, true, true, LISTED, false},
    {"forget listed and closed", lane_forget, LISTED, false, true, LANE_UNKNOWN, true},
};

static void the_table_of_methods_and_states_holds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        struct inflight_lane lane = {.closing = row->closing};
        atomic_store(&lane.state, row->state);
        atomic_store(&lane.stack, row->mail ? &before : NULL);
        print_message("%s\n", row->name);
        assert_int_equal(row->method(&lane), row->answer);
        assert_int_equal(atomic_load(&lane.state), row->next);
        assert_int_equal(lane_is_unknown(&lane), row->next == LANE_UNKNOWN);
    }
}

/* What the parent had in flight is not the child's, on the stack, in the ring and in the list. What
 * stands behind the ring is somebody else's. */
static void a_lane_of_another_epoch_is_emptied(void **state)
{
    (void)state;
    static struct {
        struct inflight_ring ring;
        const void *behind;
    } memory = {.behind = &before};
    struct inflight_lane lane = {.ring = &memory.ring};
    struct inflight listed = {0}, in_ring = {0};
    assert_true(lane_put(&lane, &listed, OLD_EPOCH | LANE_LISTED));
    assert_true(lane_claim(&lane, OLD_EPOCH | LANE_LISTED));
    assert_int_equal(lane_receive(&lane, 0), 1);
    assert_false(lane_put(&lane, &in_ring, OLD_EPOCH | LANE_LISTED));
    assert_true(lane_put(&lane, &posted, LISTED));
    assert_int_equal(lane_receive(&lane, 0), 1);
    assert_ptr_equal(lane.oldest, &posted);
    assert_ptr_equal(lane.newest, &posted);
    assert_int_equal(atomic_load(&lane.posted) - atomic_load(&lane.finished), 1);
    for (unsigned i = 0; i < INFLIGHT_RING_SLOTS; i++)
        assert_null(atomic_load(&memory.ring.slots[i]));
    assert_ptr_equal(memory.behind, &before);
}

/* The ring is older than the stack that took what it could not hold. */
static void a_full_ring_keeps_the_order(void **state)
{
    (void)state;
    enum { COUNT = INFLIGHT_RING_SLOTS + 3 };
    static struct inflight_ring ring;
    static struct inflight works[COUNT];
    struct inflight_lane lane = {.ring = &ring};
    const struct inflight *at;
    unsigned count = 0;
    for (unsigned i = 0; i < COUNT; i++)
        lane_put(&lane, &works[i], LISTED);
    assert_int_equal(lane_receive(&lane, 0), COUNT);
    for (at = lane.oldest; at; at = at->next)
        assert_ptr_equal(at, &works[count++]);
    assert_int_equal(count, COUNT);
}

static bool done[3];
static struct inflight in_order_works[3];

static bool is_done(struct inflight *work)
{
    return done[work - in_order_works];
}

/* What ends behind older ones is not taken before them, though it had ended when it was asked and
 * they, asked just before, had not. Others are. */
static void what_ends_in_order_is_taken_in_order(void **state)
{
    (void)state;
    struct inflight_lane lane = {0};
    for (int i = 0; i < 3; i++) {
        in_order_works[i] = (struct inflight){.ended = is_done, .urgent = true, .in_order = i == 2};
        done[i] = i != 0;
        lane_put(&lane, &in_order_works[i], LISTED);
    }
    assert_int_equal(lane_receive(&lane, 0), 3);
    struct inflight *ended = lane_ask(&lane, true, false);
    assert_ptr_equal(ended, &in_order_works[1]);
    assert_null(ended->next);
    done[0] = true;
    ended = lane_ask(&lane, true, false);
    assert_ptr_equal(ended, &in_order_works[0]);
    assert_ptr_equal(ended->next, &in_order_works[2]);
    assert_null(lane.oldest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_methods_and_states_holds),
        cmocka_unit_test(a_lane_of_another_epoch_is_emptied),
        cmocka_unit_test(a_full_ring_keeps_the_order),
        cmocka_unit_test(what_ends_in_order_is_taken_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
