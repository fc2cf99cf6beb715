/* Bad arguments get a status, from every function of the SDK; names and iteration agree. */
#include <rocprofiler-sdk/deprecated/counters.h>
#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/pc_sampling.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* The headers promise non-NULL; NULL comes through here so that the compiler does not know. */
static void *volatile null_pointer;
#define NOTHING ((void *)null_pointer)

#define OK(call)         assert_int_equal((call), ROCPROFILER_STATUS_SUCCESS)
#define FAILS(how, call) assert_int_equal((call), ROCPROFILER_STATUS_ERROR_##how)

static const rocprofiler_context_id_t no_context = {0}, bogus_context = {UINT64_MAX};
static const rocprofiler_buffer_id_t bogus_buffer = {UINT64_MAX};
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t buffer_id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)id, (void)buffer_id, (void)headers, (void)count, (void)data, (void)dropped;
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)record, (void)user_data, (void)data;
}

static int on_request(rocprofiler_thread_id_t tid, rocprofiler_context_id_t id,
                      rocprofiler_external_correlation_id_request_kind_t kind,
                      rocprofiler_tracing_operation_t operation, uint64_t internal,
                      rocprofiler_user_data_t *external, void *data)
{
    (void)tid, (void)id, (void)kind, (void)operation, (void)internal, (void)external, (void)data;
    return 0;
}

static void configure_wrongly(void)
{
    rocprofiler_buffer_id_t other = {0};
    rocprofiler_callback_thread_t thread = {12345};
    const rocprofiler_tracing_operation_t bad = 100000;
    rocprofiler_external_correlation_id_request_kind_t kinds[] = {
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST};
    const rocprofiler_callback_tracing_kind_t callback_last = ROCPROFILER_CALLBACK_TRACING_LAST;
    const rocprofiler_buffer_tracing_kind_t buffer_last = ROCPROFILER_BUFFER_TRACING_LAST;
    const rocprofiler_callback_tracing_kind_t callback_hsa =
        ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API;
    const rocprofiler_buffer_tracing_kind_t buffer_hsa = ROCPROFILER_BUFFER_TRACING_HSA_CORE_API;

    FAILS(INVALID_ARGUMENT, rocprofiler_create_context(NOTHING));
    FAILS(CONTEXT_ID_NOT_ZERO, rocprofiler_create_context(&context));
    FAILS(INVALID_ARGUMENT, rocprofiler_create_buffer(context, 4096, 0, 99, on_buffer, 0, &other));
    FAILS(INVALID_ARGUMENT,
          rocprofiler_create_buffer(context, 4096, 0, ROCPROFILER_BUFFER_POLICY_LOSSLESS, NOTHING,
                                    NULL, &other));
    FAILS(INVALID_ARGUMENT,
          rocprofiler_create_buffer(context, 4096, 0, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer,
                                    NULL, NOTHING));
    FAILS(OUT_OF_RESOURCES,
          rocprofiler_create_buffer(context, SIZE_MAX - 8192, 0, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                    on_buffer, NULL, &other));
    FAILS(CONTEXT_NOT_FOUND,
          rocprofiler_create_buffer(bogus_context, 4096, 0, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                    on_buffer, NULL, &other));
    FAILS(THREAD_NOT_FOUND, rocprofiler_assign_callback_thread(buffer, thread));
    FAILS(INVALID_ARGUMENT, rocprofiler_create_callback_thread(NOTHING));
    OK(rocprofiler_create_callback_thread(&thread));
    FAILS(BUFFER_NOT_FOUND, rocprofiler_assign_callback_thread(bogus_buffer, thread));

    FAILS(KIND_NOT_FOUND, rocprofiler_configure_callback_tracing_service(context, callback_last,
                                                                         NULL, 0, on_call, NULL));
    FAILS(OPERATION_NOT_FOUND, rocprofiler_configure_callback_tracing_service(
                                   context, callback_hsa, &bad, 1, on_call, NULL));
    FAILS(INVALID_ARGUMENT, rocprofiler_configure_callback_tracing_service(context, callback_hsa,
                                                                           NULL, 0, NULL, NULL));
    /* a failed attempt leaves nothing half configured */
    OK(rocprofiler_configure_callback_tracing_service(context, callback_hsa, NULL, 0, on_call,
                                                      NULL));
    FAILS(SERVICE_ALREADY_CONFIGURED, rocprofiler_configure_callback_tracing_service(
                                          context, callback_hsa, NULL, 0, on_call, NULL));
    FAILS(KIND_NOT_FOUND,
          rocprofiler_configure_buffer_tracing_service(context, buffer_last, NULL, 0, buffer));
    FAILS(BUFFER_NOT_FOUND,
          rocprofiler_configure_buffer_tracing_service(context, buffer_hsa, NULL, 0, bogus_buffer));
    FAILS(OPERATION_NOT_FOUND,
          rocprofiler_configure_buffer_tracing_service(context, buffer_hsa, &bad, 1, buffer));
    FAILS(KIND_NOT_FOUND, rocprofiler_configure_external_correlation_id_request_service(
                              context, kinds, 1, on_request, NULL));
    FAILS(INVALID_ARGUMENT, rocprofiler_configure_external_correlation_id_request_service(
                                context, NULL, 0, NOTHING, NULL));
    OK(rocprofiler_configure_external_correlation_id_request_service(context, NULL, 0, on_request,
                                                                     NULL));
    kinds[0] = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HIP_RUNTIME_API;
    FAILS(SERVICE_ALREADY_CONFIGURED, rocprofiler_configure_external_correlation_id_request_service(
                                          context, kinds, 1, on_request, NULL));
    FAILS(INVALID_ARGUMENT,
          rocprofiler_configure_buffer_dispatch_counting_service(context, buffer, NULL, NULL));
    FAILS(INVALID_ARGUMENT, rocprofiler_configure_callback_dispatch_counting_service(
                                context, NULL, NULL, NULL, NULL));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, 4096, 4096, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer,
                                 NULL, &buffer));
    configure_wrongly();
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static void configuration(void **state)
{
    (void)state;
    rocprofiler_context_id_t early = {0};
    FAILS(CONFIGURATION_LOCKED, rocprofiler_create_context(&early));
    OK(rocprofiler_force_configure(configure));
    FAILS(CONFIGURATION_LOCKED, rocprofiler_force_configure(configure));
    FAILS(CONFIGURATION_LOCKED, rocprofiler_force_configure(NULL));
    FAILS(CONFIGURATION_LOCKED, rocprofiler_create_context(&early));
}

