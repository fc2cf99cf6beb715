/* An object that some threads use while others close it and open the next one at the same place. */
#include "api/rocprofiler_v1/life.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { USERS = 3, LIVES = 20000 };

static struct life life;
/* What the object is made of: 0 while there is none. Written by who opens and by the last one, who
 * frees; plain, so that a missing order is a race. */
static uint32_t content;
static _Atomic uint32_t entries, frees, wrong, users_running; /* writers: all threads (relaxed) */

static void leave(void)
{
    if (!life_leave(&life))
        return;
    content = 0;
    atomic_fetch_add_explicit(&frees, 1, memory_order_release);
}

static void *use(void *unused)
{
    (void)unused;
    while (atomic_load_explicit(&users_running, memory_order_relaxed)) {
        if (!life_enter(&life))
            continue;
        if (content == 0)
            atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&entries, 1, memory_order_relaxed);
        leave();
    }
    return NULL;
}

/* Two ask for it; one of them closes. */
static void *close_it(void *unused)
{
    (void)unused;
    if (!life_enter(&life))
        return NULL;
    if (life_close(&life))
        leave();
    leave();
    return NULL;
}

static void one_life(uint32_t number)
{
    content = number + 1;
    life_open(&life);
    if (number % 64 == 0) { /* a thread is dear */
        pthread_t rival;
        assert_int_equal(pthread_create(&rival, NULL, close_it, NULL), 0);
        close_it(NULL);
        pthread_join(rival, NULL);
    } else {
        assert_true(life_enter(&life));
        assert_true(life_close(&life));
        assert_false(life_close(&life)); /* as another one that is inside would */
        leave();
        leave();
    }
    assert_false(life_is_open(&life));
    while (atomic_load_explicit(&frees, memory_order_acquire) != number + 1)
        ;
    assert_int_equal(content, 0);
}

static void each_life_ends_once_and_with_nobody_inside(void **state)
{
    pthread_t users[USERS];
    (void)state;
    assert_false(life_enter(&life));
    atomic_store_explicit(&users_running, 1, memory_order_relaxed);
    for (int i = 0; i < USERS; i++)
        assert_int_equal(pthread_create(&users[i], NULL, use, NULL), 0);
    for (uint32_t i = 0; i < LIVES; i++)
        one_life(i);
    atomic_store_explicit(&users_running, 0, memory_order_relaxed);
    for (int i = 0; i < USERS; i++)
        pthread_join(users[i], NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(frees, LIVES);
    assert_int_equal(life.word, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_life_ends_once_and_with_nobody_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
