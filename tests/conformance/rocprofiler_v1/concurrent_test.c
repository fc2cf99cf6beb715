/* The setting k_concurrent: kernels of different queues run at the same time while they are
 * counted. Who overlaps whom is made certain by kernels that wait for the host, so values are
 * known: a kernel counts its own waves, and those of kernels that ran while it did. */
#include "common.h"

#include <pthread.h>
#include <unistd.h>

enum { CONTEXTS = 512 };
enum { WORDS_AT = 1 << 16 }; /* bytes: behind what store_index writes here */

struct counted {
    rocprofiler_feature_t feature;
    rocprofiler_t *context;
};
static struct counted all[CONTEXTS];
static _Atomic uint32_t taken;
static _Thread_local const char *wanted = "SQ_WAVES";

static hsa_status_t context_for_each(const rocprofiler_callback_data_t *data, void *arg,
                                     rocprofiler_group_t *group)
{
    struct counted *counted = &all[taken++];
    (void)arg;
    counted->feature = feature(wanted);
    OK(rocprofiler_open(data->agent, &counted->feature, 1, &counted->context, 0, NULL));
    return rocprofiler_get_group(counted->context, 0, group);
}

static void begin(void)
{
    taken = 0;
    OK(rocprofiler_set_queue_callbacks(
        (rocprofiler_queue_callbacks_t){.dispatch = context_for_each}, NULL));
}

static uint64_t value_of(uint32_t index)
{
    struct counted *counted = &all[index];
    OK(rocprofiler_get_data(counted->context, 0));
    OK(rocprofiler_close(counted->context));
    assert_int_equal(counted->feature.data.kind, ROCPROFILER_DATA_KIND_INT64);
    return counted->feature.data.result_int64;
}

/* ---- a kernel that runs until it is let go */

static uint32_t *words(void)
{
    return gpus[0].memory + WORDS_AT / sizeof(uint32_t);
}

/* Returns when all its waves run. */
static hsa_signal_t holder_launch(hsa_queue_t *queue, uint32_t groups)
{
    volatile uint32_t *flags = words();
    flags[0] = flags[1] = 0;
    hsa_signal_t done =
        gpu_launch(&gpus[0], queue, gpus[0].tell_and_wait, groups, (uint32_t *)flags);
    while (__atomic_load_n(&flags[1], __ATOMIC_ACQUIRE) < groups * GROUP_ITEMS)
        usleep(50);
    return done;
}

static void holder_release(hsa_signal_t done)
{
    __atomic_store_n(&words()[0], 1, __ATOMIC_RELEASE);
    gpu_finish(done);
}

static void run_on(hsa_queue_t *queue, uint32_t groups)
{
    gpu_finish(gpu_launch(&gpus[0], queue, gpus[0].store_index, groups, gpus[0].memory));
}

/* ---- tests */

static void kernels_of_two_queues_overlap(void **state)
{
    hsa_queue_t *other = gpu_queue(&gpus[0]);
    (void)state;
    begin();
    hsa_signal_t holder = holder_launch(gpus[0].queue, 2);
    for (uint32_t i = 1; i <= 5; i++)
        run_on(other, i); /* ends, although the first one runs on */
    holder_release(holder);
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(value_of(i), waves_of(i));
    assert_int_equal(value_of(0), waves_of(2 + 1 + 2 + 3 + 4 + 5));
    OK(rocprofiler_remove_queue_callbacks());
    hsa_queue_destroy(other);
}

static void one_after_the_other_each_has_its_own(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 20; i++) {
        wanted = i % 3 == 2 ? "SQ_INSTS_VALU" : "SQ_WAVES"; /* counters change, too */
        run_on(gpus[0].queue, 1 + i);
    }
    wanted = "SQ_WAVES";
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t value = value_of(i);
        if (i % 3 == 2)
            assert_true(value > 0 && value % waves_of(1 + i) == 0);
        else
            assert_int_equal(value, waves_of(1 + i));
    }
    OK(rocprofiler_remove_queue_callbacks());
}

static void *let_go_soon(void *unused)
{
    (void)unused;
    usleep(30000);
    __atomic_store_n(&words()[0], 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Kernels with other counters are not mixed with those that run. */
static void other_counters_wait(void **state)
{
    hsa_queue_t *other = gpu_queue(&gpus[0]);
    pthread_t thread;
    (void)state;
    begin();
    hsa_signal_t holder = holder_launch(gpus[0].queue, 2);
    pthread_create(&thread, NULL, let_go_soon, NULL);
    wanted = "SQ_INSTS_VALU";
    run_on(other, 7);
    wanted = "SQ_WAVES";
    pthread_join(thread, NULL);
    gpu_finish(holder);
    assert_int_equal(value_of(0), waves_of(2)); /* the other one began after its end */
    assert_int_equal(value_of(1) % waves_of(7), 0);
    OK(rocprofiler_remove_queue_callbacks());
    hsa_queue_destroy(other);
}

static void stopped_while_a_kernel_runs(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        begin();
        hsa_signal_t holder = holder_launch(gpus[0].queue, 3);
        OK(rocprofiler_remove_queue_callbacks());
        holder_release(holder);
        assert_int_equal(value_of(0), waves_of(3));
    }
}

enum { THREADS = 4, LAUNCHES = 60 };
static void *launch(void *data)
{
    hsa_queue_t *queue = gpu_queue(&gpus[0]);
    wanted = data;
    for (uint32_t i = 0; i < LAUNCHES; i++)
        run_on(queue, 1);
    hsa_queue_destroy(queue);
    return NULL;
}

/* All have values, each at least its own waves and never more than all together. */
static void many_threads(void **state)
{
    static const char *const names[THREADS] = {"SQ_WAVES", "SQ_WAVES", "SQ_WAVES", "SQ_WAVES"};
    pthread_t threads[THREADS];
    (void)state;
    begin();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, launch, (void *)names[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(taken, THREADS * LAUNCHES);
    for (uint32_t i = 0; i < THREADS * LAUNCHES; i++) {
        uint64_t value = value_of(i);
        assert_true(value >= waves_of(1) && value <= waves_of(THREADS * LAUNCHES));
    }
    OK(rocprofiler_remove_queue_callbacks());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_two_queues_overlap),
        cmocka_unit_test(one_after_the_other_each_has_its_own),
        cmocka_unit_test(other_counters_wait),
        cmocka_unit_test(stopped_while_a_kernel_runs),
        cmocka_unit_test(many_threads),
    };
    if (argc < 2)
        return 2;
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
