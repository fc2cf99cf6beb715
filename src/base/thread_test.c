/* That a process is registered for fences before it has threads: registering later makes the first
 * question about metrics wait for all processors. */
#include "base/thread.h"

#include <linux/membarrier.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static void fences_are_registered_before_main(void **state)
{
    (void)state;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) < 0)
        skip();
    /* EPERM: the process is not registered */
    assert_int_equal(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), 0);
    thread_init();
    assert_true(thread_fence_is_free);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fences_are_registered_before_main)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
