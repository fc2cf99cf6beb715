/* What is told of instantiated graphs, for calls that this test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "intercept/hip/graphs.h"
#include "intercept/hip/handles.h"
#include "intercept/hsa/test/trace_double.h"

#define CALL(function) ROCPROFILER_HIP_RUNTIME_API_ID_##function

enum {
    CREATE = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_CREATE,
    DESTROY = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_DESTROY,
    LAUNCH = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH,
    KERNELS = 5,
    AGENT = 77,
};

static hipGraphExec_t graph_at(uintptr_t place)
{
    return (hipGraphExec_t)(place * 64);
}

static void call_play(int32_t operation, const rocprofiler_hip_api_args_t *args, bool succeeded,
                      uint64_t kernels)
{
    struct hip_graph_scope scope;
    memset(&scope, 0xa5, sizeof scope);
    hip_graph_enter(&scope, operation, args);
    if (kernels)
        launched_note(kernels, (rocprofiler_agent_id_t){AGENT});
    hip_graph_exit(&scope, operation, args, succeeded);
}

static void create_play(uintptr_t place, bool succeeded)
{
    hipGraphExec_t made = graph_at(place);
    const rocprofiler_hip_api_args_t args = {.hipGraphInstantiate.pGraphExec = &made};
    call_play(CALL(hipGraphInstantiate), &args, succeeded, 0);
}

static void destroy_play(uintptr_t place, bool succeeded)
{
    const rocprofiler_hip_api_args_t args = {.hipGraphExecDestroy.graphExec = graph_at(place)};
    call_play(CALL(hipGraphExecDestroy), &args, succeeded, 0);
}

static void launch_play(uintptr_t place, bool succeeded)
{
    const rocprofiler_hip_api_args_t args = {.hipGraphLaunch.graphExec = graph_at(place)};
    call_play(CALL(hipGraphLaunch), &args, succeeded, KERNELS);
}

static const struct double_entry *told(int32_t operation, uint32_t n)
{
    const struct double_entry *entry = double_entry(DOUBLE_CALL, TRACE_HIP_GRAPH, operation, n);
    assert_non_null(entry);
    assert_int_equal(entry->payload.graph.size, 24);
    return entry;
}

static uint64_t number_told(int32_t operation, uint32_t n)
{
    return told(operation, n)->payload.graph.graph_exec_id.handle;
}

static uint32_t told_count(int32_t operation)
{
    return double_count(DOUBLE_CALL, TRACE_HIP_GRAPH, operation);
}

static void begin(void)
{
    double_reset();
    double_listen(TRACE_HIP_GRAPH, -1);
}

static void a_graph_from_its_making_to_its_end(void **state)
{
    (void)state;
    begin();
    create_play(1, true);
    launch_play(1, true);
    destroy_play(1, true);
    uint64_t number = number_told(CREATE, 0);
    assert_int_not_equal(number, 0);
    assert_ptr_equal(told(CREATE, 0)->payload.graph.graph_exec_value.ptr, graph_at(1));
    assert_int_equal(told(CREATE, 0)->phase, ROCPROFILER_CALLBACK_PHASE_NONE);
    assert_int_equal(told_count(LAUNCH), 2);
    assert_int_equal(told(LAUNCH, 0)->phase, ROCPROFILER_CALLBACK_PHASE_ENTER);
    assert_int_equal(told(LAUNCH, 1)->phase, ROCPROFILER_CALLBACK_PHASE_EXIT);
    assert_int_equal(number_told(LAUNCH, 0), number);
    assert_int_equal(number_told(DESTROY, 0), number);
    assert_int_equal(told(DESTROY, 0)->phase, ROCPROFILER_CALLBACK_PHASE_NONE);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_HIP_GRAPH, -1), 1);
    assert_int_equal(double_open_events(), 0);
}

static void a_launch_has_a_record_if_it_succeeds(void **state)
{
    (void)state;
    begin();
    uint64_t before = trace_time_ns();
    create_play(2, true);
    launch_play(2, false);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_HIP_GRAPH, -1), 0);
    launch_play(2, true);
    const rocprofiler_buffer_tracing_hip_graph_record_t *record =
        &double_entry(DOUBLE_RECORD, TRACE_HIP_GRAPH, LAUNCH, 0)->payload.graph_record;
    assert_int_equal(record->size, 96);
    assert_int_equal(record->kind, ROCPROFILER_BUFFER_TRACING_HIP_GRAPH);
    assert_int_equal(record->operation, LAUNCH);
    assert_int_equal(record->kernel_dispatch_count, KERNELS);
    assert_int_equal(record->agent_id.handle, AGENT);
    assert_int_equal(record->queue_id.handle, 0);
    assert_int_equal(record->graph_exec_id.handle, number_told(CREATE, 0));
    assert_true(before <= record->start_timestamp);
    assert_true(record->start_timestamp <= record->end_timestamp);
    assert_true(record->end_timestamp <= trace_time_ns());
    assert_int_equal(told_count(DESTROY), 0); /* the graph is there as before */
}

