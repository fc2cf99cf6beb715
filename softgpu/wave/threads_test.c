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

/* As many as the device holds may wait for each other, by whatever they like, also on one thread:
 * each adds one, and reads until all have. */
static void groups_may_wait_for_each_other(void **state)
{
    enum { GROUPS = 3328, LANES = 64 }; /* 104 units of 32 waves */
    struct kernel_runner *runner;
    struct dispatch_result result;
    (void)state;
    assert_int_equal(kernel_runner_create(1, 4096, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0,
                                        "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                        "v_mov_b32 v1, 0\n"
                                        "v_mov_b32 v2, 1\n"
                                        "s_mov_b64 exec, 1\n"
                                        "s_waitcnt lgkmcnt(0)\n"
                                        "global_atomic_add v1, v2, s[4:5]\n"
                                        "again: s_sleep 1\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "global_load_dword v3, v1, s[4:5] glc\n"
                                        "s_waitcnt vmcnt(0)\n"
                                        "v_readfirstlane_b32 s6, v3\n"
                                        "s_cmp_lt_u32 s6, 3328\n"
                                        "s_cbranch_scc1 again\n"
                                        "s_endpgm\n"),
                     0);
    const struct kernel_geometry geometry = {GROUPS * LANES, LANES, 0, 0};
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_it_says),
        cmocka_unit_test(else_one_per_processor),
        cmocka_unit_test(of_many_two_are_left),
        cmocka_unit_test(groups_may_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
