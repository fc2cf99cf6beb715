/* What a Perfetto trace has of names and numbers, by its bytes; tests/crocprof decodes whole ones.
 */
#include "out/out.h"

#include <string.h>

#include "out/process.h"
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

static unsigned count_bytes(const void *sought, size_t length)
{
    unsigned count = 0;
    for (size_t at = 0; at + length <= bytes_used; at++)
        count += memcmp(bytes + at, sought, length) == 0;
    return count;
}

/* How often the trace has that text, with its length in front. */
static unsigned count_of(const char *text)
{
    char sought[256];
    sought[0] = (char)strlen(text);
    strcpy(sought + 1, text);
    return count_bytes(sought, strlen(text) + 1);
}

/* How many events an arrow of that number joins: field 47, eight bytes. */
static unsigned flow_count(uint64_t number)
{
    char sought[10] = {(char)0xf9, 0x02};
    memcpy(sought + 2, &number, sizeof number);
    return count_bytes(sought, sizeof sought);
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

/* Rows of several processes in one trace: equal numbers mean different things. */
static void processes_keep_apart(void **state)
{
    enum { CALL = 9 };
    (void)state;
    static const struct out_process processes[] = {{.pid = 70, .command = "bin/left 1"},
                                                   {.pid = 71, .command = "right"}};
    struct out_sink *sink = begun();
    for (int i = 0; i < 3; i++) { /* the first one comes back */
        const struct out_process *process = &processes[i % 2];
        const struct out_api_row call = {.process_id = process->pid,
                                         .thread_id = process->pid,
                                         .function = "hipLaunchKernel",
                                         .correlation_id = CALL};
        const struct out_dispatch_row kernel = {
            .agent = 1, .queue_id = 1, .correlation_id = CALL, .kernel_name = "k"};
        out_process_set(process);
        out_pftrace_ops.row(sink, OUT_HIP_API, &call);
        out_pftrace_ops.row(sink, OUT_KERNEL_TRACE, &kernel);
    }
    ended(sink);
    out_process_set(NULL);
    assert_int_equal(count_of("left"), 1);
    assert_int_equal(count_of("right"), 1);
    assert_int_equal(count_of("Agent 1 queue 1"), 2);
    assert_int_equal(flow_count(CALL), 4); /* twice the first one's, and none of the other */
}

/* A trace without a row says whose it is. */
static void nothing_has_a_process(void **state)
{
    (void)state;
    static const struct out_process process = {.pid = 70, .command = "idle"};
    out_process_set(&process);
    ended(begun());
    out_process_set(NULL);
    assert_int_equal(count_of("idle"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(agents_are_named_as_wanted, prefix_next),
        cmocka_unit_test_setup(processes_keep_apart, prefix_next),
        cmocka_unit_test_setup(nothing_has_a_process, prefix_next),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
