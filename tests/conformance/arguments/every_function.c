/*
 * Every exported function with arguments at random: whatever comes, it returns, and with a status
 * that says what is wrong. Before configuration, inside of it, after it, and after the end.
 *
 *      every_function [SEED [ROUNDS]]      every_function --list
 */
#include "values.h"

#include <stdio.h>

#pragma GCC diagnostic ignored "-Wnonnull"

/* Text arguments of a given length need that many bytes: these all have 16 at least. */
static const char padded[16] = "SQ_WAVES*2";

ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime);
int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
                              uint64_t table_count);
rocprofiler_status_t rocprofiler_load_attachment_tool(const char *libraries);
rocprofiler_status_t rocprofiler_attach(void);
rocprofiler_status_t rocprofiler_detach(void);
int rocprofiler_is_current_client_attachment(void);

/* ---- callbacks that functions want; NULL one time in four */

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)buffer, (void)headers, (void)count, (void)data, (void)dropped;
}
static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    (void)record, (void)user, (void)data;
}
static int on_registration(rocprofiler_runtime_registration_info_t *info, void *data)
{
    (void)info, (void)data;
    return 0;
}
static int on_request(rocprofiler_thread_id_t tid, rocprofiler_context_id_t context,
                      rocprofiler_external_correlation_id_request_kind_t kind,
                      rocprofiler_tracing_operation_t operation, uint64_t internal,
                      rocprofiler_user_data_t *external, void *data)
{
    (void)tid, (void)context, (void)kind, (void)operation, (void)internal, (void)external;
    (void)data;
    return 0;
}
static int on_callback_kind(rocprofiler_callback_tracing_kind_t kind, void *data)
{
    (void)kind, (void)data;
    return one_in(10);
}
static int on_buffer_kind(rocprofiler_buffer_tracing_kind_t kind, void *data)
{
    (void)kind, (void)data;
    return one_in(10);
}
static int on_callback_operation(rocprofiler_callback_tracing_kind_t kind,
                                 rocprofiler_tracing_operation_t operation, void *data)
{
    (void)kind, (void)operation, (void)data;
    return one_in(10);
}
static int on_buffer_operation(rocprofiler_buffer_tracing_kind_t kind,
                               rocprofiler_tracing_operation_t operation, void *data)
{
    (void)kind, (void)operation, (void)data;
    return one_in(10);
}
static int on_callback_argument(rocprofiler_callback_tracing_kind_t kind,
                                rocprofiler_tracing_operation_t operation, uint32_t number,
                                const void *const address, int32_t indirections, const char *type,
                                const char *name, const char *value, int32_t dereferences,
                                void *data)
{
    (void)kind, (void)operation, (void)number, (void)address, (void)indirections, (void)data;
    (void)dereferences;
    return strlen(type) + strlen(name) + strlen(value) == 0;
}
static int on_buffer_argument(rocprofiler_buffer_tracing_kind_t kind,
                              rocprofiler_tracing_operation_t operation, uint32_t number,
                              const void *const address, int32_t indirections, const char *type,
                              const char *name, const char *value, void *data)
{
    (void)kind, (void)operation, (void)number, (void)address, (void)indirections, (void)data;
    return strlen(type) + strlen(name) + strlen(value) == 0;
}
static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **list,
                                      size_t count, void *data)
{
    (void)version, (void)data;
    for (size_t i = 0; i < count; i++)
        handle_keep(&agents, ((const rocprofiler_agent_v0_t *)list[i])->id.handle);
    return ROCPROFILER_STATUS_SUCCESS;
}
static rocprofiler_status_t on_counters(rocprofiler_agent_id_t agent,
                                        rocprofiler_counter_id_t *list, size_t count, void *data)
{
    (void)agent, (void)data;
    for (size_t i = 0; i < count && i < 8; i++)
        handle_keep(&counters, list[i].handle);
    return ROCPROFILER_STATUS_SUCCESS;
}
static rocprofiler_status_t on_dimensions(rocprofiler_counter_id_t id,
                                          const rocprofiler_counter_record_dimension_info_t *info,
                                          size_t count, void *data)
{
    (void)id, (void)info, (void)count, (void)data;
    return ROCPROFILER_STATUS_SUCCESS;
}
static void on_dispatch(rocprofiler_dispatch_counting_service_data_t dispatch,
                        rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user,
                        void *data)
{
    (void)dispatch, (void)config, (void)user, (void)data;
}
static void on_counts(rocprofiler_dispatch_counting_service_data_t dispatch,
                      rocprofiler_counter_record_t *records, size_t count,
                      rocprofiler_user_data_t user, void *data)
{
    (void)dispatch, (void)records, (void)count, (void)user, (void)data;
}
static void on_device(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent,
                      rocprofiler_device_counting_agent_cb_t set_config, void *data)
{
    (void)agent, (void)data;
    set_config(context, CONFIG);
    set_config(CONTEXT, CONFIG);
}
static rocprofiler_status_t on_sampling(const rocprofiler_pc_sampling_configuration_t *list,
                                        size_t count, void *data)
{
    (void)list, (void)count, (void)data;
    return ROCPROFILER_STATUS_SUCCESS;
}
static void on_thread(rocprofiler_runtime_library_t library, void *data)
{
    (void)library, (void)data;
}
static void on_tables(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
                      void **tables, uint64_t count, void *data)
{
    (void)type, (void)version, (void)instance, (void)tables, (void)count, (void)data;
}
static rocprofiler_thread_trace_control_flags_t
on_trace_dispatch(rocprofiler_agent_id_t agent, rocprofiler_queue_id_t queue,
                  rocprofiler_async_correlation_id_t ids, rocprofiler_kernel_id_t kernel,
                  rocprofiler_dispatch_id_t dispatch, void *data, rocprofiler_user_data_t *user)
{
    (void)agent, (void)queue, (void)ids, (void)kernel, (void)dispatch, (void)data, (void)user;
    return ROCPROFILER_THREAD_TRACE_CONTROL_NONE;
}
static void on_decoded(rocprofiler_thread_trace_decoder_record_type_t type, void *events,
                       uint64_t size, void *data)
{
    (void)type, (void)events, (void)size, (void)data;
}

