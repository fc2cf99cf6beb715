/* A client in the manner of PAPI and Kineto: links the SDK, configures itself by force, traces HSA
 * calls of the unmodified runtime. Run on a machine with a GPU, or under crocgpu. */
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <hsa/hsa.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call) assert_int_equal((call), ROCPROFILER_STATUS_SUCCESS)

enum { RECORDS_MAX = 4096, THREADS = 4, CALLS = 250 };
typedef rocprofiler_buffer_tracing_hsa_api_record_t api_record;

static rocprofiler_context_id_t traced, called, lifetime;
static rocprofiler_buffer_id_t buffer;
static api_record records[RECORDS_MAX];
static unsigned record_count, initialization_count;
static _Atomic unsigned enter_count, exit_count;

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)data;
    assert_int_equal(dropped, 0);
    for (size_t i = 0; i < count; i++) {
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION) {
            initialization_count++;
            continue;
        }
        assert_true(record_count < RECORDS_MAX);
        records[record_count++] = *(const api_record *)headers[i]->payload;
    }
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    const rocprofiler_callback_tracing_hsa_api_data_t *payload = record.payload;
    assert_int_equal(payload->size, sizeof *payload);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user_data->ptr = user_data;
        enter_count++;
        return;
    }
    assert_ptr_equal(user_data->ptr, user_data);
    exit_count++;
    assert_int_equal(payload->retval.hsa_status_t_retval, HSA_STATUS_SUCCESS);
    assert_int_equal(payload->args.hsa_system_get_info.attribute, HSA_SYSTEM_INFO_VERSION_MAJOR);
}

static _Atomic unsigned created_count, creating_count;

static void on_creating(rocprofiler_runtime_library_t library, void *data)
{
    assert_int_equal(library, ROCPROFILER_LIBRARY);
    assert_ptr_equal(data, &creating_count);
    creating_count++;
}

static void on_created(rocprofiler_runtime_library_t library, void *data)
{
    (void)library, (void)data;
    created_count++;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    const rocprofiler_tracing_operation_t one = ROCPROFILER_HSA_CORE_API_ID_hsa_system_get_info;
    OK(rocprofiler_create_context(&traced));
    OK(rocprofiler_create_context(&called));
    OK(rocprofiler_create_context(&lifetime));
    OK(rocprofiler_at_internal_thread_create(on_creating, on_created, ROCPROFILER_LIBRARY,
                                             &creating_count));
    OK(rocprofiler_at_internal_thread_create(on_creating, on_created, ROCPROFILER_HIP_LIBRARY,
                                             NULL)); /* none of ours is HIP's */
    OK(rocprofiler_create_buffer(traced, 64 << 10, 60 << 10, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                 on_buffer, NULL, &buffer));
    OK(rocprofiler_configure_buffer_tracing_service(traced, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API,
                                                    NULL, 0, buffer));
    OK(rocprofiler_configure_callback_tracing_service(
        called, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, &one, 1, on_call, NULL));
    OK(rocprofiler_configure_buffer_tracing_service(
        lifetime, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        lifetime, ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION, NULL, 0, buffer));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "client test";
    return &result;
}

static unsigned count_of(int32_t operation)
{
    unsigned count = 0;
    for (unsigned i = 0; i < record_count; i++)
        count += records[i].operation == operation;
    return count;
}

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
    char name[64];
    (*(unsigned *)data)++;
    return hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
}

static void system_info(void)
{
    uint16_t major = 0;
    assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major),
                     HSA_STATUS_SUCCESS);
}

static void runtime_start(void **state)
{
    (void)state;
    OK(rocprofiler_force_configure(configure));
    OK(rocprofiler_start_context(lifetime));
    assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(initialization_count, 1);
    assert_int_equal(record_count, 0);
    /* one for buffers, one that watches devices, one for the end of the program */
    assert_int_equal(creating_count, 3);
    assert_int_equal(created_count, 3);
}

static void nested_calls_name_their_ancestor(void **state)
{
    (void)state;
    unsigned agents = 0;
    rocprofiler_timestamp_t before, after;
    OK(rocprofiler_start_context(traced));
    OK(rocprofiler_get_timestamp(&before));
    assert_int_equal(hsa_iterate_agents(on_agent, &agents), HSA_STATUS_SUCCESS);
    OK(rocprofiler_get_timestamp(&after));
    OK(rocprofiler_stop_context(traced));
    system_info(); /* stopped: leaves no record */
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(record_count, agents + 1);
    assert_int_equal(count_of(ROCPROFILER_HSA_CORE_API_ID_hsa_agent_get_info), agents);
    const api_record *outer = &records[agents];
    assert_int_equal(outer->operation, ROCPROFILER_HSA_CORE_API_ID_hsa_iterate_agents);
    assert_int_equal(outer->correlation_id.ancestor, 0);
    for (unsigned i = 0; i < agents; i++) {
        assert_int_equal(records[i].correlation_id.ancestor, outer->correlation_id.internal);
        assert_true(records[i].start_timestamp >= outer->start_timestamp);
        assert_true(records[i].end_timestamp <= outer->end_timestamp);
    }
    assert_true(outer->start_timestamp + 1000 >= before && outer->end_timestamp <= after + 1000);
}

static void *call_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < CALLS; i++)
        system_info();
    return NULL;
}

static void every_call_of_every_thread_is_recorded(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    record_count = 0;
    OK(rocprofiler_start_context(traced));
    OK(rocprofiler_start_context(called));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_often, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(rocprofiler_stop_context(called));
    OK(rocprofiler_stop_context(traced));
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(count_of(ROCPROFILER_HSA_CORE_API_ID_hsa_system_get_info), THREADS * CALLS);
    assert_int_equal(enter_count, THREADS * CALLS);
    assert_int_equal(exit_count, THREADS * CALLS);
    for (unsigned i = 0; i < record_count; i++)
        for (unsigned j = i + 1; j < record_count; j++)
            assert_int_not_equal(records[i].correlation_id.internal,
                                 records[j].correlation_id.internal);
}

static void pushed_ids_reach_the_records(void **state)
{
    (void)state;
    rocprofiler_thread_id_t self;
    record_count = 0;
    OK(rocprofiler_get_thread_id(&self));
    OK(rocprofiler_start_context(traced));
    OK(rocprofiler_push_external_correlation_id(traced, self,
                                                (rocprofiler_user_data_t){.value = 9}));
    system_info();
    OK(rocprofiler_pop_external_correlation_id(traced, self, NULL));
    system_info();
    OK(rocprofiler_stop_context(traced));
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(record_count, 2);
    assert_int_equal(records[0].correlation_id.external.value, 9);
    assert_int_equal(records[1].correlation_id.external.value, 0);
    assert_int_equal(records[0].thread_id, self);
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **agents,
                                      size_t count, void *data)
{
    (void)version, (void)agents;
    *(size_t *)data = count;
    return ROCPROFILER_STATUS_SUCCESS;
}

static void agents_are_those_of_the_runtime(void **state)
{
    (void)state;
    unsigned seen = 0;
    size_t listed = 0;
    assert_int_equal(hsa_iterate_agents(on_agent, &seen), HSA_STATUS_SUCCESS);
    OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
                                          sizeof(rocprofiler_agent_t), &listed));
    assert_int_equal(seen, listed);
    assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runtime_start),
        cmocka_unit_test(nested_calls_name_their_ancestor),
        cmocka_unit_test(every_call_of_every_thread_is_recorded),
        cmocka_unit_test(pushed_ids_reach_the_records),
        cmocka_unit_test(agents_are_those_of_the_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
