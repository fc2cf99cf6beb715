/*
 * Device counting, as a client in the manner of PAPI and LIKWID uses it. Expected values come from
 * the launches: waves are counted exactly. DIRECTORY of the kernels is the only argument.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "counters.h"
#include "gpu.h"

enum { RECORDS_MAX = 4096 };

static const char *kernels;

/* ---- agents and configurations */

static struct agent {
    rocprofiler_agent_id_t id;
    const rocprofiler_agent_v0_t *info;
    rocprofiler_counter_config_id_t waves; /* SQ_WAVES, per shader engine; and their sum */
    rocprofiler_counter_config_id_t cycles, constant;
    rocprofiler_counter_id_t sq_waves;
    size_t waves_records;
} agents[AGENTS_MAX];
static uint32_t agent_count;

static void agent_prepare(struct agent *agent)
{
    size_t instances;
    agent->sq_waves = counter_named(agent->id, "SQ_WAVES");
    agent->waves = config_of(agent->id, "SQ_WAVES,SQ_WAVES_sum");
    agent->cycles = config_of(agent->id, "GRBM_COUNT");
    agent->constant = config_of(agent->id, "simd_count");
    OK(rocprofiler_query_counter_instance_count(agent->id, agent->sq_waves, &instances));
    agent->waves_records = instances + 1;
}

/* ---- the tool */

/* `first`, `second`: agent 0, with a buffer each. `all`: every agent, one buffer. `plain`: agent 0
 * without a buffer. `dispatches`: dispatch counting. `late`: nothing at first. */
static rocprofiler_context_id_t first, second, all, plain, dispatches, unrelated, late;
static rocprofiler_buffer_id_t first_buffer, second_buffer, all_buffer, dispatch_buffer;

enum choice { CHOOSE_WAVES, CHOOSE_CYCLES, CHOOSE_CONSTANT, CHOOSE_NOTHING, CHOOSE_WRONG };
static enum choice choice;
static uint32_t callbacks;
static rocprofiler_device_counting_agent_cb_t kept_set_config;

static struct agent *agent_of(rocprofiler_agent_id_t id)
{
    struct agent *agent = agents;
    while (agent->id.handle != id.handle)
        agent++;
    return agent;
}

static void wrong_choices(rocprofiler_context_id_t context,
                          rocprofiler_device_counting_agent_cb_t set_config)
{
    REFUSED(set_config(context, (rocprofiler_counter_config_id_t){12345}), PROFILE_NOT_FOUND);
    REFUSED(set_config((rocprofiler_context_id_t){77}, agents[0].waves), CONTEXT_INVALID);
    REFUSED(set_config(unrelated, agents[0].waves), CONTEXT_INVALID);
    if (agent_count > 1)
        REFUSED(set_config(context, agents[1].waves), AGENT_MISMATCH);
    REFUSED(rocprofiler_sample_device_counting_service(context, (rocprofiler_user_data_t){0},
                                                       ROCPROFILER_COUNTER_FLAG_NONE, NULL, NULL),
            CONTEXT_NOT_STARTED);
}

static void set_profile(rocprofiler_context_id_t context, rocprofiler_agent_id_t id,
                        rocprofiler_device_counting_agent_cb_t set_config, void *data)
{
    const struct agent *agent = agent_of(id);
    assert_ptr_equal(data, &choice);
    callbacks++;
    kept_set_config = set_config;
    if (choice == CHOOSE_WAVES)
        OK(set_config(context, agent->waves));
    if (choice == CHOOSE_CYCLES) { /* the last choice counts */
        OK(set_config(context, agent->waves));
        OK(set_config(context, agent->cycles));
    }
    if (choice == CHOOSE_CONSTANT)
        OK(set_config(context, agent->constant));
    if (choice == CHOOSE_WRONG)
        wrong_choices(context, set_config);
}

