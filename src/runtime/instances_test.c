/* One runtime's way through its states, and several at once. */
#include "base/wait.h"
#include "runtime/places.h"
#include "runtime/watchers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char tables[512][8];

static struct runtime_instance arrival_of(enum runtime_kind kind, unsigned table)
{
    return (struct runtime_instance){.row = &runtime_rows[kind],
                                     .tables = {tables[table]},
                                     .version = 100 + table,
                                     .number = RUNTIME_UNNUMBERED};
}

static struct runtime_instance arrive(enum runtime_kind kind, unsigned table)
{
    struct runtime_instance instance = arrival_of(kind, table);
    assert_true(runtime_arrive(&instance));
    return instance;
}

/* The whole table, written out by hand. */
static void only_these_states_follow(void **state)
{
    static const bool follows[RUNTIME_STATES][RUNTIME_STATES] = {
        /* to: ABSENT, OFFERED, KEPT, INSTALLED, GONE */
        {false, true, false, false, false}, {false, false, true, true, true},
        {false, true, false, false, true},  {false, false, false, true, true},
        {false, true, false, false, false},
    };
    (void)state;
    for (int from = 0; from < RUNTIME_STATES; from++)
        for (int to = 0; to < RUNTIME_STATES; to++)
            assert_int_equal(
                runtime_state_may_follow((enum runtime_state)from, (enum runtime_state)to),
                follows[from][to]);
    assert_false(runtime_state_may_follow(RUNTIME_STATES, RUNTIME_OFFERED));
    assert_false(runtime_state_may_follow(RUNTIME_OFFERED, RUNTIME_STATES));
}

static void a_table_that_comes_twice_is_one(void **state)
{
    (void)state;
    struct runtime_instance first = arrive(RUNTIME_HSA, 0), second = arrive(RUNTIME_HSA, 0);
    assert_int_equal(first.arrival, second.arrival);
    assert_int_equal(second.state, RUNTIME_OFFERED);
    assert_true(runtime_announce(&first));
    assert_false(runtime_announce(&second));
    assert_true(runtime_is_known(RUNTIME_HSA));
    assert_false(runtime_is_known(RUNTIME_HIP));
    assert_ptr_equal(runtime_only_table(RUNTIME_HSA), tables[0]);
    runtime_leave(RUNTIME_HSA, tables[0]);
    assert_false(runtime_is_known(RUNTIME_HSA));
    assert_null(runtime_only_table(RUNTIME_HSA));
}

static void who_comes_again_has_its_number_and_nothing_else(void **state)
{
    (void)state;
    struct runtime_instance a = arrive(RUNTIME_HSA, 1), b = arrive(RUNTIME_HSA, 2);
    assert_int_not_equal(a.number, b.number);
    assert_null(runtime_only_table(RUNTIME_HSA)); /* nobody can tell which */
    assert_true(runtime_move(&a, RUNTIME_INSTALLED));
    runtime_kernels_missed_set(&a, true);
    assert_true(runtime_kernels_missed());
    assert_true(runtime_announce(&a));
    runtime_leave(RUNTIME_HSA, tables[1]);
    assert_false(runtime_kernels_missed());
    struct runtime_instance again = arrive(RUNTIME_HSA, 1);
    assert_int_equal(again.number, a.number);
    assert_int_equal(again.state, RUNTIME_OFFERED);
    assert_true(again.arrival > a.arrival);
    assert_false(runtime_move(&a, RUNTIME_INSTALLED)); /* a copy of its last life */
    assert_false(runtime_announce(&a));
    assert_true(runtime_announce(&again));
    runtime_leave(RUNTIME_HSA, tables[1]);
    runtime_leave(RUNTIME_HSA, tables[2]);
}

