/*
 * What callbacks must not do and do all the same, and what else goes wrong around them. Each way is
 * a process of its own, which must end as it says and not hang.
 */
#include "common.h"
#include "ways.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>

enum { CALLS = 50, RECORD_BYTES = sizeof(roctracer_record_t) };

static const uint32_t OP = HSA_API_ID_hsa_system_get_info;

static void call(void)
{
    uint16_t major;
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS);
}

static void calls(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        call();
}

/* ---- a client: one callback, one pool, and a deed that one of them does once */

enum place { NOWHERE, AT_ENTER, AT_EXIT, IN_POOL };
static struct {
    enum place place;
    void (*deed)(void);
    _Atomic bool done;
    _Atomic unsigned enters, exits, records;
    roctracer_pool_t *pool;
} client;

static void maybe(enum place place)
{
    if (client.place == place && !atomic_exchange(&client.done, true))
        client.deed();
}

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_api_data_t *call_data = data;
    CHECK(domain == ACTIVITY_DOMAIN_HSA_API && op == OP && arg == &client);
    bool enter = call_data->phase == ACTIVITY_API_PHASE_ENTER;
    (*(enter ? &client.enters : &client.exits))++;
    maybe(enter ? AT_ENTER : AT_EXIT);
}

static void on_records(const char *begin, const char *end, void *arg)
{
    CHECK(arg == &client);
    client.records += (unsigned)((end - begin) / RECORD_BYTES);
    maybe(IN_POOL);
}

static void client_begin(enum place place, void (*deed)(void))
{
    const roctracer_properties_t properties = {.buffer_size = 16 * RECORD_BYTES,
                                               .buffer_callback_fun = on_records,
                                               .buffer_callback_arg = &client};
    client.place = place;
    client.deed = deed;
    DONE(roctracer_open_pool_expl(&properties, &client.pool));
    DONE(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, &client));
    DONE(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, client.pool));
}

/* As tools do at the end of the process, whoever ends it. */
static void client_end(void)
{
    roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP);
    roctracer_flush_activity_expl(client.pool);
    roctracer_close_pool_expl(client.pool);
}

static int all_is_recorded(unsigned count)
{
    client_end();
    CHECK(client.enters == count);
    CHECK(client.exits == count);
    CHECK(client.records == count);
    return STATUS;
}

/* ---- the program ends */

static void end_by_exit(void)
{
    exit(STATUS);
}

static void end_by_quick_exit(void)
{
    quick_exit(STATUS);
}

static void end_at_once(void)
{
    _exit(STATUS);
}

static void *calls_of_thread(void *arg)
{
    for (;;)
        calls(1);
    return arg;
}

/* Other threads go on calling meanwhile. */
static int ends(enum place place, void (*deed)(void))
{
    pthread_t threads[2];
    client_begin(place, deed);
    atexit(client_end);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, calls_of_thread, NULL) == 0);
    for (;;)
        call();
}

static int exit_at_enter(void)
{
    return ends(AT_ENTER, end_by_exit);
}

static int exit_at_exit(void)
{
    return ends(AT_EXIT, end_by_exit);
}

static int exit_in_pool(void)
{
    return ends(IN_POOL, end_by_exit);
}

static int quick_exit_at_enter(void)
{
    return ends(AT_ENTER, end_by_quick_exit);
}

static int quick_exit_in_pool(void)
{
    return ends(IN_POOL, end_by_quick_exit);
}

static int underscore_exit_at_enter(void)
{
    return ends(AT_ENTER, end_at_once);
}

static int underscore_exit_in_pool(void)
{
    return ends(IN_POOL, end_at_once);
}

/* ---- the thread ends */

static void end_thread(void)
{
    pthread_exit(NULL);
}

static void *some_calls(void *arg)
{
    calls(CALLS);
    return arg;
}

static int thread_exit(enum place place)
{
    pthread_t thread;
    void *result = &client;
    client_begin(place, end_thread);
    CHECK(pthread_create(&thread, NULL, some_calls, &client) == 0);
    pthread_join(thread, &result);
    CHECK(!result && client.done);
    calls(CALLS);
    client_end();
    CHECK(client.enters == CALLS + 1);
    CHECK(client.exits == CALLS + (place == AT_EXIT));
    CHECK(client.records >= CALLS && client.records <= CALLS + 1);
    return STATUS;
}

static int thread_exit_at_enter(void)
{
    return thread_exit(AT_ENTER);
}

static int thread_exit_at_exit(void)
{
    return thread_exit(AT_EXIT);
}

/* The pool's thread is not the client's to end; what it had is lost, the pool goes on. */
static int thread_exit_in_pool(void)
{
    client_begin(IN_POOL, end_thread);
    calls(CALLS);
    roctracer_flush_activity_expl(client.pool);
    CHECK(client.done);
    unsigned before = client.records;
    calls(CALLS);
    client_end();
    CHECK(client.records >= before + CALLS);
    return STATUS;
}

