/* CROCGPU_THREADS: how many host threads execute kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <sched.h>

#include "wave/engine.h"
#include "wave/kernel_runner.h"

static int threads_of_process(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    assert_non_null(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Of an engine that is to take as many as the environment says. NULL: it says nothing. */
static int threads_with(const char *text)
{
    struct kernel_runner *runner;
    while (threads_of_process() > 1) /* the last engine's are listed for a moment after their end */
        sched_yield();
    if (text)
        setenv("CROCGPU_THREADS", text, 1);
    else
        unsetenv("CROCGPU_THREADS");
    assert_int_equal(kernel_runner_create(0, 4096, &runner), 0);
    int count = threads_of_process() - 1;
    kernel_runner_destroy(runner);
    return count;
}

static void as_many_as_it_says(void **state)
{
    (void)state;
    assert_int_equal(threads_with("1"), 1);
    assert_int_equal(threads_with("3"), 3);
    assert_int_equal(threads_with("64"), 64);
    assert_int_equal(threads_with("1000"), 64);
}

static void else_one_per_processor(void **state)
{
    static const char *const others[] = {"", "0", "-2", "2 of them", "many"};
    cpu_set_t set;
    (void)state;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    int processors = threads_with(NULL);
    assert_true(processors >= 1);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(threads_with(others[i]), processors);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
    assert_int_equal(threads_with(NULL), 1);
    assert_int_equal(threads_with("0"), 1);
}

static void of_many_two_are_left(void **state)
{
    (void)state;
    assert_int_equal(engine_threads_for(1), 1);
    assert_int_equal(engine_threads_for(2), 2);
    assert_int_equal(engine_threads_for(15), 15);
    assert_int_equal(engine_threads_for(16), 14);
    assert_int_equal(engine_threads_for(64), 62);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_it_says),
        cmocka_unit_test(else_one_per_processor),
        cmocka_unit_test(of_many_two_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