static uint32_t delivered;
static rocprofiler_counter_record_t delivered_records[RECORDS_MAX];

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)data;
    assert_int_equal(dropped, 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(headers[i]->category, ROCPROFILER_BUFFER_CATEGORY_COUNTERS);
        assert_int_equal(headers[i]->kind, ROCPROFILER_COUNTER_RECORD_VALUE);
        delivered_records[delivered++ % RECORDS_MAX] =
            *(const rocprofiler_counter_record_t *)headers[i]->payload;
    }
}

static void no_choice(rocprofiler_dispatch_counting_service_data_t dispatch,
                      rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                      void *data)
{
    (void)dispatch, (void)config, (void)user_data, (void)data;
}

static void buffer_make(rocprofiler_context_id_t context, rocprofiler_buffer_id_t *buffer)
{
    OK(rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer,
                                 NULL, buffer));
}

#define CONFIGURE rocprofiler_configure_device_counting_service

static void refusals_at_configuration(void)
{
    const rocprofiler_buffer_id_t none = {0};
    REFUSED(CONFIGURE((rocprofiler_context_id_t){77}, none, agents[0].id, set_profile, &choice),
            CONTEXT_INVALID);
    REFUSED(CONFIGURE(first, (rocprofiler_buffer_id_t){77}, agents[0].id, set_profile, &choice),
            BUFFER_NOT_FOUND);
    REFUSED(CONFIGURE(first, none, agents[0].id, set_profile, &choice), INVALID_ARGUMENT);
    REFUSED(CONFIGURE(dispatches, none, agents[0].id, set_profile, &choice),
            AGENT_DISPATCH_CONFLICT);
    REFUSED(CONFIGURE(unrelated, none, (rocprofiler_agent_id_t){77}, set_profile, &choice),
            AGENT_NOT_FOUND);
    REFUSED(CONFIGURE(unrelated, none, cpu_agent, set_profile, &choice), AGENT_ARCH_NOT_SUPPORTED);
    REFUSED(rocprofiler_configure_buffer_dispatch_counting_service(first, first_buffer, no_choice,
                                                                   NULL),
            AGENT_DISPATCH_CONFLICT);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    agents_load();
    for (; agent_count < gpu_agent_count; agent_count++) {
        agents[agent_count].info = gpu_agents[agent_count];
        agents[agent_count].id = gpu_agents[agent_count]->id;
        agent_prepare(&agents[agent_count]);
    }
    rocprofiler_context_id_t *contexts[] = {&first,      &second,    &all, &plain,
                                            &dispatches, &unrelated, &late};
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
        OK(rocprofiler_create_context(contexts[i]));
    buffer_make(first, &first_buffer);
    buffer_make(second, &second_buffer);
    buffer_make(all, &all_buffer);
    buffer_make(dispatches, &dispatch_buffer);
    OK(CONFIGURE(first, first_buffer, agents[0].id, set_profile, &choice));
    OK(CONFIGURE(second, second_buffer, agents[0].id, set_profile, &choice));
    for (uint32_t i = 0; i < agent_count; i++)
        OK(CONFIGURE(all, all_buffer, agents[i].id, set_profile, &choice));
    OK(CONFIGURE(plain, (rocprofiler_buffer_id_t){0}, agents[0].id, set_profile, &choice));
    OK(rocprofiler_configure_buffer_dispatch_counting_service(dispatches, dispatch_buffer,
                                                              no_choice, NULL));
    refusals_at_configuration();
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "device counting test";
    return &result;
}

/* ---- readings */

static rocprofiler_status_t sample(rocprofiler_context_id_t context, uint64_t tag,
                                   rocprofiler_counter_flag_t flags,
                                   rocprofiler_counter_record_t *records, size_t *count)
{
    return rocprofiler_sample_device_counting_service(
        context, (rocprofiler_user_data_t){.value = tag}, flags, records, count);
}

/* Waves of an agent in records; checks that the derived sum agrees. */
static uint64_t waves_in(const struct agent *agent, const rocprofiler_counter_record_t *records,
                         size_t count, uint64_t tag)
{
    double instances = 0, sum = -1;
    for (size_t i = 0; i < count; i++) {
        rocprofiler_counter_id_t id;
        if (records[i].agent_id.handle != agent->id.handle || records[i].user_data.value != tag)
            continue;
        assert_int_equal(records[i].dispatch_id, 0);
        OK(rocprofiler_query_record_counter_id(records[i].id, &id));
        if (id.handle == agent->sq_waves.handle)
            instances += records[i].counter_value;
        else
            sum = records[i].counter_value;
    }
    assert_true(instances == sum);
    return (uint64_t)sum;
}

