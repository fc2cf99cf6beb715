/* Everything at once, from several threads, in any order: each call has a status, nothing crashes
 * or hangs, and afterwards all works. */
#include "common.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 5 };
static int rounds = 60; /* the soak has more: V1_ROUNDS */

static _Atomic(rocprofiler_pool_t *) shared_pool;
static _Atomic(rocprofiler_t *) shared_context;
static rocprofiler_feature_t pool_feature, context_feature;
static _Atomic uint32_t asked, handled;

static bool on_entry(const rocprofiler_pool_entry_t *entry, void *arg)
{
    rocprofiler_group_t group;
    (void)arg;
    if (rocprofiler_get_group(entry->context, 0, &group) == HSA_STATUS_SUCCESS)
        rocprofiler_group_get_data(&group);
    rocprofiler_get_metrics(entry->context);
    handled++;
    return true;
}

static hsa_status_t on_dispatch(const rocprofiler_callback_data_t *data, void *arg,
                                rocprofiler_group_t *group)
{
    rocprofiler_pool_entry_t entry;
    (void)data, (void)arg;
    if (++asked % 3 == 0 && shared_context)
        return rocprofiler_get_group(shared_context, 0, group);
    hsa_status_t status = rocprofiler_pool_fetch(shared_pool, &entry);
    if (status == HSA_STATUS_SUCCESS)
        status = rocprofiler_get_group(entry.context, 0, group);
    return status;
}

static void *launch(void *unused)
{
    (void)unused;
    hsa_queue_t *queue = gpu_queue(&gpus[0]);
    for (uint32_t i = 0; i < 4 * (uint32_t)rounds; i++)
        gpu_finish(gpu_launch(&gpus[0], queue, gpus[0].store_index, 1 + i % 3, gpus[0].memory));
    hsa_queue_destroy(queue);
    return NULL;
}

static void *install(void *unused)
{
    rocprofiler_queue_callbacks_t callbacks = {.dispatch = on_dispatch};
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        rocprofiler_set_queue_callbacks(callbacks, NULL);
        usleep(500);
        rocprofiler_stop_queue_callbacks();
        rocprofiler_start_queue_callbacks();
        usleep(500);
        rocprofiler_remove_queue_callbacks();
    }
    return NULL;
}

static void *pools(void *unused)
{
    rocprofiler_pool_properties_t properties = {.num_entries = 3, .handler = on_entry};
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        rocprofiler_pool_t *pool = NULL;
        OK(rocprofiler_pool_open(gpus[0].agent, &pool_feature, 1, &pool, 0, &properties));
        shared_pool = pool;
        usleep(1000);
        rocprofiler_pool_flush(pool);
        shared_pool = NULL;
        OK(rocprofiler_pool_close(pool));
        rocprofiler_pool_flush(pool);
    }
    return NULL;
}

static void *contexts(void *unused)
{
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        rocprofiler_t *context = NULL;
        OK(rocprofiler_open(gpus[0].agent, &context_feature, 1, &context, 0, NULL));
        shared_context = context;
        usleep(1000);
        rocprofiler_get_data(context, 0);
        shared_context = NULL;
        OK(rocprofiler_close(context));
        /* No second close: the handle may be another thread's new context by now (life.h). */
        rocprofiler_reset(context, 0);
    }
    return NULL;
}

static void *sampling(void *unused)
{
    rocprofiler_feature_t waves = feature("SQ_WAVES");
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        rocprofiler_t *context = NULL;
        OK(rocprofiler_open(gpus[0].agent, &waves, 1, &context, ROCPROFILER_MODE_STANDALONE, NULL));
        if (rocprofiler_start(context, 0) == HSA_STATUS_SUCCESS && i % 2) {
            OK(rocprofiler_read(context, 0));
            OK(rocprofiler_get_data(context, 0));
        }
        if (i % 3)
            rocprofiler_stop(context, 0);
        OK(rocprofiler_close(context));
    }
    return NULL;
}

static void everything_at_once(void **state)
{
    void *(*const run[THREADS])(void *) = {launch, install, pools, contexts, sampling};
    pthread_t threads[THREADS];
    rocprofiler_t *context;
    (void)state;
    pool_feature = feature("TCC_REQ_sum");
    context_feature = feature("SQ_INSTS_VALU");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    rocprofiler_remove_queue_callbacks();
    rocprofiler_feature_t waves = feature("SQ_WAVES");
    OK(rocprofiler_open(gpus[0].agent, &waves, 1, &context, ROCPROFILER_MODE_STANDALONE, NULL));
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 4);
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(waves.data.result_int64, waves_of(4));
    OK(rocprofiler_close(context));
}

/* Values that are no handles, in every place of every function. */
static void garbage_is_refused(void **state)
{
    uint64_t words[64] = {0};
    void *const garbage[] = {NULL, (void *)1, words, &words[3], (void *)~0ull};
    (void)state;
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        void *handle = garbage[i];
        rocprofiler_group_t group = {.context = handle};
        rocprofiler_pool_entry_t entry = {.context = handle};
        hsa_agent_t agent;
        uint32_t count;
        REFUSED(rocprofiler_close(handle), "no context");
        REFUSED(rocprofiler_start(handle, 0), "no context");
        REFUSED(rocprofiler_stop(handle, 7), "no context");
        REFUSED(rocprofiler_read(handle, 0), "no context");
        REFUSED(rocprofiler_reset(handle, 0), "no context");
        REFUSED(rocprofiler_get_data(handle, 0), "no context");
        REFUSED(rocprofiler_get_metrics(handle), "no context");
        REFUSED(rocprofiler_group_count(handle, &count), "no context");
        REFUSED(rocprofiler_get_group(handle, 0, &group), "no context");
        REFUSED(rocprofiler_get_agent(handle, &agent), "no context");
        REFUSED(rocprofiler_group_start(&group), "no context");
        REFUSED(rocprofiler_group_stop(&group), "no context");
        REFUSED(rocprofiler_group_read(&group), "no context");
        REFUSED(rocprofiler_group_get_data(&group), "no context");
        REFUSED(rocprofiler_pool_close(handle), "no pool");
        REFUSED(rocprofiler_pool_flush(handle), "no pool");
        REFUSED(rocprofiler_pool_fetch(handle, &entry), "no pool");
        REFUSED(rocprofiler_pool_release(&entry), "no context");
    }
    REFUSED(rocprofiler_group_start(NULL), "no group");
    REFUSED(rocprofiler_group_stop(NULL), "no group");
    REFUSED(rocprofiler_group_read(NULL), "no group");
    REFUSED(rocprofiler_group_get_data(NULL), "no group");
    REFUSED(rocprofiler_add_dispatch_callback(NULL, NULL), "no callback");
    REFUSED(rocprofiler_iterate_trace_data(NULL, NULL, NULL), "no callback");
    REFUSED(rocprofiler_add_feature(NULL, NULL), "NULL");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(garbage_is_refused),
                                       cmocka_unit_test(everything_at_once)};
    if (argc != 2)
        return 2;
    if (getenv("V1_ROUNDS"))
        rounds = atoi(getenv("V1_ROUNDS"));
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
