/* The tool: every service that dispatches feed, each in a context of its own. */
#include "torture.h"

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <string.h>
#include <time.h>

#define OK(call) EXPECT((call) == ROCPROFILER_STATUS_SUCCESS)

enum { SMALL, LARGE, DISCARDING, CALLED, CALLED_TOO, COUNTED };
_Static_assert(COUNTED + 1 == CONTEXTS, "one for each");

static rocprofiler_context_id_t contexts[CONTEXTS];
static rocprofiler_buffer_id_t buffers[CALLED];
static rocprofiler_counter_config_id_t waves;
static rocprofiler_client_id_t *client;
static rocprofiler_client_finalize_t finalizer;
static pthread_mutex_t toggling = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_quiet, values_are_exact, is_over;
/* Of DISCARDING: in this round, and all that were ever reported as lost. */
static _Atomic uint64_t delivered, lost, lost_before;
static _Atomic uint64_t misbehaviour;

static uint32_t number_of_info(const rocprofiler_kernel_dispatch_info_t *info)
{
    return number_of(info->grid_size.x, info->group_segment_size);
}

/* What callbacks do now and then; all of it is allowed there. */
static void misbehave(rocprofiler_context_id_t context)
{
    struct dice dice = {atomic_fetch_add(&misbehaviour, 0x9e3779b97f4a7c15ull) | 1};
    rocprofiler_user_data_t value = {.value = 7};
    dice_roll(&dice, 2);
    if (is_quiet)
        return;
    switch (dice_roll(&dice, 400)) {
    case 0:
        nanosleep(&(struct timespec){0, 1000 * dice_roll(&dice, 300)}, NULL);
        break;
    case 1:
        rocprofiler_flush_buffer(buffers[dice_roll(&dice, CALLED)]);
        break;
    case 2:
        tool_toggle(&dice);
        break;
    case 3:
        rocprofiler_push_external_correlation_id(context, (rocprofiler_thread_id_t)gettid(), value);
        rocprofiler_pop_external_correlation_id(context, (rocprofiler_thread_id_t)gettid(), &value);
        break;
    default:
        break;
    }
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    uint32_t which = (uint32_t)(uintptr_t)data;
    (void)buffer;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record = headers[i]->payload;
        EXPECT(headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);
        oracle_seen(number_of_info(&record->dispatch_info), which, record->start_timestamp,
                    record->end_timestamp, record->dispatch_info.dispatch_id);
    }
    if (which == DISCARDING) {
        EXPECT(dropped >= lost);
        lost = dropped;
        delivered += count;
    }
    EXPECT(dropped == 0 || which == DISCARDING || is_over);
    misbehave(context);
}

/* ENTER and EXIT of the enqueue on one thread, then COMPLETE once, with the user data of ENTER. */
static void on_dispatch(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                        void *data)
{
    const rocprofiler_callback_tracing_kernel_dispatch_data_t *dispatch = record.payload;
    uint32_t number = number_of_info(&dispatch->dispatch_info);
    bool enter = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
    EXPECT(user->value == 0 || (!enter && user->value == number + 1));
    if (enter)
        user->value = number + 1;
    if (record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE)
        oracle_seen(number, (uint32_t)(uintptr_t)data, dispatch->start_timestamp,
                    dispatch->end_timestamp, dispatch->dispatch_info.dispatch_id);
    misbehave(record.context_id);
}

static void on_count(rocprofiler_dispatch_counting_service_data_t data,
                     rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user,
                     void *arg)
{
    (void)arg;
    user->value = number_of_info(&data.dispatch_info);
    *config = waves;
}

static void on_counted(rocprofiler_dispatch_counting_service_data_t data,
                       rocprofiler_counter_record_t *records, size_t count,
                       rocprofiler_user_data_t user, void *arg)
{
    double sum = 0;
    (void)arg;
    EXPECT(user.value == number_of_info(&data.dispatch_info));
    for (size_t i = 0; i < count; i++)
        sum += records[i].counter_value;
    EXPECT(count > 0 && (sum == 1 || !values_are_exact));
    oracle_seen((uint32_t)user.value, COUNTED, data.start_timestamp, data.end_timestamp,
                data.dispatch_info.dispatch_id);
    misbehave(contexts[COUNTED]);
}

