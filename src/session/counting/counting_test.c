/*
 * The counting services without a GPU: agents, contexts and buffers are doubles, and a small
 * packet processor "runs" the command buffers, filling results with a function of the place that
 * was read. What arrives in records is compared with that function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "gpu/pmc.h"
#include "model/counting.h"
#include "model/service.h"
#include "model/trace.h"
#include "session/counting/counting.h"
#include "session/counting/test/gpu_double.h"
#include "session/counting/test/session_double.h"

/* ---- the tool */
static rocprofiler_counter_config_id_t chosen;
static uint32_t callbacks;

static void choose(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                   void *arg)
{
    assert_ptr_equal(arg, &callbacks);
    assert_int_equal(data.size, sizeof data);
    callbacks++;
    *config = chosen;
    user_data->value = 77;
}

static uint32_t recorded;
static rocprofiler_counter_record_t last_records[4096];

static void record(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_record_t *records, size_t count,
                   rocprofiler_user_data_t user_data, void *arg)
{
    (void)arg;
    assert_int_equal(user_data.value, 77);
    assert_true(data.start_timestamp == 10 && data.end_timestamp == 20);
    recorded = (uint32_t)count;
    memcpy(last_records, records, count * sizeof *records);
}

static rocprofiler_counter_id_t id_of(uint64_t agent, const char *name)
{
    const struct counting_agent *a = counting_agent_find((rocprofiler_agent_id_t){agent});
    const struct counter *counter = catalog_find(counting_catalog(a), name);
    assert_non_null(counter);
    return (rocprofiler_counter_id_t){counter->id};
}

static rocprofiler_counter_config_id_t config_of(uint64_t agent, const char *const *names)
{
    rocprofiler_counter_id_t ids[16];
    rocprofiler_counter_config_id_t config = {0};
    size_t count = 0;
    for (; names[count]; count++)
        ids[count] = id_of(agent, names[count]);
    assert_int_equal(counting_config_create((rocprofiler_agent_id_t){agent}, ids, count, &config),
                     ROCPROFILER_STATUS_SUCCESS);
    return config;
}

static void dispatch_on(uint64_t agent, int expected_counted)
{
    struct trace_dispatch dispatch = {.info = {.agent_id = {agent}, .dispatch_id = 42}};
    struct trace_packets packets;
    const struct trace_counting_ops *ops = atomic_load(&trace_counting);
    dispatch.event.correlation_id.internal = 9;
    ops->dispatch_begin(&dispatch, &packets);
    assert_int_equal(packets.before_count, expected_counted);
    assert_int_equal(packets.after_count, expected_counted);
    if (expected_counted) {
        assert_true(packets.serialize && packets.signal_after);
        gpu_run(packets.before);
        gpu_run(packets.after);
    }
    dispatch.start_ns = 10;
    dispatch.end_ns = 20;
    ops->dispatch_complete(&dispatch, false);
    assert_null(dispatch.counting);
}

static void start(uint64_t context)
{
    assert_int_equal(
        added_ops[context]->start((rocprofiler_context_id_t){context}, added_data[context]),
        ROCPROFILER_STATUS_SUCCESS);
}

static void stop(uint64_t context)
{
    added_ops[context]->stop((rocprofiler_context_id_t){context}, added_data[context]);
}

/* ---- tests */
static rocprofiler_status_t count_ids(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *ids,
                                      size_t count, void *data)
{
    (void)agent;
    for (size_t i = 0; i < count; i++)
        assert_true(ids[i].handle > 0 && ids[i].handle < 65536);
    *(size_t *)data = count;
    return ROCPROFILER_STATUS_SUCCESS;
}

static void agents_test(void **state)
{
    size_t count = 0;
    (void)state;
    assert_int_equal(counting_agent_iterate((rocprofiler_agent_id_t){MI210}, count_ids, &count),
                     ROCPROFILER_STATUS_SUCCESS);
    assert_true(count > 261 + 200);
    assert_int_equal(counting_agent_iterate((rocprofiler_agent_id_t){NOBODY}, count_ids, &count),
                     ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND);
    assert_int_equal(counting_agent_iterate((rocprofiler_agent_id_t){UNKNOWN}, count_ids, &count),
                     ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED);
    assert_int_equal(counting_agent_iterate((rocprofiler_agent_id_t){CPU}, count_ids, &count),
                     ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED);
    /* Equal agents share ids, different ones never do. */
    assert_int_equal(id_of(MI210, "SQ_WAVES").handle, id_of(MI210_TWIN, "SQ_WAVES").handle);
    assert_int_not_equal(id_of(MI210, "SQ_WAVES").handle, id_of(MI50, "SQ_WAVES").handle);
}

