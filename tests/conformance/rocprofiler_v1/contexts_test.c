/* Contexts that a program starts, reads and stops itself. */
#include "common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static rocprofiler_t *context_open(rocprofiler_feature_t *features, uint32_t count, uint32_t mode)
{
    rocprofiler_t *context = NULL;
    OK(rocprofiler_open(gpus[0].agent, features, count, &context, mode, NULL));
    assert_non_null(context);
    return context;
}

static rocprofiler_t *standalone_open(rocprofiler_feature_t *features, uint32_t count)
{
    return context_open(features, count,
                        ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_SINGLEGROUP);
}

static void data_get(rocprofiler_t *context)
{
    OK(rocprofiler_read(context, 0));
    OK(rocprofiler_get_data(context, 0));
    OK(rocprofiler_get_metrics(context));
}

static uint64_t counted(const rocprofiler_feature_t *f)
{
    assert_int_equal(f->data.kind, ROCPROFILER_DATA_KIND_INT64);
    return f->data.result_int64;
}

static double computed(const rocprofiler_feature_t *f)
{
    assert_int_equal(f->data.kind, ROCPROFILER_DATA_KIND_DOUBLE);
    return f->data.result_double;
}

static void readings_grow_from_the_start(void **state)
{
    rocprofiler_feature_t f[] = {feature("SQ_WAVES")};
    rocprofiler_t *context = standalone_open(f, 1);
    (void)state;
    gpu_run(&gpus[0], 3); /* before the start: not counted */
    OK(rocprofiler_start(context, 0));
    data_get(context);
    assert_int_equal(counted(&f[0]), 0);
    gpu_run(&gpus[0], 2);
    data_get(context);
    assert_int_equal(counted(&f[0]), waves_of(2));
    gpu_run(&gpus[0], 5);
    data_get(context);
    assert_int_equal(counted(&f[0]), waves_of(7));
    gpu_run(&gpus[0], 1);
    OK(rocprofiler_stop(context, 0));
    gpu_run(&gpus[0], 9); /* after the stop: not counted */
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(counted(&f[0]), waves_of(8));
    OK(rocprofiler_close(context));
}

static void reset_begins_again(void **state)
{
    rocprofiler_feature_t f[] = {feature("SQ_WAVES")};
    rocprofiler_t *context = standalone_open(f, 1);
    (void)state;
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 4);
    data_get(context);
    OK(rocprofiler_reset(context, 0));
    REFUSED(rocprofiler_get_data(context, 0), "nothing was collected");
    gpu_run(&gpus[0], 3);
    data_get(context);
    assert_int_equal(counted(&f[0]), waves_of(3));
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 2);
    data_get(context);
    assert_int_equal(counted(&f[0]), waves_of(2));
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_close(context));
}

/* Names, events of blocks, and metrics computed from them agree. */
static void features_have_three_spellings(void **state)
{
    rocprofiler_feature_t f[] = {feature("SQ_WAVES"), feature("SQ:4"), feature("SQ[0]:4"),
                                 feature("Wavefronts")};
    rocprofiler_t *context = standalone_open(f, 4);
    (void)state;
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 6);
    data_get(context);
    for (int i = 0; i < 3; i++)
        assert_int_equal(counted(&f[i]), waves_of(6));
    assert_true(computed(&f[3]) == (double)waves_of(6));
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_close(context));
}

/* The instances of a counter add up to what the metric over all of them says. */
static void instances_add_up(void **state)
{
    enum { CHANNELS = 32 };
    static char names[CHANNELS][32];
    rocprofiler_feature_t f[CHANNELS + 1];
    uint64_t sum = 0;
    (void)state;
    for (int i = 0; i < CHANNELS; i++) {
        snprintf(names[i], sizeof names[i], "TCC_REQ[%d]", i);
        f[i] = feature(names[i]);
    }
    f[CHANNELS] = feature("TCC_REQ_sum");
    rocprofiler_t *context = standalone_open(f, CHANNELS + 1);
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 40);
    data_get(context);
    for (int i = 0; i < CHANNELS; i++)
        sum += counted(&f[i]);
    assert_true(sum > 0);
    assert_true(computed(&f[CHANNELS]) == (double)sum);
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_close(context));
}

static const char *const many[] = {
    "SQ_WAVES",     "SQ_BUSY_CYCLES",   "SQ_INSTS_VALU",    "SQ_INSTS_SALU",  "SQ_INSTS_SMEM",
    "SQ_INSTS_LDS", "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD", "SQ_WAVE_CYCLES", "SQ_INSTS_BRANCH"};
enum { MANY = sizeof many / sizeof many[0], SQ_REGISTERS = 8 };

