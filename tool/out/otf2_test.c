#include "out/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/crocprof-otf2-XXXXXX";

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static int rows_write(const char *prefix, uint64_t count)
{
    struct out_sink *sink;
    char message[400];
    if (out_otf2_ops.open(prefix, &sink, message, sizeof message) != 0)
        return 2;
    for (uint64_t i = 0; i < count; i++) {
        const struct out_dispatch_row row = {.kind = "KERNEL_DISPATCH",
                                             .kernel_name = i % 3 ? "copy" : "add",
                                             .dispatch_id = i,
                                             .queue_id = i % 2,
                                             .node = 1,
                                             .start_ns = 1000 + i * 10,
                                             .end_ns = 1005 + i * 10};
        out_otf2_ops.row(sink, OUT_KERNEL_TRACE, &row);
    }
    return out_otf2_ops.close(sink, message, sizeof message) == 0 ? 0 : 3;
}

/* By itself the library keeps 128 MB of a location before it writes. */
static void memory_does_not_grow_with_rows(void **state)
{
    (void)state;
    char prefix[64], path[100];
    struct rusage usage;
    struct stat events;
    int status;
    assert_non_null(mkdtemp(folder));
    snprintf(prefix, sizeof prefix, "%s/many", folder);
    pid_t child = fork(); /* whose memory is what it takes */
    if (child == 0)
        _exit(rows_write(prefix, 3000000));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    snprintf(path, sizeof path, "%s_results/0.evt", prefix);
    assert_int_equal(stat(path, &events), 0);
    assert_true(events.st_size > 50 << 20); /* of one of two queues, and all of it was written */
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_in_range(usage.ru_maxrss, 1 << 10, 64 << 10); /* KB */
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(memory_does_not_grow_with_rows, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
