/* What a Perfetto trace has of names and numbers, by its bytes; tests/crocprof decodes whole ones.
 */
#include "out/out.h"

#include <string.h>

#include "out/test_files.h"

static char bytes[1 << 16];
static size_t bytes_used;

static struct out_sink *begun(void)
{
    struct out_sink *sink = NULL;
    assert_int_equal(out_pftrace_ops.open(prefix, &sink, message, sizeof message), 0);
    return sink;
}

static void ended(struct out_sink *sink)
{
    char path[128];
    assert_int_equal(out_pftrace_ops.close(sink, message, sizeof message), 0);
    snprintf(path, sizeof path, "%s_results.pftrace", prefix);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bytes_used = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
}

/* How often the trace has that text, with its length in front. */
static unsigned count_of(const char *text)
{
    const size_t length = strlen(text);
    unsigned count = 0;
    for (size_t at = 1; at + length <= bytes_used; at++)
        count += (unsigned char)bytes[at - 1] == length && memcmp(bytes + at, text, length) == 0;
    return count;
}

/* Agents have the names that the CSV files give them. */
static void agents_are_named_as_wanted(void **state)
{
    (void)state;
    struct out_sink *sink = begun();
    const struct out_dispatch_row kernels[] = {{.agent = 1, .queue_id = 3},
                                               {.agent = OUT_AGENT_GPU, .queue_id = 4}};
    const struct out_event_row event = {.agent = OUT_AGENT_GPU + 7, .queue_id = 5};
    const struct out_copy_row copies[] = {{.destination_agent = 2},
                                          {.destination_agent = OUT_AGENT_CPU + 1},
                                          {.destination_agent = OUT_NO_AGENT}};
    for (int i = 0; i < 2; i++)
        out_pftrace_ops.row(sink, OUT_KERNEL_TRACE, &kernels[i]);
    out_pftrace_ops.row(sink, OUT_HIP_EVENT, &event);
    for (int i = 0; i < 3; i++)
        out_pftrace_ops.row(sink, OUT_MEMORY_COPY, &copies[i]);
    ended(sink);
    static const char *const names[] = {"Agent 1 queue 3",      "GPU 0 queue 4",
                                        "GPU 7 queue 5 events", "Copies to agent 2",
                                        "Copies to CPU 1",      "Copies"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (count_of(names[i]) != 1)
            fail_msg("%s: %u times", names[i], count_of(names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(agents_are_named_as_wanted, prefix_next),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
