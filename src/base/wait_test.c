#include "base/wait.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct countdown {
    unsigned left, asked;
};

static bool counted_down(void *argument)
{
    struct countdown *countdown = argument;
    countdown->asked++;
    return countdown->left == 0 || --countdown->left == 0;
}

static void what_is_done_needs_no_time(void **state)
{
    (void)state;
    struct countdown countdown = {0};
    assert_true(wait_until(counted_down, &countdown, 0, WAIT_FOREVER));
    assert_int_equal(countdown.asked, 1);
}

static void it_is_asked_until_it_is_done(void **state)
{
    (void)state;
    struct countdown countdown = {.left = 20};
    assert_true(wait_until(counted_down, &countdown, WAIT_FOREVER, 1));
    assert_int_equal(countdown.asked, 20);
}

static bool never(void *argument)
{
    ++*(unsigned *)argument;
    return false;
}

/* However long the step: it never sleeps beyond the limit, and asks a last time there. */
static void a_limit_ends_it(void **state)
{
    (void)state;
    unsigned asked = 0;
    uint64_t begin_ns = wait_now_ns();
    assert_false(wait_until(never, &asked, 2 * WAIT_NS_PER_MS, WAIT_FOREVER));
    assert_true(wait_now_ns() - begin_ns >= 2 * WAIT_NS_PER_MS);
    assert_true(asked >= 2);
    asked = 0;
    assert_false(wait_until(never, &asked, 0, 1));
    assert_int_equal(asked, 1);
}

static bool alarmed(void *argument)
{
    return *(volatile sig_atomic_t *)argument;
}

static volatile sig_atomic_t alarms;
static void on_alarm(int number)
{
    (void)number;
    alarms = 1;
}

/* A handler that makes it true ends the wait: the step would last for a day. errno stays. */
static void a_signal_ends_a_step(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000};
    struct itimerval none = {0};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    errno = ENOENT;
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_true(wait_until(alarmed, (void *)&alarms, WAIT_FOREVER, UINT64_C(86400000000000)));
    assert_int_equal(errno, ENOENT);
    setitimer(ITIMER_REAL, &none, NULL);
}

struct stopping {
    unsigned asked;
};

static bool stopped_once(void *argument)
{
    struct stopping *stopping = argument;
    if (++stopping->asked == 2)
        raise(SIGSTOP);
    return stopping->asked == 20;
}

/* Stopped for longer than the limit, and twenty looks at 21 ms each at the most are within it. */
static void a_stop_is_no_waiting(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(
            !wait_until(stopped_once, &(struct stopping){0}, 600 * WAIT_NS_PER_MS, WAIT_NS_PER_MS));
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    wait_pause(700 * WAIT_NS_PER_MS);
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

struct walk {
    unsigned asked, steps, at;
};

static bool arrived(void *argument)
{
    struct walk *walk = argument;
    walk->asked++;
    walk->at += walk->at < walk->steps;
    return walk->at == 100;
}

static uint64_t position(void *argument)
{
    return ((struct walk *)argument)->at;
}

/* A hundred steps of 1 ms, none of which is beyond the limit of 50 ms. */
static void what_moves_is_waited_for(void **state)
{
    (void)state;
    struct walk walk = {.steps = 100};
    assert_true(wait_while_moving(arrived, position, &walk, 50 * WAIT_NS_PER_MS, WAIT_NS_PER_MS));
    assert_int_equal(walk.asked, 100);
}

static void what_stands_still_is_given_up(void **state)
{
    (void)state;
    struct walk walk = {.steps = 5};
    uint64_t begin_ns = wait_now_ns();
    assert_false(wait_while_moving(arrived, position, &walk, 5 * WAIT_NS_PER_MS, WAIT_NS_PER_MS));
    assert_true(wait_now_ns() - begin_ns >= 5 * WAIT_NS_PER_MS);
    assert_int_equal(walk.at, 5);
    walk = (struct walk){.at = 99, .steps = 100};
    assert_true(wait_while_moving(arrived, position, &walk, 0, WAIT_FOREVER));
}

static void a_deadline_lies_ahead(void **state)
{
    (void)state;
    struct timespec never = wait_deadline(CLOCK_MONOTONIC, WAIT_FOREVER), now;
    uint64_t before_ns = wait_now_ns();
    struct timespec soon = wait_deadline(CLOCK_MONOTONIC, 1500 * WAIT_NS_PER_MS);
    assert_true((uint64_t)soon.tv_sec * WAIT_NS_PER_S + (uint64_t)soon.tv_nsec >=
                before_ns + 1500 * WAIT_NS_PER_MS);
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert_true(never.tv_sec - now.tv_sec >= 900 * 1000 * 1000);
    assert_true(never.tv_nsec >= 0 && never.tv_nsec < 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_done_needs_no_time),
        cmocka_unit_test(it_is_asked_until_it_is_done),
        cmocka_unit_test(a_limit_ends_it),
        cmocka_unit_test(a_signal_ends_a_step),
        cmocka_unit_test(a_stop_is_no_waiting),
        cmocka_unit_test(what_moves_is_waited_for),
        cmocka_unit_test(what_stands_still_is_given_up),
        cmocka_unit_test(a_deadline_lies_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
