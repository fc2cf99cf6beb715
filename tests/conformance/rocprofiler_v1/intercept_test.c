/* Contexts and pools around kernels. */
#include "common.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

static void callbacks_set(rocprofiler_callback_t dispatch, void *data)
{
    OK(rocprofiler_set_queue_callbacks((rocprofiler_queue_callbacks_t){.dispatch = dispatch},
                                       data));
}

/* ---- a context for each kernel */

enum { KERNELS = 20 };
struct kernel {
    rocprofiler_feature_t features[2];
    rocprofiler_group_t group;
    rocprofiler_callback_data_t data;
    uint32_t grid;
};
static struct {
    struct kernel kernels[KERNELS];
    uint32_t count;
} seen;

static hsa_status_t context_for_each(const rocprofiler_callback_data_t *data, void *arg,
                                     rocprofiler_group_t *group)
{
    struct kernel *kernel = &seen.kernels[seen.count];
    rocprofiler_t *context;
    assert_ptr_equal(arg, &seen);
    assert_true(seen.count < KERNELS);
    kernel->features[0] = feature("SQ_WAVES");
    kernel->features[1] = feature("Wavefronts");
    kernel->data = *data;
    kernel->grid = data->packet->grid_size_x;
    OK(rocprofiler_open(data->agent, kernel->features, 2, &context, ROCPROFILER_MODE_SINGLEGROUP,
                        NULL));
    OK(rocprofiler_get_group(context, 0, group));
    kernel->group = *group;
    seen.count++;
    return HSA_STATUS_SUCCESS;
}

static void data_is_of_its_kernel(const struct kernel *kernel, uint32_t groups)
{
    rocprofiler_group_t group = kernel->group;
    const rocprofiler_dispatch_record_t *record = kernel->data.record;
    OK(rocprofiler_group_get_data(&group));
    OK(rocprofiler_get_metrics(group.context));
    assert_int_equal(kernel->features[0].data.kind, ROCPROFILER_DATA_KIND_INT64);
    assert_int_equal(kernel->features[0].data.result_int64, waves_of(groups));
    assert_int_equal(kernel->features[1].data.kind, ROCPROFILER_DATA_KIND_DOUBLE);
    assert_true(kernel->features[1].data.result_double == (double)waves_of(groups));
    assert_int_equal(kernel->grid, groups * GROUP_ITEMS);
    assert_non_null(record);
    assert_true(record->dispatch > 0 && record->dispatch <= record->begin);
    assert_true(record->begin < record->end && record->end <= record->complete);
}

static void every_kernel_has_its_own_context(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    callbacks_set(context_for_each, &seen);
    uint64_t first = hsa_queue_load_write_index_relaxed(gpus[0].queue);
    for (uint32_t i = 0; i < KERNELS; i++)
        gpu_run(&gpus[0], 1 + i % 7);
    OK(rocprofiler_remove_queue_callbacks());
    gpu_run(&gpus[0], 3); /* nobody is asked */
    assert_int_equal(seen.count, KERNELS);
    for (uint32_t i = 0; i < KERNELS; i++) {
        const rocprofiler_callback_data_t *data = &seen.kernels[i].data;
        data_is_of_its_kernel(&seen.kernels[i], 1 + i % 7);
        assert_int_equal(data->agent.handle, gpus[0].agent.handle);
        assert_int_equal(data->agent_index, gpus[0].node);
        assert_ptr_equal(data->queue, gpus[0].queue);
        assert_int_equal(data->queue_id, gpus[0].queue->id);
        assert_int_equal(data->queue_index, first + i);
        assert_int_equal(data->thread_id, gettid());
        assert_int_equal(data->kernel_object, gpus[0].store_index);
        assert_string_equal(data->kernel_name, "store_index");
        assert_non_null(data->kernel_code);
        OK(rocprofiler_close(seen.kernels[i].group.context));
    }
}

/* ---- what the callback may answer */

static hsa_status_t answer_status;
static rocprofiler_group_t answer_group;
static uint32_t asked;
static hsa_status_t answer(const rocprofiler_callback_data_t *data, void *arg,
                           rocprofiler_group_t *group)
{
    (void)data, (void)arg;
    asked++;
    *group = answer_group;
    return answer_status;
}

