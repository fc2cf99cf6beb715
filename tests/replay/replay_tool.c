/* A tool that has each kernel executed REPLAY_PASSES times and reads another counter in each pass.
 * Prints what it saw: a line for each launch with the counters of its passes, and one at the end.
 */
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS = 3, IDS_MAX = 4096 };
static const char *const names[COUNTERS] = {"SQ_WAVES", "SQ_INSTS_VALU", "TCC_HIT"};
static rocprofiler_counter_config_id_t configs[COUNTERS];
static rocprofiler_context_id_t context;
static uint64_t passes_wanted, until; /* until: passes of an endless loop */
static uint64_t first;                /* the counter of the first pass */
static __thread uint64_t pass_now;
static _Atomic unsigned configs_seen, enters, exits, wrong, values, stopped_seen;
static _Atomic unsigned passes_of[16];

static uint64_t pass_count(rocprofiler_kernel_dispatch_info_t info, rocprofiler_user_data_t data)
{
    wrong += data.value != info.dispatch_id;
    return until ? 0 : passes_wanted;
}

static int goes_on(rocprofiler_kernel_dispatch_info_t info, uint64_t pass, uint64_t total,
                   rocprofiler_user_data_t data)
{
    wrong += data.value != info.dispatch_id || total != (until ? 0 : passes_wanted);
    return !until || pass + 1 < until;
}

static void on_replay(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *unused)
{
    rocprofiler_callback_tracing_kernel_replay_data_t *data = record.payload;
    (void)unused;
    wrong += data->size != sizeof *data || data->dispatch_info.dispatch_id == 0;
    if (record.operation == ROCPROFILER_KERNEL_REPLAY_CONFIG) {
        if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
            return;
        configs_seen++;
        pass_now = 0;
        user_data->value = data->dispatch_info.dispatch_id;
        data->replay_pass_count = pass_count;
        data->replay_continue = goes_on;
        return;
    }
    wrong += user_data->value != data->dispatch_info.dispatch_id;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT) {
        exits++;
        wrong += data->current_pass != pass_now;
        wrong += data->replay_stop_context(context) == ROCPROFILER_STATUS_SUCCESS;
        return;
    }
    enters++;
    pass_now = data->current_pass;
    passes_of[pass_now % 16]++;
    if (getenv("REPLAY_STOP") && pass_now == 1)
        stopped_seen += data->replay_stop_context(context) == ROCPROFILER_STATUS_SUCCESS;
    if (getenv("REPLAY_STOP") && pass_now == 2)
        stopped_seen += data->replay_start_context(context) == ROCPROFILER_STATUS_SUCCESS;
}

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t dispatch,
                        rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *data,
                        void *unused)
{
    (void)dispatch, (void)unused;
    data->value = (pass_now + first) % COUNTERS;
    *config = configs[data->value];
}

static void on_values(rocprofiler_dispatch_counting_service_data_t dispatch,
                      rocprofiler_counter_record_t *records, size_t count,
                      rocprofiler_user_data_t data, void *unused)
{
    double sum = 0;
    (void)unused;
    for (size_t i = 0; i < count; i++)
        sum += records[i].counter_value;
    values++;
    wrong += dispatch.end_timestamp <= dispatch.start_timestamp;
    if (getenv("REPLAY_SHOW"))
        printf("VALUE %llu %s %.0f\n", (unsigned long long)dispatch.dispatch_info.dispatch_id,
               names[data.value], sum);
}

static rocprofiler_status_t counters_visit(rocprofiler_agent_id_t agent,
                                           rocprofiler_counter_id_t *ids, size_t count,
                                           void *unused)
{
    (void)unused;
    for (size_t i = 0; i < count; i++) {
        rocprofiler_counter_info_v0_t info;
        if (rocprofiler_query_counter_info(ids[i], ROCPROFILER_COUNTER_INFO_VERSION_0, &info) !=
            ROCPROFILER_STATUS_SUCCESS)
            continue;
        for (int n = 0; n < COUNTERS; n++)
            if (!strcmp(info.name, names[n]))
                rocprofiler_create_counter_config(agent, &ids[i], 1, &configs[n]);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t agents_visit(rocprofiler_agent_version_t version, const void **agents,
                                         size_t count, void *unused)
{
    (void)version, (void)unused;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_v0_t *agent = agents[i];
        if (agent->type == ROCPROFILER_AGENT_TYPE_GPU && configs[0].handle == 0)
            rocprofiler_iterate_agent_supported_counters(agent->id, counters_visit, NULL);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    rocprofiler_context_id_t other = {0};
    (void)finalize, (void)data;
    const char *passes = getenv("REPLAY_PASSES"), *end = getenv("REPLAY_UNTIL");
    const char *begin = getenv("REPLAY_FIRST");
    passes_wanted = passes ? strtoull(passes, NULL, 10) : COUNTERS;
    first = begin ? strtoull(begin, NULL, 10) : 0;
    until = end ? strtoull(end, NULL, 10) : 0;
    rocprofiler_create_context(&context);
    rocprofiler_create_context(&other);
    rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, agents_visit,
                                       sizeof(rocprofiler_agent_v0_t), NULL);
    const int kind = ROCPROFILER_CALLBACK_TRACING_KERNEL_REPLAY;
    wrong += rocprofiler_configure_callback_tracing_service(context, kind, NULL, 0, on_replay,
                                                            NULL) != ROCPROFILER_STATUS_SUCCESS;
    wrong +=
        rocprofiler_configure_callback_tracing_service(other, kind, NULL, 0, on_replay, NULL) !=
        ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    wrong += rocprofiler_configure_callback_dispatch_counting_service(
                 context, on_dispatch, NULL, on_values, NULL) != ROCPROFILER_STATUS_SUCCESS;
    return rocprofiler_start_context(context) != ROCPROFILER_STATUS_SUCCESS;
}

static void finalize_tool(void *data)
{
    (void)data;
    printf("REPLAY launches %u passes %u %u %u %u values %u stopped %u wrong %u\n", configs_seen,
           passes_of[0], passes_of[1], passes_of[2], passes_of[3], values, stopped_seen,
           wrong + (enters != exits));
    fflush(stdout);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize_tool,
                                                         NULL};
    (void)version, (void)runtime_version, (void)priority;
    client_id->name = "replay";
    return &result;
}