/* ---- the callback leaves: not allowed, and no reason to fall over at once */

static jmp_buf out;

static void jump(void)
{
    longjmp(out, 1);
}

static int longjmp_out(enum place place)
{
    client_begin(place, jump);
    if (setjmp(out) == 0)
        call();
    CHECK(client.done);
    calls(CALLS);
    client_end();
    CHECK(client.enters == CALLS + 1);
    CHECK(client.records >= CALLS);
    return STATUS;
}

static int longjmp_at_enter(void)
{
    return longjmp_out(AT_ENTER);
}

static int longjmp_at_exit(void)
{
    return longjmp_out(AT_EXIT);
}

/* ---- the callback forks */

static pid_t child;

static void fork_here(void)
{
    child = fork();
}

/* The parent's count is exact; the child goes on with what it needs of us, and ends. */
static int forks(enum place place)
{
    client_begin(place, fork_here);
    calls(CALLS);
    if (place == IN_POOL)
        roctracer_flush_activity_expl(client.pool);
    if (child == 0) {
        roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP);
        roctracer_flush_activity_expl(client.pool);
        exit(STATUS);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
    return all_is_recorded(CALLS);
}

static int fork_at_enter(void)
{
    return forks(AT_ENTER);
}

static int fork_at_exit(void)
{
    return forks(AT_EXIT);
}

static void fork_and_end(void)
{
    child = fork();
    if (child == 0)
        exit(STATUS);
}

static int fork_in_pool(void)
{
    client_begin(IN_POOL, fork_and_end);
    calls(CALLS);
    roctracer_flush_activity_expl(client.pool);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
    return all_is_recorded(CALLS);
}

/* ---- the callback takes its time, or calls everything */

static _Atomic bool go_on;

static void wait_to_go_on(void)
{
    while (!go_on)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Nothing that the library does waits for a callback that waits for it to be done. */
static int slow_callback(void)
{
    pthread_t thread;
    client_begin(AT_ENTER, wait_to_go_on);
    CHECK(pthread_create(&thread, NULL, some_calls, NULL) == 0);
    while (!client.done)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    DONE(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP));
    DONE(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, &client));
    DONE(roctracer_flush_activity_expl(client.pool));
    roctracer_stop();
    roctracer_start();
    go_on = true;
    pthread_join(thread, NULL);
    client_end();
    CHECK(client.records == CALLS);
    return STATUS;
}

static void ignore_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)data, (void)arg;
}

/* Every function of the library, as far as a client may call it at all. */
static void call_everything(void)
{
    const roctracer_properties_t properties = {.buffer_size = 4096};
    const activity_domain_t hsa = ACTIVITY_DOMAIN_HSA_API;
    const uint32_t other = HSA_API_ID_hsa_iterate_agents;
    roctracer_pool_t *pool;
    roctracer_record_t record;
    const roctracer_record_t *next;
    roctracer_timestamp_t now;
    uint32_t op;
    roctracer_ext_properties_t functions = {NULL, NULL};
    CHECK(roctracer_version_major() == 4 && roctracer_version_minor() == 1);
    DONE(roctracer_get_timestamp(&now));
    CHECK(roctracer_op_string(hsa, OP, 0));
    DONE(roctracer_op_code(hsa, "hsa_init", &op, NULL));
    free((void *)(uintptr_t)roctracer_error_string());
    DONE(roctracer_next_record(&record, &next));
    DONE(roctracer_activity_push_external_correlation_id(7));
    DONE(roctracer_activity_pop_external_correlation_id(NULL));
    DONE(roctracer_open_pool_expl(&properties, &pool));
    DONE(roctracer_enable_op_activity_expl(hsa, other, pool));
    DONE(roctracer_disable_op_activity(hsa, other));
    DONE(roctracer_flush_activity_expl(pool));
    DONE(roctracer_close_pool_expl(pool));
    DONE(roctracer_open_pool(&properties));
    CHECK(roctracer_default_pool() == roctracer_default_pool_expl(NULL));
    DONE(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_OPS));
    DONE(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HSA_OPS));
    DONE(roctracer_enable_op_activity(hsa, other));
    DONE(roctracer_flush_activity());
    DONE(roctracer_close_pool());
    DONE(roctracer_enable_op_callback(hsa, other, ignore_call, NULL));
    DONE(roctracer_disable_op_callback(hsa, other));
    DONE(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT, ignore_call, NULL));
    DONE(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT));
    DONE(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, ignore_call, NULL));
    DONE(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX));
    DONE(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, &functions));
    roctracer_stop();
    roctracer_start();
    DONE(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, NULL));
    roctracer_mark("mark");
    roctracer_flush_buf();
    CHECK(roctracer_load());
    roctracer_unload();
    DONE(roctracer_flush_activity_expl(client.pool));
    DONE(roctracer_disable_op_callback(hsa, OP));
    DONE(roctracer_enable_op_callback(hsa, OP, on_call, &client));
}

