#include "intercept/hsa/replay_gate.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/wait.h"

enum { DEVICE = 3, OTHER = 4, THREADS = 4, ROUNDS = 2000, CHILD_LIMIT_S = 20 };

/* Long for a thread to come so far, and short where it must not. */
#define SOON_NS (UINT64_C(20) * WAIT_NS_PER_MS)
#define LONG_NS (UINT64_C(20) * WAIT_NS_PER_S)

/* Writers: threads of a test; readers: it. Release, acquire. */
static _Atomic unsigned arrived;

static bool has_arrived(void *count)
{
    return atomic_load_explicit(&arrived, memory_order_acquire) >= *(const unsigned *)count;
}

static bool arrives(unsigned count, uint64_t limit_ns)
{
    return wait_until(has_arrived, &count, limit_ns, WAIT_NS_PER_MS);
}

static void *launcher(void *device)
{
    replay_gate_enter((uint32_t)(uintptr_t)device);
    atomic_fetch_add_explicit(&arrived, 1, memory_order_release);
    replay_gate_leave((uint32_t)(uintptr_t)device);
    return NULL;
}

/* Writer: the thread that comes to the gate, its own id; reader: the test. Release, acquire. */
static _Atomic pid_t comes;

static void *announced(void *device)
{
    atomic_store_explicit(&comes, gettid(), memory_order_release);
    return launcher(device);
}

/* Between its announcement and the device it sleeps at the gate only. */
static bool stands_at_the_gate(void *unused)
{
    (void)unused;
    char path[64], state = 0;
    pid_t thread = atomic_load_explicit(&comes, memory_order_acquire);
    if (thread == 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *stat = fopen(path, "r");
    if (!stat)
        return false;
    bool is_read = fscanf(stat, "%*d (%*[^)]) %c", &state) == 1;
    fclose(stat);
    return is_read && state == 'S';
}

static void *replayer(void *result)
{
    *(bool *)result = replay_gate_close(DEVICE, LONG_NS);
    atomic_fetch_add_explicit(&arrived, 1, memory_order_release);
    if (*(bool *)result)
        replay_gate_open(DEVICE);
    return NULL;
}

static int reset(void **state)
{
    (void)state;
    atomic_store_explicit(&arrived, 0, memory_order_release);
    return 0;
}

/* What fails with the gate closed leaves it open: the next test would wait for it forever. */
static int leave_open(void **state)
{
    (void)state;
    replay_gate_open(DEVICE);
    return 0;
}

static pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
    return thread;
}

static void who_comes_waits_for_the_replay(void **state)
{
    (void)state;
    assert_true(replay_gate_close(DEVICE, LONG_NS));
    pthread_t waits = start(launcher, (void *)(uintptr_t)DEVICE);
    assert_false(arrives(1, SOON_NS));
    /* Neither another device nor this thread does. */
    pthread_join(start(launcher, (void *)(uintptr_t)OTHER), NULL);
    assert_true(arrives(1, 0));
    launcher((void *)(uintptr_t)DEVICE);
    assert_false(arrives(3, SOON_NS));
    replay_gate_open(DEVICE);
    pthread_join(waits, NULL);
    assert_true(arrives(3, 0));
}

static void the_replay_waits_for_who_is_inside(void **state)
{
    (void)state;
    bool closed = false;
    replay_gate_enter(DEVICE);
    replay_gate_enter(DEVICE);
    pthread_t closes = start(replayer, &closed);
    assert_false(arrives(1, SOON_NS));
    replay_gate_leave(DEVICE);
    assert_false(arrives(1, SOON_NS));
    replay_gate_leave(DEVICE);
    pthread_join(closes, NULL);
    assert_true(closed);
}

/* What is inside may wait for the replayed kernel: then that runs once, and all go on. */
static void a_gate_that_does_not_empty_is_left_open(void **state)
{
    (void)state;
    replay_gate_enter(DEVICE);
    assert_false(replay_gate_close(DEVICE, SOON_NS));
    pthread_join(start(launcher, (void *)(uintptr_t)DEVICE), NULL);
    replay_gate_leave(DEVICE);
    assert_true(replay_gate_close(DEVICE, LONG_NS));
    assert_false(replay_gate_close(DEVICE, LONG_NS)); /* a kernel of a tool's callback */
    replay_gate_open(DEVICE);
}

/* A thread that replays one kernel after the other keeps nobody out. */
static void who_waits_comes_before_the_next_replay(void **state)
{
    (void)state;
    assert_true(replay_gate_close(DEVICE, LONG_NS));
    for (int n = 0; n < 20; n++) {
        atomic_store_explicit(&comes, 0, memory_order_release);
        pthread_t waits = start(announced, (void *)(uintptr_t)DEVICE);
        assert_true(wait_until(stands_at_the_gate, NULL, LONG_NS, WAIT_NS_PER_MS));
        assert_false(arrives((unsigned)n + 1, 0));
        replay_gate_open(DEVICE);
        assert_true(replay_gate_close(DEVICE, LONG_NS));
        assert_true(arrives((unsigned)n + 1, 0));
        pthread_join(waits, NULL);
    }
    replay_gate_open(DEVICE);
}

