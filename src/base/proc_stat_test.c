/* Against this process, whose name looks like the rest of the line. */
#include "base/proc_stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

static void names_may_hold_anything(void **state)
{
    (void)state;
    static const char *const names[] = {"plain", ") Z 1 (", "a b) S", ")", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char buffer[512];
        prctl(PR_SET_NAME, names[i]);
        const char *text = proc_stat_read("/proc/self/stat", buffer, sizeof buffer);
        assert_non_null(text);
        assert_int_equal(text[0], 'R'); /* it reads its own */
        assert_int_equal(strtol(text + 2, NULL, 10), getppid());
    }
}

static void without_a_line_there_is_nothing(void **state)
{
    (void)state;
    char buffer[512], tiny[8];
    assert_null(proc_stat_read("/proc/nobody/stat", buffer, sizeof buffer));
    assert_null(proc_stat_read("/dev/null", buffer, sizeof buffer));
    assert_null(proc_stat_read("/proc/self/comm", buffer, sizeof buffer));
    assert_null(proc_stat_read("/proc/self/stat", tiny, sizeof tiny));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_may_hold_anything),
        cmocka_unit_test(without_a_line_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