static uint64_t waves_now(rocprofiler_context_id_t context)
{
    rocprofiler_counter_record_t records[RECORDS_MAX];
    size_t count = RECORDS_MAX;
    OK(sample(context, 5, ROCPROFILER_COUNTER_FLAG_NONE, records, &count));
    assert_int_equal(count, agents[0].waves_records);
    return waves_in(&agents[0], records, count, 5);
}

/* The test's GPU for an agent. */
static struct gpu *gpu_of(const struct agent *agent)
{
    struct gpu *gpu = gpus;
    while (gpu->node != agent->info->node_id)
        gpu++;
    return gpu;
}

static void start(rocprofiler_context_id_t context, enum choice what)
{
    choice = what;
    OK(rocprofiler_start_context(context));
}

/* ---- tests, in this order */

static void before_the_runtime(void **state)
{
    rocprofiler_counter_record_t record;
    size_t count = 0;
    (void)state;
    OK(rocprofiler_force_configure(configure));
    start(first, CHOOSE_WAVES);
    assert_int_equal(callbacks, 1); /* asked at the start, not when the runtime comes */
    REFUSED(sample(first, 0, ROCPROFILER_COUNTER_FLAG_NONE, NULL, NULL), HSA_NOT_LOADED);
    REFUSED(sample(first, 0, ROCPROFILER_COUNTER_FLAG_NONE, &record, &count), OUT_OF_RESOURCES);
    assert_int_equal(count, agents[0].waves_records);
    gpus_open(kernels);
    assert_int_equal(callbacks, 1);
    uint64_t loading = waves_now(first); /* the runtime may copy code with kernels of its own */
    gpu_run(gpu_of(&agents[0]), 10);
    assert_int_equal(waves_now(first), loading + 10 * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(first));
}

static void argument_errors(void **state)
{
    rocprofiler_counter_record_t records[RECORDS_MAX];
    size_t count = RECORDS_MAX;
    (void)state;
    REFUSED(sample((rocprofiler_context_id_t){0}, 0, 0, NULL, NULL), CONTEXT_NOT_FOUND);
    REFUSED(sample((rocprofiler_context_id_t){77}, 0, 0, NULL, NULL), CONTEXT_INVALID);
    REFUSED(sample(first, 0, 0, NULL, NULL), CONTEXT_NOT_STARTED);
    OK(rocprofiler_start_context(unrelated));
    REFUSED(sample(unrelated, 0, 0, NULL, NULL), CONTEXT_INVALID);
    OK(rocprofiler_stop_context(unrelated));
    start(first, CHOOSE_WAVES);
    REFUSED(sample(first, 0, ROCPROFILER_COUNTER_FLAG_ASYNC, records, &count), INVALID_ARGUMENT);
    REFUSED(sample(first, 0, ROCPROFILER_COUNTER_FLAG_NONE, records, NULL), INVALID_ARGUMENT);
    REFUSED(sample(first, 0, (rocprofiler_counter_flag_t)9, NULL, NULL), INVALID_ARGUMENT);
    count = agents[0].waves_records - 1;
    REFUSED(sample(first, 0, 0, records, &count), OUT_OF_RESOURCES);
    assert_int_equal(count, agents[0].waves_records);
    OK(sample(first, 0, 0, records, &count));
    REFUSED(kept_set_config(first, agents[0].waves), CONFIGURATION_LOCKED);
    OK(rocprofiler_stop_context(first));
    start(first, CHOOSE_WRONG);
    count = RECORDS_MAX;
    OK(sample(first, 0, 0, records, &count)); /* nothing was chosen: nothing is read */
    assert_int_equal(count, 0);
    OK(rocprofiler_stop_context(first));
}

