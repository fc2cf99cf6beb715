/*
 * Dispatch counting, buffered and by callback. Expected values come from the launches. DIRECTORY of
 * the kernels is the only argument.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters.h"
#include "gpu.h"

enum { DISPATCHES_MAX = 4096, TAG = 1000 };

static const char *kernels;
static rocprofiler_context_id_t buffered, direct, device;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_counter_config_id_t waves[AGENTS_MAX], ratio[AGENTS_MAX], places[AGENTS_MAX];

/* What was delivered, in order. */
static struct counted {
    rocprofiler_kernel_dispatch_info_t info;
    rocprofiler_async_correlation_id_t correlation;
    uint64_t promised, start_ns, end_ns; /* num_records; times */
    uint64_t arrived;
    double waves, sum, ratio_parts[3]; /* see value_take */
    uint32_t places;
} counted[DISPATCHES_MAX];
static uint32_t counted_count;

static void value_take(struct counted *of, const rocprofiler_counter_record_t *record)
{
    rocprofiler_counter_id_t id;
    OK(rocprofiler_query_record_counter_id(record->id, &id));
    const char *name = counter_name(id);
    assert_int_equal(record->dispatch_id, of->info.dispatch_id);
    assert_int_equal(record->agent_id.handle, of->info.agent_id.handle);
    assert_int_equal(record->user_data.value, TAG + of->info.dispatch_id);
    of->arrived++;
    if (strcmp(name, "SQ_WAVES") == 0) {
        size_t engine;
        OK(rocprofiler_query_record_dimension_position(
            record->id, ROCPROFILER_DIMENSION_SHADER_ENGINE, &engine));
        of->places |= 1u << engine;
        of->waves += record->counter_value;
    }
    if (strcmp(name, "SQ_WAVES_sum") == 0)
        of->sum = record->counter_value;
    if (strcmp(name, "GRBM_COUNT") == 0)
        of->ratio_parts[0] = record->counter_value;
    if (strcmp(name, "GRBM_GUI_ACTIVE") == 0)
        of->ratio_parts[1] = record->counter_value;
    if (strcmp(name, "GPU_UTIL") == 0)
        of->ratio_parts[2] = record->counter_value;
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)data;
    assert_int_equal(dropped, 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(headers[i]->category, ROCPROFILER_BUFFER_CATEGORY_COUNTERS);
        if (headers[i]->kind == ROCPROFILER_COUNTER_RECORD_VALUE) {
            value_take(&counted[counted_count - 1], headers[i]->payload);
            continue;
        }
        assert_int_equal(headers[i]->kind,
                         ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER);
        const rocprofiler_dispatch_counting_service_record_t *record = headers[i]->payload;
        assert_true(counted_count < DISPATCHES_MAX);
        counted[counted_count++] = (struct counted){.info = record->dispatch_info,
                                                    .correlation = record->correlation_id,
                                                    .promised = record->num_records,
                                                    .start_ns = record->start_timestamp,
                                                    .end_ns = record->end_timestamp};
    }
}

static void on_record(rocprofiler_dispatch_counting_service_data_t data,
                      rocprofiler_counter_record_t *records, size_t count,
                      rocprofiler_user_data_t user_data, void *arg)
{
    assert_ptr_equal(arg, counted);
    assert_int_equal(user_data.value, TAG + data.dispatch_info.dispatch_id);
    struct counted *of = &counted[counted_count++];
    *of = (struct counted){.info = data.dispatch_info,
                           .correlation = data.correlation_id,
                           .promised = count,
                           .start_ns = data.start_timestamp,
                           .end_ns = data.end_timestamp};
    for (size_t i = 0; i < count; i++)
        value_take(of, &records[i]);
}

/* By agent; the choice of the moment. */
static const rocprofiler_counter_config_id_t *choice = waves;
static _Atomic uint32_t asked;
static bool choose_wrong_agent, choose_unknown;

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t data,
                        rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                        void *arg)
{
    uint32_t agent = agent_position(data.dispatch_info.agent_id);
    assert_ptr_equal(arg, counted);
    assert_int_equal(data.size, sizeof data);
    assert_int_equal(config->handle, 0);
    asked++;
    user_data->value = TAG + data.dispatch_info.dispatch_id;
    if (choose_wrong_agent)
        agent = (agent + 1) % gpu_agent_count;
    if (choice)
        *config = choice[agent];
    if (choose_unknown)
        config->handle = 12345;
}