#define OR_NULL(callback) (one_in(4) ? NULL : (callback))

static rocprofiler_callback_tracing_record_t any_record(void)
{
    return (rocprofiler_callback_tracing_record_t){.kind =
                                                       (rocprofiler_callback_tracing_kind_t)KIND,
                                                   .operation = OPERATION,
                                                   .payload = one_in(2) ? garbage() : zeroed()};
}

static rocprofiler_record_header_t any_header(void)
{
    rocprofiler_record_header_t header = {.category = KIND % 8, .kind = KIND};
    rocprofiler_buffer_tracing_hip_api_ext_record_t *record = one_in(2) ? garbage() : zeroed();
    if (record) {
        record->kind = (rocprofiler_buffer_tracing_kind_t)(one_in(4) ? KIND : header.kind);
        record->operation = OPERATION;
    }
    header.payload = record;
    return header;
}

static rocprofiler_status_t name_is_safe(const char *name)
{
    return name && strlen(name) > 4096 ? ROCPROFILER_STATUS_LAST : ROCPROFILER_STATUS_SUCCESS;
}

/* ---- the table: function, how it is called. `handle` is where a new handle goes. */

#define CALLS(X)                                                                                   \
    X(assign_callback_thread, (BUFFER, THREAD))                                                    \
    X(at_intercept_table_registration, (OR_NULL(on_tables), FLAGS, NULL))                          \
    X(at_internal_thread_create, (OR_NULL(on_thread), OR_NULL(on_thread), FLAGS, NULL))            \
    X(configure_agent_profile_counting_service,                                                    \
      (CONTEXT, BUFFER, AGENT, OR_NULL(on_device), NULL))                                          \
    X(configure_buffer_dispatch_counting_service, (CONTEXT, BUFFER, OR_NULL(on_dispatch), NULL))   \
    X(configure_buffered_dispatch_counting_service, (CONTEXT, BUFFER, OR_NULL(on_dispatch), NULL)) \
    X(configure_buffered_dispatch_profile_counting_service,                                        \
      (CONTEXT, BUFFER, OR_NULL(on_dispatch), NULL))                                               \
    X(configure_buffer_tracing_service, (CONTEXT, KIND, garbage(), COUNT, BUFFER))                 \
    X(configure_callback_dispatch_counting_service,                                                \
      (CONTEXT, OR_NULL(on_dispatch), NULL, OR_NULL(on_counts), NULL))                             \
    X(configure_callback_dispatch_profile_counting_service,                                        \
      (CONTEXT, OR_NULL(on_dispatch), NULL, OR_NULL(on_counts), NULL))                             \
    X(attach, ())                                                                                  \
    X(configure_callback_tracing_service,                                                          \
      (CONTEXT, KIND, zeroed(), COUNT % 2, OR_NULL(on_call), NULL))                                \
    X(configure_device_counting_service, (CONTEXT, BUFFER, AGENT, OR_NULL(on_device), NULL))       \
    X(configure_device_thread_trace_service, (CONTEXT, AGENT, garbage(), COUNT, NULL, USER_DATA))  \
    X(configure_dispatch_thread_trace_service,                                                     \
      (CONTEXT, AGENT, garbage(), COUNT, OR_NULL(on_trace_dispatch), NULL, NULL))                  \
    X(configure_external_correlation_id_request_service,                                           \
      (CONTEXT, garbage(), COUNT, OR_NULL(on_request), NULL))                                      \
    X(configure_pc_sampling_service, (CONTEXT, AGENT, KIND, KIND, NUMBER, BUFFER, FLAGS))          \
    X(configure_spm_service, (CONTEXT, BUFFER, CONFIG, NUMBER))                                    \
    X(context_is_active, (CONTEXT, zeroed()))                                                      \
    X(context_is_valid, (CONTEXT, zeroed()))                                                       \
    X(create_counter,                                                                              \
      (text(), text_length() % 1, padded, text_length(), text(), 0, AGENT, zeroed()))              \
    X(destroy_buffer, (BUFFER))                                                                    \
    X(destroy_counter_config, (CONFIG))                                                            \
    X(destroy_profile_config, (CONFIG))                                                            \
    X(detach, ())                                                                                  \
    X(flush_buffer, (BUFFER))                                                                      \
    X(force_configure, (NULL))                                                                     \
    X(get_thread_id, (zeroed()))                                                                   \
    X(get_timestamp, (zeroed()))                                                                   \
    X(get_version, (zeroed(), NULL, zeroed()))                                                     \
    X(get_version_triplet, (zeroed()))                                                             \
    X(is_finalized, (zeroed()))                                                                    \
    X(is_initialized, (zeroed()))                                                                  \
    X(iterate_agent_supported_counters, (AGENT, OR_NULL(on_counters), NULL))                       \
    X(iterate_buffer_tracing_kind_operations, (KIND, OR_NULL(on_buffer_operation), NULL))          \
    X(iterate_buffer_tracing_kinds, (OR_NULL(on_buffer_kind), NULL))                               \
    X(iterate_buffer_tracing_record_args, (any_header(), OR_NULL(on_buffer_argument), NULL))       \
    X(iterate_callback_tracing_kind_operation_args,                                                \
      (any_record(), OR_NULL(on_callback_argument), FLAGS, NULL))                                  \
    X(iterate_callback_tracing_kind_operations, (KIND, OR_NULL(on_callback_operation), NULL))      \
    X(iterate_callback_tracing_kinds, (OR_NULL(on_callback_kind), NULL))                           \
    X(iterate_counter_dimensions, (COUNTER, OR_NULL(on_dimensions), NULL))                         \
    X(iterate_runtime_registration_info, (OR_NULL(on_registration), NULL))                         \
    X(ompt_is_finalized, (zeroed()))                                                               \
    X(ompt_is_initialized, (zeroed()))                                                             \
    X(load_attachment_tool, (text()))                                                              \
    X(load_counter_definition, (padded, text_length(), KIND))                                      \
    X(pop_external_correlation_id, (CONTEXT, TID, zeroed()))                                       \
    X(push_external_correlation_id, (CONTEXT, TID, USER_DATA))                                     \
    X(query_available_agents, (KIND % 3, OR_NULL(on_agents), NUMBER % 1024, NULL))                 \
    X(query_buffer_tracing_kind_name, (KIND, zeroed(), NULL))                                      \
    X(query_buffer_tracing_kind_operation_name, (KIND, OPERATION, zeroed(), NULL))                 \
    X(query_callback_tracing_kind_name, (KIND, zeroed(), NULL))                                    \
    X(query_callback_tracing_kind_operation_name, (KIND, OPERATION, NULL, zeroed()))               \
    X(query_counter_info, (COUNTER, KIND % 4, zeroed()))                                           \
    X(query_counter_instance_count, (AGENT, COUNTER, zeroed()))                                    \
    X(query_external_correlation_id_request_kind_name, (KIND, zeroed(), NULL))                     \
    X(query_intercept_table_name, (KIND, zeroed(), NULL))                                          \
    X(query_pc_sampling_agent_configurations, (AGENT, OR_NULL(on_sampling), NULL))                 \
    X(query_record_counter_id, (NUMBER, zeroed()))                                                 \
    X(query_record_dimension_position, (NUMBER, KIND, zeroed()))                                   \
    X(sample_agent_profile_counting_service, (CONTEXT, USER_DATA, KIND))                           \
    X(sample_device_counting_service, (CONTEXT, USER_DATA, KIND, NULL, zeroed()))                  \
    X(start_context, (CONTEXT))                                                                    \
    X(stop_context, (CONTEXT))                                                                     \
    X(thread_trace_decoder_codeobj_load, (DECODER, NUMBER, NUMBER, COUNT, garbage(), COUNT))       \
    X(thread_trace_decoder_codeobj_unload, (DECODER, NUMBER))                                      \
    X(trace_decode, (DECODER, OR_NULL(on_decoded), garbage(), SCRATCH_BYTES / 2, NULL))