static void values_add_up_from_the_start(void **state)
{
    struct gpu *gpu = gpu_of(&agents[0]);
    (void)state;
    gpu_run(gpu, 50); /* not counted */
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t expected = 0;
        start(first, CHOOSE_WAVES);
        assert_int_equal(waves_now(first), 0);
        for (uint32_t groups = 1; groups < 200; groups *= 3) {
            gpu_run(gpu, groups);
            expected += groups * WAVES_OF_GROUP;
            assert_int_equal(waves_now(first), expected);
            assert_int_equal(waves_now(first), expected); /* reading changes nothing */
        }
        OK(rocprofiler_stop_context(first));
        gpu_run(gpu, 7);
    }
}

static void each_start_asks_again(void **state)
{
    rocprofiler_counter_record_t records[RECORDS_MAX];
    rocprofiler_counter_id_t id;
    size_t count = RECORDS_MAX;
    (void)state;
    uint32_t before = callbacks;
    start(first, CHOOSE_CYCLES);
    OK(rocprofiler_start_context(first)); /* started already: nothing happens */
    assert_int_equal(callbacks, before + 1);
    gpu_run(gpu_of(&agents[0]), 1);
    OK(sample(first, 0, 0, records, &count));
    assert_int_equal(count, agents[0].info->num_xcc);
    assert_true(records[0].counter_value > 0);
    OK(rocprofiler_query_record_counter_id(records[0].id, &id));
    assert_int_not_equal(id.handle, agents[0].sq_waves.handle);
    OK(rocprofiler_stop_context(first));
    start(first, CHOOSE_CONSTANT);
    count = 1;
    OK(sample(first, 0, 0, records, &count));
    assert_true(records[0].counter_value == agents[0].info->simd_count);
    OK(rocprofiler_stop_context(first));
    assert_int_equal(callbacks, before + 2);
}

static void buffers_get_readings(void **state)
{
    struct gpu *gpu = gpu_of(&agents[0]);
    (void)state;
    OK(rocprofiler_flush_buffer(first_buffer));
    start(first, CHOOSE_WAVES);
    delivered = 0;
    gpu_run(gpu, 3);
    OK(sample(first, 1, ROCPROFILER_COUNTER_FLAG_NONE, NULL, NULL));
    OK(rocprofiler_flush_buffer(first_buffer));
    assert_int_equal(delivered, agents[0].waves_records);
    assert_int_equal(waves_in(&agents[0], delivered_records, delivered, 1), 3 * WAVES_OF_GROUP);
    /* Many at once; they are in the buffer when the context has stopped. */
    enum { READINGS = 100 };
    delivered = 0;
    for (uint64_t i = 0; i < READINGS; i++)
        OK(sample(first, 100 + i, ROCPROFILER_COUNTER_FLAG_ASYNC, NULL, NULL));
    OK(rocprofiler_stop_context(first));
    OK(rocprofiler_flush_buffer(first_buffer));
    assert_int_equal(delivered, READINGS * agents[0].waves_records);
    for (uint64_t i = 0; i < READINGS; i++)
        assert_int_equal(waves_in(&agents[0], delivered_records, delivered, 100 + i),
                         3 * WAVES_OF_GROUP);
    start(plain, CHOOSE_WAVES);
    delivered = 0;
    assert_int_equal(waves_now(plain), 0);
    OK(sample(plain, 1, ROCPROFILER_COUNTER_FLAG_ASYNC, NULL, NULL)); /* to nobody */
    OK(rocprofiler_stop_context(plain));
    assert_int_equal(delivered, 0);
}

static void one_owner(void **state)
{
    (void)state;
    start(first, CHOOSE_WAVES);
    REFUSED(rocprofiler_start_context(second), CONTEXT_CONFLICT);
    REFUSED(rocprofiler_start_context(all), CONTEXT_CONFLICT);
    REFUSED(rocprofiler_start_context(dispatches), CONTEXT_CONFLICT);
    gpu_run(gpu_of(&agents[0]), 2);
    assert_int_equal(waves_now(first), 2 * WAVES_OF_GROUP); /* undisturbed */
    OK(rocprofiler_stop_context(first));
    OK(rocprofiler_start_context(dispatches));
    REFUSED(rocprofiler_start_context(first), CONTEXT_CONFLICT);
    OK(rocprofiler_stop_context(dispatches));
    OK(rocprofiler_start_context(second));
    OK(rocprofiler_stop_context(second));
}