static void contexts_and_buffers(void **state)
{
    (void)state;
    int status = 77;
    FAILS(CONTEXT_NOT_FOUND, rocprofiler_start_context(no_context));
    FAILS(CONTEXT_NOT_FOUND, rocprofiler_start_context(bogus_context));
    FAILS(CONTEXT_NOT_FOUND, rocprofiler_stop_context(bogus_context));
    FAILS(CONTEXT_NOT_FOUND, rocprofiler_stop_context(context));
    FAILS(INVALID_ARGUMENT, rocprofiler_context_is_active(context, NOTHING));
    FAILS(INVALID_ARGUMENT, rocprofiler_context_is_valid(context, NOTHING));
    FAILS(CONTEXT_NOT_FOUND, rocprofiler_context_is_active(bogus_context, &status));
    assert_int_equal(status, 0);
    status = 77;
    FAILS(CONTEXT_NOT_FOUND, rocprofiler_context_is_valid(bogus_context, &status));
    assert_int_equal(status, 0);
    OK(rocprofiler_context_is_valid(context, &status));
    assert_int_equal(status, 1);
    OK(rocprofiler_start_context(context));
    OK(rocprofiler_context_is_active(context, &status));
    assert_int_equal(status, 1);
    OK(rocprofiler_stop_context(context));
    FAILS(BUFFER_NOT_FOUND, rocprofiler_flush_buffer(bogus_buffer));
    FAILS(BUFFER_NOT_FOUND, rocprofiler_destroy_buffer((rocprofiler_buffer_id_t){0}));
    OK(rocprofiler_flush_buffer(buffer));
    OK(rocprofiler_destroy_buffer(buffer));
    FAILS(BUFFER_NOT_FOUND, rocprofiler_destroy_buffer(buffer));
    FAILS(BUFFER_NOT_FOUND, rocprofiler_flush_buffer(buffer));
}

