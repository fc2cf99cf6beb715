/*
 * A program with a tool of its own that calls nothing of ours: OpenMP's question, when its runtime
 * starts, is what configures the tool.
 */
#include "../client.h"

#include <rocprofiler-sdk/ompt.h>

static unsigned configured, begun;

static void on_event(rocprofiler_callback_tracing_record_t record,
                     rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    begun += record.operation == ROCPROFILER_OMPT_ID_parallel_begin;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    rocprofiler_context_id_t context = {0};
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_tracing_service(context, ROCPROFILER_CALLBACK_TRACING_OMPT,
                                                      NULL, 0, on_event, NULL));
    OK(rocprofiler_start_context(context));
    return 0;
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *name,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "asked";
    configured++;
    return &result;
}

/* Of all events: so many does the runtime not report, so many are traced. */
static void said_count(const char *said, unsigned *missing, unsigned *traced)
{
    static const char not_reported[] = "does not report event ";
    *missing = *traced = 0;
    for (const char *at = said; (at = strstr(at, not_reported)); at += sizeof not_reported - 1)
        ++*missing;
    const char *line = strstr(said, " OpenMP events are traced");
    while (line && line > said && line[-1] >= '0' && line[-1] <= '9')
        line--;
    if (line)
        *traced = (unsigned)strtoul(line, NULL, 10);
}

static int parallel_sum(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
    return sum;
}

static void the_runtimes_question_configures_the_tool(void **state)
{
    (void)state;
    assert_int_equal(parallel_sum(), 2);
    assert_int_equal(configured, 1);
    assert_int_equal(begun, 1);
}

/* In a process of its own, because the runtime asks when it is loaded. */
static void every_event_is_asked_for(void **state)
{
    enum {
        EVENTS = ROCPROFILER_OMPT_ID_callback_functions
    }; /* the last one: no event of OpenMP's */
    char command[64], said[4096];
    unsigned missing, traced;
    (void)state;
    snprintf(command, sizeof command, "CROC_LOG_LEVEL=info /proc/%d/exe alone 2>&1", getpid());
    FILE *child = popen(command, "r");
    assert_non_null(child);
    size_t length = fread(said, 1, sizeof said - 1, child);
    said[length] = 0;
    assert_int_equal(pclose(child), 0);
    said_count(said, &missing, &traced);
    assert_in_range(traced, 1, EVENTS);
    assert_int_equal(missing + traced, EVENTS);
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtimes_question_configures_the_tool),
        cmocka_unit_test(every_event_is_asked_for),
    };
    if (argc > 1)
        return parallel_sum() == 2 ? 0 : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
