/* ROCm 6.2 and later set tools up before main: HIP registers the program's kernels. Under an older
 * HIP, which announces nothing, a tool that begins with asking for agents finds the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;

static int tool_initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize;
    (void)data;
    return rocprofiler_create_context(&context) != ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *text,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client)
{
    static rocprofiler_tool_configure_result_t result = {
        .size = sizeof result,
        .initialize = tool_initialize,
    };
    (void)version;
    (void)text;
    (void)priority;
    client->name = "first use";
    return &result;
}

static int initialized(void)
{
    int status = -2;
    assert_int_equal(rocprofiler_is_initialized(&status), ROCPROFILER_STATUS_SUCCESS);
    return status;
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **agents,
                                      size_t count, void *data)
{
    (void)version;
    (void)agents;
    (void)count;
    *(int *)data = initialized();
    return ROCPROFILER_STATUS_SUCCESS;
}

static void asking_for_agents_sets_tools_up(void **state)
{
    (void)state;
    assert_int_equal(initialized(), 0);
    int during = -2;
    rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
                                       sizeof(rocprofiler_agent_t), &during);
    assert_int_equal(during, 1);

    int valid = 0;
    assert_int_equal(rocprofiler_context_is_valid(context, &valid), ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(valid, 1);
    assert_int_equal(rocprofiler_start_context(context), ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(rocprofiler_stop_context(context), ROCPROFILER_STATUS_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(asking_for_agents_sets_tools_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