static void every_agent_by_itself(void **state)
{
    rocprofiler_counter_record_t records[RECORDS_MAX];
    size_t count = RECORDS_MAX, expected = 0;
    (void)state;
    start(all, CHOOSE_WAVES);
    for (uint32_t i = 0; i < agent_count; i++) {
        gpu_run(gpu_of(&agents[i]), 5 + i);
        expected += agents[i].waves_records;
    }
    OK(sample(all, 9, ROCPROFILER_COUNTER_FLAG_NONE, records, &count));
    assert_int_equal(count, expected);
    for (uint32_t i = 0; i < agent_count; i++)
        assert_int_equal(waves_in(&agents[i], records, count, 9), (5 + i) * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(all));
}

/* The program's queues let their waves be counted: each begins with a packet of ours that does. */
static void queues_are_told(void **state)
{
    struct gpu *gpu = gpu_of(&agents[0]);
    hsa_queue_t *queue = gpu_queue(gpu);
    (void)state;
    assert_int_equal(hsa_queue_load_write_index_relaxed(queue), 1);
    start(first, CHOOSE_WAVES);
    gpu_finish(gpu_launch(gpu, queue, gpu->store_index, 4, gpu->memory));
    assert_int_equal(waves_now(first), 4 * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(first));
    assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

/* Counting, unlike other services, may be added while the context is stopped. */
static void configured_late(void **state)
{
    const rocprofiler_buffer_id_t none = {0};
    (void)state;
    OK(rocprofiler_start_context(late));
    REFUSED(CONFIGURE(late, none, agents[0].id, set_profile, &choice), CONFIGURATION_LOCKED);
    REFUSED(rocprofiler_configure_buffer_dispatch_counting_service(late, dispatch_buffer, no_choice,
                                                                   NULL),
            CONFIGURATION_LOCKED);
    OK(rocprofiler_stop_context(late));
    OK(CONFIGURE(late, none, agents[0].id, set_profile, &choice));
    start(late, CHOOSE_WAVES);
    REFUSED(CONFIGURE(late, none, agents[agent_count - 1].id, set_profile, &choice),
            CONFIGURATION_LOCKED);
    gpu_run(gpu_of(&agents[0]), 8);
    assert_int_equal(waves_now(late), 8 * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(late));
    REFUSED(CONFIGURE(late, none, agents[0].id, set_profile, &choice), INVALID_ARGUMENT);
    REFUSED(rocprofiler_configure_buffer_dispatch_counting_service(late, dispatch_buffer, no_choice,
                                                                   NULL),
            AGENT_DISPATCH_CONFLICT);
}

/* A kernel that waits for the host holds the program's queue; readings do not wait for it. */
static void kernels_that_wait(void **state)
{
    struct gpu *gpu = gpu_of(&agents[0]);
    (void)state;
    start(first, CHOOSE_WAVES);
    gpu->memory[0] = 0;
    hsa_signal_t waiting = gpu_launch(gpu, gpu->queue, gpu->wait_for, 2, gpu->memory);
    hsa_signal_t behind = gpu_launch(gpu, gpu->queue, gpu->store_index, 2, gpu->memory + 1024);
    for (int i = 0; i < 20; i++)
        assert_true(waves_now(first) <= 4 * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(first));
    start(first, CHOOSE_WAVES);
    assert_true(waves_now(first) <= 4 * WAVES_OF_GROUP);
    __atomic_store_n(&gpu->memory[0], 1u, __ATOMIC_RELEASE);
    gpu_finish(waiting);
    gpu_finish(behind);
    OK(rocprofiler_stop_context(first));
}

enum { THREADS = 4, ANSWERS_OF_THREAD = 50 };

/* Until it has its answers: others may be reading, or the context be stopped for a moment. */
static void *read_often(void *arg)
{
    uint32_t answered = 0;
    for (int i = 0; answered < ANSWERS_OF_THREAD; i++) {
        rocprofiler_counter_record_t records[RECORDS_MAX];
        size_t count = RECORDS_MAX;
        rocprofiler_status_t status = sample(first, 1, i % 2, i % 2 ? NULL : records, &count);
        answered += status == ROCPROFILER_STATUS_SUCCESS;
        if (status != ROCPROFILER_STATUS_SUCCESS &&
            status != ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR &&
            status != ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED)
            return arg;
        if (status != ROCPROFILER_STATUS_SUCCESS)
            sched_yield();
    }
    return NULL;
}

/* Readings from many threads while the context starts and stops and kernels run. */
static void many_threads(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    start(first, CHOOSE_WAVES);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &threads), 0);
    for (int i = 0; i < 10; i++) {
        gpu_run(gpu_of(&agents[0]), 4);
        OK(rocprofiler_stop_context(first));
        OK(rocprofiler_start_context(first));
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    OK(rocprofiler_stop_context(first));
    start(first, CHOOSE_WAVES);
    gpu_run(gpu_of(&agents[0]), 4);
    assert_int_equal(waves_now(first), 4 * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(first));
}

