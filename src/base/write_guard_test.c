#include "base/write_guard.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a child ends that does this: its exit status, or minus the signal. */
static int end_of(int (*run)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int closed_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    close(ends[0]);
    return ends[1];
}

static int writes_to_a_closed_pipe(void)
{
    struct write_guard guard, inner;
    int file = closed_pipe();
    write_guard_begin(&guard);
    write_guard_begin(&inner);
    bool said = write(file, "x", 1) == -1 && errno == EPIPE;
    write_guard_end(&inner);
    said = said && write(file, "x", 1) == -1 && errno == EPIPE;
    write_guard_end(&guard);
    return said ? 7 : 1;
}

static int writes_beyond_the_limit(void)
{
    char path[] = "/tmp/crocprof-guard-XXXXXX";
    struct write_guard guard;
    int file = mkstemp(path);
    unlink(path);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4, 4});
    write_guard_begin(&guard);
    bool said = write(file, "four", 4) == 4 && write(file, "x", 1) == -1 && errno == EFBIG;
    write_guard_end(&guard);
    return said ? 7 : 1;
}

static int logs_to_a_closed_pipe(void)
{
    dup2(closed_pipe(), STDERR_FILENO);
    log_warning("test", "nobody reads this");
    return 7;
}

/* The program's own write ends it as ever. */
static int writes_without_guard(void)
{
    writes_to_a_closed_pipe();
    return (int)write(closed_pipe(), "x", 1);
}

/* A signal that was sent to the program before stays for it. */
static int keeps_what_was_pending(void)
{
    struct write_guard guard;
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipes, NULL);
    raise(SIGPIPE);
    write_guard_begin(&guard);
    bool said = write(closed_pipe(), "x", 1) == -1;
    write_guard_end(&guard);
    sigprocmask(SIG_UNBLOCK, &pipes, NULL);
    return said ? 1 : 2;
}

static void no_signal_comes_of_our_writing(void **state)
{
    (void)state;
    assert_int_equal(end_of(writes_to_a_closed_pipe), 7);
    assert_int_equal(end_of(writes_beyond_the_limit), 7);
    assert_int_equal(end_of(logs_to_a_closed_pipe), 7);
}

static void the_programs_signals_stay(void **state)
{
    (void)state;
    assert_int_equal(end_of(writes_without_guard), -SIGPIPE);
    assert_int_equal(end_of(keeps_what_was_pending), -SIGPIPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_signal_comes_of_our_writing),
        cmocka_unit_test(the_programs_signals_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
