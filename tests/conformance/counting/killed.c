/*
 * killed DIRECTORY dispatch|device ROUNDS: counts the waves of its own launches, on two queues of
 * every GPU, each fed by a thread of its own, and ends with 0 if every count was right. ROUNDS 0:
 * goes on until it is killed. Says "counting" once the first count has come.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "counters.h"
#include "gpu.h"

enum { QUEUES = 2, BATCH = 8, RECORDS_MAX = 4096 };

static const char *kernels;
static bool by_device;
static long rounds;
static rocprofiler_context_id_t context;
static rocprofiler_counter_config_id_t waves[AGENTS_MAX];
static atomic_ulong counted; /* dispatches with a right count; writers: callbacks */

static void say_counting(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        assert_int_equal(write(STDOUT_FILENO, "counting\n", 9), 9);
}

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t data,
                        rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                        void *arg)
{
    (void)user_data, (void)arg;
    *config = waves[agent_position(data.dispatch_info.agent_id)];
}

static void on_record(rocprofiler_dispatch_counting_service_data_t data,
                      rocprofiler_counter_record_t *records, size_t count,
                      rocprofiler_user_data_t user_data, void *arg)
{
    (void)user_data, (void)arg;
    assert_int_equal(count, 1);
    assert_true(records[0].counter_value == data.dispatch_info.grid_size.x / WAVE_ITEMS);
    atomic_fetch_add(&counted, 1);
    say_counting();
}

static void set_profile(rocprofiler_context_id_t of, rocprofiler_agent_id_t agent,
                        rocprofiler_device_counting_agent_cb_t set_config, void *data)
{
    (void)data;
    OK(set_config(of, waves[agent_position(agent)]));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    agents_load();
    OK(rocprofiler_create_context(&context));
    for (uint32_t i = 0; i < gpu_agent_count; i++) {
        waves[i] = config_of(gpu_agents[i]->id, "SQ_WAVES_sum");
        if (by_device)
            OK(rocprofiler_configure_device_counting_service(context, (rocprofiler_buffer_id_t){0},
                                                             gpu_agents[i]->id, set_profile, NULL));
    }
    if (!by_device)
        OK(rocprofiler_configure_callback_dispatch_counting_service(context, on_dispatch, NULL,
                                                                    on_record, NULL));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "killed while it counts";
    return &result;
}

struct worker {
    struct gpu *gpu;
    hsa_queue_t *queue;
    pthread_t thread;
    uint32_t groups;
};

/* BATCH launches in flight at once. */
static void *launch(void *arg)
{
    const struct worker *worker = arg;
    hsa_signal_t done[BATCH];
    for (int i = 0; i < BATCH; i++)
        done[i] = gpu_launch(worker->gpu, worker->queue, worker->gpu->store_index, worker->groups,
                             worker->gpu->memory);
    for (int i = 0; i < BATCH; i++)
        gpu_finish(done[i]);
    return NULL;
}

/* What all workers of a round launch on each GPU. */
static uint64_t waves_of_round(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= QUEUES; i++)
        sum += (uint64_t)BATCH * i * WAVES_OF_GROUP;
    return sum;
}

static void check_device(uint64_t expected)
{
    rocprofiler_counter_record_t records[RECORDS_MAX];
    size_t count = RECORDS_MAX;
    OK(rocprofiler_sample_device_counting_service(context, (rocprofiler_user_data_t){0},
                                                  ROCPROFILER_COUNTER_FLAG_NONE, records, &count));
    assert_int_equal(count, gpu_agent_count);
    for (size_t i = 0; i < count; i++)
        assert_true(records[i].counter_value == (double)expected);
    say_counting();
}

/* A context's life: a few rounds of launches. */
static void span(struct worker *workers, uint32_t worker_count)
{
    enum { ROUNDS_OF_SPAN = 4 };
    OK(rocprofiler_start_context(context));
    for (uint64_t round = 1; round <= ROUNDS_OF_SPAN; round++) {
        for (uint32_t i = 0; i < worker_count; i++)
            assert_int_equal(pthread_create(&workers[i].thread, NULL, launch, &workers[i]), 0);
        for (uint32_t i = 0; i < worker_count; i++)
            pthread_join(workers[i].thread, NULL);
        if (by_device)
            check_device(round * waves_of_round());
    }
    unsigned long before = (unsigned long)worker_count * BATCH * ROUNDS_OF_SPAN;
    OK(rocprofiler_stop_context(context));
    if (!by_device)
        assert_int_equal(atomic_exchange(&counted, 0), before);
}

static void counts_are_right(void **state)
{
    struct worker workers[GPUS_MAX * QUEUES];
    uint32_t count = 0;
    (void)state;
    OK(rocprofiler_force_configure(configure));
    gpus_open(kernels);
    for (; count < gpu_count * QUEUES; count++)
        workers[count] = (struct worker){.gpu = &gpus[count / QUEUES],
                                         .queue = gpu_queue(&gpus[count / QUEUES]),
                                         .groups = 1 + count % QUEUES};
    for (long i = 0; rounds == 0 || i < rounds; i++)
        span(workers, count);
    while (count-- > 0)
        assert_int_equal(hsa_queue_destroy(workers[count].queue), HSA_STATUS_SUCCESS);
    gpus_close();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_right)};
    if (argc < 4)
        return 2;
    kernels = argv[1];
    by_device = strcmp(argv[2], "device") == 0;
    rounds = strtol(argv[3], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