static void replays_of_two_threads_take_turns(void **state)
{
    (void)state;
    bool closed = false;
    assert_true(replay_gate_close(DEVICE, LONG_NS));
    pthread_t closes = start(replayer, &closed);
    assert_false(arrives(1, SOON_NS));
    replay_gate_open(DEVICE);
    pthread_join(closes, NULL);
    assert_true(closed);
}

static void *intruder(void *unused)
{
    replay_gate_open(DEVICE);
    return unused;
}

static void nobody_opens_the_gate_of_another(void **state)
{
    (void)state;
    assert_true(replay_gate_close(DEVICE, LONG_NS));
    pthread_join(start(intruder, NULL), NULL);
    pthread_t waits = start(launcher, (void *)(uintptr_t)DEVICE);
    assert_false(arrives(1, SOON_NS));
    replay_gate_open(DEVICE);
    pthread_join(waits, NULL);
}

static void devices_without_a_gate_are_not_replayed(void **state)
{
    (void)state;
    assert_false(replay_gate_close(REPLAY_GATES, LONG_NS));
    launcher((void *)(uintptr_t)REPLAY_GATES);
    launcher((void *)(uintptr_t)UINT32_MAX);
    replay_gate_open(UINT32_MAX);
}

/* The first device that has no gate is not taken for the first one that has. */
static void devices_without_a_gate_share_none(void **state)
{
    (void)state;
    enum { FIRST = 0, WITHOUT = REPLAY_GATES };
    bool is_empty;
    replay_gate_enter(FIRST);
    replay_gate_leave(WITHOUT);
    assert_false(replay_gate_close(FIRST, SOON_NS));
    replay_gate_leave(FIRST);
    replay_gate_enter(WITHOUT);
    is_empty = replay_gate_close(FIRST, SOON_NS);
    replay_gate_leave(WITHOUT);
    assert_true(is_empty);
    replay_gate_open(WITHOUT);
    pthread_t waits = start(launcher, (void *)(uintptr_t)FIRST);
    bool passes = arrives(1, SOON_NS);
    replay_gate_open(FIRST);
    pthread_join(waits, NULL);
    assert_false(passes);
}

/* Each changes both words with the device for itself. */
static uint64_t alone_here, alone_there;

static void *mixed(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 3 == 0) {
            launcher((void *)(uintptr_t)DEVICE);
        } else if (replay_gate_close(DEVICE, LONG_NS)) {
            alone_here++;
            alone_there += alone_here == alone_there + 1;
            replay_gate_open(DEVICE);
        }
    }
    return NULL;
}

static void one_at_a_time(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(mixed, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(alone_here, THREADS * (ROUNDS - (ROUNDS + 2) / 3));
    assert_int_equal(alone_there, alone_here);
    assert_int_equal(atomic_load_explicit(&arrived, memory_order_acquire),
                     THREADS * ((ROUNDS + 2) / 3));
}

static void cancelled_threads_leave_no_lock(void **state)
{
    (void)state;
    assert_true(replay_gate_close(DEVICE, LONG_NS));
    pthread_t waits = start(launcher, (void *)(uintptr_t)DEVICE);
    assert_false(arrives(1, SOON_NS));
    pthread_cancel(waits);
    assert_false(arrives(1, SOON_NS));
    replay_gate_open(DEVICE);
    pthread_join(waits, NULL);
    assert_true(replay_gate_close(DEVICE, LONG_NS)); /* it has left, too */
    replay_gate_open(DEVICE);
}

static void children_have_open_gates(void **state)
{
    (void)state;
    int ended = -1;
    replay_gate_enter(OTHER);
    assert_true(replay_gate_close(DEVICE, LONG_NS));
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        pthread_join(start(launcher, (void *)(uintptr_t)DEVICE), NULL);
        bool fine = replay_gate_close(OTHER, SOON_NS);
        replay_gate_open(OTHER);
        replay_gate_leave(OTHER);
        _exit(!fine || !replay_gate_close(OTHER, SOON_NS));
    }
    waitpid(child, &ended, 0);
    assert_int_equal(ended, 0);
    replay_gate_open(DEVICE);
    replay_gate_leave(OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_comes_waits_for_the_replay, reset, leave_open),
        cmocka_unit_test_setup_teardown(the_replay_waits_for_who_is_inside, reset, leave_open),
        cmocka_unit_test_setup_teardown(a_gate_that_does_not_empty_is_left_open, reset, leave_open),
        cmocka_unit_test_setup_teardown(who_waits_comes_before_the_next_replay, reset, leave_open),
        cmocka_unit_test_setup_teardown(replays_of_two_threads_take_turns, reset, leave_open),
        cmocka_unit_test_setup_teardown(nobody_opens_the_gate_of_another, reset, leave_open),
        cmocka_unit_test_setup_teardown(devices_without_a_gate_are_not_replayed, reset, leave_open),
        cmocka_unit_test_setup_teardown(devices_without_a_gate_share_none, reset, leave_open),
        cmocka_unit_test_setup_teardown(one_at_a_time, reset, leave_open),
        cmocka_unit_test_setup_teardown(cancelled_threads_leave_no_lock, reset, leave_open),
        cmocka_unit_test_setup_teardown(children_have_open_gates, reset, leave_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