#define X(name, arguments)                                                                         \
    static rocprofiler_status_t call_##name(void)                                                  \
    {                                                                                              \
        return rocprofiler_##name arguments;                                                       \
    }
CALLS(X)
#undef X

/* ---- functions that make something, or that answer with something else than a status */

static rocprofiler_status_t call_create_context(void)
{
    rocprofiler_context_id_t id = {one_in(4) ? any_number() : 0};
    rocprofiler_status_t status = rocprofiler_create_context(OR_NULL(&id));
    if (status == ROCPROFILER_STATUS_SUCCESS)
        handle_keep(&contexts, id.handle);
    return status;
}

static rocprofiler_status_t call_create_buffer(void)
{
    rocprofiler_buffer_id_t id = {one_in(4) ? handle_of(&buffers) : 0};
    size_t size = one_in(3) ? any_number() : (size_t)4096 << random_next() % 9;
    rocprofiler_status_t status = rocprofiler_create_buffer(CONTEXT, size, any_number(),
                                                            (rocprofiler_buffer_policy_t)(KIND % 5),
                                                            OR_NULL(on_buffer), NULL, OR_NULL(&id));
    if (status == ROCPROFILER_STATUS_SUCCESS)
        handle_keep(&buffers, id.handle);
    return status;
}

static rocprofiler_status_t call_create_callback_thread(void)
{
    rocprofiler_callback_thread_t id = {any_number()};
    rocprofiler_status_t status = rocprofiler_create_callback_thread(OR_NULL(&id));
    if (status == ROCPROFILER_STATUS_SUCCESS)
        handle_keep(&threads, id.handle);
    return status;
}

