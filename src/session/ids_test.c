/* Many threads that keep each other slow take blocks of ids, and one among few does not. The
 * threads are played: their rooms take turns on this one. And nobody gets an id twice, whenever
 * signal handlers come and blocks are taken away. */
#include "session/ids.h"
#include "session/internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CROWD = 24, ROUNDS = 20000, ATTEMPTS = 200, PAUSE_NS = 500 };

static struct session_thread rooms[CROWD];

static void pause_until(uint64_t ns)
{
    while (clock_now_ns() < ns)
        ;
}

/* How many of the first room's ids follow the one before, while `count` rooms take turns, each with
 * an id in PAUSE_NS at most. */
static uint64_t neighbours(int count, uint64_t *taken)
{
    uint64_t last = 0, found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t next_ns = clock_now_ns() + PAUSE_NS;
        for (int i = 0; i < count; i++) {
            uint64_t id = correlation_next(&rooms[i]);
            assert_true(id != 0);
            if (i == 0) {
                found += id == last + 1;
                last = id;
            }
        }
        *taken += (uint64_t)count;
        pause_until(next_ns);
    }
    return found;
}

/* Each is slower than a thread that takes blocks by itself. A machine with other work may be too
 * slow for all of them together: then it is tried again. */
static void a_crowd_takes_blocks(void **state)
{
    (void)state;
    uint64_t found = 0, taken = 0;
    for (int i = 0; i < ATTEMPTS && found < ROUNDS / 2; i++)
        found = neighbours(CROWD, &taken);
    assert_true(found >= ROUNDS / 2);
}

/* Two of them are not many: they have every id of the counter in turn. */
static void a_few_slow_threads_leave_no_gaps(void **state)
{
    (void)state;
    static struct session_thread few[2];
    uint64_t last[2] = {0, 0};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t next_ns = clock_now_ns() + (uint64_t)2 * PAUSE_NS;
        for (int i = 0; i < 2; i++) {
            uint64_t id = correlation_next(&few[i]);
            assert_true(last[i] == 0 || id == last[i] + 2);
            last[i] = id;
        }
        pause_until(next_ns);
    }
}

/* ---- a handler between a step and the look at the block's end */

enum { IDS_MAX = 1 << 23, MOMENTS = 2000, HANDLER_IDS_MAX = 600, SIGNALLED_NS = 300000000 };

static _Atomic unsigned char *seen; /* by id */
static _Atomic uint64_t twice, calls_of_handlers;

static void see(uint64_t id)
{
    if (id < IDS_MAX)
        twice += atomic_fetch_add_explicit(&seen[id], 1, memory_order_relaxed) != 0;
}

static void ids_see(struct session_thread *self, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        self->takes_blocks = true;
        see(correlation_next(self));
    }
}

static uint64_t left_in_block(const struct session_thread *self)
{
    uint64_t next = self->next_id, end = self->end_id;
    return next < end ? end - next : 0;
}

/* The other half of correlation_next. */
static void step_end(struct session_thread *self, uint64_t id)
{
    see(id < self->end_id ? id : correlation_take(self, id));
}

/* What happens around a step before a handler comes: every combination has its turn. */
struct moment {
    bool used_up;            /* the step is the first one past the block's end */
    bool taken_before;       /* the block is taken away before the step */
    bool taken_behind;       /* or behind it */
    bool handler_in_handler; /* whose step goes on behind that of the inner one */
    uint64_t handler_ids;
};

static struct moment moment_of(uint64_t i)
{
    return (struct moment){i & 1, i & 2, i & 4, i & 8, i * 7 % HANDLER_IDS_MAX};
}

static void moment_pass(struct session_thread *self, struct moment moment)
{
    if (moment.used_up)
        ids_see(self, left_in_block(self));
    if (moment.taken_before)
        ids_hand_on();
    uint64_t id = id_step(&self->next_id);
    uint64_t inner = moment.handler_in_handler ? id_step(&self->next_id) : 0;
    if (moment.taken_behind)
        ids_hand_on();
    ids_see(self, moment.handler_ids);
    if (inner)
        step_end(self, inner);
    step_end(self, id);
}

static void a_handler_gets_no_id_of_what_it_interrupted(void **state)
{
    (void)state;
    struct session_thread *self = session_of(thread_self());
    uint64_t blocks = 0;
    for (uint64_t i = 0; i < MOMENTS; i++) {
        ids_see(self, 1 + i % 3);
        moment_pass(self, moment_of(i));
        ids_see(self, 2);
        blocks += left_in_block(self) != 0;
    }
    assert_int_equal(twice, 0);
    assert_true(blocks > MOMENTS / 10 * 9); /* it has blocks again when all is said */
}

static void on_signal(int number)
{
    (void)number;
    ids_see(session_of(thread_self()), 3);
    calls_of_handlers++;
}

static _Atomic bool is_over;

static void *disturb(void *arg)
{
    const pthread_t *disturbed = arg;
    while (!is_over) {
        pthread_kill(*disturbed, SIGUSR1);
        ids_hand_on();
        pause_until(clock_now_ns() + 3000);
    }
    return NULL;
}

/* The same by chance, with a real handler. */
static void handlers_at_any_moment_leave_ids_unique(void **state)
{
    (void)state;
    pthread_t self = pthread_self(), other;
    signal(SIGUSR1, on_signal);
    assert_int_equal(pthread_create(&other, NULL, disturb, &self), 0);
    uint64_t end_ns = clock_now_ns() + SIGNALLED_NS;
    while (clock_now_ns() < end_ns)
        ids_see(session_of(thread_self()), 2000);
    is_over = true;
    pthread_join(other, NULL);
    assert_true(calls_of_handlers > 0);
    assert_int_equal(twice, 0);
}

int main(void)
{
    thread_init();
    seen = calloc(IDS_MAX, 1);
    if (!seen)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_slow_threads_leave_no_gaps),
        cmocka_unit_test(a_crowd_takes_blocks),
        cmocka_unit_test(a_handler_gets_no_id_of_what_it_interrupted),
        cmocka_unit_test(handlers_at_any_moment_leave_ids_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
