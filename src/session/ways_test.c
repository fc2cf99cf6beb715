/* Straight ways through a call against the way that looks at everything: random lives of a process
 * are lived twice, and what tools hear must be the same. Each life is a child of its own; in one of
 * two an external id has been pushed and popped before, which closes the straight ways. */
#include "session/endings.h"
#include "session/front/engine.h"
#include "session/internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIVES = 120, STEPS = 60, DEPTH_MAX = 5, WARM = 5000, IDS_MAX = 1 << 16 };
enum { CALLED, RECORDED, OTHER_CALLED, BOTH, RETIRED, ASKED, ARGUED, CONTEXTS };
/* Who listens to which operation: 1 CALLED; 2 RECORDED; 3 CALLED and RECORDED; 4 BOTH (two
 * services); 5 CALLED, OTHER_CALLED and ASKED. Then HIP's: 6 CALLED and RECORDED, 7 ARGUED
 * (arguments in records). */
enum { HSA_OPS = 6, OPS = 8 };

static rocprofiler_context_id_t contexts[CONTEXTS];
static rocprofiler_buffer_id_t buffers[CONTEXTS];
static FILE *out;
static uint64_t seed;
static int actions; /* left for callbacks of the present step */
static unsigned depth;
static uint64_t ids[IDS_MAX]; /* in the order in which they were heard of */
static uint32_t id_count;
static jmp_buf *landing;
static bool forked; /* a child's first record is delivered at once, by another thread */

static uint32_t any(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* Which numbers ids have depends on how fast calls come; which are the same does not. */
static uint32_t id_name(uint64_t id)
{
    if (id == 0)
        return 0;
    for (uint32_t i = id_count; i-- > 0;)
        if (ids[i] == id)
            return i + 1;
    if (id_count < IDS_MAX)
        ids[id_count++] = id;
    return id_count;
}

static void act_in_callback(void);

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    if (!out)
        return;
    bool own_thread = record.thread_id == (uint64_t)syscall(SYS_gettid);
    const rocprofiler_callback_tracing_hsa_api_data_t *payload = record.payload;
    fprintf(out, "call %ld kind %d op %d phase %d id %u ext %lu anc %u %s %s user %lu size %lu\n",
            (long)(intptr_t)data, (int)record.kind, record.operation, (int)record.phase,
            id_name(record.correlation_id.internal), record.correlation_id.external.value,
            id_name(record.correlation_id.ancestor), own_thread ? "here" : "elsewhere",
            record.correlation_id.internal > record.correlation_id.ancestor ? "later" : "EARLIER",
            user_data->value, payload->size);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        user_data->value = 100 + (uint64_t)(intptr_t)data;
    act_in_callback();
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id;
    for (size_t i = 0; out && !forked && i < count; i++) {
        const rocprofiler_buffer_tracing_hsa_api_record_t *r = headers[i]->payload;
        const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *gone =
            headers[i]->payload;
        bool is_hsa = headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HSA_CORE_API;
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT)
            fprintf(out, "retired %u\n", id_name(gone->internal_correlation_id));
        else
            fprintf(out, "record %ld size %lu kind %d op %d id %u ext %lu anc %u %s dropped %lu\n",
                    (long)(intptr_t)data, r->size, (int)r->kind, r->operation,
                    id_name(r->correlation_id.internal), r->correlation_id.external.value,
                    id_name(r->correlation_id.ancestor),
                    r->start_timestamp > r->end_timestamp || !r->start_timestamp ? "BACKWARDS"
                    : is_hsa != (r->operation < HSA_OPS) || r->kind != headers[i]->kind
                        ? "WRONG KIND"
                        : "in order",
                    dropped);
    }
}

static int on_request(rocprofiler_thread_id_t tid, rocprofiler_context_id_t context,
                      rocprofiler_external_correlation_id_request_kind_t kind,
                      rocprofiler_tracing_operation_t operation, uint64_t internal,
                      rocprofiler_user_data_t *external, void *data)
{
    (void)tid, (void)context, (void)kind, (void)internal, (void)data;
    external->value = 7000 + (uint64_t)operation;
    return 0;
}