static void external_ids(void **state)
{
    (void)state;
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    rocprofiler_user_data_t value = {.value = 5};
    FAILS(CONTEXT_NOT_FOUND, rocprofiler_push_external_correlation_id(bogus_context, self, value));
    FAILS(INVALID_ARGUMENT, rocprofiler_push_external_correlation_id(context, 0, value));
    FAILS(INVALID_ARGUMENT, rocprofiler_push_external_correlation_id(context, UINT64_MAX, value));
    OK(rocprofiler_push_external_correlation_id(context, self, value));
    OK(rocprofiler_pop_external_correlation_id(context, self, NULL));
    OK(rocprofiler_pop_external_correlation_id(context, self, &value));
    assert_int_equal(value.value, 0);
}

static void information(void **state)
{
    (void)state;
    uint32_t major = 0;
    rocprofiler_version_triplet_t triplet = {0};
    rocprofiler_timestamp_t first = 0, second = 0;
    rocprofiler_thread_id_t tid = 0;
    OK(rocprofiler_get_version(NULL, NULL, NULL));
    OK(rocprofiler_get_version(&major, NULL, NULL));
    assert_int_equal(major, 1);
    FAILS(INVALID_ARGUMENT, rocprofiler_get_version_triplet(NOTHING));
    OK(rocprofiler_get_version_triplet(&triplet));
    assert_int_equal(triplet.major, 1);
    FAILS(INVALID_ARGUMENT, rocprofiler_get_timestamp(NOTHING));
    OK(rocprofiler_get_timestamp(&first));
    OK(rocprofiler_get_timestamp(&second));
    assert_true(first > 0 && second >= first);
    FAILS(INVALID_ARGUMENT, rocprofiler_get_thread_id(NOTHING));
    OK(rocprofiler_get_thread_id(&tid));
    assert_int_equal(tid, syscall(SYS_gettid));
    for (int s = 0; s < ROCPROFILER_STATUS_LAST; s++) {
        assert_non_null(rocprofiler_get_status_name((rocprofiler_status_t)s));
        assert_non_null(rocprofiler_get_status_string((rocprofiler_status_t)s));
    }
    assert_null(rocprofiler_get_status_name(ROCPROFILER_STATUS_LAST));
    assert_null(rocprofiler_get_status_string((rocprofiler_status_t)-1));
    FAILS(INVALID_ARGUMENT, rocprofiler_is_initialized(NOTHING));
    FAILS(INVALID_ARGUMENT, rocprofiler_is_finalized(NOTHING));
}

struct visits {
    int kinds, operations, stop_after;
};

static int visit_callback_operation(rocprofiler_callback_tracing_kind_t kind,
                                    rocprofiler_tracing_operation_t operation, void *data)
{
    struct visits *visits = data;
    const char *name = NULL;
    uint64_t length = 0;
    OK(rocprofiler_query_callback_tracing_kind_operation_name(kind, operation, &name, &length));
    assert_int_equal(length, strlen(name));
    visits->operations++;
    return visits->stop_after && visits->operations == visits->stop_after;
}

static int visit_callback_kind(rocprofiler_callback_tracing_kind_t kind, void *data)
{
    struct visits *visits = data;
    const char *name = NULL;
    uint64_t length = 0;
    assert_int_not_equal(kind, ROCPROFILER_CALLBACK_TRACING_NONE);
    OK(rocprofiler_query_callback_tracing_kind_name(kind, &name, &length));
    assert_int_equal(length, strlen(name));
    OK(rocprofiler_iterate_callback_tracing_kind_operations(kind, visit_callback_operation, data));
    FAILS(OPERATION_NOT_FOUND,
          rocprofiler_query_callback_tracing_kind_operation_name(kind, 100000, &name, &length));
    FAILS(OPERATION_NOT_FOUND,
          rocprofiler_query_callback_tracing_kind_operation_name(kind, -1, NULL, NULL));
    visits->kinds++;
    return 0;
}

static int visit_buffer_kind(rocprofiler_buffer_tracing_kind_t kind, void *data)
{
    const char *name = NULL;
    assert_int_not_equal(kind, ROCPROFILER_BUFFER_TRACING_NONE);
    OK(rocprofiler_query_buffer_tracing_kind_name(kind, &name, NULL));
    assert_true(strlen(name) > 0);
    ((struct visits *)data)->kinds++;
    return 0;
}