static void a_kernel_need_not_be_profiled(void **state)
{
    rocprofiler_feature_t f = feature("SQ_WAVES");
    rocprofiler_t *context, *standalone;
    (void)state;
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &context, 0, NULL));
    asked = 0;
    answer_group = (rocprofiler_group_t){0};
    answer_status = HSA_STATUS_SUCCESS;
    callbacks_set(answer, NULL);
    gpu_run(&gpus[0], 1);
    OK(rocprofiler_get_group(context, 0, &answer_group));
    answer_status = HSA_STATUS_ERROR;
    gpu_run(&gpus[0], 1);
    REFUSED(rocprofiler_get_data(context, 0), "nothing was collected");
    answer_status = HSA_STATUS_SUCCESS;
    answer_group.index = 1; /* there is one, 0 */
    gpu_run(&gpus[0], 1);
    answer_group.index = 5;
    gpu_run(&gpus[0], 1);
    REFUSED(rocprofiler_get_data(context, 0), "nothing was collected");
    answer_group = (rocprofiler_group_t){.context = &f};
    gpu_run(&gpus[0], 1);
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &standalone, ROCPROFILER_MODE_STANDALONE, NULL));
    answer_group.context = standalone;
    gpu_run(&gpus[0], 1);
    REFUSED(rocprofiler_start(standalone, 0), "ROC Profiler, which counts kernels");
    OK(rocprofiler_close(standalone));
    gpu_run(&gpus[0], 1); /* the closed one */
    OK(rocprofiler_get_group(context, 0, &answer_group));
    gpu_run(&gpus[0], 4);
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(f.data.result_int64, waves_of(4));
    assert_int_equal(asked, 8);
    OK(rocprofiler_stop_queue_callbacks());
    gpu_run(&gpus[0], 1);
    assert_int_equal(asked, 8);
    OK(rocprofiler_start_queue_callbacks());
    gpu_run(&gpus[0], 2);
    assert_int_equal(asked, 9);
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(f.data.result_int64, waves_of(2));
    REFUSED(rocprofiler_add_dispatch_callback(answer, NULL), "already");
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_remove_queue_callbacks());
    REFUSED(rocprofiler_start_queue_callbacks(), "no queue callbacks");
    OK(rocprofiler_close(context));
}

static void times_without_counters(void **state)
{
    rocprofiler_t *context;
    rocprofiler_callback_data_t data = {0};
    (void)state, (void)data;
    OK(rocprofiler_open(gpus[0].agent, NULL, 0, &context, 0, NULL));
    OK(rocprofiler_get_group(context, 0, &answer_group));
    answer_status = HSA_STATUS_SUCCESS;
    OK(rocprofiler_add_dispatch_callback(answer, NULL));
    gpu_run(&gpus[0], 2);
    OK(rocprofiler_get_data(context, 0));
    OK(rocprofiler_remove_intercepting());
    OK(rocprofiler_close(context));
}

/* ---- several groups: a launch for each */

static uint32_t next_group;
static hsa_status_t groups_in_turn(const rocprofiler_callback_data_t *data, void *arg,
                                   rocprofiler_group_t *group)
{
    (void)data;
    return rocprofiler_get_group(arg, next_group++, group);
}