static rocprofiler_status_t services(int which, rocprofiler_callback_tracing_cb_t callback,
                                     uint32_t kind, const rocprofiler_tracing_operation_t *ops,
                                     size_t count)
{
    void *name = (void *)(intptr_t)which;
    rocprofiler_status_t failed = context_create(&contexts[which]);
    if (callback)
        failed |= callback_service_configure(
            contexts[which], ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, ops, count, callback, name);
    if (kind)
        failed |=
            buffer_create(contexts[which], 8 << 20, 8 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                          on_buffer, name, &buffers[which]) |
            buffer_service_configure(contexts[which], kind, ops, count, buffers[which]);
    return failed;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    const uint32_t api = ROCPROFILER_BUFFER_TRACING_HSA_CORE_API;
    const rocprofiler_external_correlation_id_request_kind_t request =
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HSA_CORE_API;
    const rocprofiler_tracing_operation_t hip_ops[] = {6, 7};
    return (int)(services(CALLED, on_call, 0, (rocprofiler_tracing_operation_t[]){1, 3, 5}, 3) |
                 services(RECORDED, NULL, api, (rocprofiler_tracing_operation_t[]){2, 3}, 2) |
                 services(OTHER_CALLED, on_call, 0, (rocprofiler_tracing_operation_t[]){5}, 1) |
                 services(BOTH, on_call, api, (rocprofiler_tracing_operation_t[]){4}, 1) |
                 services(RETIRED, NULL, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL,
                          0) |
                 callback_service_configure(contexts[CALLED],
                                            ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, hip_ops,
                                            1, on_call, (void *)(intptr_t)CALLED) |
                 buffer_service_configure(contexts[RECORDED],
                                          ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, hip_ops, 1,
                                          buffers[RECORDED]) |
                 services(ARGUED, NULL, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT, &hip_ops[1],
                          1) |
                 services(ASKED, on_call, 0, (rocprofiler_tracing_operation_t[]){5}, 1) |
                 request_service_configure(contexts[ASKED], &request, 1, on_request, NULL));
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

/* ---- a life */

static void push_or_pop(void)
{
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    uint32_t which = any(2) ? CALLED : any(CONTEXTS);
    if (any(3))
        external_push(contexts[which], self, (rocprofiler_user_data_t){.value = 1 + any(99)});
    else
        external_pop(contexts[which], self, NULL);
}

static void work_make(bool keeps)
{
    static struct trace_event events[4]; /* dispatches that outlive the calls that caused them */
    static uint32_t next;
    struct trace_event *event = &events[next++ % 4];
    trace_event_release(event);
    trace_event_open_unwatched(event, TRACE_KERNEL_DISPATCH);
    fprintf(out, "work of %u inside of %u\n", id_name(event->correlation_id.internal),
            id_name(event->correlation_id.ancestor));
    if (!keeps)
        trace_event_release(event);
}

static void traced_call(int32_t op);

static void act(void)
{
    switch (any(12)) {
    case 0:
    case 1:
        context_start(contexts[any(CONTEXTS)]);
        break;
    case 2:
        context_stop(contexts[any(CONTEXTS)]);
        break;
    case 10:
        context_start(contexts[RETIRED]);
        work_make(true);
        if (any(2))
            context_stop(contexts[RETIRED]);
        break;
    case 3:
        if (seed % 3 == 0) /* rarely: it closes straight ways for the rest of the life */
            push_or_pop();
        break;
    case 4:
        work_make(any(2));
        break;
    case 5:
        if (landing && any(4) == 0)
            longjmp(*landing, 1);
        break;
    default:
        if (depth < DEPTH_MAX)
            traced_call((int32_t)any(OPS));
    }
}

static void act_in_callback(void)
{
    if (any(25) == 0)
        push_or_pop();
    if (actions > 0 && any(3) == 0) {
        jmp_buf *outer = landing; /* nobody leaves a callback */
        landing = NULL;
        actions--;
        act();
        landing = outer;
    }
}

static __attribute__((noinline)) void traced_call(int32_t op)
{
    enum trace_domain domain = op < HSA_OPS ? TRACE_HSA_CORE_API : TRACE_HIP_RUNTIME_API;
    const struct trace_set *set = trace_set_load(domain, op);
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    struct trace_frame frame;
    depth++;
    if (set)
        trace_api_enter(&frame, set, domain, op, &data);
    while (actions > 0 && any(2)) {
        actions--;
        act();
    }
    if (set)
        trace_api_exit(&frame);
    depth--;
}

static __attribute__((noinline)) void call_that_may_be_left(int32_t op)
{
    jmp_buf here;
    landing = &here;
    if (setjmp(here) == 0)
        traced_call(op);
    depth = 0;
    landing = NULL;
}

static void *calls_of_thread(void *arg)
{
    for (int32_t op = 0; op < OPS; op++)
        traced_call(op);
    return arg;
}

static void thread_run(void)
{
    pthread_t thread;
    actions = 2;
    pthread_create(&thread, NULL, calls_of_thread, NULL);
    pthread_join(thread, NULL);
}

static void enclosed_calls(void)
{
    struct trace_event range;
    trace_event_open_unwatched(&range, TRACE_MARKER_CORE_RANGE_API);
    trace_enclosure_begin(&range);
    actions = 3;
    calls_of_thread(NULL);
    trace_enclosure_end(&range);
    trace_event_release(&range);
}

/* What the child hears of its calls, also of one that its parent began. */
static void fork_inside(void)
{
    const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, 1);
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    struct trace_frame frame;
    actions = 0;
    if (set)
        trace_api_enter(&frame, set, TRACE_HSA_CORE_API, 1, &data);
    fflush(out);
    pid_t child = fork();
    forked |= child == 0;
    if (set)
        trace_api_exit(&frame);
    if (child == 0) {
        calls_of_thread(NULL);
        fflush(out);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void flush_all(void)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (buffers[i].handle)
            buffer_flush(buffers[i]);
}

static void step(void)
{
    actions = (int)any(8);
    switch (any(12)) {
    case 0:
        thread_run();
        break;
    case 1:
        enclosed_calls();
        break;
    case 2:
        if (any(4) == 0)
            fork_inside();
        break;
    case 3:
        flush_all();
        break;
    case 4:
    case 5:
        act();
        break;
    default:
        call_that_may_be_left((int32_t)any(OPS));
    }
}

static bool way_is(int op, const struct trace_way *way)
{
    const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, op);
    return set && atomic_load(&set->enter) == way->enter && atomic_load(&set->exit) == way->exit;
}