static void set_profile(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent,
                        rocprofiler_device_counting_agent_cb_t set_config, void *data)
{
    (void)data;
    OK(set_config(context, waves[agent_position(agent)]));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    agents_load();
    for (uint32_t i = 0; i < gpu_agent_count; i++) {
        waves[i] = config_of(gpu_agents[i]->id, "SQ_WAVES,SQ_WAVES_sum");
        ratio[i] = config_of(gpu_agents[i]->id, "GRBM_COUNT,GRBM_GUI_ACTIVE,GPU_UTIL");
        places[i] = config_of(gpu_agents[i]->id, "TCC_HIT,SQ_WAVES,CU_NUM");
    }
    OK(rocprofiler_create_context(&buffered));
    OK(rocprofiler_create_context(&direct));
    OK(rocprofiler_create_context(&device));
    OK(rocprofiler_create_buffer(buffered, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                 on_buffer, NULL, &buffer));
    OK(rocprofiler_configure_buffer_dispatch_counting_service(buffered, buffer, on_dispatch,
                                                              counted));
    REFUSED(rocprofiler_configure_buffer_dispatch_counting_service(
                direct, (rocprofiler_buffer_id_t){77}, on_dispatch, counted),
            BUFFER_NOT_FOUND);
    REFUSED(rocprofiler_configure_callback_dispatch_counting_service(
                (rocprofiler_context_id_t){77}, on_dispatch, counted, on_record, counted),
            CONTEXT_NOT_FOUND);
    OK(rocprofiler_configure_callback_dispatch_counting_service(direct, on_dispatch, counted,
                                                                on_record, counted));
    OK(rocprofiler_configure_device_counting_service(device, (rocprofiler_buffer_id_t){0},
                                                     gpu_agents[0]->id, set_profile, NULL));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "dispatch counting test";
    return &result;
}

static int setup(void **state)
{
    (void)state;
    OK(rocprofiler_force_configure(configure));
    gpus_open(kernels);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gpus_close();
    return 0;
}

static uint32_t agent_of(const struct gpu *gpu)
{
    uint32_t i = 0;
    while (gpu_agents[i]->node_id != gpu->node)
        i++;
    return i;
}

static void begin(rocprofiler_context_id_t context, const rocprofiler_counter_config_id_t *what)
{
    counted_count = 0;
    asked = 0;
    choice = what;
    OK(rocprofiler_start_context(context));
}

static void end(rocprofiler_context_id_t context)
{
    OK(rocprofiler_stop_context(context));
    OK(rocprofiler_flush_buffer(buffer));
}

static void check_waves(const struct counted *of, uint32_t groups)
{
    uint32_t engines = gpu_agents[agent_position(of->info.agent_id)]->num_shader_banks;
    assert_int_equal(of->promised, of->arrived);
    assert_int_equal(of->arrived, engines + 1);
    assert_int_equal(of->places, (1u << engines) - 1); /* each shader engine once */
    assert_true(of->waves == of->sum);
    assert_true(of->waves == groups * WAVES_OF_GROUP);
    assert_int_equal(of->info.grid_size.x, groups * GROUP_ITEMS);
    assert_true(of->start_ns > 0 && of->start_ns <= of->end_ns);
}

/* ---- tests */

static void three_dispatches(rocprofiler_context_id_t context)
{
    begin(context, waves);
    for (uint32_t groups = 1; groups <= 3; groups++)
        gpu_run(&gpus[0], groups);
    end(context);
    gpu_run(&gpus[0], 9); /* stopped: not asked, not counted */
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(asked, 3);
    assert_int_equal(counted_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        check_waves(&counted[i], i + 1);
        assert_int_equal(counted[i].info.queue_id.handle, counted[0].info.queue_id.handle);
        assert_true(i == 0 || counted[i].info.dispatch_id == counted[i - 1].info.dispatch_id + 1);
        assert_true(i == 0 || counted[i].start_ns >= counted[i - 1].end_ns);
    }
}

static void a_header_then_its_values(void **state)
{
    (void)state;
    three_dispatches(buffered);
}

static void a_callback_with_all_values(void **state)
{
    (void)state;
    three_dispatches(direct);
}

static void without_a_choice_nothing_is_counted(void **state)
{
    (void)state;
    begin(buffered, NULL);
    gpu_run(&gpus[0], 2);
    choose_unknown = true; /* an error of the tool's: told, and the kernel runs */
    gpu_run(&gpus[0], 2);
    choose_unknown = false;
    end(buffered);
    assert_int_equal(asked, 2);
    assert_int_equal(counted_count, 0);
}

