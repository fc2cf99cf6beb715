#include "base/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int answer_of(long child)
{
    int status = 0;
    assert_true(child > 0);
    assert_int_equal(waitpid((pid_t)child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void children_of_fork_are_their_own(void **state)
{
    (void)state;
    assert_true(process_is_own());
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(process_is_own());
        _exit(process_is_own() && answer_of(grandchild) == 1);
    }
    assert_int_equal(answer_of(child), 1);
}

/* As _Fork() and clone() make them: no handler has run. */
static void children_of_the_system_call_are_their_parents(void **state)
{
    (void)state;
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        syscall(SYS_exit_group, process_is_own() ? 1 : 2);
    assert_int_equal(answer_of(child), 2);
    assert_true(process_is_own());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_of_fork_are_their_own),
        cmocka_unit_test(children_of_the_system_call_are_their_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