static rocprofiler_status_t counters_seen(rocprofiler_agent_id_t agent,
                                          rocprofiler_counter_id_t *counters, size_t count,
                                          void *data)
{
    rocprofiler_counter_info_v0_t info;
    (void)data;
    for (size_t i = 0; i < count; i++) {
        OK(rocprofiler_query_counter_info(counters[i], ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
        if (strcmp(info.name, "SQ_WAVES") == 0)
            OK(rocprofiler_create_counter_config(agent, &counters[i], 1, &waves));
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t agents_seen(rocprofiler_agent_version_t version, const void **agents,
                                        size_t count, void *data)
{
    (void)version, (void)data;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_v0_t *agent = agents[i];
        if (agent->type == ROCPROFILER_AGENT_TYPE_GPU && waves.handle == 0)
            OK(rocprofiler_iterate_agent_supported_counters(agent->id, counters_seen, NULL));
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static void buffered(uint32_t which, size_t bytes, rocprofiler_buffer_policy_t policy)
{
    rocprofiler_callback_thread_t thread;
    OK(rocprofiler_create_buffer(contexts[which], bytes, bytes / 2, policy, on_buffer,
                                 (void *)(uintptr_t)which, &buffers[which]));
    OK(rocprofiler_configure_buffer_tracing_service(
        contexts[which], ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffers[which]));
    OK(rocprofiler_create_callback_thread(&thread));
    OK(rocprofiler_assign_callback_thread(buffers[which], thread));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)data;
    finalizer = finalize;
    OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, agents_seen,
                                          sizeof(rocprofiler_agent_v0_t), NULL));
    EXPECT(waves.handle != 0);
    for (int c = 0; c < CONTEXTS; c++)
        OK(rocprofiler_create_context(&contexts[c]));
    buffered(SMALL, 4096, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
    buffered(LARGE, 1 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
    buffered(DISCARDING, 4096, ROCPROFILER_BUFFER_POLICY_DISCARD);
    for (int c = CALLED; c <= CALLED_TOO; c++)
        OK(rocprofiler_configure_callback_tracing_service(
            contexts[c], ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_dispatch,
            (void *)(uintptr_t)c));
    OK(rocprofiler_configure_callback_dispatch_counting_service(contexts[COUNTED], on_count, NULL,
                                                                on_counted, NULL));
    return 0;
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *runtime,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {.size = sizeof result,
                                                         .initialize = initialize};
    (void)version, (void)runtime, (void)priority;
    id->name = "dispatch torture";
    client = id;
    return &result;
}

/* Under `toggling`. */
static void switch_turn(uint32_t which, bool on)
{
    struct switch_state *state = &oracle_switches[which];
    if (state->on == on)
        return;
    atomic_fetch_add(&state->changes, 1);
    OK(on ? rocprofiler_start_context(contexts[which]) : rocprofiler_stop_context(contexts[which]));
    state->on = on;
    atomic_fetch_add(&state->changes, 1);
}

void tool_toggle(struct dice *dice)
{
    uint32_t which = dice_roll(dice, CONTEXTS);
    if (is_over || pthread_mutex_trylock(&toggling) != 0)
        return; /* a callback within a start, or in the middle of another one */
    if (!is_over)
        switch_turn(which, !oracle_switches[which].on);
    pthread_mutex_unlock(&toggling);
}

/* Counting keeps kernels apart, which takes long: one round in four has it. */
void tool_round(struct dice *dice, bool quiet)
{
    pthread_mutex_lock(&toggling);
    for (uint32_t c = 0; c < CONTEXTS; c++)
        switch_turn(c, dice_roll(dice, c == COUNTED ? 4 : 2) == 0);
    pthread_mutex_unlock(&toggling);
    values_are_exact = is_quiet = quiet;
    delivered = 0;
    lost_before = lost;
}

void tool_flush(void)
{
    for (int b = 0; b < CALLED && !is_over; b++)
        OK(rocprofiler_flush_buffer(buffers[b]));
}

/* DISCARDING says at its next delivery how many it has lost: only where none can follow, or in a
 * round that it was on for all the time, is the sum known. */
uint32_t tool_lossy(void)
{
    EXPECT(delivered + (lost - lost_before) <= oracle_numbers());
    return 1u << DISCARDING;
}

void tool_finalize(void)
{
    pthread_mutex_lock(&toggling);
    for (int c = 0; c < CONTEXTS; c++)
        atomic_fetch_add(&oracle_switches[c].changes, 1);
    is_over = true;
    pthread_mutex_unlock(&toggling);
    finalizer(*client);
}