/* Ten counters of a block with eight registers: two runs, each counter in one of them. */
static void groups_are_made_as_needed(void **state)
{
    rocprofiler_feature_t f[MANY];
    uint32_t count = 0, seen = 0;
    (void)state;
    for (int i = 0; i < MANY; i++)
        f[i] = feature(many[i]);
    rocprofiler_t *context = context_open(f, MANY, ROCPROFILER_MODE_STANDALONE), *single = NULL;
    OK(rocprofiler_group_count(context, &count));
    assert_int_equal(count, (MANY + SQ_REGISTERS - 1) / SQ_REGISTERS);
    for (uint32_t g = 0; g < count; g++) {
        rocprofiler_group_t group;
        OK(rocprofiler_get_group(context, g, &group));
        assert_int_equal(group.index, g);
        assert_ptr_equal(group.context, context);
        for (uint32_t i = 0; i < group.feature_count; i++) {
            assert_true(group.features[i] >= f && group.features[i] < f + MANY);
            seen |= 1u << (group.features[i] - f);
        }
        OK(rocprofiler_group_start(&group));
        gpu_run(&gpus[0], 5 + g);
        OK(rocprofiler_group_stop(&group));
        REFUSED(rocprofiler_group_read(&group), "not started");
        OK(rocprofiler_group_get_data(&group));
        if (g == 0)
            REFUSED(rocprofiler_get_metrics(context), "group 1");
    }
    assert_int_equal(seen, (1u << MANY) - 1);
    OK(rocprofiler_get_metrics(context));
    assert_int_equal(counted(&f[0]), waves_of(5));
    REFUSED(rocprofiler_get_group(context, count, &(rocprofiler_group_t){0}), "the context has");
    REFUSED(rocprofiler_open(gpus[0].agent, f, MANY, &single,
                             ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_SINGLEGROUP, NULL),
            "2 groups");
    assert_null(single);
    OK(rocprofiler_close(context));
}

struct handled {
    uint32_t calls;
    rocprofiler_group_t group;
};

static bool on_data(rocprofiler_group_t group, void *arg)
{
    struct handled *handled = arg;
    handled->calls++;
    handled->group = group;
    OK(rocprofiler_group_get_data(&group));
    return true;
}

static void a_queue_is_made_and_a_handler_called(void **state)
{
    struct handled handled = {0};
    rocprofiler_feature_t f[] = {feature("SQ_WAVES")};
    rocprofiler_properties_t properties = {
        .queue_depth = 100, .handler = on_data, .handler_arg = &handled};
    rocprofiler_t *context = NULL;
    (void)state;
    OK(rocprofiler_open(gpus[0].agent, f, 1, &context,
                        ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE, &properties));
    assert_non_null(properties.queue);
    assert_int_equal(properties.queue->size, 128);
    OK(rocprofiler_start(context, 0));
    /* Not waited for: the reading is behind it in the context's queue. */
    hsa_signal_t done =
        gpu_launch(&gpus[0], properties.queue, gpus[0].store_index, 8, gpus[0].memory);
    OK(rocprofiler_read(context, 0));
    assert_int_equal(handled.calls, 1);
    assert_ptr_equal(handled.group.context, context);
    assert_int_equal(counted(&f[0]), waves_of(8));
    gpu_finish(done);
    OK(rocprofiler_stop(context, 0));
    assert_int_equal(handled.calls, 2);
    OK(rocprofiler_close(context));
    OK(hsa_queue_destroy(properties.queue)); /* as PAPI does it */
}

/* The next power of two, 64 at least; 128 where nothing is said. */
static void queues_are_as_large_as_asked_for(void **state)
{
    static const struct {
        uint32_t depth, size;
    } asked[] = {{0, 128}, {1, 64}, {64, 64}, {65, 128}, {128, 128}, {1000, 1024}};
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        rocprofiler_feature_t f[] = {feature("SQ_WAVES")};
        rocprofiler_properties_t properties = {.queue_depth = asked[i].depth};
        rocprofiler_t *context = NULL;
        OK(rocprofiler_open(gpus[0].agent, f, 1, &context,
                            ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE,
                            &properties));
        assert_int_equal(properties.queue->size, asked[i].size);
        OK(rocprofiler_close(context));
        OK(hsa_queue_destroy(properties.queue));
    }
}