static void another_agents_configuration_counts_nothing(void **state)
{
    (void)state;
    if (gpu_agent_count < 2)
        skip();
    begin(buffered, waves);
    choose_wrong_agent = true;
    gpu_run(&gpus[0], 2);
    choose_wrong_agent = false;
    end(buffered);
    assert_int_equal(counted_count, 0);
}

/* One configuration for many dispatches, and for counting on the device too. */
static void a_configuration_serves_again(void **state)
{
    rocprofiler_counter_record_t records[64];
    size_t count = 64;
    double sum = 0;
    (void)state;
    begin(buffered, waves);
    for (uint32_t i = 0; i < 100; i++)
        gpu_run(&gpus[0], 1 + i % 7);
    end(buffered);
    assert_int_equal(counted_count, 100);
    for (uint32_t i = 0; i < 100; i++)
        check_waves(&counted[i], 1 + i % 7);
    OK(rocprofiler_start_context(device));
    gpu_run(&gpus[agent_of(&gpus[0])], 6);
    OK(rocprofiler_sample_device_counting_service(device, (rocprofiler_user_data_t){0},
                                                  ROCPROFILER_COUNTER_FLAG_NONE, records, &count));
    OK(rocprofiler_stop_context(device));
    for (size_t i = 0; i + 1 < count; i++)
        sum += records[i].counter_value;
    assert_true(sum == 6 * WAVES_OF_GROUP);
}

static void each_dispatch_may_have_its_own(void **state)
{
    const rocprofiler_counter_config_id_t *choices[] = {waves, ratio, places, NULL};
    (void)state;
    begin(direct, waves);
    for (uint32_t i = 0; i < 8; i++) {
        choice = choices[i % 4];
        gpu_run(&gpus[0], 5);
    }
    end(direct);
    assert_int_equal(counted_count, 6);
    for (uint32_t i = 0; i < 6; i += 3) {
        check_waves(&counted[i], 5);
        const double *parts = counted[i + 1].ratio_parts;
        assert_true(parts[0] > 0 && parts[1] > 0 && parts[1] <= parts[0]);
        assert_true(parts[2] == 100 * parts[1] / parts[0]); /* as the specification defines it */
        const rocprofiler_agent_v0_t *agent = gpu_agents[agent_of(&gpus[0])];
        assert_int_equal(counted[i + 2].arrived,
                         (agent->num_shader_banks == 8 ? 32 : 16) + agent->num_shader_banks + 1);
        assert_true(counted[i + 2].waves == 5 * WAVES_OF_GROUP);
    }
}

static void every_gpu_has_its_own_counters(void **state)
{
    (void)state;
    begin(buffered, waves);
    for (uint32_t i = 0; i < gpu_count; i++)
        gpu_run(&gpus[i], 3 + i);
    end(buffered);
    assert_int_equal(counted_count, gpu_count);
    for (uint32_t i = 0; i < gpu_count; i++) {
        assert_int_equal(agent_position(counted[i].info.agent_id), agent_of(&gpus[i]));
        check_waves(&counted[i], 3 + i);
    }
}

enum { QUEUES = 3, LAUNCHES = 60 };

struct worker {
    struct gpu *gpu;
    uint32_t groups;
};

static void *work(void *arg)
{
    const struct worker *worker = arg;
    hsa_signal_t done[LAUNCHES];
    hsa_queue_t *queue = gpu_queue(worker->gpu);
    for (int i = 0; i < LAUNCHES; i++)
        done[i] = gpu_launch(worker->gpu, queue, worker->gpu->store_index, worker->groups,
                             worker->gpu->memory + 4096 * worker->groups);
    for (int i = 0; i < LAUNCHES; i++)
        gpu_finish(done[i]);
    hsa_queue_destroy(queue);
    return NULL;
}

