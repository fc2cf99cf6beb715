/* Want of memory: callbacks that could not all be set are not told of anything, and a context that
 * could not be opened is said so. */
#include "common.h"

#include <stdbool.h>

static bool counting_down;
static int allocations_left;

/* Before libc's, for the libraries too. */
__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    extern void *__libc_calloc(size_t, size_t);
    if (counting_down && allocations_left-- <= 0)
        return NULL;
    return __libc_calloc(count, size);
}

static uint32_t told;

static hsa_status_t on_event(rocprofiler_hsa_cb_id_t id,
                             const rocprofiler_hsa_callback_data_t *data, void *arg)
{
    (void)id, (void)data, (void)arg;
    told++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t callbacks_set(int allocations)
{
    allocations_left = allocations;
    counting_down = true;
    hsa_status_t status = rocprofiler_set_hsa_callbacks(
        (rocprofiler_hsa_callbacks_t){on_event, on_event, on_event, on_event, on_event, on_event},
        NULL);
    counting_down = false;
    return status;
}

static hsa_status_t first_pool(hsa_amd_memory_pool_t pool, void *data)
{
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

static void allocate_once(void)
{
    hsa_amd_memory_pool_t pool = {0};
    void *memory = NULL;
    hsa_amd_agent_iterate_memory_pools(gpus[0].agent, first_pool, &pool);
    OK(hsa_amd_memory_pool_allocate(pool, 8192, 0, &memory));
    OK(hsa_amd_memory_pool_free(memory));
}

static void callbacks_without_memory(void **state)
{
    int allocations = 0;
    (void)state;
    for (; callbacks_set(allocations) != HSA_STATUS_SUCCESS; allocations++) {
        assert_true(allocations < 100);
        assert_non_null(strstr(error_text(), "memory"));
        allocate_once();
        assert_int_equal(told, 0);
    }
    assert_true(allocations > 1); /* something did fail in the middle */
    allocate_once();
    assert_true(told >= 2);
}

/* Each of its allocations fails once. Another one is open: what contexts leave behind is used. */
static void a_context_without_memory(void **state)
{
    const uint32_t mode = ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_SINGLEGROUP;
    rocprofiler_feature_t f = feature("SQ_WAVES"), other = f;
    rocprofiler_t *context = NULL, *first = NULL;
    OK(rocprofiler_open(gpus[0].agent, &other, 1, &first, mode, NULL));
    hsa_status_t status = HSA_STATUS_ERROR;
    int allocations = 0;
    (void)state;
    for (; status != HSA_STATUS_SUCCESS; allocations++) {
        assert_true(allocations < 1000);
        allocations_left = allocations;
        counting_down = true;
        status = rocprofiler_open(gpus[0].agent, &f, 1, &context, mode, NULL);
        counting_down = false;
    }
    assert_true(allocations > 1);
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 3);
    OK(rocprofiler_read(context, 0));
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(f.data.result_int64, waves_of(3));
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_close(context));
    OK(rocprofiler_close(first));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_without_memory),
        cmocka_unit_test(a_context_without_memory),
    };
    if (argc != 2)
        return 2;
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
