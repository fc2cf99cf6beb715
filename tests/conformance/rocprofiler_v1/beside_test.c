/* A tool of the SDK in the same process: traced together, counted one after the other. */
#include "common.h"
#include "sdk_side.h"

static rocprofiler_group_t group;
static hsa_status_t answer(const rocprofiler_callback_data_t *data, void *arg,
                           rocprofiler_group_t *wanted)
{
    (void)data, (void)arg;
    *wanted = group;
    return HSA_STATUS_SUCCESS;
}

static void the_hardware_has_one_owner(void **state)
{
    rocprofiler_feature_t f = feature("SQ_WAVES");
    rocprofiler_queue_callbacks_t callbacks = {.dispatch = answer};
    rocprofiler_t *context, *standalone;
    (void)state;
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &context, 0, NULL));
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &standalone, ROCPROFILER_MODE_STANDALONE, NULL));
    OK(rocprofiler_get_group(context, 0, &group));
    assert_int_equal(sdk_start(), 0);
    REFUSED(rocprofiler_set_queue_callbacks(callbacks, NULL), "the other tool");
    REFUSED(rocprofiler_start(standalone, 0), "the other tool, which counts kernels");
    gpu_run(&gpus[0], 3);
    assert_int_equal(sdk_waves(), waves_of(3));
    sdk_stop();
    OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
    assert_int_not_equal(sdk_start(), 0);
    uint64_t traced = sdk_kernels();
    gpu_run(&gpus[0], 5);
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(f.data.result_int64, waves_of(5));
    assert_int_equal(sdk_kernels(), traced + 1); /* tracing goes on meanwhile */
    OK(rocprofiler_stop_queue_callbacks());
    assert_int_equal(sdk_start(), 0); /* nothing is held while nothing is counted */
    sdk_stop();
    OK(rocprofiler_start(standalone, 0));
    assert_int_not_equal(sdk_start(), 0);
    REFUSED(rocprofiler_start_queue_callbacks(), "which counts on a whole GPU");
    gpu_run(&gpus[0], 7);
    OK(rocprofiler_stop(standalone, 0));
    OK(rocprofiler_get_data(standalone, 0));
    assert_int_equal(f.data.result_int64, waves_of(7));
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_close(context));
    OK(rocprofiler_close(standalone));
    assert_int_equal(sdk_waves(), waves_of(3));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_hardware_has_one_owner)};
    if (argc != 2)
        return 2;
    sdk_prepare();
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
