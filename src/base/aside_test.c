#include "base/ending.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int report_pipe[2];

static void report(char what)
{
    if (write(report_pipe[1], &what, 1) != 1)
        abort();
}

static void finish(void)
{
    report('f');
}

static void aside(void)
{
    report(syscall(SYS_gettid) == getpid() ? 'm' : 'a'); /* on the main thread, or aside */
}

static void ask(void)
{
    if (!ending_aside(aside))
        report('-');
}

static void on_signal(int number)
{
    (void)number;
    ask();
}

/* How a child ends that does this, and what it has reported. */
static int end_of(void (*run)(void), const char *expected)
{
    char reports[32] = "";
    int status;
    assert_int_equal(pipe(report_pipe), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGTERM, SIG_DFL);
        if (ending_prepare(finish, true) == 0)
            run();
        _exit(99);
    }
    close(report_pipe[1]);
    for (size_t used = 0; used < sizeof reports - 1; used++)
        if (read(report_pipe[0], reports + used, 1) != 1)
            break;
    close(report_pipe[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_string_equal(reports, expected);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void asks_and_goes_on(void)
{
    ask();
    ask();
    signal(SIGHUP, on_signal);
    raise(SIGHUP);
    raise(SIGTERM);
}

static void asks_when_all_is_done(void)
{
    ending_done();
    ask();
    raise(SIGTERM);
}

static void in_children(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        ask(); /* nobody is there */
        pid_t grandchild = fork();
        if (grandchild == 0) { /* nothing is prepared: it just ends */
            signal(SIGPIPE, SIG_DFL);
            raise(SIGTERM);
        }
        waitpid(grandchild, &status, 0);
        report(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 't' : '?');
        if (ending_is_prepared() || ending_prepare(finish, true) != 0)
            report('?');
        ask();
        raise(SIGTERM);
    }
    waitpid(child, &status, 0);
    report(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 'T' : '?');
    ask();
    raise(SIGTERM);
}

static void what_is_done_aside_is_done_again_and_again(void **state)
{
    (void)state;
    assert_int_equal(end_of(asks_and_goes_on, "aaaf"), -SIGTERM);
    assert_int_equal(end_of(asks_when_all_is_done, "-"), -SIGTERM);
}

/* The parent's handlers are there, its thread is not. */
static void a_forked_child_prepares_for_itself(void **state)
{
    (void)state;
    assert_int_equal(end_of(in_children, "-tafTaf"), -SIGTERM);
}

/* Of several signals the first one counts, whichever those are: its handler holds up the others
 * that can be sent. Crashes are not held up. */
static void others_wait(void)
{
    static const int sent[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGUSR1,  SIGUSR2,
                               SIGPIPE, SIGALRM, SIGPROF, SIGVTALRM, SIGXCPU,  SIGXFSZ,
                               SIGIO,   SIGPWR,  SIGTRAP, SIGSYS,    SIGSTKFLT};
    struct sigaction action;
    if (sigaction(SIGTERM, NULL, &action) != 0)
        return;
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++)
        report(sigismember(&action.sa_mask, sent[i]) == 1 ? 'w' : '-');
    report(sigismember(&action.sa_mask, SIGSEGV) == 1 ? 'w' : '-');
    _exit(0);
}

static void a_signal_holds_up_the_others(void **state)
{
    (void)state;
    assert_int_equal(end_of(others_wait, "wwwwwwwwwwwwwwwww-"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_done_aside_is_done_again_and_again),
        cmocka_unit_test(a_forked_child_prepares_for_itself),
        cmocka_unit_test(a_signal_holds_up_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