static rocprofiler_status_t config_create(__typeof__(&rocprofiler_create_counter_config) create)
{
    rocprofiler_counter_id_t list[8];
    for (int i = 0; i < 8; i++)
        list[i] = COUNTER;
    rocprofiler_counter_config_id_t id = {one_in(3) ? handle_of(&configs) : 0};
    rocprofiler_status_t status = create(AGENT, OR_NULL(list), random_next() % 9, OR_NULL(&id));
    if (status == ROCPROFILER_STATUS_SUCCESS)
        handle_keep(&configs, id.handle);
    return status;
}

static rocprofiler_status_t call_create_counter_config(void)
{
    return config_create(rocprofiler_create_counter_config);
}

static rocprofiler_status_t call_create_profile_config(void)
{
    return config_create(rocprofiler_create_profile_config);
}

static rocprofiler_status_t call_set_api_table(void)
{
    void *tables[3] = {OR_NULL((void *)scratch), OR_NULL((void *)scratch), NULL};
    memset(scratch, 0, sizeof scratch);
    return (rocprofiler_status_t)rocprofiler_set_api_table(text(), any_number(), any_number(),
                                                           OR_NULL(tables), random_next() % 3);
}

static rocprofiler_status_t call_thread_trace_decoder_create(void)
{
    rocprofiler_thread_trace_decoder_id_t id = {any_number()};
    rocprofiler_status_t status =
        rocprofiler_thread_trace_decoder_create(OR_NULL(&id), one_in(2) ? "/nowhere" : text());
    if (status == ROCPROFILER_STATUS_SUCCESS)
        handle_keep(&decoders, id.handle);
    return status;
}

