/* Numbers that a thread and its signal handler take from one place are never the same. */
#include "session/id_step.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>

#include <cmocka.h>

enum { SIGNALS = 3000 };

typedef uint64_t (*step_fn)(_Atomic uint64_t *next);

static _Atomic uint64_t next;
static step_fn step;
static volatile sig_atomic_t handled;
static volatile uint64_t of_handlers; /* how many numbers the handlers took */

static void on_alarm(int number)
{
    (void)number;
    step(&next);
    of_handlers = of_handlers + 1;
    handled = handled + 1;
}

/* If a handler's step fell into the middle of another and was undone, there are fewer numbers than
 * steps. */
static void steps_count(step_fn function)
{
    const struct itimerval often = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
    uint64_t own = 0;
    step = function;
    handled = 0, of_handlers = 0;
    atomic_store(&next, 0);
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; handled < SIGNALS; own++)
        function(&next);
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(atomic_load(&next), own + of_handlers);
}

static void no_step_is_undone(void **state)
{
    (void)state;
    steps_count(id_step);
}

static void nor_elsewhere(void **state)
{
    (void)state;
    steps_count(id_step_atomic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_is_undone),
        cmocka_unit_test(nor_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
