/* Two tools in one process, each with contexts of its own: what each sees, and with which ids. The
 * first configures itself by force, the second is found by its exported function. */
#include "../client.h"

#include <rocprofiler-sdk/marker/api_id.h>
#include <sys/wait.h>

enum { TOOLS = 2, RECORDS_MAX = 20000 };
typedef rocprofiler_buffer_tracing_marker_api_record_t marker_record;

/* everything: buffer and callbacks for all core operations. subset: two operations. requested: ids
 * come from a request service. */
struct tool {
    rocprofiler_client_id_t *client;
    rocprofiler_client_finalize_t finalizer;
    rocprofiler_context_id_t everything, subset, requested, started;
    rocprofiler_buffer_id_t buffer;
    marker_record records[RECORDS_MAX];
    _Atomic unsigned record_count, enters, exits, requests, retired, wrong, finalized;
    unsigned priority, configured_at, initialized_at;
};

static struct tool tools[TOOLS];
static unsigned clock_tick;
static __thread unsigned callback_depth;

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    struct tool *tool = data;
    (void)context;
    tool->wrong += buffer.handle != tool->buffer.handle || dropped != 0;
    for (size_t i = 0; i < count; i++) {
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT)
            tool->retired++;
        else if (tool->record_count < RECORDS_MAX)
            tool->records[tool->record_count++] = *(const marker_record *)headers[i]->payload;
    }
}

static bool nested_wanted;

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    struct tool *tool = data;
    rocprofiler_thread_id_t self;
    rocprofiler_get_thread_id(&self);
    tool->wrong += record.kind != ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API ||
                   record.thread_id != self || record.correlation_id.internal == 0;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        tool->enters++;
        tool->wrong += user->value != 0; /* each context has its own, new for each call */
        user->value = record.correlation_id.internal + tool->priority;
        if (nested_wanted && callback_depth++ == 0)
            marks(1);
        return;
    }
    tool->exits++;
    tool->wrong += user->value != record.correlation_id.internal + tool->priority;
}

static int on_request(rocprofiler_thread_id_t tid, rocprofiler_context_id_t context,
                      rocprofiler_external_correlation_id_request_kind_t kind,
                      rocprofiler_tracing_operation_t operation, uint64_t internal,
                      rocprofiler_user_data_t *external, void *data)
{
    struct tool *tool = data;
    (void)operation;
    tool->requests++;
    tool->wrong += tid != (rocprofiler_thread_id_t)syscall(SYS_gettid) ||
                   context.handle != tool->requested.handle ||
                   kind != ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_API;
    external->value = internal * 10 + tool->priority;
    return 0;
}

static void services_configure(struct tool *tool)
{
    const rocprofiler_tracing_operation_t some[] = {ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA,
                                                    ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop};
    const rocprofiler_external_correlation_id_request_kind_t kinds[] = {
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_API};
    const rocprofiler_buffer_tracing_kind_t buffered = ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API;
    OK(rocprofiler_create_buffer(tool->everything, 1 << 16, 1 << 16,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, tool,
                                 &tool->buffer));
    OK(rocprofiler_configure_buffer_tracing_service(tool->everything, buffered, NULL, 0,
                                                    tool->buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        tool->everything, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0,
        tool->buffer));
    OK(rocprofiler_configure_callback_tracing_service(
        tool->everything, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_call, tool));
    OK(rocprofiler_configure_buffer_tracing_service(tool->subset, buffered, some, 2, tool->buffer));
    OK(rocprofiler_configure_buffer_tracing_service(tool->requested, buffered, NULL, 0,
                                                    tool->buffer));
    OK(rocprofiler_configure_external_correlation_id_request_service(tool->requested, kinds, 1,
                                                                     on_request, tool));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    struct tool *tool = data;
    tool->initialized_at = ++clock_tick;
    tool->finalizer = finalize;
    roctxMark("a marker in the initialisation neither hangs nor is traced");
    OK(rocprofiler_create_context(&tool->everything));
    OK(rocprofiler_create_context(&tool->subset));
    OK(rocprofiler_create_context(&tool->requested));
    OK(rocprofiler_create_context(&tool->started));
    services_configure(tool);
    OK(rocprofiler_start_context(tool->started));
    return 0;
}

static void on_finalize(void *data)
{
    ((struct tool *)data)->finalized++;
}