static void names(void **state)
{
    (void)state;
    struct visits visits = {0};
    const char *name = "x";
    uint64_t length = 9;
    OK(rocprofiler_iterate_callback_tracing_kinds(visit_callback_kind, &visits));
    assert_int_equal(visits.kinds, ROCPROFILER_CALLBACK_TRACING_LAST - 1);
    assert_true(visits.operations > 600); /* HSA and HIP alone */
    visits = (struct visits){.stop_after = 3};
    OK(rocprofiler_iterate_callback_tracing_kind_operations(
        ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, visit_callback_operation, &visits));
    assert_int_equal(visits.operations, 3);
    visits = (struct visits){0};
    OK(rocprofiler_iterate_buffer_tracing_kinds(visit_buffer_kind, &visits));
    assert_int_equal(visits.kinds, ROCPROFILER_BUFFER_TRACING_LAST - 1);
    OK(rocprofiler_query_callback_tracing_kind_operation_name(
        ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, ROCPROFILER_HSA_CORE_API_ID_hsa_queue_create,
        &name, &length));
    assert_string_equal(name, "hsa_queue_create");
    FAILS(KIND_NOT_FOUND, rocprofiler_query_callback_tracing_kind_name(
                              ROCPROFILER_CALLBACK_TRACING_LAST, &name, &length));
    assert_null(name);
    assert_int_equal(length, 0);
    FAILS(KIND_NOT_FOUND, rocprofiler_query_buffer_tracing_kind_name(
                              (rocprofiler_buffer_tracing_kind_t)-5, &name, &length));
    FAILS(KIND_NOT_FOUND, rocprofiler_query_buffer_tracing_kind_operation_name(
                              ROCPROFILER_BUFFER_TRACING_LAST, 0, &name, &length));
    FAILS(INVALID_ARGUMENT, rocprofiler_iterate_callback_tracing_kinds(NOTHING, NULL));
    FAILS(INVALID_ARGUMENT, rocprofiler_iterate_buffer_tracing_kinds(NOTHING, NULL));
    FAILS(KIND_NOT_FOUND,
          rocprofiler_iterate_callback_tracing_kind_operations(ROCPROFILER_CALLBACK_TRACING_LAST,
                                                               visit_callback_operation, &visits));
    FAILS(KIND_NOT_FOUND, rocprofiler_query_external_correlation_id_request_kind_name(
                              ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST, &name, &length));
    OK(rocprofiler_query_external_correlation_id_request_kind_name(
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY, &name, NULL));
    assert_string_equal(name, "MEMORY_COPY");
    FAILS(KIND_NOT_FOUND,
          rocprofiler_query_intercept_table_name((rocprofiler_intercept_table_t)3, &name, &length));
}

struct seen_argument {
    int count;
    char text[4][64];
};

static int on_argument(rocprofiler_callback_tracing_kind_t kind,
                       rocprofiler_tracing_operation_t operation, uint32_t number,
                       const void *const address, int32_t indirections, const char *type,
                       const char *name, const char *value, int32_t dereferences, void *data)
{
    struct seen_argument *seen = data;
    (void)kind, (void)operation, (void)indirections, (void)dereferences;
    assert_non_null(address);
    assert_true(strlen(type) > 0);
    assert_int_equal(number, seen->count);
    snprintf(seen->text[seen->count++], sizeof seen->text[0], "%s=%s", name, value);
    return 0;
}

