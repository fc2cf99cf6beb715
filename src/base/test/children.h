/*
 * Children of a program that does something on another thread at the same time: included once by
 * tests that show that they find no lock held.
 */
#ifndef BASE_TEST_CHILDREN_H
#define BASE_TEST_CHILDREN_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct children_meanwhile {
    void (*turn)(void *data);
    void *data;
    _Atomic bool is_wanted;
};

static void *children_meanwhile_main(void *argument)
{
    struct children_meanwhile *meanwhile = argument;
    while (atomic_load(&meanwhile->is_wanted))
        meanwhile->turn(meanwhile->data);
    return NULL;
}

/* Its status; one that does not end is ended by a signal. */
static int children_status(void (*turn)(void *data), void *data)
{
    enum { LIMIT_S = 10 };
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(LIMIT_S);
        turn(data);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

/* Calls `turn` again and again on a thread, and once in each of the children, which all end. */
static void children_take_turns(void (*turn)(void *data), void *data)
{
    enum { CHILDREN = 200 };
    struct children_meanwhile meanwhile = {turn, data, true};
    pthread_t thread;
    int status = 0;
    assert_int_equal(pthread_create(&thread, NULL, children_meanwhile_main, &meanwhile), 0);
    for (int i = 0; i < CHILDREN && status == 0; i++)
        status = children_status(turn, data);
    atomic_store(&meanwhile.is_wanted, false);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
}

#endif