static rocprofiler_tool_configure_result_t *tool_configure(struct tool *tool, uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t results[TOOLS];
    tool->priority = priority;
    tool->client = id;
    tool->configured_at = ++clock_tick;
    results[tool - tools] =
        (rocprofiler_tool_configure_result_t){sizeof results[0], initialize, on_finalize, tool};
    return &results[tool - tools];
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    (void)version, (void)name;
    return tool_configure(&tools[0], priority, id);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *name,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    (void)version, (void)name;
    return tool_configure(&tools[1], priority, id);
}

static int start(void **state)
{
    (void)state;
    OK(rocprofiler_force_configure(configure));
    marks(1);
    return 0;
}

static void reset(void)
{
    for (int t = 0; t < TOOLS; t++) {
        struct tool *tool = &tools[t];
        tool->record_count = tool->enters = tool->exits = tool->requests = tool->retired = 0;
    }
}

static void deliver(void)
{
    for (int t = 0; t < TOOLS; t++) {
        OK(rocprofiler_flush_buffer(tools[t].buffer));
        assert_int_equal(tools[t].wrong, 0);
    }
}

static void both_are_configured_in_order_then_initialized(void **state)
{
    (void)state;
    assert_int_equal(tools[0].priority, 0);
    assert_int_equal(tools[1].priority, 1);
    assert_int_equal(tools[0].configured_at, 1);
    assert_int_equal(tools[1].configured_at, 2);
    assert_int_equal(tools[0].initialized_at, 3);
    assert_int_equal(tools[1].initialized_at, 4);
    assert_int_not_equal(tools[0].client->handle, tools[1].client->handle);
    for (int t = 0; t < TOOLS; t++) {
        assert_true(context_active(tools[t].started)); /* as its initialisation left it */
        assert_false(context_active(tools[t].everything));
    }
}

static void each_sees_everything_with_its_own_ids(void **state)
{
    (void)state;
    reset();
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    for (int t = 0; t < TOOLS; t++) {
        OK(rocprofiler_start_context(tools[t].everything));
        OK(rocprofiler_push_external_correlation_id(
            tools[t].everything, self, (rocprofiler_user_data_t){.value = 100u + (unsigned)t}));
    }
    marks(50);
    for (int t = 0; t < TOOLS; t++) {
        rocprofiler_user_data_t popped = {0};
        OK(rocprofiler_pop_external_correlation_id(tools[t].everything, self, &popped));
        assert_int_equal(popped.value, 100 + t);
    }
    marks(50);
    for (int t = 0; t < TOOLS; t++)
        OK(rocprofiler_stop_context(tools[t].everything));
    marks(50);
    deliver();
    for (int t = 0; t < TOOLS; t++) {
        const struct tool *tool = &tools[t];
        assert_int_equal(tool->record_count, 100);
        assert_int_equal(tool->enters, 100);
        assert_int_equal(tool->exits, 100);
        assert_int_equal(tool->retired, 100);
        for (unsigned i = 0; i < 100; i++) {
            const rocprofiler_correlation_id_t *id = &tool->records[i].correlation_id;
            assert_int_equal(id->external.value, i < 50 ? 100 + t : 0);
            assert_int_equal(id->internal, tools[0].records[i].correlation_id.internal);
            assert_int_equal(id->ancestor, 0);
        }
    }
}

static void requested_ids_are_each_tools_own(void **state)
{
    (void)state;
    reset();
    for (int t = 0; t < TOOLS; t++)
        OK(rocprofiler_start_context(tools[t].requested));
    marks(20);
    for (int t = 0; t < TOOLS; t++)
        OK(rocprofiler_stop_context(tools[t].requested));
    deliver();
    for (int t = 0; t < TOOLS; t++) {
        assert_int_equal(tools[t].record_count, 20);
        assert_int_equal(tools[t].requests, 20);
        for (unsigned i = 0; i < 20; i++) {
            const rocprofiler_correlation_id_t *id = &tools[t].records[i].correlation_id;
            assert_int_equal(id->external.value, id->internal * 10 + (unsigned)t);
        }
    }
}

