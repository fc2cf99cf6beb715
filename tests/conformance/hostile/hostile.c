/*
 * hostile NAME: a tool and a program that do what nobody should, one thing each. Ends with 0 when
 * nothing was lost, hung or broken.
 */
#include "../client.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { BUFFERS = 3, PAGE_BYTES = 4096 };

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define SUCCEEDS(call)     EXPECT((call) == ROCPROFILER_STATUS_SUCCESS)
#define REFUSES(how, call) EXPECT((call) == ROCPROFILER_STATUS_ERROR_##how)

/* Buffer i belongs to context i, which writes markers into it. Buffer 0 also gets context 3's. */
static struct outlet {
    rocprofiler_context_id_t context;
    rocprofiler_buffer_id_t buffer;
    size_t size, watermark;
    rocprofiler_buffer_policy_t policy;
    _Atomic unsigned records, calls;
    _Atomic uint64_t dropped;
} outlets[BUFFERS] = {
    {.size = 1 << 20, .watermark = 1 << 20, .policy = ROCPROFILER_BUFFER_POLICY_LOSSLESS},
    {.size = PAGE_BYTES, .watermark = PAGE_BYTES, .policy = ROCPROFILER_BUFFER_POLICY_LOSSLESS},
    {.size = 16 << 20, .watermark = 16 << 20, .policy = ROCPROFILER_BUFFER_POLICY_DISCARD},
};
static rocprofiler_context_id_t second_context;
static void (*_Atomic in_callback)(struct outlet *outlet);
static rocprofiler_client_finalize_t finalizer;
static rocprofiler_client_id_t *client;
static _Atomic bool finalized;

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    struct outlet *outlet = data;
    (void)context, (void)buffer;
    for (size_t i = 0; i < count; i++)
        EXPECT(*(const uint64_t *)headers[i]->payload == RECORD_BYTES);
    outlet->dropped = dropped;
    outlet->calls++;
    outlet->records += (unsigned)count;
    void (*act)(struct outlet *) = in_callback;
    if (act)
        act(outlet);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)data;
    finalizer = finalize;
    for (int i = 0; i < BUFFERS; i++) {
        struct outlet *o = &outlets[i];
        SUCCEEDS(rocprofiler_create_context(&o->context));
        SUCCEEDS(rocprofiler_create_buffer(o->context, o->size, o->watermark, o->policy, on_buffer,
                                           o, &o->buffer));
        SUCCEEDS(rocprofiler_configure_buffer_tracing_service(
            o->context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, NULL, 0, o->buffer));
    }
    SUCCEEDS(rocprofiler_create_context(&second_context));
    SUCCEEDS(rocprofiler_configure_buffer_tracing_service(
        second_context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, NULL, 0, outlets[0].buffer));
    return 0;
}

static void on_finalize(void *data)
{
    (void)data;
    finalized = true;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, on_finalize,
                                                         NULL};
    (void)version, (void)name, (void)priority;
    client = id;
    return &result;
}

static void start(int i)
{
    SUCCEEDS(rocprofiler_start_context(outlets[i].context));
}

static void flush(int i)
{
    SUCCEEDS(rocprofiler_flush_buffer(outlets[i].buffer));
}

static unsigned long resident_kib(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file && fscanf(file, "%lu %lu", &size, &resident) == 2);
    fclose(file);
    return resident * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

/* ---- what is done */

static void two_contexts_one_buffer(void)
{
    start(0);
    SUCCEEDS(rocprofiler_start_context(second_context));
    marks(100);
    SUCCEEDS(rocprofiler_stop_context(outlets[0].context));
    marks(10);
    flush(0);
    EXPECT(outlets[0].records == 210);
}

static void change_everything(struct outlet *outlet)
{
    rocprofiler_context_id_t context = {0};
    rocprofiler_buffer_id_t buffer = {0};
    rocprofiler_callback_thread_t thread;
    REFUSES(BUFFER_BUSY, rocprofiler_destroy_buffer(outlet->buffer));
    REFUSES(CONFIGURATION_LOCKED, rocprofiler_create_context(&context));
    REFUSES(CONFIGURATION_LOCKED, rocprofiler_create_buffer(outlet->context, PAGE_BYTES, 0,
                                                            ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                                            on_buffer, NULL, &buffer));
    REFUSES(CONFIGURATION_LOCKED, rocprofiler_create_callback_thread(&thread));
    rocprofiler_stop_context(outlet->context);
    SUCCEEDS(rocprofiler_start_context(outlet->context));
}

