#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
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

enum { FUNCTIONS = 100 };
static atomic_uint *functions_run; /* shared with the child */
static pthread_barrier_t together;

static void function_runs(void)
{
    atomic_fetch_add(functions_run, 1);
    usleep(100);
}

static void *thread_exits_together(void *status)
{
    pthread_barrier_wait(&together);
    exit((int)(intptr_t)status);
}

/* So many functions that libc's list of them has more than one piece. */
static void two_threads_exit(void)
{
    pthread_t thread;
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < FUNCTIONS; i++)
        atexit(function_runs);
    if (pthread_create(&thread, NULL, thread_exits_together, (void *)23) == 0)
        thread_exits_together((void *)24);
}

static void exits_of_two_threads_are_one(void **state)
{
    enum { ROUNDS = 20 };
    (void)state;
    functions_run = mmap(NULL, sizeof *functions_run, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(functions_run, MAP_FAILED);
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(functions_run, 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL); /* cmocka's */
            signal(SIGABRT, SIG_DFL);
            two_threads_exit();
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_in_range(WEXITSTATUS(status), 23, 24);
        assert_int_equal(atomic_load(functions_run), FUNCTIONS);
    }
    munmap(functions_run, sizeof *functions_run);
}

static pthread_t waits_for;

static void thread_is_awaited(void)
{
    pthread_join(waits_for, NULL);
}

/* One that waits for the other in such a function gets through, as it does without us. */
static void an_exit_may_wait_for_another(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pthread_barrier_init(&together, NULL, 2);
        atexit(thread_is_awaited);
        pthread_create(&waits_for, NULL, thread_exits_together, (void *)23);
        thread_exits_together((void *)24);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exits_of_two_threads_are_one),
        cmocka_unit_test(an_exit_may_wait_for_another),
        cmocka_unit_test(statuses_are_the_programs_own),
        cmocka_unit_test(signals_end_the_program_as_they_would),
        cmocka_unit_test(crashes_are_still_crashes),
        cmocka_unit_test(nothing_to_do_after_a_normal_end),
        cmocka_unit_test(the_programs_handlers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
