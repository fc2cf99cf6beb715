/* Both marker libraries in one process, an SDK tool, and a listener of libroctx64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

/* The functions of one library, looked up in it: both export the same names. */
struct library {
    void (*mark)(const char *message);
    int (*push)(const char *message);
    int (*pop)(void);
    uint64_t (*start)(const char *message);
    void (*stop)(uint64_t id);
};
static struct library old_library, sdk_library;
static void (*listener_register)(int (*listener)(uint32_t domain, uint32_t operation, void *data));

static void find(void *handle, const char *name, void *function)
{
    *(void **)function = dlsym(handle, name);
    assert_non_null(*(void **)function);
}

static void library_open(struct library *library, const char *name)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    find(handle, "roctxMarkA", &library->mark);
    find(handle, "roctxRangePushA", &library->push);
    find(handle, "roctxRangePop", &library->pop);
    find(handle, "roctxRangeStartA", &library->start);
    find(handle, "roctxRangeStop", &library->stop);
    if (library == &old_library)
        find(handle, "roctxRegisterTracerCallback", &listener_register);
}

/* ---- the tool: counts calls by operation, and remembers the last message ----------------------
 */

enum { OPERATIONS = 32 };
static _Atomic int calls[OPERATIONS];
static char last_message[32];
static rocprofiler_context_id_t context;

static void on_marker(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER || record.operation >= OPERATIONS)
        return;
    atomic_fetch_add(&calls[record.operation], 1);
    const rocprofiler_callback_tracing_marker_api_data_t *call = record.payload;
    if (record.operation == ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA)
        strcpy(last_message, call->args.roctxMarkA.message);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    return rocprofiler_create_context(&context) != ROCPROFILER_STATUS_SUCCESS ||
           rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_marker, NULL) !=
               ROCPROFILER_STATUS_SUCCESS ||
           rocprofiler_start_context(context) != ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

/* ---- the listener -----------------------------------------------------------------------------
 */

static _Atomic int heard[OPERATIONS];

static int listen(uint32_t domain, uint32_t operation, void *data)
{
    (void)data;
    assert_int_equal(domain, 6); /* ACTIVITY_DOMAIN_ROCTX */
    atomic_fetch_add(&heard[operation], 1);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    if (rocprofiler_force_configure(configure) != ROCPROFILER_STATUS_SUCCESS)
        return -1;
    library_open(&old_library, "libroctx64.so.4");
    library_open(&sdk_library, "librocprofiler-sdk-roctx.so.1");
    listener_register(listen);
    return 0;
}

static int reset(void **state)
{
    (void)state;
    for (int i = 0; i < OPERATIONS; i++)
        calls[i] = heard[i] = 0;
    return 0;
}

static void use(const struct library *library, const char *message)
{
    library->mark(message);
    assert_int_equal(library->push(message), 0);
    assert_int_equal(library->push(message), 1);
    assert_int_equal(library->pop(), 1);
    assert_int_equal(library->pop(), 0);
    assert_int_equal(library->pop(), -1);
    library->stop(library->start(message));
}

static void tool_saw(int times)
{
    static const struct {
        int operation, each;
    } expected[] = {{ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA, 1},
                    {ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA, 2},
                    {ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop, 3},
                    {ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA, 1},
                    {ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(calls[expected[i].operation], times * expected[i].each);
}

static void listener_heard(int times)
{
    static const int each[] = {1, 2, 3, 1, 1}; /* by roctx_api_id_t */
    for (int i = 0; i < 5; i++)
        assert_int_equal(heard[i], times * each[i]);
}

static void markers_of_libroctx64_reach_the_tool_and_the_listener_once(void **state)
{
    (void)state;
    use(&old_library, "old");
    assert_string_equal(last_message, "old");
    tool_saw(1);
    listener_heard(1);
}

static void markers_of_the_other_library_reach_the_tool_once(void **state)
{
    (void)state;
    use(&sdk_library, "new");
    assert_string_equal(last_message, "new");
    tool_saw(1);
    listener_heard(0);
}

static void levels_of_the_two_libraries_are_their_own(void **state)
{
    (void)state;
    assert_int_equal(old_library.push("a"), 0);
    assert_int_equal(sdk_library.push("b"), 0);
    assert_int_equal(old_library.pop(), 0);
    assert_int_equal(sdk_library.pop(), 0);
}

static void a_stopped_context_sees_nothing_and_the_listener_goes_on(void **state)
{
    (void)state;
    assert_int_equal(rocprofiler_stop_context(context), ROCPROFILER_STATUS_SUCCESS);
    use(&old_library, "stopped");
    assert_int_equal(rocprofiler_start_context(context), ROCPROFILER_STATUS_SUCCESS);
    tool_saw(0);
    listener_heard(1);
}

enum { THREADS = 4, ROUNDS = 2000 };

static void *thread_main(void *library)
{
    for (int i = 0; i < ROUNDS; i++) {
        ((const struct library *)library)->push("x");
        ((const struct library *)library)->pop();
    }
    return NULL;
}

static void nothing_is_lost_while_threads_use_both(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_main, i % 2 ? &old_library : &sdk_library);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(calls[ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA], THREADS * ROUNDS);
    assert_int_equal(calls[ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop], THREADS * ROUNDS);
    assert_int_equal(heard[1], THREADS / 2 * ROUNDS);
    assert_int_equal(heard[2], THREADS / 2 * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(markers_of_libroctx64_reach_the_tool_and_the_listener_once, reset),
        cmocka_unit_test_setup(markers_of_the_other_library_reach_the_tool_once, reset),
        cmocka_unit_test_setup(levels_of_the_two_libraries_are_their_own, reset),
        cmocka_unit_test_setup(a_stopped_context_sees_nothing_and_the_listener_goes_on, reset),
        cmocka_unit_test_setup(nothing_is_lost_while_threads_use_both, reset),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