static void callbacks_that_change_everything(void)
{
    in_callback = change_everything;
    start(0);
    marks(100);
    flush(0);
    marks(100);
    in_callback = NULL;
    flush(0);
    EXPECT(outlets[0].records == 200);
}

static void destroy_the_other(struct outlet *outlet)
{
    if (outlet == &outlets[0])
        SUCCEEDS(rocprofiler_destroy_buffer(outlets[1].buffer));
}

static void a_callback_destroys_another_buffer(void)
{
    in_callback = destroy_the_other;
    start(0);
    start(1);
    marks(50);
    flush(0);
    EXPECT(outlets[1].records == 50);
    REFUSES(BUFFER_NOT_FOUND, rocprofiler_flush_buffer(outlets[1].buffer));
    marks(50);
    in_callback = NULL;
    flush(0);
    EXPECT(outlets[0].records == 100 && outlets[1].records == 50);
}

static void end_client(struct outlet *outlet)
{
    if (outlet == &outlets[0])
        finalizer(*client);
}

static void a_callback_finalizes(void)
{
    in_callback = end_client;
    start(0);
    start(1);
    marks(30);
    rocprofiler_flush_buffer(outlets[0].buffer);
    for (int i = 0; i < 5000 && !finalized; i++)
        nap_ms(1);
    EXPECT(finalized && outlets[0].records == 30 && outlets[1].records == 30);
    marks(10);
}

static void exit_now(struct outlet *outlet)
{
    (void)outlet;
    in_callback = NULL;
    exit(42);
}

static void check_at_exit(void)
{
    EXPECT(outlets[0].records == 30 && outlets[1].records == 30);
}