static void configurations_may_go_first(void **state)
{
    rocprofiler_counter_config_id_t kept = agents[0].waves;
    rocprofiler_counter_id_t ids[] = {agents[0].sq_waves,
                                      counter_named(agents[0].id, "SQ_WAVES_sum")};
    (void)state;
    start(first, CHOOSE_WAVES);
    OK(rocprofiler_destroy_counter_config(kept));
    gpu_run(gpu_of(&agents[0]), 6);
    assert_int_equal(waves_now(first), 6 * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(first));
    agents[0].waves.handle = 0;
    OK(rocprofiler_create_counter_config(agents[0].id, ids, 2, &agents[0].waves));
    assert_int_not_equal(kept.handle, agents[0].waves.handle);
}

static void a_child_reads_nothing(void **state)
{
    (void)state;
    start(first, CHOOSE_WAVES);
    pid_t child = fork();
    if (child == 0) {
        size_t count = 1000;
        rocprofiler_counter_record_t records[1000];
        rocprofiler_status_t status = sample(first, 0, 0, records, &count);
        int wrong = status != ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED;
        wrong += rocprofiler_stop_context(first) != ROCPROFILER_STATUS_SUCCESS;
        _exit(wrong);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gpu_run(gpu_of(&agents[0]), 2);
    assert_int_equal(waves_now(first), 2 * WAVES_OF_GROUP);
    OK(rocprofiler_stop_context(first));
}

/* The runtime ends and begins again under a started context. */
static void the_runtime_ends(void **state)
{
    (void)state;
    start(first, CHOOSE_WAVES);
    gpu_run(gpu_of(&agents[0]), 2);
    gpus_close();
    REFUSED(sample(first, 0, 0, NULL, NULL), HSA_NOT_LOADED);
    gpus_open(kernels);
    uint64_t loading = waves_now(first);
    gpu_run(gpu_of(&agents[0]), 3);
    assert_int_equal(waves_now(first), loading + 3 * WAVES_OF_GROUP);
    /* Left started: the process ends with counters on. */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_runtime),
        cmocka_unit_test(argument_errors),
        cmocka_unit_test(values_add_up_from_the_start),
        cmocka_unit_test(each_start_asks_again),
        cmocka_unit_test(buffers_get_readings),
        cmocka_unit_test(one_owner),
        cmocka_unit_test(every_agent_by_itself),
        cmocka_unit_test(queues_are_told),
        cmocka_unit_test(configured_late),
        cmocka_unit_test(kernels_that_wait),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(configurations_may_go_first),
        cmocka_unit_test(a_child_reads_nothing),
        cmocka_unit_test(the_runtime_ends),
    };
    kernels = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
