/* Locks that another thread holds at a fork(): the child finds them free, and whole what they
 * guard. */
#include "base/fork_lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/test/children.h"

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(first_kept, first_lock)
static struct {
    pthread_mutex_t lock;
    volatile unsigned one, other; /* differ only under the lock */
} second = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(second_kept, second.lock)

static void change(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&first_lock);
    pthread_mutex_unlock(&first_lock);
    pthread_mutex_lock(&second.lock);
    if (second.one != second.other)
        _exit(1);
    second.one++;
    for (volatile int i = 0; i < 1000; i++)
        ;
    second.other++;
    pthread_mutex_unlock(&second.lock);
}

static void children_find_them_free(void **state)
{
    (void)state;
    children_take_turns(change, NULL);
    assert_int_equal(second.one, second.other);
}

static void fork_again(void *unused)
{
    change(unused);
    pid_t child = fork();
    if (child == 0) {
        change(unused);
        _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(2);
}

/* And of two threads that fork at once. */
static void children_fork_too(void **state)
{
    (void)state;
    children_take_turns(fork_again, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_find_them_free),
        cmocka_unit_test(children_fork_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