/* The tool's end delivers the other buffer; then the code of exit counts. */
static void a_callback_exits(void)
{
    pid_t child = fork();
    if (child == 0) {
        atexit(check_at_exit);
        SUCCEEDS(rocprofiler_force_configure(configure));
        in_callback = exit_now;
        start(0);
        start(1);
        marks(30);
        rocprofiler_flush_buffer(outlets[0].buffer);
        nap_ms(20000);
        _exit(1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static _Atomic int child_status;
static void fork_here(struct outlet *outlet)
{
    if (outlet->calls != 1)
        return;
    pid_t child = fork();
    if (child == 0) {
        marks(3);
        _exit(outlet->records == 20 ? 7 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    child_status = status;
}

static void a_callback_forks(void)
{
    in_callback = fork_here;
    start(0);
    marks(20);
    flush(0);
    EXPECT(WIFEXITED(child_status) && WEXITSTATUS(child_status) == 7);
    marks(20);
    flush(0);
    EXPECT(outlets[0].records == 40);
}

static void *mark_and_leave(void *count)
{
    rocprofiler_thread_id_t tid;
    rocprofiler_user_data_t value = {.value = 5};
    SUCCEEDS(rocprofiler_get_thread_id(&tid));
    for (unsigned i = 0; i < *(unsigned *)count; i++) {
        SUCCEEDS(rocprofiler_push_external_correlation_id(outlets[0].context, tid, value));
        marks(1);
    }
    return NULL; /* with ids on its stack and records in a lease */
}

static void threads_round(unsigned threads, unsigned together)
{
    static unsigned each = 20;
    pthread_t ids[64];
    for (unsigned i = 0; i < threads; i += together) {
        for (unsigned k = 0; k < together; k++)
            EXPECT(pthread_create(&ids[k], NULL, mark_and_leave, &each) == 0);
        for (unsigned k = 0; k < together; k++)
            EXPECT(pthread_join(ids[k], NULL) == 0);
    }
    flush(0);
}

static void threads_come_and_go(void)
{
    enum { TOGETHER = 20, THREADS = 2000, ROUNDS = 4, GROWTH_MAX_KIB = 2048 + 256 };
    start(0);
    threads_round(THREADS, TOGETHER); /* fills the buffer more than once */
    unsigned long before = resident_kib();
    for (int i = 1; i < ROUNDS; i++) /* the buffer's two halves may still grow to 2 MiB */
        threads_round(THREADS, TOGETHER);
    EXPECT(outlets[0].records == ROUNDS * THREADS * 20);
    EXPECT(outlets[0].dropped == 0);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    unsigned long after = resident_kib();
    if (after > before + GROWTH_MAX_KIB)
        fprintf(stderr, "%lu KiB before, %lu after\n", before, after);
    EXPECT(after <= before + GROWTH_MAX_KIB);
#else
    (void)before;
#endif
}

static void ids_of_a_thread_that_has_gone(void)
{
    unsigned once = 1;
    pthread_t thread;
    start(0);
    EXPECT(pthread_create(&thread, NULL, mark_and_leave, &once) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    rocprofiler_thread_id_t tid;
    rocprofiler_user_data_t value = {.value = 1};
    SUCCEEDS(rocprofiler_get_thread_id(&tid));
    for (int i = 0; i < 3; i++) { /* more pops than pushes */
        SUCCEEDS(rocprofiler_pop_external_correlation_id(outlets[0].context, tid, &value));
        EXPECT(value.value == 0);
    }
    SUCCEEDS(rocprofiler_push_external_correlation_id(outlets[0].context, tid, value));
    SUCCEEDS(rocprofiler_pop_external_correlation_id(outlets[0].context, tid, NULL));
}

/* No page more from now on. Whatever needs memory says so; nothing crashes, nothing is uncounted.
 */
static void without_memory(void)
{
    enum { MARKS = 400000 };
    for (int i = 0; i < BUFFERS; i++)
        start(i);
    marks(10);
    struct rlimit limit;
    EXPECT(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = 1 << 20;
    EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
    EXPECT(!malloc(64 << 20));
    for (uint64_t i = 0; i < 100000; i++) {
        rocprofiler_status_t status = rocprofiler_push_external_correlation_id(
            outlets[i % BUFFERS].context, (rocprofiler_thread_id_t)syscall(SYS_gettid),
            (rocprofiler_user_data_t){.value = i});
        EXPECT(status == ROCPROFILER_STATUS_SUCCESS ||
               status == ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES);
    }
    marks(MARKS);
    for (int i = 0; i < BUFFERS; i++) {
        SUCCEEDS(rocprofiler_stop_context(outlets[i].context));
        flush(i);
    }
    limit.rlim_cur = limit.rlim_max;
    EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
    start(2);
    marks(1); /* tells what was dropped */
    flush(2);
    EXPECT(outlets[0].records == MARKS + 10 && outlets[1].records == MARKS + 10);
    EXPECT(outlets[2].records + outlets[2].dropped == MARKS + 11);
}

static _Atomic unsigned signals;
static void on_signal(int number)
{
    int before = errno;
    (void)number;
    roctxMark("in a handler");
    rocprofiler_flush_buffer(outlets[1].buffer);
    signals++;
    errno = before;
}

/* A handler that interrupts a record may lose its own, which is counted; nothing waits for itself.
 */
static void handlers_that_record_and_flush(void)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    unsigned made = 0;
    EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
    start(0);
    start(1);
    marks(100); /* calls of a handler inside of the first one, which offers the tables, are not seen
                 */
    made += 100;
    EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (; signals < 300; made += 100)
        marks(100);
    EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
    unsigned produced = made + signals;
    flush(0);
    flush(1);
    marks(1); /* tells what was dropped */
    flush(0);
    flush(1);
    for (int i = 0; i < 2; i++)
        EXPECT(outlets[i].records + outlets[i].dropped == produced + 1);
}

static const struct {
    const char *name;
    void (*run)(void);
    bool configures_itself;
} deeds[] = {
    {"two_contexts_one_buffer", two_contexts_one_buffer, false},
    {"callbacks_that_change_everything", callbacks_that_change_everything, false},
    {"a_callback_destroys_another_buffer", a_callback_destroys_another_buffer, false},
    {"a_callback_finalizes", a_callback_finalizes, false},
    {"a_callback_exits", a_callback_exits, true},
    {"a_callback_forks", a_callback_forks, false},
    {"threads_come_and_go", threads_come_and_go, false},
    {"ids_of_a_thread_that_has_gone", ids_of_a_thread_that_has_gone, false},
    {"without_memory", without_memory, false},
    {"handlers_that_record_and_flush", handlers_that_record_and_flush, false},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        if (argc < 2 || strcmp(argv[1], deeds[i].name) != 0)
            continue;
        if (!deeds[i].configures_itself)
            SUCCEEDS(rocprofiler_force_configure(configure));
        deeds[i].run();
        return 0;
    }
    fprintf(stderr, "hostile: no such deed\n");
    return 2;
}