static void a_handle_that_comes_again_is_another_graph(void **state)
{
    (void)state;
    begin();
    create_play(3, true);
    destroy_play(3, false); /* it lives on */
    launch_play(3, true);
    assert_int_equal(number_told(LAUNCH, 0), number_told(CREATE, 0));
    destroy_play(3, true);
    create_play(3, true);
    launch_play(3, true);
    assert_true(number_told(CREATE, 1) > number_told(CREATE, 0));
    assert_int_equal(number_told(LAUNCH, 2), number_told(CREATE, 1));
    assert_int_equal(told_count(DESTROY), 1);
}

static void what_made_no_graph_is_not_told(void **state)
{
    const rocprofiler_hip_api_args_t nowhere = {.hipGraphInstantiate.pGraphExec = NULL};
    (void)state;
    begin();
    create_play(4, false);
    create_play(0, true);
    call_play(CALL(hipGraphInstantiate), &nowhere, true, 0);
    call_play(CALL(hipMalloc), &nowhere, true, 0);
    call_play(-1, &nowhere, true, 0);
    assert_int_equal(told_count(-1), 0);
}

/* A tool that was attached hears of graphs that are older than it, in order. */
static void a_launch_tells_of_a_graph_that_nobody_saw_made(void **state)
{
    (void)state;
    begin();
    launch_play(5, false);
    uint64_t number = number_told(CREATE, 0);
    assert_true(told(CREATE, 0) < told(LAUNCH, 0));
    assert_int_equal(number_told(LAUNCH, 1), number);
    assert_int_equal(number_told(DESTROY, 0), number); /* there was none */
    launch_play(5, true);
    assert_int_equal(number_told(CREATE, 1), number_told(LAUNCH, 2));
    launch_play(5, true);
    destroy_play(5, true);
    assert_int_equal(told_count(CREATE), 2);
    assert_int_equal(number_told(DESTROY, 1), number_told(CREATE, 1));
}

static void a_launch_of_nothing_has_no_number(void **state)
{
    (void)state;
    begin();
    launch_play(0, false);
    assert_int_equal(told_count(CREATE), 0);
    assert_int_equal(number_told(LAUNCH, 0), 0);
    assert_int_equal(told_count(LAUNCH), 2);
}

static void records_alone_are_enough(void **state)
{
    (void)state;
    double_reset();
    double_listen_records(TRACE_HIP_GRAPH, LAUNCH);
    create_play(6, true);
    launch_play(6, true);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_HIP_GRAPH, LAUNCH), 1);
}

static void nobody_listens(void **state)
{
    (void)state;
    double_reset();
    assert_false(hip_graph_is_configured(CALL(hipGraphLaunch)));
    assert_false(hip_graph_is_wanted(CALL(hipGraphInstantiate)));
    launch_play(7, true);
    assert_int_equal(told_count(-1), 0);
    double_listen(TRACE_HIP_GRAPH, LAUNCH);
    assert_true(hip_graph_is_configured(CALL(hipGraphInstantiateWithFlags)));
    assert_true(hip_graph_is_configured(CALL(hipGraphInstantiateWithParams)));
    assert_true(hip_graph_is_wanted(CALL(hipGraphExecDestroy)));
    assert_true(hip_graph_is_wanted(CALL(hipGraphLaunch_spt)));
    assert_false(hip_graph_is_wanted(CALL(hipGraphDestroy)));
    assert_false(hip_graph_is_configured(CALL(hipGraphExecUpdate)));
    assert_false(hip_graph_is_wanted(CALL(LAST)));
}

/* Graphs beyond the room for numbers run as ever. */
static void one_too_many_is_not_told(void **state)
{
    (void)state;
    begin();
    for (uintptr_t i = 0; i < HANDLES_MAX + 10; i++)
        create_play(1000 + i, true);
    uint32_t made = told_count(CREATE);
    assert_true(made <= HANDLES_MAX && made > HANDLES_MAX - 20);
    create_play(999, true);
    assert_int_equal(told_count(CREATE), made);
    destroy_play(1000, true);
    create_play(999, true);
    assert_int_equal(told_count(CREATE), made + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_from_its_making_to_its_end),
        cmocka_unit_test(a_launch_has_a_record_if_it_succeeds),
        cmocka_unit_test(a_handle_that_comes_again_is_another_graph),
        cmocka_unit_test(what_made_no_graph_is_not_told),
        cmocka_unit_test(a_launch_tells_of_a_graph_that_nobody_saw_made),
        cmocka_unit_test(a_launch_of_nothing_has_no_number),
        cmocka_unit_test(records_alone_are_enough),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(one_too_many_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
