#include "turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUNG = 14 /* SIGALRM */, LIMIT_S = 20 };

static void *other_run(void *nothing)
{
    turn_take();
    turn_give();
    return nothing;
}

/* What the forked child does: its delivery thread takes a turn. */
static void child_main(void)
{
    alarm(LIMIT_S);
    turn_forget_waiting();
    turn_give();
    turn_take_politely();
    _exit(0);
}

/* Another thread of the parent wants the turn just then; in the child there is no such thread. */
static void a_child_waits_for_no_thread_of_its_parent(void **state)
{
    pthread_t other;
    int status;
    (void)state;
    turn_take();
    assert_int_equal(pthread_create(&other, NULL, other_run, NULL), 0);
    usleep(100000); /* it waits by then; if it does not, this test sees less */
    pid_t child = fork();
    if (child == 0)
        child_main();
    turn_give();
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFSIGNALED(status) && WTERMSIG(status) == HUNG);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_waits_for_no_thread_of_its_parent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