static void those_kept_are_taken_in_the_order_of_their_arrival(void **state)
{
    (void)state;
    struct runtime_instance early = arrive(RUNTIME_HIP, 11), late = arrive(RUNTIME_HSA, 1), taken;
    assert_true(runtime_move(&late, RUNTIME_KEPT)); /* its place is older: it was here before */
    assert_true(runtime_move(&early, RUNTIME_KEPT));
    assert_false(runtime_move(&late, RUNTIME_INSTALLED)); /* somebody has to decide first */
    assert_int_equal(runtime_kept_count(), 2);
    assert_true(runtime_kept_take(&taken));
    assert_ptr_equal(taken.tables[0], tables[11]);
    assert_int_equal(taken.state, RUNTIME_OFFERED);
    assert_true(runtime_kept_take(&taken));
    assert_ptr_equal(taken.tables[0], tables[1]);
    assert_false(runtime_kept_take(&taken));
    runtime_leave(RUNTIME_HIP, tables[11]);
    runtime_leave(RUNTIME_HSA, tables[1]);
}

static unsigned told[2];
static void on_table(rocprofiler_intercept_table_t kind, uint64_t version, uint64_t number,
                     void **offered, uint64_t count, void *data)
{
    (void)number;
    assert_int_equal(kind, ROCPROFILER_HIP_RUNTIME_TABLE);
    assert_int_equal(version, 112);
    assert_int_equal(count, 1);
    assert_ptr_equal(*offered, tables[12]);
    (*(unsigned *)data)++;
}

static void each_watcher_is_told_once(void **state)
{
    static unsigned never;
    (void)state;
    assert_true(watcher_add(on_table, 0, &told[0]));
    assert_true(watcher_add(on_table, ROCPROFILER_HSA_TABLE, &never));
    struct runtime_instance instance = arrive(RUNTIME_HIP, 12), stale = instance;
    watchers_tell(&instance);
    assert_true(watcher_add(on_table, ROCPROFILER_HIP_RUNTIME_TABLE, &told[1]));
    watchers_tell(&stale);
    watchers_tell(&instance);
    assert_int_equal(told[0], 1);
    assert_int_equal(told[1], 1);
    assert_int_equal(never, 0);
    runtime_leave(RUNTIME_HIP, tables[12]);
    watchers_tell(&instance); /* has gone */
    assert_int_equal(told[0], 1);
}

static void places_are_used_again_when_all_are_taken(void **state)
{
    unsigned fit = 0;
    (void)state;
    for (unsigned i = 20; i < 512; i++) {
        struct runtime_instance instance = arrival_of(RUNTIME_HIP, i);
        fit += runtime_arrive(&instance);
    }
    assert_true(fit > 200 && fit < 492);
    struct runtime_instance more = arrival_of(RUNTIME_HIP, 511);
    assert_false(runtime_arrive(&more));
    runtime_leave(RUNTIME_HIP, tables[40]);
    assert_true(runtime_arrive(&more));
    for (unsigned i = 20; i < 512; i++)
        runtime_leave(RUNTIME_HIP, tables[i]);
}

/* The state is there to read without the lock; the place is nobody else's, however many come. */
static void a_place_that_is_held_stays_its_tables(void **state)
{
    (void)state;
    assert_null(runtime_place_hold(RUNTIME_HSA, tables[3]));
    struct runtime_instance hsa = arrive(RUNTIME_HSA, 3);
    struct runtime_place *place = runtime_place_hold(RUNTIME_HSA, tables[3]);
    assert_non_null(place);
    assert_false(runtime_place_is_installed(place));
    assert_true(runtime_place_install(place));
    assert_true(runtime_place_is_installed(place));
    assert_true(runtime_move(&hsa, RUNTIME_INSTALLED)); /* as session does, who hears of it later */
    runtime_leave(RUNTIME_HSA, tables[3]);
    assert_false(runtime_place_is_installed(place));
    assert_false(runtime_place_install(place));
    for (unsigned i = 20; i < 512; i++) {
        struct runtime_instance other = arrival_of(RUNTIME_HIP, i);
        if (runtime_arrive(&other))
            runtime_move(&other, RUNTIME_INSTALLED);
    }
    assert_false(runtime_place_is_installed(place));
    hsa = arrive(RUNTIME_HSA, 3); /* though all places are taken */
    assert_ptr_equal(runtime_place_hold(RUNTIME_HSA, tables[3]), place);
    assert_true(runtime_place_install(place));
    runtime_leave(RUNTIME_HSA, tables[3]);
    for (unsigned i = 20; i < 512; i++)
        runtime_leave(RUNTIME_HIP, tables[i]);
}