static rocprofiler_status_t
check_dimensions(rocprofiler_counter_id_t id,
                 const rocprofiler_counter_record_dimension_info_t *dimensions, size_t count,
                 void *data)
{
    (void)id;
    assert_int_equal(count, 2);
    assert_string_equal(dimensions[0].name, "DIMENSION_SHADER_ENGINE");
    assert_int_equal(dimensions[0].instance_size, *(size_t *)data);
    assert_string_equal(dimensions[1].name, "DIMENSION_INSTANCE");
    return ROCPROFILER_STATUS_SUCCESS;
}

static void query_test(void **state)
{
    rocprofiler_counter_info_v0_t v0;
    rocprofiler_counter_info_v1_t v1, again;
    size_t count, engines = 8;
    (void)state;
    assert_int_equal(
        counting_info(id_of(MI210, "SQ_WAVES"), ROCPROFILER_COUNTER_INFO_VERSION_0, &v0),
        ROCPROFILER_STATUS_SUCCESS);
    assert_string_equal(v0.name, "SQ_WAVES");
    assert_string_equal(v0.block, "SQ");
    assert_false(v0.is_derived || v0.is_constant);
    assert_int_equal(
        counting_info(id_of(MI210, "L2CacheHit"), ROCPROFILER_COUNTER_INFO_VERSION_0, &v0),
        ROCPROFILER_STATUS_SUCCESS);
    assert_true(v0.is_derived);
    assert_int_equal(
        counting_info(id_of(MI210, "TCC_HIT"), ROCPROFILER_COUNTER_INFO_VERSION_1, &v1),
        ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(v1.dimensions_instances_count, 32);
    assert_int_equal(v1.dimensions_count, 1);
    assert_int_equal(v1.dimensions_instances[31]->instance_id,
                     id_of(MI210, "TCC_HIT").handle << 48 | 31ull << 36);
    assert_int_equal(v1.dimensions_instances[31]->dimensions[0]->index, 31);
    counting_info(id_of(MI210, "TCC_HIT"), ROCPROFILER_COUNTER_INFO_VERSION_1, &again);
    assert_ptr_equal(v1.dimensions_instances, again.dimensions_instances);
    assert_int_equal(counting_info((rocprofiler_counter_id_t){0}, 1, &v0),
                     ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND);
    assert_int_equal(counting_info((rocprofiler_counter_id_t){UINT64_MAX}, 1, &v0),
                     ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND);
    assert_int_equal(counting_info(id_of(MI210, "TCC_HIT"), 9, &v0),
                     ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI);
    assert_int_equal(counting_instance_count(id_of(MI50, "TCC_HIT"), &count), 0);
    assert_int_equal(count, 16); /* each GPU has its own geometry */
    counting_dimensions_iterate(id_of(MI210, "SQ_WAVES"), check_dimensions, &engines);
    engines = 4;
    counting_dimensions_iterate(id_of(MI50, "SQ_WAVES"), check_dimensions, &engines);
}

static void config_errors_test(void **state)
{
    rocprofiler_agent_id_t mi210 = {MI210};
    rocprofiler_counter_config_id_t config = {0};
    rocprofiler_counter_id_t ids[9] = {id_of(MI210, "TCC_HIT"), id_of(MI210, "TCC_HIT")};
    (void)state;
    assert_int_equal(counting_config_create((rocprofiler_agent_id_t){NOBODY}, ids, 1, &config),
                     ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND);
    assert_int_equal(counting_config_create((rocprofiler_agent_id_t){UNKNOWN}, ids, 1, &config),
                     ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED);
    assert_int_equal(counting_config_create(mi210, NULL, 1, &config),
                     ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(counting_config_create(mi210, ids, 2, &config), ROCPROFILER_STATUS_SUCCESS);
    ids[0] = id_of(MI50, "TCC_HIT");
    assert_int_equal(counting_config_create(mi210, ids, 1, &config),
                     ROCPROFILER_STATUS_ERROR_METRIC_NOT_VALID_FOR_AGENT);
    ids[0].handle = 60000;
    assert_int_equal(counting_config_create(mi210, ids, 1, &config),
                     ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND);
    static const char *const five[] = {"TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE"};
    for (int i = 0; i < 5; i++)
        ids[i] = id_of(MI210, five[i]);
    rocprofiler_counter_config_id_t wide = {0};
    assert_int_equal(counting_config_create(mi210, ids, 5, &wide),
                     ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT);
    assert_int_equal(wide.handle, 0);
    assert_int_equal(counting_config_create(mi210, ids, 4, &wide), ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(counting_config_destroy(wide), ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(counting_config_destroy(wide), ROCPROFILER_STATUS_SUCCESS);
    assert_null(counting_config_acquire(wide));
    counting_config_destroy(config);
}

static void service_errors_test(void **state)
{
    rocprofiler_context_id_t context = {1}, nowhere = {50};
    rocprofiler_buffer_id_t good = {7}, bad = {8};
    (void)state;
    assert_int_equal(counting_dispatch_configure_buffer(nowhere, good, choose, &callbacks),
                     ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND);
    assert_int_equal(counting_dispatch_configure_buffer(context, bad, choose, &callbacks),
                     ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND);
    assert_int_equal(counting_dispatch_configure_buffer(context, good, NULL, &callbacks),
                     ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
    configuration_open = 0;
    assert_int_equal(counting_dispatch_configure_buffer(context, good, choose, &callbacks),
                     ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED);
    configuration_open = 1;
    assert_int_equal(counting_dispatch_configure_buffer(context, good, choose, &callbacks),
                     ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(counting_dispatch_configure_callback((rocprofiler_context_id_t){2}, choose,
                                                          &callbacks, record, NULL),
                     ROCPROFILER_STATUS_SUCCESS);
    /* One context counts at a time. */
    start(1);
    assert_int_equal(added_ops[2]->start((rocprofiler_context_id_t){2}, added_data[2]),
                     ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT);
    stop(2); /* not the one that counts: no effect */
    assert_non_null(atomic_load(&trace_counting));
    stop(1);
    assert_null(atomic_load(&trace_counting));
}

static void dispatch_test(void **state)
{
    static const char *const names[] = {
        "SQ_WAVES", "TCC_HIT", "GRBM_COUNT", "TCC_HIT_sum", "CU_NUM", "TCP_TOTAL_ACCESSES", NULL};
    uint32_t at = 0;
    (void)state;
    counting_memory_register(&gpu_memory);
    chosen = config_of(MI210, names);
    start(1);
    dispatch_on(MI210, 1);
    stop(1);
    assert_int_equal(buffer.headers, 1);
    assert_int_equal(buffer.header.dispatch_info.dispatch_id, 42);
    assert_int_equal(buffer.header.correlation_id.internal, 9);
    assert_int_equal(buffer.header.correlation_id.external.value, 5001);
    assert_int_equal(buffer.header.start_timestamp, 10);
    assert_int_equal(buffer.header.num_records, buffer.values);
    assert_int_equal(buffer.values, 8 + 32 + 1 + 1 + 1 + 8 * 14);
    for (uint64_t se = 0; se < 8; se++, at++) {
        assert_int_equal(buffer.records[at].id, id_of(MI210, "SQ_WAVES").handle << 48 | se << 12);
        assert_true(buffer.records[at].counter_value == (double)register_value(4, (uint32_t)se, 0));
        assert_int_equal(buffer.records[at].dispatch_id, 42);
        assert_int_equal(buffer.records[at].user_data.value, 77);
        assert_int_equal(buffer.records[at].agent_id.handle, MI210);
    }
    double sum = 0;
    for (uint64_t i = 0; i < 32; i++, at++) {
        assert_int_equal(buffer.records[at].id, id_of(MI210, "TCC_HIT").handle << 48 | i << 36);
        assert_true(buffer.records[at].counter_value == (double)register_value(17, 0, (uint32_t)i));
        sum += buffer.records[at].counter_value;
    }
    assert_true(buffer.records[at++].counter_value == 0); /* GRBM event 0 */
    assert_true(buffer.records[at++].counter_value == sum);
    assert_true(buffer.records[at++].counter_value == 104);
    for (uint64_t se = 0; se < 8; se++)
        for (uint64_t i = 0; i < 14; i++, at++) {
            assert_int_equal(buffer.records[at].id,
                             id_of(MI210, "TCP_TOTAL_ACCESSES").handle << 48 | se << 12 | i << 36);
            assert_true(buffer.records[at].counter_value ==
                        (double)register_value(29, (uint32_t)se, (uint32_t)i));
        }
    counting_config_destroy(chosen);
    assert_int_equal(live_allocations, 0); /* nothing in flight: the memory went with the config */
}

static void callback_service_test(void **state)
{
    static const char *const names[] = {"GPU_UTIL", "SQ_WAVES", NULL};
    (void)state;
    chosen = config_of(MI50, names);
    start(2);
    dispatch_on(MI50, 1);
    assert_int_equal(recorded, 1 + 4);
    assert_true(last_records[0].counter_value == 0); /* 100 * event 2 / event 0, which reads 0 */
    assert_true(last_records[4].counter_value == (double)register_value(4, 3, 0));
    recorded = 0;
    dispatch_on(MI210, 0); /* a configuration of another agent */
    assert_int_equal(recorded, 0);
    chosen.handle += 1ull << 40;
    dispatch_on(MI50, 0); /* one that does not exist */
    chosen.handle = 0;
    uint32_t before = callbacks;
    dispatch_on(MI50, 0); /* not wanted */
    assert_int_equal(callbacks, before + 1);
    refuse_memory = 1;
    chosen = config_of(MI50, names);
    dispatch_on(MI50, 0);
    refuse_memory = 0;
    dispatch_on(MI50, 1);
    stop(2);
}

/* Several collections in flight have slots of their own, which come back. */
static void in_flight_test(void **state)
{
    static const char *const names[] = {"SQ_WAVES", NULL};
    struct trace_dispatch dispatches[8] = {0};
    struct trace_packets packets[8];
    (void)state;
    chosen = config_of(MI210_TWIN, names);
    start(2);
    const struct trace_counting_ops *ops = atomic_load(&trace_counting);
    int before = live_allocations;
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 8; i++) {
            dispatches[i].info.agent_id.handle = MI210_TWIN;
            dispatches[i].start_ns = 10;
            dispatches[i].end_ns = 20;
            ops->dispatch_begin(&dispatches[i], &packets[i]);
            for (uint64_t k = 0; k < i; k++)
                assert_ptr_not_equal(packets[i].before, packets[k].before);
        }
        assert_int_equal(live_allocations, before + 8);
        if (round == 2)
            counting_config_destroy(chosen); /* still in use */
        for (int i = 0; i < 8; i++) {
            gpu_run(packets[i].after);
            ops->dispatch_complete(&dispatches[i], i == 3);
        }
    }
    assert_int_equal(live_allocations, before);
    stop(2);
}

/* ---- several callbacks of one context */
enum { CHOOSERS = 3, SHARING_CONTEXT = 3 };
static struct chooser {
    rocprofiler_counter_config_id_t config;
    uint64_t user_data;
    uint32_t asked, recorded;
    rocprofiler_counter_record_t records[4096];
} choosers[CHOOSERS];

static void choose_own(rocprofiler_dispatch_counting_service_data_t data,
                       rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                       void *arg)
{
    struct chooser *chooser = arg;
    (void)data;
    assert_int_equal(user_data->value, 0);
    chooser->asked++;
    *config = chooser->config;
    user_data->value = chooser->user_data;
}

static void record_own(rocprofiler_dispatch_counting_service_data_t data,
                       rocprofiler_counter_record_t *records, size_t count,
                       rocprofiler_user_data_t user_data, void *arg)
{
    struct chooser *chooser = arg;
    assert_int_equal(data.dispatch_info.dispatch_id, 42);
    assert_int_equal(user_data.value, chooser->user_data);
    chooser->recorded = (uint32_t)count;
    memcpy(chooser->records, records, count * sizeof *records);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(records[i].user_data.value, chooser->user_data);
}

static void choosers_dispatch(const char *const *first, const char *const *second,
                              const char *const *third)
{
    const char *const *names[CHOOSERS] = {first, second, third};
    for (int i = 0; i < CHOOSERS; i++) {
        choosers[i].config.handle = names[i] ? config_of(MI210, names[i]).handle : 0;
        choosers[i].asked = choosers[i].recorded = 0;
    }
    dispatch_on(MI210, 1);
    for (int i = 0; i < CHOOSERS; i++) {
        assert_int_equal(choosers[i].asked, 1);
        counting_config_destroy(choosers[i].config);
    }
}

static void several_callbacks_test(void **state)
{
    static const char *const waves[] = {"SQ_WAVES", NULL};
    static const char *const both[] = {"TCC_HIT", "SQ_WAVES", NULL};
    static const char *const four[] = {"TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", NULL};
    static const char *const fifth[] = {"TCC_WRITE", NULL};
    (void)state;
    for (uint64_t i = 0; i < CHOOSERS; i++) {
        choosers[i].user_data = 100 + i;
        assert_int_equal(counting_dispatch_configure_callback(
                             (rocprofiler_context_id_t){SHARING_CONTEXT}, choose_own, &choosers[i],
                             record_own, &choosers[i]),
                         ROCPROFILER_STATUS_SUCCESS);
    }
    start(SHARING_CONTEXT);
    choosers_dispatch(waves, NULL, NULL);
    assert_int_equal(choosers[0].recorded, 8);
    assert_int_equal(choosers[1].recorded + choosers[2].recorded, 0);

    choosers_dispatch(waves, NULL, both); /* each gets its own values, in its own order */
    assert_int_equal(choosers[0].recorded, 8);
    assert_int_equal(choosers[1].recorded, 0);
    assert_int_equal(choosers[2].recorded, 32 + 8);
    for (uint32_t i = 0; i < 32; i++)
        assert_true(choosers[2].records[i].counter_value == (double)register_value(17, 0, i));
    for (uint32_t se = 0; se < 8; se++) {
        assert_true(choosers[0].records[se].counter_value == (double)register_value(4, se, 0));
        assert_true(choosers[2].records[32 + se].counter_value == (double)register_value(4, se, 0));
    }

    for (int round = 0; round < 3; round++) { /* five counters of a block that has four */
        choosers_dispatch(four, fifth, waves);
        assert_int_equal(choosers[0].recorded, 4 * 32);
        assert_int_equal(choosers[1].recorded, 0);
        assert_int_equal(choosers[2].recorded, 8);
    }
    stop(SHARING_CONTEXT);
    added_ops[SHARING_CONTEXT]->destroy(added_data[SHARING_CONTEXT]);
}

static void create_counter_test(void **state)
{
    rocprofiler_agent_id_t agent = {MI50};
    rocprofiler_counter_id_t id = {0}, waves = id_of(MI50, "SQ_WAVES");
    rocprofiler_counter_info_v0_t info;
    static const char expression[] = "reduce(SQ_WAVES,sum)*2 and more";
    (void)state;
    assert_int_equal(counting_counter_create("TWICE", 5, expression, 22, "d", 1, agent, &id),
                     ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(counting_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info), 0);
    assert_string_equal(info.name, "TWICE");
    assert_string_equal(info.expression, "reduce(SQ_WAVES,sum)*2");
    assert_int_equal(id_of(MI50, "SQ_WAVES").handle, waves.handle); /* ids stay */
    assert_int_equal(counting_counter_create("TWICE", 5, "1", 1, "", 0, agent, &id),
                     ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(counting_counter_create("BAD", 3, "1+", 2, "", 0, agent, &id),
                     ROCPROFILER_STATUS_ERROR_AST_GENERATION_FAILED);
    assert_int_equal(counting_counter_create("GOOD", 4, "TWICE/2", 7, "", 0, agent, &id),
                     ROCPROFILER_STATUS_SUCCESS);
    assert_int_equal(counting_definition_load("", 0, ROCPROFILER_COUNTER_FLAG_NONE),
                     ROCPROFILER_STATUS_ERROR); /* too late */
    static const char *const names[] = {"GOOD", "SQ_WAVES", NULL};
    chosen = config_of(MI50, names);
    start(2);
    dispatch_on(MI50, 1);
    stop(2);
    double sum = 0;
    for (int i = 1; i <= 4; i++)
        sum += last_records[i].counter_value;
    assert_true(last_records[0].counter_value == sum);
}

/* CPU cost around a dispatch of 4 counters; the budget is 15 us with everything. */
static void cost_test(void **state)
{
    static const char *const names[] = {"SQ_WAVES", "GRBM_COUNT", "TCC_HIT", "TCC_MISS", NULL};
    struct trace_dispatch dispatch = {.info = {.agent_id = {MI210}}, .start_ns = 10, .end_ns = 20};
    struct trace_packets packets;
    struct timespec from, to;
    enum { ROUNDS = 2000 };
    (void)state;
    chosen = config_of(MI210, names);
    start(2);
    const struct trace_counting_ops *ops = atomic_load(&trace_counting);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int i = 0; i < ROUNDS; i++) {
        ops->dispatch_begin(&dispatch, &packets);
        ops->dispatch_complete(&dispatch, false);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    stop(2);
    double ns = (double)((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec);
    print_message("counting 4 counters: %.0f ns of CPU per dispatch\n", ns / ROUNDS);
    assert_true(ns / ROUNDS < 100000);
}

int main(void)
{
    setenv("CROC_LOG_LEVEL", "error", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_test),         cmocka_unit_test(query_test),
        cmocka_unit_test(config_errors_test),  cmocka_unit_test(service_errors_test),
        cmocka_unit_test(dispatch_test),       cmocka_unit_test(callback_service_test),
        cmocka_unit_test(in_flight_test),      cmocka_unit_test(several_callbacks_test),
        cmocka_unit_test(create_counter_test), cmocka_unit_test(cost_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