static void metrics_from_several_launches(void **state)
{
    static const char *const names[] = {
        "SQ_WAVES",          "SQ_BUSY_CYCLES",  "SQ_INSTS_VALU",       "SQ_INSTS_SALU",
        "SQ_INSTS_SMEM",     "SQ_INSTS_LDS",    "SQ_INSTS_VMEM_WR",    "SQ_INSTS_VMEM_RD",
        "SQ_WAVE_CYCLES",    "SQ_INSTS_BRANCH", "SQ_INSTS_SENDMSG",    "SQ_INSTS_FLAT",
        "SQ_BUSY_CU_CYCLES", "SQ_INSTS_GDS",    "SQ_INST_CYCLES_SALU", "VALUInsts",
        "TCC_REQ_sum"};
    enum { COUNT = sizeof names / sizeof names[0] };
    rocprofiler_feature_t f[COUNT];
    rocprofiler_t *context;
    uint32_t count;
    (void)state;
    for (int i = 0; i < COUNT; i++)
        f[i] = feature(names[i]);
    OK(rocprofiler_open(gpus[0].agent, f, COUNT, &context, 0, NULL));
    OK(rocprofiler_group_count(context, &count));
    assert_true(count >= 2);
    next_group = 0;
    callbacks_set(groups_in_turn, context);
    for (uint32_t i = 0; i < count; i++)
        gpu_run(&gpus[0], 6);
    OK(rocprofiler_remove_queue_callbacks());
    for (uint32_t i = 0; i < count; i++)
        OK(rocprofiler_get_data(context, i));
    OK(rocprofiler_get_metrics(context));
    assert_int_equal(f[0].data.result_int64, waves_of(6));
    /* The metric's two counters are in one group, and it is what they say. */
    assert_true(f[15].data.result_double > 0);
    assert_true(f[15].data.result_double ==
                (double)f[2].data.result_int64 / (double)f[0].data.result_int64);
    OK(rocprofiler_close(context));
}

/* ---- handlers */

static uint32_t handled;
static bool close_in_handler(rocprofiler_group_t group, void *arg)
{
    rocprofiler_feature_t *f = arg;
    OK(rocprofiler_group_get_data(&group));
    assert_int_equal(f->data.result_int64, waves_of(3));
    OK(rocprofiler_close(group.context)); /* as the specification's example does */
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELEASE);
    return false;
}

static void a_handler_may_close_its_context(void **state)
{
    rocprofiler_feature_t f = feature("SQ_WAVES");
    rocprofiler_properties_t properties = {.handler = close_in_handler, .handler_arg = &f};
    rocprofiler_t *context;
    (void)state;
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &context, 0, &properties));
    OK(rocprofiler_get_group(context, 0, &answer_group));
    callbacks_set(answer, NULL);
    gpu_run(&gpus[0], 3);
    for (int i = 0; i < 10000 && !__atomic_load_n(&handled, __ATOMIC_ACQUIRE); i++)
        usleep(1000);
    assert_int_equal(handled, 1);
    OK(rocprofiler_remove_queue_callbacks());
    REFUSED(rocprofiler_close(context), "closed");
}

/* ---- pools */

enum { POOL_ENTRIES = 100, POOL_THREADS = 4 };
static int pool_launches = 100; /* of each thread; the soak has more: V1_POOL_LAUNCHES */
struct payload {
    uint32_t groups;
    rocprofiler_group_t group;
    char odd[13];
};
static struct {
    rocprofiler_pool_t *pool;
    rocprofiler_feature_t features[2];
    uint32_t handled, wrong, inside;
} pooled;

static bool pool_handler(const rocprofiler_pool_entry_t *entry, void *arg)
{
    struct payload *payload = entry->payload;
    assert_ptr_equal(arg, &pooled);
    pooled.wrong += pooled.inside++ != 0; /* one call at a time */
    pooled.wrong += (uintptr_t)payload % 64 != 0;
    OK(rocprofiler_group_get_data(&payload->group));
    OK(rocprofiler_get_metrics(entry->context));
    pooled.wrong += pooled.features[0].data.result_int64 != waves_of(payload->groups);
    pooled.wrong += pooled.features[1].data.result_double != (double)waves_of(payload->groups);
    pooled.inside--;
    __atomic_add_fetch(&pooled.handled, 1, __ATOMIC_RELEASE);
    return false;
}

static hsa_status_t entry_for_each(const rocprofiler_callback_data_t *data, void *arg,
                                   rocprofiler_group_t *group)
{
    rocprofiler_pool_entry_t entry;
    (void)arg;
    OK(rocprofiler_pool_fetch(pooled.pool, &entry));
    struct payload *payload = entry.payload;
    pooled.wrong += payload->groups != 0; /* it comes empty */
    OK(rocprofiler_get_group(entry.context, 0, group));
    payload->groups = data->packet->grid_size_x / GROUP_ITEMS;
    payload->group = *group;
    return HSA_STATUS_SUCCESS;
}