static void operations_restrict_a_context(void **state)
{
    (void)state;
    reset();
    OK(rocprofiler_start_context(tools[0].subset));
    OK(rocprofiler_start_context(tools[1].everything));
    for (int i = 0; i < 10; i++) {
        roctxRangePush("outer");
        roctxMark("inside");
        roctxRangeStop(roctxRangeStart("other"));
        roctxRangePop();
    }
    OK(rocprofiler_stop_context(tools[0].subset));
    OK(rocprofiler_stop_context(tools[1].everything));
    deliver();
    assert_int_equal(tools[0].record_count, 20);
    assert_int_equal(tools[1].record_count, 50);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(tools[0].records[i].operation,
                         i % 2 ? ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop
                               : ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA);
}

static void contexts_of_one_tool_run_side_by_side(void **state)
{
    (void)state;
    reset();
    OK(rocprofiler_start_context(tools[0].subset));
    OK(rocprofiler_start_context(tools[0].requested));
    roctxRangePush("counted twice");
    roctxRangePop();
    OK(rocprofiler_stop_context(tools[0].subset));
    assert_true(context_active(tools[0].requested));
    assert_false(context_active(tools[0].subset));
    marks(1);
    OK(rocprofiler_stop_context(tools[0].requested));
    deliver();
    assert_int_equal(tools[0].record_count, 5);
    assert_int_equal(tools[1].record_count, 0);
}

/* A call that a callback makes is enclosed by the call that the callback is for. */
static void nested_calls_name_their_ancestor(void **state)
{
    (void)state;
    reset();
    nested_wanted = true;
    callback_depth = 0;
    OK(rocprofiler_start_context(tools[0].everything));
    marks(1);
    OK(rocprofiler_stop_context(tools[0].everything));
    nested_wanted = false;
    deliver();
    assert_int_equal(tools[0].record_count, 2); /* inner first */
    const rocprofiler_correlation_id_t *inner = &tools[0].records[0].correlation_id;
    const rocprofiler_correlation_id_t *outer = &tools[0].records[1].correlation_id;
    assert_int_equal(inner->ancestor, outer->internal);
    assert_int_equal(outer->ancestor, 0);
}

static void *push_and_mark(void *number)
{
    uint64_t value = (uint64_t)(uintptr_t)number;
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    for (int i = 0; i < 200; i++) {
        for (int t = 0; t < TOOLS; t++)
            OK(rocprofiler_push_external_correlation_id(
                tools[t].everything, self, (rocprofiler_user_data_t){.value = value + t}));
        marks(1);
        for (int t = 0; t < TOOLS; t++)
            OK(rocprofiler_pop_external_correlation_id(tools[t].everything, self, NULL));
    }
    return (void *)(uintptr_t)self;
}

static void external_ids_are_per_thread(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    uint64_t tids[THREADS];
    reset();
    for (int t = 0; t < TOOLS; t++)
        OK(rocprofiler_start_context(tools[t].everything));
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, push_and_mark, (void *)(1000 * (i + 1)));
    for (int i = 0; i < THREADS; i++) {
        void *tid;
        pthread_join(threads[i], &tid);
        tids[i] = (uint64_t)(uintptr_t)tid;
    }
    for (int t = 0; t < TOOLS; t++)
        OK(rocprofiler_stop_context(tools[t].everything));
    deliver();
    for (int t = 0; t < TOOLS; t++) {
        unsigned per_thread[THREADS] = {0};
        assert_int_equal(tools[t].record_count, THREADS * 200);
        for (unsigned i = 0; i < tools[t].record_count; i++) {
            const marker_record *r = &tools[t].records[i];
            for (int n = 0; n < THREADS; n++)
                per_thread[n] += r->thread_id == tids[n] &&
                                 r->correlation_id.external.value == 1000u * (unsigned)(n + 1) + t;
        }
        for (int n = 0; n < THREADS; n++)
            assert_int_equal(per_thread[n], 200);
    }
}

static _Atomic bool toggling;
static void *toggle(void *tool)
{
    while (toggling) {
        rocprofiler_status_t status = rocprofiler_start_context(((struct tool *)tool)->subset);
        ((struct tool *)tool)->wrong += status != ROCPROFILER_STATUS_SUCCESS;
        status = rocprofiler_stop_context(((struct tool *)tool)->subset);
        ((struct tool *)tool)->wrong += status != ROCPROFILER_STATUS_SUCCESS &&
                                        status != ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    }
    return NULL;
}

/* Two threads start and stop one context: a start always succeeds, a stop finds it active or not.
 */
