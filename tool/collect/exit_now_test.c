#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ending.h"

/* The child reports through a pipe that finishing ran; the parent sees how the child ended. */
static int report_pipe[2];

static void finish(void)
{
    void *volatile memory = malloc(100); /* finishing allocates */
    free(memory);
    if (write(report_pipe[1], "f", 1) != 1)
        abort();
}

static int child_status(void (*end)(void), size_t *finishes)
{
    assert_int_equal(pipe(report_pipe), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(report_pipe[0]);
        signal(SIGSEGV, SIG_DFL); /* cmocka's */
        if (ending_prepare(finish, true) == 0)
            end();
        exit(99);
    }
    close(report_pipe[1]);
    char bytes[8];
    *finishes = 0;
    for (ssize_t got; (got = read(report_pipe[0], bytes, sizeof bytes)) > 0;)
        *finishes += (size_t)got;
    close(report_pipe[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void by_exit_now(void)
{
    _exit(7);
}

static void by_quick_exit(void)
{
    quick_exit(5);
}

static void by_abort(void)
{
    abort();
}

static void by_terminate(void)
{
    raise(SIGTERM);
}

__attribute__((no_sanitize("address", "undefined"))) static void by_bad_pointer(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void by_sent_crash_signal(void)
{
    raise(SIGSEGV);
}

static void *thread_exits(void *unused)
{
    (void)unused;
    _exit(3);
}

static void by_another_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_exits, NULL) == 0)
        pthread_join(thread, NULL);
}

static void by_done_and_exit(void)
{
    ending_done();
    _exit(4);
}

static void in_a_forked_child(void)
{
    pid_t grandchild = fork();
    if (grandchild == 0)
        _exit(0); /* must neither finish nor hang */
    waitpid(grandchild, NULL, 0);
    ending_done();
    _exit(0);
}

static void own_handler(int number)
{
    (void)number;
    _exit(42);
}

static void statuses_are_the_programs_own(void **state)
{
    (void)state;
    size_t finishes;
    int status = child_status(by_exit_now, &finishes);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(finishes, 1);
    status = child_status(by_quick_exit, &finishes);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    assert_int_equal(finishes, 1);
    status = child_status(by_another_thread, &finishes);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_int_equal(finishes, 1);
}

static void signals_end_the_program_as_they_would(void **state)
{
    (void)state;
    size_t finishes;
    int status = child_status(by_abort, &finishes);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_int_equal(finishes, 1);
    status = child_status(by_terminate, &finishes);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(finishes, 1);
}

static void crashes_are_still_crashes(void **state)
{
    (void)state;
    size_t finishes;
    int status = child_status(by_bad_pointer, &finishes);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_int_equal(finishes, 1);
    status = child_status(by_sent_crash_signal, &finishes);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_int_equal(finishes, 1);
}

static void nothing_to_do_after_a_normal_end(void **state)
{
    (void)state;
    size_t finishes;
    int status = child_status(by_done_and_exit, &finishes);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    assert_int_equal(finishes, 0);
    child_status(in_a_forked_child, &finishes);
    assert_int_equal(finishes, 0);
}

/* A program with a handler of its own keeps it; its _exit is then seen. */
static void the_programs_handlers_stay(void **state)
{
    (void)state;
    size_t finishes;
    signal(SIGTERM, own_handler);
    int status = child_status(by_terminate, &finishes);
    signal(SIGTERM, SIG_DFL);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    assert_int_equal(finishes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_are_the_programs_own),
        cmocka_unit_test(signals_end_the_program_as_they_would),
        cmocka_unit_test(crashes_are_still_crashes),
        cmocka_unit_test(nothing_to_do_after_a_normal_end),
        cmocka_unit_test(the_programs_handlers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