/* Queues of all GPUs at the same time: each dispatch has exactly its own waves. */
static void queues_do_not_mix(void **state)
{
    pthread_t threads[GPUS_MAX * QUEUES];
    struct worker workers[GPUS_MAX * QUEUES];
    uint32_t count = gpu_count * QUEUES;
    (void)state;
    begin(buffered, waves);
    for (uint32_t i = 0; i < count; i++) {
        workers[i] = (struct worker){&gpus[i / QUEUES], 1 + i % QUEUES};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    end(buffered);
    assert_int_equal(counted_count, count * LAUNCHES);
    for (uint32_t i = 0; i < counted_count; i++)
        check_waves(&counted[i], counted[i].info.grid_size.x / GROUP_ITEMS);
}

/* Contexts start and stop while kernels fly; what is counted is right, all kernels end. */
static void starts_and_stops_in_flight(void **state)
{
    pthread_t threads[2];
    struct worker workers[2] = {{&gpus[0], 2}, {&gpus[gpu_count - 1], 3}};
    (void)state;
    counted_count = 0;
    choice = waves;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &workers[i]);
    for (int i = 0; i < 40; i++) {
        OK(rocprofiler_start_context(i % 2 ? direct : buffered));
        OK(rocprofiler_stop_context(i % 2 ? direct : buffered));
        OK(rocprofiler_flush_buffer(buffer));
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    OK(rocprofiler_flush_buffer(buffer));
}

struct leaver {
    struct gpu *gpu;
    hsa_queue_t *queue;
    hsa_signal_t done;
};

static void *launch_and_leave(void *arg)
{
    struct leaver *leaver = arg;
    leaver->done = gpu_launch(leaver->gpu, leaver->queue, leaver->gpu->store_index, 3,
                              leaver->gpu->memory + 4096);
    return NULL;
}

/* Threads are gone before their kernels begin: a kernel that waits for the host holds the queue. */
static void threads_leave_before_their_kernels(void **state)
{
    enum { LEAVERS = 12 };
    struct leaver leavers[LEAVERS];
    struct gpu *gpu = &gpus[0];
    (void)state;
    begin(buffered, waves);
    gpu->memory[0] = 0;
    hsa_signal_t waiting = gpu_launch(gpu, gpu->queue, gpu->wait_for, 1, gpu->memory);
    for (int i = 0; i < LEAVERS; i++) {
        pthread_t thread;
        leavers[i] = (struct leaver){.gpu = gpu, .queue = gpu->queue};
        assert_int_equal(pthread_create(&thread, NULL, launch_and_leave, &leavers[i]), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(counted_count, 0);
    __atomic_store_n(&gpu->memory[0], 1u, __ATOMIC_RELEASE);
    gpu_finish(waiting);
    for (int i = 0; i < LEAVERS; i++)
        gpu_finish(leavers[i].done);
    end(buffered);
    assert_int_equal(counted_count, 1 + LEAVERS);
    for (int i = 0; i <= LEAVERS; i++)
        check_waves(&counted[i], i == 0 ? 1 : 3);
}

/* Kernels that wait for each other run side by side as soon as nobody counts dispatches. The limit
 * after which counting gives up is longer than the test may take. */
static void nobody_counts_nobody_waits(void **state)
{
    struct gpu *gpu = &gpus[0];
    hsa_queue_t *other = gpu_queue(gpu);
    (void)state;
    begin(buffered, waves);
    gpu_run(gpu, 1);
    end(buffered);
    memset(gpu->memory, 0, 8);
    hsa_signal_t waiting = gpu_launch(gpu, gpu->queue, gpu->wait_for, 1, gpu->memory + 1);
    hsa_signal_t waking = gpu_launch(gpu, other, gpu->store_index, 1, gpu->memory); /* [1] = 1 */
    gpu_finish(waking);
    gpu_finish(waiting);
    hsa_queue_destroy(other);
}

static void one_context_counts(void **state)
{
    (void)state;
    begin(buffered, waves);
    REFUSED(rocprofiler_start_context(direct), CONTEXT_CONFLICT);
    REFUSED(rocprofiler_start_context(device), CONTEXT_CONFLICT);
    end(buffered);
    OK(rocprofiler_start_context(device));
    REFUSED(rocprofiler_start_context(buffered), CONTEXT_CONFLICT);
    OK(rocprofiler_stop_context(device));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_then_its_values),
        cmocka_unit_test(a_callback_with_all_values),
        cmocka_unit_test(without_a_choice_nothing_is_counted),
        cmocka_unit_test(another_agents_configuration_counts_nothing),
        cmocka_unit_test(a_configuration_serves_again),
        cmocka_unit_test(each_dispatch_may_have_its_own),
        cmocka_unit_test(every_gpu_has_its_own_counters),
        cmocka_unit_test(queues_do_not_mix),
        cmocka_unit_test(starts_and_stops_in_flight),
        cmocka_unit_test(threads_leave_before_their_kernels),
        cmocka_unit_test(nobody_counts_nobody_waits),
        cmocka_unit_test(one_context_counts),
    };
    kernels = argc > 1 ? argv[1] : ".";
    setenv("CROCPROF_SERIALIZE_LIMIT_MS", "600000", 1);
    return cmocka_run_group_tests(tests, setup, teardown);
}
