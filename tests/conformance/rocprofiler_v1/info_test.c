/* What can be collected, on machines with two different GPUs. */
#include "common.h"

struct seen {
    uint32_t metrics, counters, of_node[16], of_sq;
    const char *waves; /* the name's text */
    uint32_t stop_after;
};

static hsa_status_t on_info(const rocprofiler_info_data_t info, void *data)
{
    struct seen *seen = data;
    assert_int_equal(info.kind, ROCPROFILER_INFO_KIND_METRIC);
    assert_true(info.agent_index < 16);
    seen->of_node[info.agent_index]++;
    seen->metrics++;
    assert_true(info.metric.name && *info.metric.name && info.metric.description);
    assert_true(info.metric.instances >= 1);
    assert_int_equal(!info.metric.expr, info.metric.block_name != NULL);
    seen->counters += !info.metric.expr;
    if (info.metric.block_name && !strcmp(info.metric.block_name, "SQ")) {
        assert_int_equal(info.metric.block_counters, 8);
        seen->of_sq++;
    }
    if (!strcmp(info.metric.name, "SQ_WAVES"))
        seen->waves = info.metric.name;
    return seen->metrics == seen->stop_after ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static hsa_status_t on_info_fail(const rocprofiler_info_data_t info, void *data)
{
    (void)info;
    ++*(uint32_t *)data;
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static const rocprofiler_info_kind_t METRIC = ROCPROFILER_INFO_KIND_METRIC;

static void one_gpu_or_all(void **state)
{
    struct seen one = {0}, other = {0}, all = {0}, again = {0};
    uint32_t count, total;
    (void)state;
    assert_int_equal(gpu_count, 2);
    OK(rocprofiler_iterate_info(&gpus[0].agent, METRIC, on_info, &one));
    OK(rocprofiler_iterate_info(&gpus[1].agent, METRIC, on_info, &other));
    OK(rocprofiler_iterate_info(NULL, METRIC, on_info, &all));
    assert_true(one.counters > 100 && one.metrics > one.counters && one.of_sq > 20);
    assert_int_equal(one.of_node[gpus[0].node], one.metrics);
    assert_int_equal(other.of_node[gpus[1].node], other.metrics);
    assert_int_not_equal(one.metrics, other.metrics); /* different GPUs have different counters */
    assert_int_equal(all.metrics, one.metrics + other.metrics);
    OK(rocprofiler_get_info(&gpus[0].agent, ROCPROFILER_INFO_KIND_METRIC_COUNT, &count));
    OK(rocprofiler_get_info(NULL, ROCPROFILER_INFO_KIND_METRIC_COUNT, &total));
    assert_int_equal(count, one.metrics);
    assert_int_equal(total, all.metrics);
    /* texts stay, and are not made anew */
    OK(rocprofiler_iterate_info(&gpus[0].agent, METRIC, on_info, &again));
    assert_ptr_equal(one.waves, again.waves);
    assert_string_equal(one.waves, "SQ_WAVES");
}

static void a_callback_ends_the_iteration(void **state)
{
    struct seen some = {.stop_after = 7};
    uint32_t calls = 0;
    (void)state;
    OK(rocprofiler_iterate_info(NULL, METRIC, on_info, &some));
    assert_int_equal(some.metrics, 7);
    assert_int_equal(rocprofiler_iterate_info(NULL, METRIC, on_info_fail, &calls),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_non_null(strstr(error_text(), "the callback returned 0x1008")); /* OUT_OF_RESOURCES */
    assert_int_equal(calls, 1);
}

static void queries_are_kinds(void **state)
{
    rocprofiler_info_query_t query = {.info_kind = METRIC};
    struct seen iterated = {0}, queried = {0};
    (void)state;
    OK(rocprofiler_iterate_info(&gpus[1].agent, METRIC, on_info, &iterated));
    OK(rocprofiler_query_info(&gpus[1].agent, query, on_info, &queried));
    assert_int_equal(queried.metrics, iterated.metrics);
    REFUSED(rocprofiler_query_info(&gpus[1].agent, query, NULL, NULL), "no callback");
}

static void wrong_questions_are_told(void **state)
{
    hsa_agent_t nobody = {99};
    uint32_t count = 5;
    (void)state;
    REFUSED(rocprofiler_iterate_info(&nobody, METRIC, on_info, NULL), "no GPU");
    REFUSED(rocprofiler_iterate_info(NULL, METRIC, NULL, NULL), "no callback");
    REFUSED(rocprofiler_iterate_info(NULL, ROCPROFILER_INFO_KIND_METRIC_COUNT, on_info, NULL),
            "cannot be iterated");
    REFUSED(rocprofiler_get_info(NULL, METRIC, &count), "no count");
    REFUSED(rocprofiler_get_info(NULL, ROCPROFILER_INFO_KIND_METRIC_COUNT, NULL), "no place");
    REFUSED(rocprofiler_get_info(&nobody, ROCPROFILER_INFO_KIND_METRIC_COUNT, &count), "no GPU");
}

/* The header and the library fit, under every name. */
static void versions_fit(void **state)
{
    (void)state;
    assert_int_equal(rocprofiler_version_major(), ROCPROFILER_VERSION_MAJOR);
    assert_int_equal(rocprofiler_version_minor(), ROCPROFILER_VERSION_MINOR);
    assert_int_equal(rocprofiler_major_version(), ROCPROFILER_VERSION_MAJOR);
    assert_int_equal(rocprofiler_minor_version(), ROCPROFILER_VERSION_MINOR);
}

/* Each GPU's counters are its own, also at the same time. */
static void gpus_count_for_themselves(void **state)
{
    rocprofiler_feature_t f[2] = {feature("SQ_WAVES"), feature("SQ_WAVES")};
    rocprofiler_t *contexts[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        OK(rocprofiler_open(gpus[i].agent, &f[i], 1, &contexts[i], ROCPROFILER_MODE_STANDALONE,
                            NULL));
        OK(rocprofiler_start(contexts[i], 0));
    }
    gpu_run(&gpus[0], 3);
    gpu_run(&gpus[1], 8);
    for (int i = 0; i < 2; i++) {
        OK(rocprofiler_stop(contexts[i], 0));
        OK(rocprofiler_get_data(contexts[i], 0));
        OK(rocprofiler_close(contexts[i]));
    }
    assert_int_equal(f[0].data.result_int64, waves_of(3));
    assert_int_equal(f[1].data.result_int64, waves_of(8));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_gpu_or_all),    cmocka_unit_test(a_callback_ends_the_iteration),
        cmocka_unit_test(queries_are_kinds), cmocka_unit_test(wrong_questions_are_told),
        cmocka_unit_test(versions_fit),      cmocka_unit_test(gpus_count_for_themselves),
    };
    uint32_t count;
    const char *text;
    if (argc != 2)
        return 2;
    /* before there is a runtime: a status and a text */
    if (rocprofiler_get_info(NULL, ROCPROFILER_INFO_KIND_METRIC_COUNT, &count) ==
            HSA_STATUS_SUCCESS ||
        rocprofiler_error_string(&text) != HSA_STATUS_SUCCESS || !strstr(text, "HSA runtime"))
        return 3;
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
