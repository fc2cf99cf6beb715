/* Callbacks that threads run while others take them away. */
#include "api/rocprofiler_v1/callers.h"
#include "base/wait.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 3, TURNS = 300 };
static const uint64_t long_ns = 100 * WAIT_NS_PER_S, short_ns = 20 * WAIT_NS_PER_MS;

/* What is taken away: plain, so that a missing order is a race, and freed, so that a late use is
 * seen by a sanitizer, too. */
struct thing {
    uint32_t is_there;
};
/* Writer: the test's thread (acquire-release). Readers: callbacks (acquire). */
static _Atomic(struct thing *) current;
static _Atomic uint32_t uses, wrong, ends; /* writers: all threads (relaxed) */

static void use(void)
{
    const struct thing *thing = atomic_load_explicit(&current, memory_order_acquire);
    if (!thing)
        return;
    atomic_fetch_add_explicit(&uses, 1, memory_order_relaxed);
    for (int i = 0; i < 20; i++)
        if (*(const volatile uint32_t *)&thing->is_there != 1)
            atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed);
}

static void *calls(void *unused)
{
    (void)unused;
    while (!atomic_load_explicit(&ends, memory_order_relaxed)) {
        struct caller *outer = caller_begin();
        struct caller *inner = caller_begin(); /* callbacks nest */
        caller_end(inner);
        use(); /* still inside */
        caller_end(outer);
    }
    return NULL;
}

static void nobody_has_what_was_taken_away(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, calls, NULL), 0);
    uint32_t seen = 0, turns = 0;
    /* Until some of them were used: threads share processors. */
    for (; turns < TURNS || seen < TURNS / 10; turns++) {
        struct thing *thing = malloc(sizeof *thing);
        uint32_t before = atomic_load_explicit(&uses, memory_order_relaxed);
        thing->is_there = 1;
        atomic_store_explicit(&current, thing, memory_order_release);
        if (turns % 2)
            sched_yield();
        assert_ptr_equal(atomic_exchange_explicit(&current, NULL, memory_order_acq_rel), thing);
        assert_true(callers_leave(long_ns));
        thing->is_there = 0;
        free(thing);
        seen += atomic_load_explicit(&uses, memory_order_relaxed) != before;
    }
    atomic_store_explicit(&ends, 1, memory_order_relaxed);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}

static pthread_barrier_t inside, may_go;

static void *stays(void *unused)
{
    struct caller *self = caller_begin();
    (void)unused;
    pthread_barrier_wait(&inside);
    pthread_barrier_wait(&may_go);
    caller_end(self);
    return NULL;
}

static void one_that_stays_is_told(void **state)
{
    pthread_t thread;
    (void)state;
    pthread_barrier_init(&inside, NULL, 2);
    pthread_barrier_init(&may_go, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, stays, NULL), 0);
    pthread_barrier_wait(&inside);
    assert_false(callers_leave(short_ns));
    /* The child has no such thread. */
    pid_t child = fork();
    if (child == 0)
        _exit(callers_leave(short_ns) ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(callers_leave(0));
    pthread_barrier_wait(&may_go);
    assert_true(callers_leave(long_ns));
    pthread_join(thread, NULL);
}

/* It would wait for itself. */
static void one_that_removes_itself_does_not_wait(void **state)
{
    (void)state;
    struct caller *outer = caller_begin(), *inner = caller_begin();
    assert_ptr_equal(outer, inner);
    caller_end(inner);
    assert_false(callers_leave(long_ns));
    caller_end(outer);
    assert_true(callers_leave(0));
}

static void *ends_inside(void *unused)
{
    (void)unused;
    caller_begin();
    pthread_exit(NULL);
}

static void *tells_its_own(void *unused)
{
    (void)unused;
    struct caller *self = caller_begin();
    caller_end(self);
    return self;
}

static void a_thread_that_ends_inside_is_out(void **state)
{
    pthread_t thread;
    void *first = NULL, *second = NULL;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, ends_inside, NULL), 0);
    pthread_join(thread, NULL);
    assert_true(callers_leave(0));
    for (int i = 0; i < 100; i++) { /* words of threads that have gone are used again */
        assert_int_equal(pthread_create(&thread, NULL, tells_its_own, NULL), 0);
        pthread_join(thread, i == 0 ? &first : &second);
    }
    assert_ptr_equal(first, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_has_what_was_taken_away),
        cmocka_unit_test(one_that_stays_is_told),
        cmocka_unit_test(one_that_removes_itself_does_not_wait),
        cmocka_unit_test(a_thread_that_ends_inside_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