static int everything(enum place place)
{
    client_begin(place, call_everything);
    calls(CALLS);
    roctracer_flush_activity_expl(client.pool);
    CHECK(client.done);
    calls(CALLS);
    client_end();
    CHECK(client.records == 2 * CALLS);
    CHECK(client.enters == client.exits && client.enters == 2 * CALLS);
    return STATUS;
}

static int everything_at_enter(void)
{
    return everything(AT_ENTER);
}

static int everything_at_exit(void)
{
    return everything(AT_EXIT);
}

static int everything_in_pool(void)
{
    return everything(IN_POOL);
}

/* The last deeds of older versions: everything off, from inside. */
static void all_off(void)
{
    DONE(roctracer_disable_callback());
    DONE(roctracer_disable_activity());
}

static int all_off_at_enter(void)
{
    client_begin(AT_ENTER, all_off);
    calls(CALLS);
    client_end();
    CHECK(client.enters == 1 && client.exits == 0 && client.records <= 1);
    return STATUS;
}

/* ---- libraries go */

/* A client's library that is closed while everything is enabled: it stays, or its callbacks would
 * be calls into nothing. */
static unsigned *client_open_and_close(const char *what)
{
    void *library = dlopen(GOING_CLIENT, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    unsigned *(*begin)(void);
    *(void **)&begin = dlsym(library, what);
    CHECK(begin);
    unsigned *counts = begin();
    calls(CALLS);
    CHECK(dlclose(library) == 0);
    calls(CALLS);
    return counts;
}

static int client_with_callbacks_closed(void)
{
    CHECK(client_open_and_close("going_client_calls")[0] == 4 * CALLS);
    return STATUS;
}

static int client_with_a_pool_closed(void)
{
    const unsigned *counts = client_open_and_close("going_client_records");
    DONE(roctracer_flush_activity());
    CHECK(counts[1] == 2 * CALLS);
    return STATUS;
}

/* The library itself is closed by everybody. */
static int library_closed(void)
{
    client_begin(NOWHERE, NULL);
    void *library = dlopen("libroctracer64.so.4", RTLD_NOW);
    CHECK(library && dlclose(library) == 0 && (dlclose(library) == 0 || true));
    calls(CALLS);
    return all_is_recorded(CALLS);
}

/* ---- signals: a handler flushes whatever the thread is doing */

static _Atomic unsigned signals;

static void on_signal(int number)
{
    (void)number;
    roctracer_flush_activity();
    roctracer_flush_activity_expl(client.pool);
    signals++;
}

static int flush_in_handler(void)
{
    const struct itimerval often = {{0, 300}, {0, 300}};
    const roctracer_properties_t properties = {.buffer_size = 4096};
    client_begin(NOWHERE, NULL);
    signal(SIGALRM, on_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < 20 * CALLS || signals < 200; i++) {
        call();
        DONE(roctracer_open_pool(&properties));
        DONE(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_init));
        DONE(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_init, ignore_call,
                                          NULL));
        DONE(roctracer_flush_activity_expl(client.pool));
        DONE(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_init));
        DONE(roctracer_close_pool());
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    unsigned made = client.enters;
    return all_is_recorded(made);
}

/* ---- */

#define WAYS(X)                                                                                    \
    X(exit_at_enter)                                                                               \
    X(exit_at_exit)                                                                                \
    X(exit_in_pool)                                                                                \
    X(quick_exit_at_enter)                                                                         \
    X(quick_exit_in_pool)                                                                          \
    X(underscore_exit_at_enter)                                                                    \
    X(underscore_exit_in_pool)                                                                     \
    X(thread_exit_at_enter)                                                                        \
    X(thread_exit_at_exit)                                                                         \
    X(thread_exit_in_pool)                                                                         \
    X(longjmp_at_enter)                                                                            \
    X(longjmp_at_exit)                                                                             \
    X(fork_at_enter)                                                                               \
    X(fork_at_exit)                                                                                \
    X(fork_in_pool)                                                                                \
    X(slow_callback)                                                                               \
    X(everything_at_enter)                                                                         \
    X(everything_at_exit)                                                                          \
    X(everything_in_pool)                                                                          \
    X(all_off_at_enter)                                                                            \
    X(client_with_callbacks_closed)                                                                \
    X(client_with_a_pool_closed)                                                                   \
    X(library_closed)                                                                              \
    X(flush_in_handler)

WAYS_MAIN("roctracer/faults", hsa_init() == HSA_STATUS_SUCCESS, hsa_shut_down())