static void *pool_launcher(void *arg)
{
    struct gpu *gpu = &gpus[0];
    hsa_queue_t *queue = gpu_queue(gpu);
    hsa_signal_t last = {0};
    uint32_t groups = 1 + (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < pool_launches; i++) {
        hsa_signal_t done = gpu_launch(gpu, queue, gpu->store_index, groups, gpu->memory);
        if (last.handle)
            gpu_finish(last);
        last = done;
    }
    gpu_finish(last);
    hsa_queue_destroy(queue);
    return NULL;
}

static void pool_open(uint32_t entries, rocprofiler_pool_handler_t handler)
{
    memset(&pooled, 0, sizeof pooled);
    pooled.features[0] = feature("SQ_WAVES");
    pooled.features[1] = feature("Wavefronts");
    rocprofiler_pool_properties_t properties = {.num_entries = entries,
                                                .payload_bytes = sizeof(struct payload),
                                                .handler = handler,
                                                .handler_arg = &pooled};
    OK(rocprofiler_pool_open(gpus[0].agent, pooled.features, 2, &pooled.pool,
                             ROCPROFILER_MODE_SINGLEGROUP, &properties));
}

/* The pool is smaller than what is in flight: fetching waits for the handler, and loses nothing. */
static void pool_load(uint32_t entries)
{
    pthread_t threads[POOL_THREADS];
    pool_open(entries, pool_handler);
    callbacks_set(entry_for_each, NULL);
    for (uintptr_t i = 0; i < POOL_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pool_launcher, (void *)i), 0);
    for (int i = 0; i < POOL_THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(rocprofiler_pool_flush(pooled.pool));
    assert_int_equal(pooled.handled, POOL_THREADS * pool_launches);
    assert_int_equal(pooled.wrong, 0);
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_pool_close(pooled.pool));
}

static void a_large_pool_under_load(void **state)
{
    (void)state;
    pool_load(POOL_ENTRIES);
}

static void a_small_pool_under_load(void **state)
{
    (void)state;
    pool_load(2);
}