static void mistakes_are_told(void **state)
{
    rocprofiler_feature_t good = feature("SQ_WAVES"), bad;
    rocprofiler_t *context = NULL;
    hsa_agent_t nobody = {77}, agent;
    uint32_t count;
    const uint32_t mode = ROCPROFILER_MODE_STANDALONE;
    (void)state;
    bad = feature("NO_SUCH_METRIC");
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "NO_SUCH_METRIC");
    bad = feature("SQ:100000");
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "event 100000");
    bad = feature("NOBLOCK:4");
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "no such block");
    bad = feature("TCC[99]:1");
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "instances");
    bad = feature("TCC_REQ[32]");
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "instances");
    bad = feature("SQ_WAVES garbage");
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "not understood");
    bad = feature("");
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "no name");
    bad = feature(NULL);
    REFUSED(rocprofiler_open(gpus[0].agent, &bad, 1, &context, mode, NULL), "no name");
    REFUSED(rocprofiler_open(nobody, &good, 1, &context, mode, NULL), "no GPU");
    REFUSED(rocprofiler_open(gpus[0].agent, NULL, 1, &context, mode, NULL), "NULL");
    REFUSED(rocprofiler_open(gpus[0].agent, &good, 1, NULL, mode, NULL), "NULL");
    REFUSED(rocprofiler_open(gpus[0].agent, &good, 1, &context, 0x80, NULL), "mode");
    REFUSED(rocprofiler_open(gpus[0].agent, &good, 1, &context, 2, NULL), "STANDALONE");
    REFUSED(rocprofiler_close(NULL), "no context");
    REFUSED(rocprofiler_close(&good), "no context");
    context = context_open(&good, 1, 0);
    REFUSED(rocprofiler_start(context, 0), "STANDALONE");
    REFUSED(rocprofiler_get_data(context, 0), "nothing was collected");
    REFUSED(rocprofiler_get_data(context, 1), "the context has 1");
    REFUSED(rocprofiler_get_metrics(context), "no data");
    OK(rocprofiler_get_agent(context, &agent));
    assert_int_equal(agent.handle, gpus[0].agent.handle);
    OK(rocprofiler_close(context));
    REFUSED(rocprofiler_close(context), "closed");
    REFUSED(rocprofiler_group_count(context, &count), "closed");
    context = standalone_open(&good, 1);
    REFUSED(rocprofiler_read(context, 0), "not started");
    OK(rocprofiler_start(context, 0));
    REFUSED(rocprofiler_start(context, 0), "runs already");
    rocprofiler_t *second = standalone_open(&good, 1);
    REFUSED(rocprofiler_start(second, 0), "ROC Profiler");
    OK(rocprofiler_close(context)); /* while it runs */
    OK(rocprofiler_start(second, 0));
    OK(rocprofiler_stop(second, 0));
    OK(rocprofiler_close(second));
}

static void sets_of_features(void **state)
{
    rocprofiler_feature_set_t *set = NULL;
    rocprofiler_feature_t waves = feature("SQ_WAVES"), valu = feature("SQ_INSTS_VALU");
    rocprofiler_t *context = NULL;
    rocprofiler_group_t group;
    (void)state;
    REFUSED(rocprofiler_features_set_open(gpus[0].agent, &set, &context, 1, NULL), "NULL");
    OK(rocprofiler_add_feature(&waves, &set));
    OK(rocprofiler_add_feature(&valu, &set));
    OK(rocprofiler_features_set_open(gpus[0].agent, &set, &context, 1, NULL));
    assert_null(set);
    OK(rocprofiler_get_group(context, 0, &group));
    assert_int_equal(group.feature_count, 2);
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 3);
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_get_data(context, 0));
    assert_string_equal(group.features[0]->name, "SQ_WAVES");
    assert_int_equal(counted(group.features[0]), waves_of(3));
    OK(rocprofiler_close(context));
}

static hsa_status_t local_pool(hsa_amd_memory_pool_t pool, void *data)
{
    uint32_t flags = 0;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED))
        return HSA_STATUS_SUCCESS;
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

/* The runtime copies by kernels on a queue of its own, which is not counted: nobody has told that
 * queue to count its waves. */
static void the_runtimes_own_kernels_are_not_counted(void **state)
{
    enum { BYTES = 1 << 16 };
    static char there[BYTES], back[BYTES];
    rocprofiler_feature_t f[] = {feature("SQ_WAVES"), feature("TCC_REQ_sum")};
    rocprofiler_t *context = standalone_open(f, 2);
    hsa_amd_memory_pool_t pool = {0};
    void *memory = NULL;
    (void)state;
    hsa_amd_agent_iterate_memory_pools(gpus[0].agent, local_pool, &pool);
    OK(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &memory));
    memset(there, 7, sizeof there);
    OK(rocprofiler_start(context, 0));
    OK(hsa_memory_copy(memory, there, BYTES));
    OK(hsa_memory_copy(back, memory, BYTES));
    assert_memory_equal(there, back, BYTES);
    data_get(context);
    assert_int_equal(counted(&f[0]), 0);
    gpu_run(&gpus[0], 3);
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_get_data(context, 0));
    OK(rocprofiler_get_metrics(context));
    assert_int_equal(counted(&f[0]), waves_of(3));
    assert_true(computed(&f[1]) > BYTES / 128); /* caches are everybody's */
    OK(rocprofiler_close(context));
    OK(hsa_amd_memory_pool_free(memory));
}

