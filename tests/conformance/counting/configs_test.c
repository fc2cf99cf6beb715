/*
 * Counters, configurations and plans: what a tool can ask and build before anything runs. Under
 * crocgpu with two GPUs of different kinds; the runtime is not needed.
 */
#include <crocprof/plan.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters.h"

enum { LIST_MAX = 8 };

static rocprofiler_agent_id_t gpus[2];

static int setup(void **state)
{
    (void)state;
    agents_load();
    assert_int_equal(gpu_agent_count, 2);
    for (uint32_t i = 0; i < 2; i++)
        gpus[i] = gpu_agents[i]->id;
    return 0;
}

static rocprofiler_counter_id_t counter(uint32_t gpu, const char *name)
{
    return counter_named(gpus[gpu], name);
}

static rocprofiler_status_t count_counters(rocprofiler_agent_id_t agent,
                                           rocprofiler_counter_id_t *list, size_t count, void *data)
{
    (void)agent, (void)list;
    *(size_t *)data = count;
    return ROCPROFILER_STATUS_SUCCESS;
}

static size_t counters(uint32_t gpu, rocprofiler_counter_id_t list[LIST_MAX], size_t count, ...)
{
    va_list names;
    va_start(names, count);
    for (size_t i = 0; i < count; i++)
        list[i] = counter(gpu, va_arg(names, const char *));
    va_end(names);
    return count;
}

static rocprofiler_status_t create(uint32_t gpu, rocprofiler_counter_id_t *list, size_t count,
                                   rocprofiler_counter_config_id_t *config)
{
    config->handle = 0;
    return rocprofiler_create_counter_config(gpus[gpu], list, count, config);
}

static void agents_and_their_counters(void **state)
{
    size_t count = 0;
    (void)state;
    REFUSED(rocprofiler_iterate_agent_supported_counters((rocprofiler_agent_id_t){77},
                                                         count_counters, &count),
            AGENT_NOT_FOUND);
    REFUSED(rocprofiler_iterate_agent_supported_counters(cpu_agent, count_counters, &count),
            AGENT_ARCH_NOT_SUPPORTED);
    assert_int_equal(count, 0);
    OK(rocprofiler_iterate_agent_supported_counters(gpus[0], count_counters, &count));
    assert_true(count > 200);
    /* Ids are the agent's own. */
    assert_int_not_equal(counter(0, "SQ_WAVES").handle, counter(1, "SQ_WAVES").handle);
}