/* Fast calls get ids by block; nobody writes them down. */
static bool warm(bool straight)
{
    FILE *file = out;
    out = NULL;
    context_start(contexts[CALLED]);
    context_start(contexts[RECORDED]);
    for (int i = 0; i < WARM; i++)
        traced_call(1 + i % 2);
    flush_all();
    bool as_wanted = way_is(1, straight ? &trace_ways.callback : &trace_ways.any) &&
                     way_is(2, straight ? &trace_ways.record : &trace_ways.any) &&
                     way_is(3, &trace_ways.any);
    context_start(contexts[RETIRED]);
    as_wanted &= way_is(1, &trace_ways.any) && way_is(2, &trace_ways.any);
    context_stop(contexts[RETIRED]);
    as_wanted &= way_is(1, straight ? &trace_ways.callback : &trace_ways.any);
    flush_all();
    out = file;
    return as_wanted;
}

static int live(uint64_t number, bool straight, int fd)
{
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    out = fdopen(fd, "w");
    seed = number * 7919 + 1;
    if (session_force_configure(configure) != ROCPROFILER_STATUS_SUCCESS)
        return 1;
    bool possible = clock_uses_tsc && thread_fence_is_free;
    if (!straight) {
        external_push(contexts[0], self, (rocprofiler_user_data_t){.value = 1});
        external_pop(contexts[0], self, NULL);
    }
    actions = 0;
    if (!warm(straight) && possible)
        return 2;
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < CONTEXTS; i++)
        context_stop(contexts[i]);
    flush_all();
    fprintf(out, "end\n");
    return fclose(out) != 0;
}

static char *life(uint64_t number, bool straight, size_t *size)
{
    FILE *log = tmpfile();
    assert_non_null(log);
    pid_t child = fork();
    if (child == 0)
        _exit(live(number, straight, dup(fileno(log))));
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    *size = (size_t)lseek(fileno(log), 0, SEEK_END);
    char *text = calloc(1, *size + 1);
    assert_int_equal(pread(fileno(log), text, *size, 0), *size);
    fclose(log);
    return text;
}

static void first_difference(const char *one, const char *other)
{
    size_t i = 0, line = 0;
    for (; one[i] && one[i] == other[i]; i++)
        if (one[i] == '\n')
            line = i + 1;
    fprintf(stderr, "straight: %.*s\nother:    %.*s\n", (int)strcspn(one + line, "\n"), one + line,
            (int)strcspn(other + line, "\n"), other + line);
}

static void both_ways_tell_the_same(void **state)
{
    (void)state;
    const char *from = getenv("WAYS_FROM");
    uint64_t first = from ? strtoull(from, NULL, 10) : 0;
    size_t lines = 0;
    for (uint64_t number = first; number < first + LIVES; number++) {
        size_t sizes[2];
        char *texts[2] = {life(number, true, &sizes[0]), life(number, false, &sizes[1])};
        if (sizes[0] != sizes[1] || memcmp(texts[0], texts[1], sizes[0]) != 0) {
            first_difference(texts[0], texts[1]);
            fail_msg("life %llu differs", (unsigned long long)number);
        }
        assert_null(strstr(texts[0], "EARLIER"));
        assert_null(strstr(texts[0], "BACKWARDS"));
        assert_null(strstr(texts[0], "elsewhere"));
        assert_null(strstr(texts[0], "WRONG"));
        for (const char *at = texts[0]; (at = strchr(at, '\n')); at++)
            lines++;
        free(texts[0]);
        free(texts[1]);
    }
    assert_true(lines > LIVES * 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways_tell_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