static void contexts_start_and_stop_from_any_thread(void **state)
{
    (void)state;
    pthread_t togglers[3];
    reset();
    toggling = true;
    OK(rocprofiler_start_context(tools[1].everything));
    for (int i = 0; i < 3; i++)
        pthread_create(&togglers[i], NULL, toggle, &tools[0]);
    marks(5000);
    toggling = false;
    for (int i = 0; i < 3; i++)
        pthread_join(togglers[i], NULL);
    OK(rocprofiler_stop_context(tools[1].everything));
    assert_false(context_active(tools[0].subset));
    deliver();
    assert_int_equal(tools[1].record_count, 5000);
}

#ifndef __SANITIZE_THREAD__ /* TSan cannot start threads in a forked child */
/* In a child: only what the child records arrives, and nothing hangs. */
static void child_run(struct tool *tool, unsigned count)
{
    alarm(20);
    tool->record_count = 0;
    marks(count);
    bool good = rocprofiler_flush_buffer(tool->buffer) == ROCPROFILER_STATUS_SUCCESS &&
                tool->record_count == count && tool->wrong == 0;
    _exit(good ? 0 : 1);
}

static int child_status(struct tool *tool, unsigned count)
{
    pid_t child = fork();
    if (child == 0)
        child_run(tool, count);
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void a_forked_child_is_clean_and_its_parent_goes_on(void **state)
{
    (void)state;
    reset();
    OK(rocprofiler_start_context(tools[0].everything));
    marks(10);
    assert_int_equal(child_status(&tools[0], 3), 0);
    marks(5);
    OK(rocprofiler_stop_context(tools[0].everything));
    deliver();
    assert_int_equal(tools[0].record_count, 15);
}

static void *mark_and_toggle(void *unused)
{
    while (toggling) {
        marks(20);
        rocprofiler_start_context(tools[1].subset);
        rocprofiler_flush_buffer(tools[1].buffer);
        rocprofiler_stop_context(tools[1].subset);
    }
    return unused;
}

/* Locks that other threads hold at the moment of the fork, lists they are changing. */
static void forks_while_threads_record_start_and_flush(void **state)
{
    (void)state;
    enum { THREADS = 3, FORKS = 60 };
    pthread_t threads[THREADS];
    reset();
    toggling = true;
    OK(rocprofiler_start_context(tools[0].requested));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_and_toggle, NULL);
    for (int i = 0; i < FORKS; i++)
        assert_int_equal(child_status(&tools[0], 7), 0);
    toggling = false;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(rocprofiler_stop_context(tools[0].requested));
    OK(rocprofiler_flush_buffer(tools[0].buffer));
}
#endif

static void one_ends_and_the_other_goes_on(void **state)
{
    (void)state;
    reset();
    OK(rocprofiler_start_context(tools[0].everything));
    OK(rocprofiler_start_context(tools[1].everything));
    marks(10);
    tools[0].finalizer(*tools[0].client);
    assert_int_equal(tools[0].finalized, 1);
    assert_int_equal(tools[0].record_count, 10); /* delivered before finalize */
    tools[0].finalizer(*tools[0].client);
    assert_int_equal(tools[0].finalized, 1);
    marks(10);
    assert_false(context_active(tools[0].everything));
    OK(rocprofiler_stop_context(tools[1].everything));
    OK(rocprofiler_flush_buffer(tools[1].buffer));
    assert_int_equal(tools[0].record_count, 10);
    assert_int_equal(tools[1].record_count, 20);
    assert_int_equal(tools[1].finalized, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_configured_in_order_then_initialized),
        cmocka_unit_test(each_sees_everything_with_its_own_ids),
        cmocka_unit_test(requested_ids_are_each_tools_own),
        cmocka_unit_test(operations_restrict_a_context),
        cmocka_unit_test(contexts_of_one_tool_run_side_by_side),
        cmocka_unit_test(nested_calls_name_their_ancestor),
        cmocka_unit_test(external_ids_are_per_thread),
        cmocka_unit_test(contexts_start_and_stop_from_any_thread),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(a_forked_child_is_clean_and_its_parent_goes_on),
        cmocka_unit_test(forks_while_threads_record_start_and_flush),
#endif
        cmocka_unit_test(one_ends_and_the_other_goes_on),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