static hsa_status_t entry_count(rocprofiler_pool_entry_t *entry, void *data)
{
    assert_non_null(entry->context);
    ++*(uint32_t *)data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t entry_break(rocprofiler_pool_entry_t *entry, void *data)
{
    entry_count(entry, data);
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t entry_fail(rocprofiler_pool_entry_t *entry, void *data)
{
    (void)entry, (void)data;
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void *late_release(void *entry)
{
    usleep(50000);
    OK(rocprofiler_pool_release(entry));
    return NULL;
}

static void entries_are_fetched_and_released(void **state)
{
    enum { ENTRIES = 3 };
    rocprofiler_pool_entry_t entries[ENTRIES + 1];
    uint32_t count = 0;
    pthread_t thread;
    (void)state;
    pool_open(ENTRIES, NULL);
    for (int i = 0; i < ENTRIES; i++) {
        OK(rocprofiler_pool_fetch(pooled.pool, &entries[i]));
        assert_int_equal((uintptr_t)entries[i].payload % 64, 0);
        memset(entries[i].payload, 0xff, sizeof(struct payload));
    }
    OK(rocprofiler_pool_iterate(pooled.pool, entry_count, &count));
    assert_int_equal(count, ENTRIES);
    OK(rocprofiler_pool_iterate(pooled.pool, entry_break, &count));
    assert_int_equal(count, ENTRIES + 1);
    assert_int_equal(rocprofiler_pool_iterate(pooled.pool, entry_fail, NULL),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    /* full: the next one waits for a release */
    assert_int_equal(pthread_create(&thread, NULL, late_release, &entries[1]), 0);
    OK(rocprofiler_pool_fetch(pooled.pool, &entries[ENTRIES]));
    pthread_join(thread, NULL);
    assert_ptr_equal(entries[ENTRIES].context, entries[1].context);
    for (size_t i = 0; i < sizeof(struct payload); i++)
        assert_int_equal(((char *)entries[ENTRIES].payload)[i], 0);
    OK(rocprofiler_pool_release(&entries[ENTRIES]));
    REFUSED(rocprofiler_pool_release(&entries[1]), "released already");
    REFUSED(rocprofiler_close(entries[0].context), "belongs to a pool");
    count = 0;
    OK(rocprofiler_pool_iterate(pooled.pool, entry_count, &count));
    assert_int_equal(count, ENTRIES - 1);
    OK(rocprofiler_pool_close(pooled.pool));
    REFUSED(rocprofiler_pool_close(pooled.pool), "closed");
    REFUSED(rocprofiler_pool_fetch(pooled.pool, &entries[0]), "closed");
    REFUSED(rocprofiler_pool_release(&entries[0]), "closed");
}

/* A kernel that waits until it is told to go on; what it was to fill is closed meanwhile. */
static uint32_t called;
static bool count_call(rocprofiler_group_t group, void *arg)
{
    (void)group, (void)arg;
    __atomic_add_fetch(&called, 1, __ATOMIC_RELAXED);
    return false;
}
static bool count_entry(const rocprofiler_pool_entry_t *entry, void *arg)
{
    (void)entry, (void)arg;
    __atomic_add_fetch(&called, 1, __ATOMIC_RELAXED);
    return false;
}

static void waiting_kernel_run(void (*meanwhile)(void))
{
    struct gpu *gpu = &gpus[0];
    uint32_t *flag = gpu->memory;
    __atomic_store_n(flag, 0, __ATOMIC_RELEASE);
    hsa_signal_t done = gpu_launch(gpu, gpu->queue, gpu->wait_for, 1, flag);
    meanwhile();
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    gpu_finish(done);
    gpu_run(gpu, 1);
}

static rocprofiler_t *closed_early;
static void context_close_early(void)
{
    REFUSED(rocprofiler_reset(closed_early, 0), "has not ended");
    OK(rocprofiler_close(closed_early));
    REFUSED(rocprofiler_get_data(closed_early, 0), "closed");
}

static void pool_close_early(void)
{
    rocprofiler_pool_entry_t entry = {.context = answer_group.context};
    REFUSED(rocprofiler_pool_release(&entry), "has not ended");
    OK(rocprofiler_pool_close(pooled.pool));
}

static void kernels_outlive_contexts_and_pools(void **state)
{
    rocprofiler_feature_t f = feature("SQ_WAVES");
    rocprofiler_properties_t properties = {.handler = count_call};
    rocprofiler_pool_entry_t entry;
    (void)state;
    called = 0;
    callbacks_set(answer, NULL);
    answer_status = HSA_STATUS_SUCCESS;
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &closed_early, 0, &properties));
    OK(rocprofiler_get_group(closed_early, 0, &answer_group));
    waiting_kernel_run(context_close_early);
    pool_open(2, count_entry);
    OK(rocprofiler_pool_fetch(pooled.pool, &entry));
    OK(rocprofiler_get_group(entry.context, 0, &answer_group));
    waiting_kernel_run(pool_close_early);
    answer_group = (rocprofiler_group_t){0};
    OK(rocprofiler_remove_queue_callbacks());
    assert_int_equal(called, 0);
}

/* Handlers run in the order in which kernels end: an entry that was fetched earlier and has no
 * kernel yet holds up nobody, also when it is the first of several. */
static void a_fetched_entry_holds_up_nobody(void **state)
{
    enum { LATER = 3 };
    rocprofiler_pool_entry_t first, later;
    (void)state;
    called = 0;
    pool_open(2, count_entry);
    OK(rocprofiler_pool_fetch(pooled.pool, &first));
    answer_status = HSA_STATUS_SUCCESS;
    callbacks_set(answer, NULL);
    for (uint32_t i = 1; i <= LATER; i++) {
        OK(rocprofiler_pool_fetch(pooled.pool, &later));
        OK(rocprofiler_get_group(later.context, 0, &answer_group));
        gpu_run(&gpus[0], 1);
        OK(rocprofiler_pool_flush(pooled.pool));
        assert_int_equal(__atomic_load_n(&called, __ATOMIC_RELAXED), i);
    }
    OK(rocprofiler_get_group(first.context, 0, &answer_group));
    gpu_run(&gpus[0], 1);
    OK(rocprofiler_pool_flush(pooled.pool));
    assert_int_equal(__atomic_load_n(&called, __ATOMIC_RELAXED), LATER + 1);
    answer_group = (rocprofiler_group_t){0};
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_pool_close(pooled.pool));
}

static void pool_mistakes_are_told(void **state)
{
    rocprofiler_feature_t f = feature("SQ_WAVES"), bad = feature("NO_SUCH_METRIC");
    rocprofiler_pool_properties_t properties = {.num_entries = 2};
    rocprofiler_pool_t *pool = NULL;
    (void)state;
    REFUSED(rocprofiler_pool_open(gpus[0].agent, &f, 1, &pool, 0, NULL), "no properties");
    REFUSED(rocprofiler_pool_open(gpus[0].agent, &f, 1, NULL, 0, &properties), "NULL");
    REFUSED(rocprofiler_pool_open(gpus[0].agent, &bad, 1, &pool, 0, &properties), "NO_SUCH");
    REFUSED(rocprofiler_pool_open(gpus[0].agent, &f, 1, &pool, 1, &properties), "mode");
    properties.num_entries = 0;
    REFUSED(rocprofiler_pool_open(gpus[0].agent, &f, 1, &pool, 0, &properties), "0 entries");
    REFUSED(rocprofiler_pool_flush(NULL), "no pool");
    REFUSED(rocprofiler_pool_iterate(NULL, NULL, NULL), "no callback");
    REFUSED(rocprofiler_pool_release(NULL), "no entry");
    assert_null(pool);
}

/* ---- queues */

static struct {
    hsa_queue_t *created, *destroyed;
} queues;

static hsa_status_t on_create(hsa_queue_t *queue, void *data)
{
    assert_ptr_equal(data, &queues);
    queues.created = queue;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_destroy(hsa_queue_t *queue, void *data)
{
    assert_ptr_equal(data, &queues);
    queues.destroyed = queue;
    return HSA_STATUS_SUCCESS;
}

static void queues_are_told(void **state)
{
    rocprofiler_queue_callbacks_t callbacks = {.create = on_create, .destroy = on_destroy};
    hsa_queue_t *queue = NULL;
    (void)state;
    OK(rocprofiler_set_intercepting(callbacks, &queues));
    OK(rocprofiler_queue_create_profiled(gpus[0].agent, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
                                         UINT32_MAX, UINT32_MAX, &queue));
    assert_ptr_equal(queues.created, queue);
    assert_null(queues.destroyed);
    hsa_queue_destroy(queue);
    assert_ptr_equal(queues.destroyed, queue);
    OK(rocprofiler_remove_queue_callbacks());
    queues.created = NULL;
    hsa_queue_destroy(gpu_queue(&gpus[0]));
    assert_null(queues.created);
}

/* ---- events inside of the runtime */

static struct {
    uint32_t counts[6];
    const void *allocated, *freed, *reached;
    size_t size, copied;
    const char *kernel;
    hsa_queue_t *queue;
} events;

static hsa_status_t on_event(rocprofiler_hsa_cb_id_t id,
                             const rocprofiler_hsa_callback_data_t *data, void *arg)
{
    assert_ptr_equal(arg, &events);
    events.counts[id]++;
    switch (id) {
    case ROCPROFILER_HSA_CB_ID_ALLOCATE:
        if (data->allocate.size)
            events.allocated = data->allocate.ptr;
        else
            events.freed = data->allocate.ptr;
        events.size = data->allocate.size ? data->allocate.size : events.size;
        break;
    case ROCPROFILER_HSA_CB_ID_DEVICE:
        events.reached = data->device.ptr;
        break;
    case ROCPROFILER_HSA_CB_ID_MEMCOPY:
        events.copied = data->memcopy.size;
        break;
    case ROCPROFILER_HSA_CB_ID_SUBMIT:
        events.kernel = data->submit.kernel_name;
        events.queue = data->submit.queue;
        break;
    default:
        break;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t first_pool(hsa_amd_memory_pool_t pool, void *data)
{
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

static void hsa_events_are_told(void **state)
{
    hsa_amd_memory_pool_t pool = {0};
    void *memory = NULL;
    char from[64] = {0}, to[64];
    (void)state;
    hsa_amd_agent_iterate_memory_pools(gpus[0].agent, first_pool, &pool);
    OK(rocprofiler_set_hsa_callbacks(
        (rocprofiler_hsa_callbacks_t){on_event, on_event, on_event, on_event, on_event, on_event},
        &events));
    OK(hsa_amd_memory_pool_allocate(pool, 8192, 0, &memory));
    assert_ptr_equal(events.allocated, memory);
    assert_int_equal(events.size, 8192);
    OK(hsa_amd_agents_allow_access(1, &gpus[0].agent, NULL, memory));
    assert_ptr_equal(events.reached, memory);
    OK(hsa_amd_memory_pool_free(memory));
    assert_ptr_equal(events.freed, memory);
    OK(hsa_memory_copy(to, from, sizeof from));
    assert_int_equal(events.copied, sizeof from);
    gpu_run(&gpus[0], 1);
    assert_int_equal(events.counts[ROCPROFILER_HSA_CB_ID_SUBMIT], 1);
    assert_non_null(strstr(events.kernel, "store_index"));
    assert_ptr_equal(events.queue, gpus[0].queue);
    OK(rocprofiler_set_hsa_callbacks((rocprofiler_hsa_callbacks_t){0}, NULL));
    gpu_run(&gpus[0], 1);
    assert_int_equal(events.counts[ROCPROFILER_HSA_CB_ID_SUBMIT], 1);
}

/* ---- time */

static void times_are_converted(void **state)
{
    static const struct {
        rocprofiler_time_id_t id;
        clockid_t clock;
    } clocks[] = {{ROCPROFILER_TIME_ID_CLOCK_REALTIME, CLOCK_REALTIME},
                  {ROCPROFILER_TIME_ID_CLOCK_REALTIME_COARSE, CLOCK_REALTIME},
                  {ROCPROFILER_TIME_ID_CLOCK_MONOTONIC, CLOCK_MONOTONIC},
                  {ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC},
                  {ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW}};
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct timespec before, after;
        uint64_t now, value, error;
        clock_gettime(clocks[i].clock, &before);
        OK((hsa_status_t)hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
        clock_gettime(clocks[i].clock, &after);
        OK(rocprofiler_get_time(clocks[i].id, now, &value, &error));
        uint64_t first = (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec;
        uint64_t last = (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec;
        assert_true(value + error >= first && value <= last + error);
        OK(rocprofiler_get_time(clocks[i].id, now, NULL, NULL));
    }
    REFUSED(rocprofiler_get_time((rocprofiler_time_id_t)5, 1, NULL, NULL), "no clock");
    REFUSED(rocprofiler_get_time((rocprofiler_time_id_t)-1, 1, NULL, NULL), "no clock");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_has_its_own_context),
        cmocka_unit_test(a_kernel_need_not_be_profiled),
        cmocka_unit_test(times_without_counters),
        cmocka_unit_test(metrics_from_several_launches),
        cmocka_unit_test(a_handler_may_close_its_context),
        cmocka_unit_test(a_large_pool_under_load),
        cmocka_unit_test(a_small_pool_under_load),
        cmocka_unit_test(entries_are_fetched_and_released),
        cmocka_unit_test(kernels_outlive_contexts_and_pools),
        cmocka_unit_test(a_fetched_entry_holds_up_nobody),
        cmocka_unit_test(pool_mistakes_are_told),
        cmocka_unit_test(queues_are_told),
        cmocka_unit_test(hsa_events_are_told),
        cmocka_unit_test(times_are_converted),
    };
    if (argc != 2)
        return 2;
    if (getenv("V1_POOL_LAUNCHES"))
        pool_launches = atoi(getenv("V1_POOL_LAUNCHES"));
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
