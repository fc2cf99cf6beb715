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

static void the_runtimes_question_configures_the_tool(void **state)
{
    (void)state;
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
    assert_int_equal(sum, 2);
    assert_int_equal(configured, 1);
    assert_int_equal(begun, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtimes_question_configures_the_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
