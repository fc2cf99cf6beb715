/* Callbacks that could not all be set, for want of memory, are not told of anything. */
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(callbacks_without_memory)};
    if (argc != 2)
        return 2;
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
