/*
 * A real OpenMP program that is its own tool. Every expected number follows from the directives:
 * 4 threads, a loop, a barrier, a critical section, three tasks. What belongs to regions that only
 * end with the runtime is checked when the tool is finalised, after main.
 */
#include "../client.h"

#include <rocprofiler-sdk/ompt.h>

enum { THREADS = 4, TASKS = 3, OPERATIONS = ROCPROFILER_OMPT_ID_LAST };

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static _Atomic unsigned entered[OPERATIONS], left[OPERATIONS], moments[OPERATIONS];
static _Atomic unsigned requested, explicit_tasks, critical_sections, worker_threads, loops,
    singles;
static _Atomic unsigned implicit_entered, implicit_left, wrong;
static unsigned records[OPERATIONS], bad_records;
static rocprofiler_ompt_callback_functions_t entries;

#define WRONG_UNLESS(condition) (wrong += !(condition))

/* Of this thread: the ids of its implicit task and of the work that it shares. */
static __thread uint64_t task_id, work_id;
static _Atomic unsigned marked;

static void nesting_check(const rocprofiler_callback_tracing_record_t *record)
{
    const rocprofiler_correlation_id_t *id = &record->correlation_id;
    bool enters = record->phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
    if (record->operation == ROCPROFILER_OMPT_ID_implicit_task)
        task_id = enters ? id->internal : 0;
    if (record->operation != ROCPROFILER_OMPT_ID_work)
        return;
    WRONG_UNLESS(id->ancestor == task_id && task_id != 0);
    work_id = enters ? id->internal : 0;
}

static void on_mark(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
        return;
    WRONG_UNLESS(work_id != 0 && record.correlation_id.ancestor == work_id);
    marked++;
}

static void begun(int32_t operation, const rocprofiler_ompt_args_t *args)
{
    if (operation == ROCPROFILER_OMPT_ID_implicit_task &&
        !(args->implicit_task.flags & ompt_task_initial))
        implicit_entered++;
    if (operation == ROCPROFILER_OMPT_ID_work) {
        WRONG_UNLESS(args->work.endpoint == ompt_scope_begin);
        loops +=
            args->work.work_type == ompt_work_loop || args->work.work_type == ompt_work_loop_static;
        singles += args->work.work_type == ompt_work_single_executor;
    }
}

static void ended(int32_t operation, const rocprofiler_ompt_args_t *args)
{
    if (operation == ROCPROFILER_OMPT_ID_implicit_task) {
        WRONG_UNLESS(args->implicit_task.endpoint == ompt_scope_end);
        implicit_left += !(args->implicit_task.flags & ompt_task_initial);
    }
}

static void happened(int32_t operation, const rocprofiler_ompt_args_t *args)
{
    if (operation == ROCPROFILER_OMPT_ID_parallel_begin)
        requested = args->parallel_begin.requested_parallelism;
    if (operation == ROCPROFILER_OMPT_ID_task_create)
        explicit_tasks += (args->task_create.flags & ompt_task_explicit) != 0;
    if (operation == ROCPROFILER_OMPT_ID_mutex_acquired)
        critical_sections += args->mutex_acquired.kind == ompt_mutex_critical;
    if (operation == ROCPROFILER_OMPT_ID_thread_begin)
        worker_threads += args->thread_begin.thread_type == ompt_thread_worker;
    if (operation == ROCPROFILER_OMPT_ID_callback_functions) {
        int status = 0;
        entries = args->callback_functions;
        /* told while the runtime is being initialised */
        WRONG_UNLESS(rocprofiler_ompt_is_initialized(&status) == ROCPROFILER_STATUS_SUCCESS &&
                     status == -1);
    }
}

static void on_event(rocprofiler_callback_tracing_record_t record,
                     rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    const rocprofiler_callback_tracing_ompt_data_t *event = record.payload;
    WRONG_UNLESS(record.operation >= 0 && record.operation < OPERATIONS);
    WRONG_UNLESS(event->size == sizeof *event);
    WRONG_UNLESS(record.correlation_id.internal != 0);
    nesting_check(&record);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        entered[record.operation]++;
        user_data->value = record.correlation_id.internal;
        begun(record.operation, &event->args);
    } else if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT) {
        left[record.operation]++;
        WRONG_UNLESS(user_data->value == record.correlation_id.internal);
        ended(record.operation, &event->args);
    } else {
        moments[record.operation]++;
        happened(record.operation, &event->args);
    }
}

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t from,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)id, (void)from, (void)data;
    bad_records += dropped != 0;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_ompt_record_t *record = headers[i]->payload;
        bad_records += headers[i]->kind != ROCPROFILER_BUFFER_TRACING_OMPT ||
                       record->size != sizeof *record || record->thread_id == 0 ||
                       record->correlation_id.internal == 0 ||
                       record->start_timestamp > record->end_timestamp;
        records[record->operation]++;
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, 1 << 20, 1 << 19, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                 on_buffer, NULL, &buffer));
    OK(rocprofiler_configure_callback_tracing_service(context, ROCPROFILER_CALLBACK_TRACING_OMPT,
                                                      NULL, 0, on_event, NULL));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_mark, NULL));
    OK(rocprofiler_configure_buffer_tracing_service(context, ROCPROFILER_BUFFER_TRACING_OMPT, NULL,
                                                    0, buffer));
    OK(rocprofiler_start_context(context));
    return 0;
}

