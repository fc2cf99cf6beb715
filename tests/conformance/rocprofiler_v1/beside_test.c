/* A tool of the SDK in the same process: traced together, counted one after the other. */
#include "common.h"
#include "sdk_side.h"

#include <roctracer/roctracer.h>
#include <roctracer/roctracer_hsa.h>
#include <unistd.h>

static rocprofiler_group_t group;
static hsa_status_t answer(const rocprofiler_callback_data_t *data, void *arg,
                           rocprofiler_group_t *wanted)
{
    (void)data, (void)arg;
    *wanted = group;
    return HSA_STATUS_SUCCESS;
}

static uint64_t kernels_run;
static void kernel_run(uint32_t workgroups)
{
    gpu_run(&gpus[0], workgroups);
    kernels_run++;
}

/* How many the other tool has been told of, when it has been told of all: the program may know of a
 * kernel's end a moment earlier. */
static uint64_t kernels_told(void)
{
    for (int i = 0; i < 10000 && sdk_kernels() < kernels_run; i++)
        usleep(1000);
    return sdk_kernels();
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
    kernel_run(3);
    assert_int_equal(sdk_waves(), waves_of(3));
    sdk_stop();
    OK(rocprofiler_set_queue_callbacks(callbacks, NULL));
    assert_int_not_equal(sdk_start(), 0);
    uint64_t traced = kernels_told();
    kernel_run(5);
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(f.data.result_int64, waves_of(5));
    assert_int_equal(kernels_told(), traced + 1); /* tracing goes on meanwhile */
    OK(rocprofiler_stop_queue_callbacks());
    assert_int_equal(sdk_start(), 0); /* nothing is held while nothing is counted */
    sdk_stop();
    OK(rocprofiler_start(standalone, 0));
    assert_int_not_equal(sdk_start(), 0);
    REFUSED(rocprofiler_start_queue_callbacks(), "which counts on a whole GPU");
    kernel_run(7);
    OK(rocprofiler_stop(standalone, 0));
    OK(rocprofiler_get_data(standalone, 0));
    assert_int_equal(f.data.result_int64, waves_of(7));
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_close(context));
    OK(rocprofiler_close(standalone));
    assert_int_equal(sdk_waves(), waves_of(3));
}

static uint32_t signals_made;
static void on_call(uint32_t domain, uint32_t operation, const void *data, void *arg)
{
    const hsa_api_data_t *call = data;
    (void)arg;
    assert_int_equal(domain, ACTIVITY_DOMAIN_HSA_API);
    if (operation == HSA_API_ID_hsa_signal_create && call->phase == ACTIVITY_API_PHASE_EXIT)
        signals_made++;
}

/* Each interface sees what it asked for: v1 counts, the SDK has records, ROCtracer the calls. */
static void three_interfaces_at_once(void **state)
{
    enum { KERNELS = 6 };
    rocprofiler_feature_t f = feature("SQ_WAVES");
    rocprofiler_t *context;
    (void)state;
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &context, 0, NULL));
    OK(rocprofiler_get_group(context, 0, &group));
    assert_int_equal(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API,
                                                  HSA_API_ID_hsa_signal_create, on_call, NULL),
                     ROCTRACER_STATUS_SUCCESS);
    OK(rocprofiler_set_queue_callbacks((rocprofiler_queue_callbacks_t){.dispatch = answer}, NULL));
    uint64_t traced = kernels_told();
    uint32_t before = signals_made;
    for (uint32_t i = 1; i <= KERNELS; i++) {
        hsa_signal_t signal;
        OK(hsa_signal_create(1, 0, NULL, &signal));
        kernel_run(i);
        OK(hsa_signal_destroy(signal));
        OK(rocprofiler_get_data(context, 0));
        assert_int_equal(f.data.result_int64, waves_of(i));
        assert_true(signals_made >= before + i);
    }
    assert_int_equal(kernels_told(), traced + KERNELS);
    assert_int_equal(
        roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_signal_create),
        ROCTRACER_STATUS_SUCCESS);
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_close(context));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_hardware_has_one_owner),
                                       cmocka_unit_test(three_interfaces_at_once)};
    if (argc != 2)
        return 2;
    sdk_prepare();
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