/* Sampling while another thread launches: readings never fall, and the last one has it all. */
enum { LAUNCHES = 60 };
static void *launcher(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < LAUNCHES; i++)
        gpu_run(&gpus[0], 2);
    return NULL;
}

static void sampling_beside_a_launching_thread(void **state)
{
    rocprofiler_feature_t f[] = {feature("GPUBusy"), feature("SQ_WAVES")};
    rocprofiler_t *context = standalone_open(f, 2);
    pthread_t thread;
    uint64_t last = 0;
    const struct timespec millisecond = {0, 1000000};
    (void)state;
    OK(rocprofiler_start(context, 0));
    assert_int_equal(pthread_create(&thread, NULL, launcher, NULL), 0);
    for (int i = 0; i < 50; i++) {
        nanosleep(&millisecond, NULL);
        data_get(context);
        assert_true(counted(&f[1]) >= last);
        last = counted(&f[1]);
        assert_true(computed(&f[0]) >= 0 && computed(&f[0]) <= 100);
    }
    pthread_join(thread, NULL);
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(counted(&f[1]), LAUNCHES * waves_of(2));
    OK(rocprofiler_close(context));
}

static void errors_are_per_thread_and_stay(void **state)
{
    const char *text = error_text();
    uint32_t count;
    (void)state;
    REFUSED(rocprofiler_group_count(NULL, &count), "no context");
    assert_string_equal(text, error_text());
    OK(rocprofiler_error_string(&text)); /* a success does not clear it */
    assert_non_null(strstr(text, "no context"));
    assert_int_equal(rocprofiler_error_string(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* Contexts that come and go take each of the library's locks. */
static void open_and_close(void)
{
    rocprofiler_feature_t f = feature("SQ_WAVES");
    rocprofiler_pool_properties_t properties = {.num_entries = 2};
    rocprofiler_t *context;
    rocprofiler_pool_t *pool;
    if (rocprofiler_open(gpus[0].agent, &f, 1, &context, ROCPROFILER_MODE_STANDALONE, NULL) ==
        HSA_STATUS_SUCCESS)
        rocprofiler_close(context);
    if (rocprofiler_pool_open(gpus[0].agent, &f, 1, &pool, 0, &properties) == HSA_STATUS_SUCCESS)
        rocprofiler_pool_close(pool);
}

static atomic_bool others_stop;

static void *other_thread(void *unused)
{
    while (!others_stop)
        open_and_close();
    return unused;
}

/* What its parent's other threads were in the middle of is no matter of a child's, which may be
 * refused the GPU, because its parent has it. */
static void forked_children_find_no_lock_held(void **state)
{
    enum { FORKS = 60, THREADS = 3, CHILD_SECONDS = 30 };
    pthread_t threads[THREADS];
    (void)state;
    others_stop = false;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, other_thread, NULL), 0);
    int status = 0;
    for (int i = 0; i < FORKS && status == 0; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(CHILD_SECONDS);
            open_and_close();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    others_stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(status, 0);
}

/* A GPU counts waves of queues that were told to count them: those made since the library was asked
 * for something, or loaded by HSA. */
static void queue_renew(void)
{
    rocprofiler_feature_t f = feature("SQ_WAVES");
    OK(rocprofiler_close(standalone_open(&f, 1)));
    hsa_queue_destroy(gpus[0].queue);
    gpus[0].queue = gpu_queue(&gpus[0]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings_grow_from_the_start),
        cmocka_unit_test(reset_begins_again),
        cmocka_unit_test(features_have_three_spellings),
        cmocka_unit_test(instances_add_up),
        cmocka_unit_test(groups_are_made_as_needed),
        cmocka_unit_test(a_queue_is_made_and_a_handler_called),
        cmocka_unit_test(queues_are_as_large_as_asked_for),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(sets_of_features),
        cmocka_unit_test(the_runtimes_own_kernels_are_not_counted),
        cmocka_unit_test(sampling_beside_a_launching_thread),
        cmocka_unit_test(errors_are_per_thread_and_stay),
        cmocka_unit_test(forked_children_find_no_lock_held),
    };
    if (argc != 2)
        return 2;
    gpus_open(argv[1]);
    queue_renew();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
