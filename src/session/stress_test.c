/* Everything at once: traced calls, events, starts, stops, flushes, pushes. No record may be lost.
 */
#include "session/endings.h"
#include "session/front/engine.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef __SANITIZE_THREAD__
enum { CALLS = 60000 };
#else
enum { CALLS = 500000 };
#endif
enum { THREADS = 4, CONTEXTS = 3 };

static rocprofiler_context_id_t contexts[CONTEXTS];
static rocprofiler_buffer_id_t buffers[CONTEXTS];
static _Atomic uint64_t produced, delivered, retired, entered, exited, wrong;
static _Atomic bool done;

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)data;
    wrong += dropped;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_hsa_api_record_t *record = headers[i]->payload;
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) {
            retired++;
            continue;
        }
        delivered++;
        wrong += record->start_timestamp > record->end_timestamp || record->operation > 1 ||
                 record->correlation_id.internal == 0;
    }
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user_data->value = record.correlation_id.internal;
        entered++;
    } else {
        wrong += user_data->value != record.correlation_id.internal;
        exited++;
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    int status = 0;
    for (int i = 0; i < CONTEXTS; i++) {
        status |= (int)context_create(&contexts[i]);
        status |=
            (int)buffer_create(contexts[i], i == 0 ? 1 << 20 : 8192, i == 0 ? 900 << 10 : 4096,
                               ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, NULL, &buffers[i]);
        status |= (int)buffer_service_configure(
            contexts[i], ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, NULL, 0, buffers[i]);
    }
    status |= (int)callback_service_configure(
        contexts[1], ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, NULL, 0, on_call, NULL);
    status |= (int)buffer_service_configure(
        contexts[2], ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0, buffers[2]);
    return status;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static void traced_call(int32_t op, bool with_work)
{
    const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, op);
    if (!set)
        return;
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    struct trace_frame frame;
    struct trace_event event;
    trace_api_enter(&frame, set, TRACE_HSA_CORE_API, op, &data);
    for (uint32_t i = 0; i < set->subscriber_count; i++)
        produced += set->subscribers[i].buffer != NULL;
    if (with_work)
        trace_event_open_unwatched(&event, TRACE_KERNEL_DISPATCH);
    trace_api_exit(&frame);
    if (with_work)
        trace_event_release(&event);
}

static void *work(void *arg)
{
    (void)arg;
    for (int i = 0; i < CALLS; i++)
        traced_call(i & 1, i % 16 == 0);
    return NULL;
}

static void *toggle(void *arg)
{
    unsigned random = (unsigned)(uintptr_t)arg;
    while (!done) {
        random = random * 1103515245u + 12345u;
        rocprofiler_context_id_t context = contexts[(random >> 16) % CONTEXTS];
        rocprofiler_status_t status =
            random >> 28 & 1 ? context_start(context) : context_stop(context);
        wrong += status != ROCPROFILER_STATUS_SUCCESS &&
                 status != ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND &&
                 status != ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
        nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    return NULL;
}

static void *flush_and_push(void *arg)
{
    (void)arg;
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    for (int i = 0; !done; i++) {
        wrong += buffer_flush(buffers[i % CONTEXTS]) != ROCPROFILER_STATUS_SUCCESS;
        external_push(contexts[0], self, (rocprofiler_user_data_t){.value = (uint64_t)i});
        external_push(contexts[0], (rocprofiler_thread_id_t)getpid(),
                      (rocprofiler_user_data_t){.value = (uint64_t)i});
        external_pop(contexts[0], (rocprofiler_thread_id_t)getpid(), NULL);
        external_pop(contexts[0], self, NULL);
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    return NULL;
}

static pthread_barrier_t together;

static void *push_and_pop(void *arg)
{
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    rocprofiler_user_data_t pushed = {.ptr = arg}, popped = {0};
    pthread_barrier_wait(&together);
    wrong += external_push(contexts[0], self, pushed) != ROCPROFILER_STATUS_SUCCESS;
    pthread_barrier_wait(&together);
    wrong += external_pop(contexts[0], self, &popped) != ROCPROFILER_STATUS_SUCCESS;
    wrong += popped.ptr != arg;
    return NULL;
}

/* Threads that come at once, where others have gone: what these leave is taken by one each. */
static void who_comes_at_once_has_ids_of_its_own(void **state)
{
    enum { ROUNDS = 300, AT_ONCE = 8 };
    pthread_t threads[AT_ONCE];
    (void)state;
    pthread_barrier_init(&together, NULL, AT_ONCE);
    for (int round = 0; round < ROUNDS; round++) {
        for (uintptr_t i = 0; i < AT_ONCE; i++)
            pthread_create(&threads[i], NULL, push_and_pop, (void *)(i + 1));
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&together);
    assert_int_equal(wrong, 0);
}

static int status_of(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The only process of a namespace, whose child has the same number in one of its own. */
static int child_of_namespace(void)
{
    const rocprofiler_user_data_t pushed = {.value = 42};
    rocprofiler_user_data_t popped = pushed;
    if (external_push(contexts[0], (rocprofiler_thread_id_t)getpid(), pushed) !=
            ROCPROFILER_STATUS_SUCCESS ||
        unshare(CLONE_NEWPID) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        external_pop(contexts[0], (rocprofiler_thread_id_t)getpid(), &popped);
        _exit((int)popped.value);
    }
    return status_of(child);
}

static void children_have_no_id_of_their_parents(void **state)
{
    enum { NOT_ALLOWED = 77 };
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        pid_t first = unshare(CLONE_NEWPID) == 0 ? fork() : -1;
        if (first == 0)
            _exit(child_of_namespace());
        _exit(first > 0 ? status_of(first) : NOT_ALLOWED);
    }
    int status = status_of(child);
    if (status == NOT_ALLOWED)
        skip();
    assert_int_equal(status, 0);
}

static int begin(void **state)
{
    (void)state;
    return session_force_configure(configure) == ROCPROFILER_STATUS_SUCCESS ? 0 : -1;
}

static void nothing_is_lost(void **state)
{
    (void)state;
    pthread_t workers[THREADS], toggler, flusher;
    assert_int_equal(context_start(contexts[0]), ROCPROFILER_STATUS_SUCCESS);
    pthread_create(&toggler, NULL, toggle, (void *)1);
    pthread_create(&flusher, NULL, flush_and_push, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i], NULL);
    done = true;
    pthread_join(toggler, NULL);
    pthread_join(flusher, NULL);
    session_finalize();
    assert_true(produced > 0);
    assert_int_equal(delivered, produced);
    assert_int_equal(entered, exited);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_have_no_id_of_their_parents),
        cmocka_unit_test(who_comes_at_once_has_ids_of_its_own),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