static rocprofiler_status_t call_thread_trace_decoder_destroy(void)
{
    rocprofiler_thread_trace_decoder_destroy(DECODER);
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t call_thread_trace_decoder_info_string(void)
{
    return name_is_safe(rocprofiler_thread_trace_decoder_info_string(
        DECODER, (rocprofiler_thread_trace_decoder_info_t)KIND));
}

static rocprofiler_status_t call_get_status_name(void)
{
    return name_is_safe(rocprofiler_get_status_name((rocprofiler_status_t)any_number()));
}

static rocprofiler_status_t call_get_status_string(void)
{
    return name_is_safe(rocprofiler_get_status_string((rocprofiler_status_t)any_number()));
}

static rocprofiler_status_t call_get_pc_sampling_instruction_type_name(void)
{
    return name_is_safe(rocprofiler_get_pc_sampling_instruction_type_name(
        (rocprofiler_pc_sampling_instruction_type_t)any_number()));
}

static rocprofiler_status_t call_get_pc_sampling_instruction_not_issued_reason_name(void)
{
    return name_is_safe(rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
        (rocprofiler_pc_sampling_instruction_not_issued_reason_t)any_number()));
}

static rocprofiler_status_t call_is_current_client_attachment(void)
{
    return rocprofiler_is_current_client_attachment() == 0 ? ROCPROFILER_STATUS_SUCCESS
                                                           : ROCPROFILER_STATUS_LAST;
}

/* A runtime is answered with functions that it has to call, or with NULL. */
static rocprofiler_status_t answer_is_whole(const ompt_start_tool_result_t *answer)
{
    return !answer || (answer->initialize && answer->finalize) ? ROCPROFILER_STATUS_SUCCESS
                                                               : ROCPROFILER_STATUS_LAST;
}

static rocprofiler_status_t call_ompt_start_tool(void)
{
    return answer_is_whole(rocprofiler_ompt_start_tool((unsigned)any_number(), text()));
}

static rocprofiler_status_t call_ompt_start_tool_itself(void)
{
    return answer_is_whole(ompt_start_tool((unsigned)any_number(), text()));
}

static rocprofiler_status_t call_flush_complete(void)
{
    return crocprof_flush_complete(BUFFER);
}

static rocprofiler_status_t call_plan_passes(void)
{
    static uint32_t pass_of[64];
    uint32_t passes;
    return crocprof_plan_passes(AGENT, garbage(), COUNT, OR_NULL(&pass_of[0]), OR_NULL(&passes));
}

static rocprofiler_status_t call_plan_explain(void)
{
    static char text_out[100];
    return crocprof_plan_explain(AGENT, garbage(), COUNT, OR_NULL(&text_out[0]),
                                 random_next() % (sizeof text_out + 1));
}

static rocprofiler_status_t call_quality_of_counter(void)
{
    crocprof_quality_t quality;
    return crocprof_quality_of_counter(AGENT, COUNTER, OR_NULL(&quality));
}

static rocprofiler_status_t call_quality_of_duration(void)
{
    static const rocprofiler_kernel_dispatch_info_t info;
    uint64_t modelled_ns;
    return crocprof_quality_of_duration(OR_NULL(&info), OR_NULL(&modelled_ns));
}

static rocprofiler_status_t call_quality_of_times(void)
{
    const char *words;
    return crocprof_quality_of_times(AGENT, OR_NULL(&words));
}

