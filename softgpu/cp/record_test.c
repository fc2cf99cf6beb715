/* CROCGPU_PM4_LOG where a program is more than one process, and where its disk is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cp/test/gpu_double.h"

enum { STREAMS = 60, PACKETS = 10, NOP = 0xc0001000u };

static char folder[] = "/tmp/record_test_XXXXXX";
static char log_path[64], said_path[64];

/* True: all of it was executed. */
static bool streams_run(struct gpu_double *gpu, uint32_t queue_id, int streams)
{
    struct double_queue *queue = double_aql_create(gpu, queue_id, 64);
    uint32_t words[2 * PACKETS];
    bool done = queue != NULL;
    for (uint32_t i = 0; i < PACKETS; i++) {
        words[2 * i] = NOP;
        words[2 * i + 1] = queue_id;
    }
    for (int i = 0; i < streams && done; i++) {
        hsa_signal_t end = double_signal(gpu, 1, 0);
        double_push_pm4(queue, words, 2 * PACKETS, end);
        done = double_wait(double_signal_value(gpu, end) == 0);
    }
    return done;
}

static int program(uint32_t queue_id)
{
    struct gpu_double *gpu = double_create();
    return gpu && streams_run(gpu, queue_id, STREAMS) ? 0 : 1;
}

/* One whose child ends by exit(), and that goes on. */
static int program_that_forks(void)
{
    struct gpu_double *gpu = double_create();
    int status = -1;
    if (!gpu || !streams_run(gpu, 1, 1))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        cp_after_fork_child(gpu->cp);
        exit(streams_run(gpu, 2, 1) ? 0 : 2);
    }
    waitpid(child, &status, 0);
    return status == 0 && streams_run(gpu, 3, 1) ? 0 : 3;
}

static int program_without_room(void)
{
    if (!freopen(said_path, "w", stderr))
        return 1;
    setenv("CROCGPU_PM4_LOG", "/dev/full", 1);
    return program(1);
}

static pid_t start(int (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        exit(run());
    return child;
}

static void await(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Lines of the log that are such a packet of the queue's. `all`: lines in it. */
static int lines_of(uint32_t queue_id, int *all)
{
    char line[256], wanted[64];
    int count = 0;
    FILE *file = fopen(log_path, "r");
    assert_non_null(file);
    snprintf(wanted, sizeof wanted, "gpu%d.queue%u: %08x %08x\n", DOUBLE_GPU_ID, queue_id, NOP,
             queue_id);
    for (*all = 0; fgets(line, sizeof line, file); ++*all)
        count += strcmp(line, wanted) == 0;
    fclose(file);
    return count;
}

static int first_program(void)
{
    return program(1);
}

static int second_program(void)
{
    return program(2);
}

static void processes_share_the_log(void **state)
{
    (void)state;
    int all;
    pid_t first = start(first_program), second = start(second_program);
    await(first);
    await(second);
    assert_int_equal(lines_of(1, &all), STREAMS * PACKETS);
    assert_int_equal(lines_of(2, &all), STREAMS * PACKETS);
    assert_int_equal(all, 2 * STREAMS * PACKETS);
}

static void a_forked_child_repeats_nothing(void **state)
{
    (void)state;
    int all;
#ifdef __SANITIZE_THREAD__
    skip(); /* it allows no thread in the child of a threaded process */
#endif
    await(start(program_that_forks));
    for (uint32_t queue_id = 1; queue_id <= 3; queue_id++)
        assert_int_equal(lines_of(queue_id, &all), PACKETS);
    assert_int_equal(all, 3 * PACKETS);
}

static void a_full_disk_is_said_once(void **state)
{
    (void)state;
    char text[512] = "";
    await(start(program_without_room));
    FILE *file = fopen(said_path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *said = strstr(text, "CROCGPU_PM4_LOG: No space left on device");
    assert_non_null(said);
    assert_null(strstr(said + 1, "CROCGPU_PM4_LOG"));
}

static int log_remove(void **state)
{
    (void)state;
    remove(log_path);
    remove(said_path);
    return 0;
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(said_path, sizeof said_path, "%s/said", folder);
    setenv("CROCGPU_PM4_LOG", log_path, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(processes_share_the_log, log_remove),
        cmocka_unit_test_teardown(a_forked_child_repeats_nothing, log_remove),
        cmocka_unit_test_teardown(a_full_disk_is_said_once, log_remove),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