static struct runtime_place *shared;

/* Writer: part_put (release). Readers: any (acquire). */
static _Atomic enum { NOTHING, BEGUN, PUT_IN } progress;

static void *part_put(void *data)
{
    uint32_t mine = runtime_parts_begin(shared, 6);
    assert_int_equal(mine, 2); /* 4 is the other thread's */
    atomic_store_explicit(&progress, BEGUN, memory_order_release);
    runtime_parts_wait(shared, 4); /* not now: who waits for this thread may be at it */
    wait_pause(20 * WAIT_NS_PER_MS);
    atomic_store_explicit(&progress, PUT_IN, memory_order_release);
    runtime_parts_end(shared, mine);
    return data;
}

static bool has_begun(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&progress, memory_order_acquire) != NOTHING;
}

/* Each part is begun by one; who wants it finds it put in, and nobody waits for himself. */
static void parts_are_begun_once_and_waited_for(void **state)
{
    pthread_t thread;
    (void)state;
    arrive(RUNTIME_HSA, 4);
    shared = runtime_place_hold(RUNTIME_HSA, tables[4]);
    assert_true(runtime_place_install(shared));
    assert_int_equal(runtime_parts_begin(shared, 5), 5);
    assert_int_equal(runtime_parts_begin(shared, 4), 0); /* from inside of putting 5 in */
    runtime_parts_end(shared, 0);
    runtime_parts_wait(shared, 4); /* returns at once */
    assert_int_equal(pthread_create(&thread, NULL, part_put, NULL), 0);
    assert_true(wait_until(has_begun, NULL, 10 * WAIT_NS_PER_S, WAIT_NS_PER_US));
    runtime_parts_end(shared, 5);
    runtime_parts_wait(shared, 2);
    assert_int_equal(atomic_load_explicit(&progress, memory_order_acquire), PUT_IN);
    pthread_join(thread, NULL);
    assert_true(runtime_place_install(shared)); /* its own functions are back: begun anew */
    assert_int_equal(runtime_parts_begin(shared, 7), 7);
    runtime_parts_end(shared, 7);
    runtime_leave(RUNTIME_HSA, tables[4]);
}

enum { THREADS = 4, ROUNDS = 20000 };
static unsigned announced;

static void *come_and_go(void *data)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct runtime_instance instance = arrive(RUNTIME_HIP, 15);
        runtime_move(&instance, i % 2 ? RUNTIME_INSTALLED : RUNTIME_KEPT);
        if (runtime_announce(&instance))
            __atomic_add_fetch(&announced, 1, __ATOMIC_RELAXED);
        if (i % 8 == 0)
            runtime_leave(RUNTIME_HIP, tables[15]);
    }
    return data;
}

/* Each life is announced at most once, whoever meets it. */
static void threads_agree_on_one_life(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct runtime_instance before = arrive(RUNTIME_HIP, 16);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, come_and_go, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct runtime_instance after = arrive(RUNTIME_HIP, 17);
    assert_true(announced > 0 && announced <= after.arrival - before.arrival - 1);
}

static void a_forked_child_goes_on(void **state)
{
    int status;
    (void)state;
    struct runtime_instance here = arrive(RUNTIME_HSA, 18);
    assert_true(runtime_announce(&here));
    runtimes_on_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        runtimes_on_fork_child();
        _exit(runtime_is_known(RUNTIME_HSA) ? 0 : 1);
    }
    runtimes_on_fork_parent();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_these_states_follow),
        cmocka_unit_test(a_table_that_comes_twice_is_one),
        cmocka_unit_test(who_comes_again_has_its_number_and_nothing_else),
        cmocka_unit_test(those_kept_are_taken_in_the_order_of_their_arrival),
        cmocka_unit_test(each_watcher_is_told_once),
        cmocka_unit_test(places_are_used_again_when_all_are_taken),
        cmocka_unit_test(a_place_that_is_held_stays_its_tables),
        cmocka_unit_test(parts_are_begun_once_and_waited_for),
        cmocka_unit_test(threads_agree_on_one_life),
        cmocka_unit_test(a_forked_child_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