/* As many as there are, and none behind the last. */
static void names_of_samples(void **state)
{
    enum {
        TYPES = ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LAST,
        REASONS = ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_LAST
    };
    static const char type_is[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_";
    static const char reason_is[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
    (void)state;
    for (int i = 0; i <= TYPES; i++) {
        const char *name = rocprofiler_get_pc_sampling_instruction_type_name(
            (rocprofiler_pc_sampling_instruction_type_t)i);
        assert_int_equal(name != NULL, i < TYPES);
        assert_true(!name || !strncmp(name, type_is, sizeof type_is - 1));
    }
    for (int i = 0; i <= REASONS; i++) {
        const char *name = rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
            (rocprofiler_pc_sampling_instruction_not_issued_reason_t)i);
        assert_int_equal(name != NULL, i < REASONS);
        assert_true(!name || !strncmp(name, reason_is, sizeof reason_is - 1));
    }
}

static void arguments(void **state)
{
    (void)state;
    struct seen_argument seen = {0};
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    data.args.hsa_queue_load_read_index_relaxed.queue = (const hsa_queue_t *)0x1234;
    rocprofiler_callback_tracing_record_t record = {
        .kind = ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
        .operation = ROCPROFILER_HSA_CORE_API_ID_hsa_queue_load_read_index_relaxed,
        .payload = &data};
    OK(rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 2, &seen));
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.text[0], "queue=0x1234");
    FAILS(INVALID_ARGUMENT,
          rocprofiler_iterate_callback_tracing_kind_operation_args(record, NOTHING, 0, NULL));
    record.payload = NULL;
    FAILS(INVALID_ARGUMENT,
          rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 0, &seen));
    record.operation = 4000;
    FAILS(OPERATION_NOT_FOUND,
          rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 0, &seen));
    record.kind = ROCPROFILER_CALLBACK_TRACING_LAST;
    FAILS(KIND_NOT_FOUND,
          rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 0, &seen));
    FAILS(INVALID_ARGUMENT, rocprofiler_iterate_buffer_tracing_record_args(
                                (rocprofiler_record_header_t){0}, NOTHING, NULL));
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **agents,
                                      size_t count, void *data)
{
    assert_int_equal(version, ROCPROFILER_AGENT_INFO_VERSION_0);
    for (size_t i = 0; i < count; i++)
        assert_true(((const rocprofiler_agent_v0_t *)agents[i])->size > 0);
    return *(rocprofiler_status_t *)data;
}

static void agents_and_counters(void **state)
{
    (void)state;
    rocprofiler_status_t answer = ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
    const rocprofiler_agent_version_t version = ROCPROFILER_AGENT_INFO_VERSION_0;
    FAILS(INVALID_ARGUMENT,
          rocprofiler_query_available_agents(version, NOTHING, sizeof(rocprofiler_agent_t), NULL));
    FAILS(INCOMPATIBLE_ABI, rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_LAST,
                                                               on_agents, 1, &answer));
    FAILS(INCOMPATIBLE_ABI, rocprofiler_query_available_agents(
                                version, on_agents, sizeof(rocprofiler_agent_t) + 8, &answer));
    FAILS(NOT_AVAILABLE, rocprofiler_query_available_agents(version, on_agents,
                                                            sizeof(rocprofiler_agent_t), &answer));

    rocprofiler_agent_id_t no_agent = {UINT64_MAX};
    rocprofiler_counter_id_t no_counter = {UINT64_MAX};
    rocprofiler_counter_config_id_t config = {0};
    rocprofiler_counter_info_v0_t info;
    size_t position = 0;
    FAILS(INVALID_ARGUMENT, rocprofiler_iterate_agent_supported_counters(no_agent, NOTHING, NULL));
    FAILS(COUNTER_NOT_FOUND,
          rocprofiler_query_counter_info(no_counter, ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
    FAILS(INVALID_ARGUMENT,
          rocprofiler_query_counter_info(no_counter, ROCPROFILER_COUNTER_INFO_VERSION_0, NOTHING));
    FAILS(AGENT_NOT_FOUND, rocprofiler_create_counter_config(no_agent, &no_counter, 1, &config));
    FAILS(INVALID_ARGUMENT, rocprofiler_create_counter_config(no_agent, NULL, 1, &config));
    FAILS(INVALID_ARGUMENT, rocprofiler_query_record_counter_id(0, NOTHING));
    FAILS(DIM_NOT_FOUND, rocprofiler_query_record_dimension_position(0, 99, &position));
    FAILS(INVALID_ARGUMENT, rocprofiler_load_counter_definition(NULL, 5, 0));
}

static void threads_and_tables(void **state)
{
    (void)state;
    FAILS(INVALID_ARGUMENT, rocprofiler_at_internal_thread_create(NULL, NULL, 0, NULL));
    FAILS(INVALID_ARGUMENT, rocprofiler_at_intercept_table_registration(NULL, 0, NULL));
    rocprofiler_callback_thread_t thread = {0};
    FAILS(CONFIGURATION_LOCKED, rocprofiler_create_callback_thread(&thread));
    FAILS(CONFIGURATION_LOCKED, rocprofiler_assign_callback_thread(bogus_buffer, thread));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configuration),
        cmocka_unit_test(contexts_and_buffers),
        cmocka_unit_test(external_ids),
        cmocka_unit_test(information),
        cmocka_unit_test(names),
        cmocka_unit_test(names_of_samples),
        cmocka_unit_test(arguments),
        cmocka_unit_test(agents_and_counters),
        cmocka_unit_test(threads_and_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