/* Exits with a status of its own when the runtime still owes something. */
static void at_end(void *data)
{
    (void)data;
    int finalized = -1;
    rocprofiler_ompt_is_finalized(&finalized);
    if (finalized != 1 || implicit_entered != 2 * THREADS || implicit_left != implicit_entered ||
        records[ROCPROFILER_OMPT_ID_implicit_task] != left[ROCPROFILER_OMPT_ID_implicit_task] ||
        bad_records || wrong) {
        fprintf(stderr,
                "at the end: finalized %d, implicit tasks %u begun, %u ended, %u recorded; "
                "%u bad records, %u wrong\n",
                finalized, implicit_entered, implicit_left,
                records[ROCPROFILER_OMPT_ID_implicit_task], bad_records, wrong);
        _exit(7);
    }
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, at_end, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "openmp test";
    return &result;
}

static void the_runtime_is_not_started_yet(void **state)
{
    (void)state;
    int status = -1;
    OK(rocprofiler_force_configure(configure));
    OK(rocprofiler_ompt_is_initialized(&status));
    assert_int_equal(status, 0);
    int *volatile none = NULL; /* against the header's advice */
    FAILS(INVALID_ARGUMENT, rocprofiler_ompt_is_initialized(none));
    FAILS(INVALID_ARGUMENT, rocprofiler_ompt_is_finalized(none));
}

static long region(void)
{
    long sum = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 1000; i++) {
            sum += i;
            if (i % 250 == 0) /* once on each thread */
                roctxMark("in the loop");
        }
#pragma omp barrier
#pragma omp critical
        sum += 1;
#pragma omp single
        for (int i = 0; i < TASKS; i++) {
#pragma omp task
            nap_ms(1);
        }
    }
    return sum;
}

static void every_directive_is_seen(void **state)
{
    (void)state;
    int status = 0;
    assert_int_equal(region(), 999 * 1000 / 2 + THREADS);
    OK(rocprofiler_ompt_is_initialized(&status));
    assert_int_equal(status, 1);
    assert_int_equal(moments[ROCPROFILER_OMPT_ID_parallel_begin], 1);
    assert_int_equal(moments[ROCPROFILER_OMPT_ID_parallel_end], 1);
    assert_int_equal(requested, THREADS);
    assert_int_equal(worker_threads, THREADS - 1);
    assert_int_equal(implicit_entered, THREADS);
    assert_int_equal(explicit_tasks, TASKS);
    assert_int_equal(critical_sections, THREADS);
    assert_int_equal(loops, THREADS);
    assert_int_equal(singles, 1);
    assert_int_equal(marked, THREADS); /* each inside of its thread's loop */
    /* a loop and a single on each thread, and all are over */
    assert_int_equal(entered[ROCPROFILER_OMPT_ID_work], 2 * THREADS);
    assert_int_equal(left[ROCPROFILER_OMPT_ID_work], 2 * THREADS);
    assert_int_equal(wrong, 0);
}

static void entry_points_work(void **state)
{
    (void)state;
    int threads = 0;
    assert_int_equal(moments[ROCPROFILER_OMPT_ID_callback_functions], 1);
    assert_non_null(entries.ompt_get_num_procs);
    assert_true(entries.ompt_get_num_procs() >= 1);
    assert_non_null(entries.ompt_get_parallel_info);
    assert_int_equal(entries.ompt_get_parallel_info(100, NULL, &threads), 0);
}

static void a_stopped_context_sees_nothing_and_scopes_find_their_ends(void **state)
{
    (void)state;
    unsigned before = entered[ROCPROFILER_OMPT_ID_work];
    OK(rocprofiler_stop_context(context));
    region();
    assert_int_equal(entered[ROCPROFILER_OMPT_ID_work], before);
    assert_int_equal(moments[ROCPROFILER_OMPT_ID_parallel_begin], 1);
    OK(rocprofiler_start_context(context));
    region();
    assert_int_equal(entered[ROCPROFILER_OMPT_ID_work], 2 * before);
    assert_int_equal(left[ROCPROFILER_OMPT_ID_work], 2 * before);
}

static void records_and_names(void **state)
{
    (void)state;
    const char *name = NULL;
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(records[ROCPROFILER_OMPT_ID_work], 4 * THREADS);
    assert_int_equal(records[ROCPROFILER_OMPT_ID_task_create],
                     moments[ROCPROFILER_OMPT_ID_task_create]);
    assert_int_equal(records[ROCPROFILER_OMPT_ID_parallel_begin], 2);
    assert_int_equal(bad_records, 0);
    OK(rocprofiler_query_callback_tracing_kind_operation_name(
        ROCPROFILER_CALLBACK_TRACING_OMPT, ROCPROFILER_OMPT_ID_implicit_task, &name, NULL));
    assert_string_equal(name, "omp_implicit_task");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtime_is_not_started_yet),
        cmocka_unit_test(every_directive_is_seen),
        cmocka_unit_test(entry_points_work),
        cmocka_unit_test(a_stopped_context_sees_nothing_and_scopes_find_their_ends),
        cmocka_unit_test(records_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