#define SPECIAL_CALLS(X)                                                                           \
    X(create_context, )                                                                            \
    X(create_buffer, )                                                                             \
    X(create_callback_thread, )                                                                    \
    X(create_counter_config, )                                                                     \
    X(create_profile_config, )                                                                     \
    X(set_api_table, )                                                                             \
    X(ompt_start_tool, )                                                                           \
    X(thread_trace_decoder_create, )                                                               \
    X(thread_trace_decoder_destroy, )                                                              \
    X(thread_trace_decoder_info_string, )                                                          \
    X(is_current_client_attachment, )                                                              \
    X(get_status_name, )                                                                           \
    X(get_status_string, )                                                                         \
    X(get_pc_sampling_instruction_type_name, )                                                     \
    X(get_pc_sampling_instruction_not_issued_reason_name, )

static const struct {
    const char *name;
    rocprofiler_status_t (*call)(void);
} functions[] = {
#define X(name, arguments) {"rocprofiler_" #name, call_##name},
    CALLS(X) SPECIAL_CALLS(X)
#undef X
        {"ompt_start_tool", call_ompt_start_tool_itself},
    {"crocprof_flush_complete", call_flush_complete},
    {"crocprof_plan_passes", call_plan_passes},
    {"crocprof_plan_explain", call_plan_explain},
    {"crocprof_quality_of_counter", call_quality_of_counter},
    {"crocprof_quality_of_duration", call_quality_of_duration},
    {"crocprof_quality_of_times", call_quality_of_times},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

/* ---- running them */

static unsigned failures;
static uint64_t statuses_seen[FUNCTION_COUNT];

/* "Unspecified" tells nobody anything; one function is specified so. */
static bool status_says_something(unsigned f, rocprofiler_status_t status)
{
    return (unsigned)status < ROCPROFILER_STATUS_LAST &&
           (status != ROCPROFILER_STATUS_ERROR ||
            !strcmp(functions[f].name, "rocprofiler_load_counter_definition"));
}

static void call_one(unsigned f, const char *when)
{
    uint64_t state = random_state;
    rocprofiler_status_t status = functions[f].call();
    if (status_says_something(f, status)) {
        statuses_seen[f] |= UINT64_C(1) << status;
        return;
    }
    failures++;
    fprintf(stderr, "%s %s: status %d (random state %llu)\n", functions[f].name, when, (int)status,
            (unsigned long long)state);
}

/* Before configuration some functions would configure; they have their turn later. */
static bool configures(unsigned f)
{
    return strstr(functions[f].name, "force_configure") ||
           strstr(functions[f].name, "set_api_table") ||
           strstr(functions[f].name, "load_attachment_tool");
}

static void call_all(unsigned rounds, const char *when, bool may_configure)
{
    for (unsigned i = 0; i < rounds * FUNCTION_COUNT; i++) {
        unsigned f = (unsigned)(random_next() % FUNCTION_COUNT);
        if (may_configure || !configures(f))
            call_one(f, when);
    }
}

static unsigned rounds = 60;
static rocprofiler_client_finalize_t finalizer;
static rocprofiler_client_id_t *client;

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)data;
    finalizer = finalize;
    call_all(rounds, "while configuring", true);
    return 0;
}

static void on_finalize(void *data)
{
    (void)data;
    call_all(rounds, "while ending", true);
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, on_finalize,
                                                         NULL};
    (void)version, (void)name, (void)priority;
    client = id;
    return &result;
}

static void list_print(void)
{
    for (unsigned f = 0; f < FUNCTION_COUNT; f++)
        puts(functions[f].name);
}

/* Each function refused something and did not refuse everything for one reason only. */
static unsigned distinct_statuses(void)
{
    unsigned count = 0;
    for (unsigned f = 0; f < FUNCTION_COUNT; f++)
        count += (unsigned)__builtin_popcountll(statuses_seen[f]);
    return count;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--list")) {
        list_print();
        return 0;
    }
    random_state ^= argc > 1 ? strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15u : 0;
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : rounds;
    setenv("CROC_LOG_LEVEL", "error", 0);
    call_all(rounds, "before configuration", false);
    if (rocprofiler_force_configure(configure) != ROCPROFILER_STATUS_SUCCESS)
        failures++;
    call_all(rounds, "after configuration", true);
    finalizer((rocprofiler_client_id_t){sizeof *client, NULL, 12345});
    finalizer(*client);
    call_all(rounds, "after the end", true);
    printf("%d functions, %u statuses, %u failures\n", FUNCTION_COUNT, distinct_statuses(),
           failures);
    return failures != 0;
}
