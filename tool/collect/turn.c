#include "turn.h"

#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/wait.h"

enum { STEP_NS = 50 * WAIT_NS_PER_US };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* How many other threads than the delivery thread want the lock. Writers: those threads, up before
 * they take it and down after, and a forked child (0). Reader: the delivery thread. Relaxed: one
 * that is missed waits for one turn more. */
static _Atomic unsigned waiting;
/* The delivery thread gets no turn. Writers: an exec before it gives its turn and when it fails, a
 * forked child. Reader: the delivery thread, with the lock; relaxed. */
static _Atomic bool held;
static locale_t before; /* under the lock: what its owner's thread had */

/* Files and tables have points in their numbers whatever locale the program has set. The C locale
 * is a constant of the library: nothing is allocated. */
static void locale_leave(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    before = plain ? uselocale(plain) : (locale_t)0;
}

static void locale_return(void)
{
    if (before)
        uselocale(before);
}

void turn_take(void)
{
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
    locale_leave();
}

static bool nobody_waits(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&waiting, memory_order_relaxed) == 0;
}

void turn_take_politely(void)
{
    for (;;) {
        wait_until(nobody_waits, NULL, WAIT_FOREVER, STEP_NS);
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&held, memory_order_relaxed)) {
            locale_leave();
            return;
        }
        pthread_mutex_unlock(&lock);
        wait_pause(STEP_NS);
    }
}

void turn_hold(bool hold)
{
    atomic_store_explicit(&held, hold, memory_order_relaxed);
}

void turn_forget_waiting(void)
{
    atomic_store_explicit(&waiting, 0, memory_order_relaxed);
}

void turn_give(void)
{
    locale_return();
    pthread_mutex_unlock(&lock);
}