/* Each GPU has its own dimensions: 8 shader engines and 32 channels, 4 and 16. */
static void geometry(void **state)
{
    static const struct {
        const char *name;
        size_t instances[2];
    } expected[] = {{"SQ_WAVES", {8, 4}}, {"TCC_HIT", {32, 16}}, {"GRBM_COUNT", {1, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        for (uint32_t gpu = 0; gpu < 2; gpu++) {
            size_t count = 0;
            rocprofiler_counter_info_v1_t info;
            OK(rocprofiler_query_counter_instance_count(gpus[gpu], counter(gpu, expected[i].name),
                                                        &count));
            assert_int_equal(count, expected[i].instances[gpu]);
            OK(rocprofiler_query_counter_info(counter(gpu, expected[i].name),
                                              ROCPROFILER_COUNTER_INFO_VERSION_1, &info));
            assert_int_equal(info.dimensions_instances_count, count);
        }
    }
}

/* An instance id holds the counter and the place; each part can be read back. */
static void instance_ids(void **state)
{
    rocprofiler_counter_info_v1_t info;
    rocprofiler_counter_id_t waves = counter(0, "SQ_WAVES");
    (void)state;
    OK(rocprofiler_query_counter_info(waves, ROCPROFILER_COUNTER_INFO_VERSION_1, &info));
    for (uint64_t i = 0; i < info.dimensions_instances_count; i++) {
        const rocprofiler_counter_record_dimension_instance_info_t *instance =
            info.dimensions_instances[i];
        rocprofiler_counter_id_t id;
        OK(rocprofiler_query_record_counter_id(instance->instance_id, &id));
        assert_int_equal(id.handle, waves.handle);
        for (uint64_t d = 0; d < info.dimensions_count; d++) {
            size_t position;
            OK(rocprofiler_query_record_dimension_position(instance->instance_id,
                                                           info.dimensions[d]->id, &position));
            assert_int_equal(position, instance->dimensions[d]->index);
            assert_true(position < info.dimensions[d]->instance_size);
            assert_int_equal(strncmp(info.dimensions[d]->name, "DIMENSION_", 10), 0);
        }
    }
}

static void refused_configurations(void **state)
{
    rocprofiler_counter_config_id_t config = {0};
    rocprofiler_counter_id_t list[LIST_MAX] = {counter(0, "SQ_WAVES")};
    (void)state;
    REFUSED(rocprofiler_create_counter_config((rocprofiler_agent_id_t){77}, list, 1, &config),
            AGENT_NOT_FOUND);
    REFUSED(rocprofiler_create_counter_config(cpu_agent, list, 1, &config),
            AGENT_ARCH_NOT_SUPPORTED);
    REFUSED(create(1, list, 1, &config), METRIC_NOT_VALID_FOR_AGENT);
    list[1].handle = 0;
    REFUSED(create(0, list, 2, &config), COUNTER_NOT_FOUND);
    list[1].handle = UINT64_MAX;
    REFUSED(create(0, list, 2, &config), COUNTER_NOT_FOUND);
    REFUSED(create(0, NULL, 1, &config), INVALID_ARGUMENT);
    size_t count = counters(0, list, 5, "TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE");
    REFUSED(create(0, list, count, &config), EXCEEDS_HW_LIMIT);
    assert_int_equal(config.handle, 0);
}

static void configurations(void **state)
{
    rocprofiler_counter_config_id_t config, other;
    rocprofiler_counter_id_t list[LIST_MAX];
    (void)state;
    /* Twice the same counter is once; computed counters share their operands. */
    counters(0, list, 6, "TCC_HIT", "TCC_HIT", "TCC_MISS", "TCC_HIT_sum", "L2CacheHit", "TCC_REQ");
    OK(create(0, list, 6, &config));
    OK(create(0, list, 6, &other));
    assert_int_not_equal(config.handle, other.handle);
    OK(create(0, list, 0, &other)); /* of nothing */
    OK(rocprofiler_destroy_counter_config(config));
    OK(rocprofiler_destroy_counter_config(config)); /* promised never to fail */
    OK(rocprofiler_destroy_counter_config((rocprofiler_counter_config_id_t){12345}));
}

/* A configuration on entry is extended into a new one and stays what it was. */
static void extended_configurations(void **state)
{
    rocprofiler_counter_config_id_t base, wider;
    rocprofiler_counter_id_t list[LIST_MAX];
    (void)state;
    counters(0, list, 5, "TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE");
    OK(create(0, list, 3, &base));
    wider = base;
    OK(rocprofiler_create_counter_config(gpus[0], list + 3, 1, &wider));
    assert_int_not_equal(wider.handle, base.handle);
    rocprofiler_counter_config_id_t too_wide = wider; /* 4 of 4 */
    REFUSED(rocprofiler_create_counter_config(gpus[0], list + 4, 1, &too_wide), EXCEEDS_HW_LIMIT);
    assert_int_equal(too_wide.handle, wider.handle);
    OK(rocprofiler_create_counter_config(gpus[0], list + 4, 1, &base)); /* 3 and one: it is 3 */
    /* Tools leave what they like in the handle. */
    rocprofiler_counter_config_id_t rubbish = {0xdeadbeefcafe};
    OK(rocprofiler_create_counter_config(gpus[0], list, 4, &rubbish));
}

static void plans(void **state)
{
    rocprofiler_counter_id_t list[LIST_MAX];
    uint32_t pass[LIST_MAX], passes = 0;
    char text[200];
    (void)state;
    size_t count = counters(0, list, 7, "TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE",
                            "L2CacheHit", "SQ_WAVES");
    OK(crocprof_plan_passes(gpus[0], list, count, pass, &passes));
    assert_int_equal(passes, 2); /* 5 events in 4 registers */
    for (uint32_t p = 0; p < passes; p++) {
        rocprofiler_counter_id_t mine[LIST_MAX];
        rocprofiler_counter_config_id_t config;
        size_t used = 0;
        for (size_t i = 0; i < count; i++) {
            if (pass[i] == p)
                mine[used++] = list[i];
        }
        assert_true(used > 0);
        OK(create(0, mine, used, &config));
    }
    OK(crocprof_plan_explain(gpus[0], list, count, text, sizeof text));
    assert_non_null(strstr(text, "TCC"));
    assert_non_null(strstr(text, "TCC_WRITE"));
    OK(crocprof_plan_explain(gpus[0], list, 4, text, sizeof text));
    assert_string_equal(text, "");
    OK(crocprof_plan_passes(gpus[0], NULL, 0, NULL, &passes));
    assert_int_equal(passes, 1);
    REFUSED(crocprof_plan_passes(gpus[1], list, count, pass, &passes), METRIC_NOT_VALID_FOR_AGENT);
    REFUSED(crocprof_plan_passes(cpu_agent, list, count, pass, &passes), AGENT_ARCH_NOT_SUPPORTED);
    REFUSED(crocprof_plan_passes((rocprofiler_agent_id_t){77}, list, count, pass, &passes),
            AGENT_NOT_FOUND);
    REFUSED(crocprof_plan_passes(gpus[0], list, count, NULL, &passes), INVALID_ARGUMENT);
    REFUSED(crocprof_plan_passes(gpus[0], list, count, pass, NULL), INVALID_ARGUMENT);
    REFUSED(crocprof_plan_explain(gpus[0], list, count, text, 0), INVALID_ARGUMENT);
    list[3].handle = 65535;
    REFUSED(crocprof_plan_passes(gpus[0], list, count, pass, &passes), COUNTER_NOT_FOUND);
}

static rocprofiler_status_t make(const char *name, const char *expression,
                                 rocprofiler_counter_id_t *id)
{
    return rocprofiler_create_counter(name, strlen(name), expression, strlen(expression), "made", 4,
                                      gpus[0], id);
}

/* The values of made counters are checked in the dispatch tests. */
static void made_counters(void **state)
{
    rocprofiler_counter_id_t id = {0}, again = {0};
    rocprofiler_counter_id_t waves = counter(0, "SQ_WAVES");
    rocprofiler_counter_info_v0_t info;
    rocprofiler_counter_config_id_t config;
    (void)state;
    OK(make("MADE_RATIO", "100*reduce(SQ_WAVES,sum)/GRBM_COUNT", &id));
    OK(rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
    assert_string_equal(info.name, "MADE_RATIO");
    assert_true(info.is_derived);
    assert_int_equal(counter(0, "MADE_RATIO").handle, id.handle);
    assert_int_equal(counter(0, "SQ_WAVES").handle, waves.handle);
    OK(create(0, &id, 1, &config));
    REFUSED(make("MADE_RATIO", "1", &again), INVALID_ARGUMENT);
    REFUSED(make("SQ_WAVES", "1", &again), INVALID_ARGUMENT);
    REFUSED(make("MADE_BAD", "reduce(SQ_WAVES,sum", &again), AST_GENERATION_FAILED);
    REFUSED(make("MADE_UNKNOWN", "NO_SUCH_COUNTER+1", &again), AST_GENERATION_FAILED);
    REFUSED(make("MADE_SELF", "MADE_SELF+1", &again), AST_GENERATION_FAILED);
    REFUSED(make("MADE_REDUCE", "reduce(SQ_WAVES,median)", &again), AST_GENERATION_FAILED);
    REFUSED(make("MADE_SHAPE", "SQ_WAVES+TCC_HIT", &again), AST_GENERATION_FAILED);
    OK(make("MADE_GOOD", "MADE_RATIO/2", &again));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_and_their_counters),
        cmocka_unit_test(geometry),
        cmocka_unit_test(instance_ids),
        cmocka_unit_test(refused_configurations),
        cmocka_unit_test(configurations),
        cmocka_unit_test(extended_configurations),
        cmocka_unit_test(plans),
        cmocka_unit_test(made_counters),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
