/*
 * Start and end. Loading the library reads the settings and enables what is wanted; the plugin,
 * threads and exit handlers come with the HSA runtime's OnLoad or with the first event, so that
 * programs that have nothing to trace (shells, compilers) are left alone.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roctracer/roctracer_ext.h>
#include <roctracer/roctracer_hsa.h>

#include "base/ending.h"
#include "base/log.h"
#include "base/wait.h"
#include "callbacks.h"
#include "collect/exec_now.h"
#include "journal.h"
#include "periods.h"
#include "plugin.h"
#include "settings.h"

enum stage {
    STAGE_IDLE,    /* nothing is wanted, or it cannot be done */
    STAGE_ENABLED, /* callbacks and activities are enabled */
    STAGE_ACTIVE,  /* plugin, threads and exit handlers are there */
    STAGE_LEAVING, /* they are not any more: an exec is under way */
    STAGE_ENDED,
};
/* Writers: the thread that moves it (exchange, acq_rel) does the work. Readers: calls and handlers
 * (acquire). Back to enabled in a forked child, and when an exec fails. */
static _Atomic int stage;
static struct settings settings; /* written by the constructor only */

static void complain(const char *what)
{
    char *reason = (char *)roctracer_error_string();
    log_warning("roctracer", "%s: %s", what, reason ? reason : "no reason is known");
    free(reason);
}

/* ---- what is traced ---------------------------------------------------------------------------
 */

static void functions_enable(activity_domain_t domain, const struct name_list *functions)
{
    if (functions->count == 0) {
        if (roctracer_enable_domain_callback(domain, callbacks_on_event, NULL) != 0)
            complain("API callbacks");
        if (domain == ACTIVITY_DOMAIN_HSA_API) /* roctracer's traces have no such line */
            roctracer_disable_op_callback(domain, HSA_API_ID_hsa_shut_down);
        return;
    }
    for (size_t i = 0; i < functions->count; i++) {
        uint32_t operation = 0;
        if (roctracer_op_code(domain, functions->names[i], &operation, NULL) != 0 ||
            roctracer_enable_op_callback(domain, operation, callbacks_on_event, NULL) != 0)
            complain(functions->names[i]);
    }
}

static void activate(void);

static void on_activity(const char *begin, const char *end, void *unused)
{
    (void)unused;
    activate(); /* in a forked child this may be the first event */
    bool before = callbacks_ignore_thread(true);
    journal_drain(callbacks_write); /* calls come before what they caused */
    plugin_activity_write((const roctracer_record_t *)(const void *)begin,
                          (const roctracer_record_t *)(const void *)end);
    callbacks_ignore_thread(before);
}

/* Not the default pool: a program that uses ROCtracer itself may want that. */
static roctracer_pool_t *pool;

static bool pool_open(void)
{
    const roctracer_properties_t properties = {.buffer_size = settings.buffer_size_bytes,
                                               .buffer_callback_fun = on_activity};
    if (roctracer_open_pool_expl(&properties, &pool) == ROCTRACER_STATUS_SUCCESS)
        return true;
    complain("activity pool");
    return false;
}

static void activity_enable(void)
{
    if ((!settings.hsa_activity && !settings.hip_activity) || !pool_open())
        return;
    if (settings.hsa_activity &&
        roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY, pool) != 0)
        complain("HSA activity");
    if (settings.hip_activity &&
        roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HIP_OPS, pool) != 0)
        complain("HIP activity");
}

static void tracing_enable(void)
{
    if (settings.has_periods)
        roctracer_stop();
    if (settings.roctx &&
        roctracer_enable_domain_callback(ACTIVITY_DOMAIN_ROCTX, callbacks_on_event, NULL) != 0)
        complain("markers");
    if (settings.hsa_api)
        functions_enable(ACTIVITY_DOMAIN_HSA_API, &settings.hsa_functions);
    if (settings.hip_api)
        functions_enable(ACTIVITY_DOMAIN_HIP_API, &settings.hip_functions);
    if (settings.kfd_api)
        functions_enable(ACTIVITY_DOMAIN_KFD_API, &settings.kfd_functions);
    activity_enable();
}

static void tracing_disable(void)
{
    if (settings.roctx)
        roctracer_disable_domain_callback(ACTIVITY_DOMAIN_ROCTX);
    if (settings.hsa_api)
        roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_API);
    if (settings.hip_api)
        roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HIP_API);
    if (settings.kfd_api)
        roctracer_disable_domain_callback(ACTIVITY_DOMAIN_KFD_API);
    if (settings.hsa_activity)
        roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HSA_OPS);
    if (settings.hip_activity)
        roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS);
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static void flush(bool is_period)
{
    if (is_period && pool)
        roctracer_flush_activity_expl(pool);
    journal_drain(callbacks_write);
}

static void lost_report(void)
{
    uint64_t lost = journal_lost();
    if (lost)
        log_warning("roctracer", "%llu calls or markers are missing from the trace: no memory",
                    (unsigned long long)lost);
}

/* Held by the thread that completes the trace, at the end or before an exec. Another thread that
 * would end the process meanwhile waits for it, but not for ever; a thread of the plugin does not
 * wait at all, because the completing one may be waiting for it. */
static pthread_mutex_t completion = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static __thread char here __attribute__((tls_model("initial-exec")));
/* `completer` is `here` of the completing thread; `torn` says that it has been torn off, by a
 * plugin that ends the process. Writers: that thread, a forked child. Readers: signal handlers, and
 * behind them the thread of base/ending.h. */
static _Atomic(const void *) completer;
static _Atomic bool torn;

static bool is_completing_here(void)
{
    return atomic_load_explicit(&completer, memory_order_seq_cst) == &here;
}

static void completion_tear(void)
{
    if (is_completing_here())
        atomic_store_explicit(&torn, true, memory_order_seq_cst);
}

static bool completion_begin(bool may_wait)
{
    struct timespec until = wait_deadline(CLOCK_MONOTONIC, may_wait ? 60 * WAIT_NS_PER_S : 0);
    if (atomic_load_explicit(&torn, memory_order_seq_cst) ||
        pthread_mutex_clocklock(&completion, CLOCK_MONOTONIC, &until) != 0)
        return false;
    atomic_store_explicit(&completer, &here, memory_order_seq_cst);
    return true;
}

static void completion_end(void)
{
    atomic_store_explicit(&completer, NULL, memory_order_seq_cst);
    pthread_mutex_unlock(&completion);
}

static void trace_end(int before)
{
    callbacks_first_use(NULL);
    tracing_disable();
    if (before == STAGE_ACTIVE && periods_end()) {
        flush(true);
        if (pool)
            roctracer_close_pool_expl(pool);
        plugin_close();
        lost_report();
    } else if (before == STAGE_ACTIVE) {
        log_warning("roctracer", "the plugin does not return: the trace is not complete");
    }
    ending_done();
}

static void finish(void)
{
    bool ignored = callbacks_ignore_thread(true);
    if (completion_begin(!ignored)) {
        int before = atomic_exchange_explicit(&stage, STAGE_ENDED, memory_order_acq_rel);
        if (before != STAGE_ENDED && before != STAGE_IDLE)
            trace_end(before);
        completion_end();
    }
    callbacks_ignore_thread(ignored);
}

/* ---- the start --------------------------------------------------------------------------------
 */

/* Files and threads are the parent's: a child begins anew with its first event. */
static void on_fork_child(void)
{
    int before = atomic_load_explicit(&stage, memory_order_acquire);
    plugin_fork_child();
    completion = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    atomic_store_explicit(&completer, NULL, memory_order_seq_cst);
    atomic_store_explicit(&torn, false, memory_order_seq_cst); /* the parent ends, not the child */
    if (before != STAGE_ACTIVE && before != STAGE_LEAVING)
        return;
    callbacks_forget();
    journal_forget();
    periods_forget();
    callbacks_first_use(activate);
    atomic_store_explicit(&stage, STAGE_ENABLED, memory_order_release);
}

static void trace_leave(void)
{
    int active = STAGE_ACTIVE;
    if (!atomic_compare_exchange_strong_explicit(&stage, &active, STAGE_LEAVING,
                                                 memory_order_acq_rel, memory_order_acquire))
        return;
    if (periods_end()) {
        flush(true);
        plugin_close();
    } else {
        log_warning("roctracer", "the plugin does not return: the trace is not complete");
    }
}

/* The process is about to become another program, unless the exec fails. */
static void on_exec(void)
{
    bool ignored = callbacks_ignore_thread(true);
    if (completion_begin(!ignored)) {
        trace_leave();
        completion_end();
    }
    callbacks_ignore_thread(ignored);
}

static void on_exec_failed(void)
{
    int leaving = STAGE_LEAVING;
    callbacks_first_use(activate);
    atomic_compare_exchange_strong_explicit(&stage, &leaving, STAGE_ENABLED, memory_order_acq_rel,
                                            memory_order_acquire);
}

static void process_watch(void)
{
    static bool watched; /* a forked child, or what is active again, has all this */
    if (!watched) {
        pthread_atfork(plugin_fork_prepare, plugin_fork_parent, on_fork_child);
        atexit(finish);
        exec_now_watch(on_exec, on_exec_failed);
    }
    watched = true;
    ending_notice(completion_tear, is_completing_here);
    if (!ending_is_prepared() && ending_prepare(finish, true) != 0)
        log_warning("roctracer", "a program that ends by a signal is not traced to its end");
}

static void threads_start(void)
{
    if (!writer_start(flush, settings.flush_us))
        log_warning("roctracer", "no thread for writing: everything is written at the end");
    journal_notify(writer_wake);
    if (settings.has_periods && settings.delay_us != PERIODS_NEVER_START &&
        !switcher_start(roctracer_start, roctracer_stop, settings.delay_us, settings.length_us,
                        settings.rate_us))
        log_warning("roctracer", "no thread for periods: nothing is traced");
}

static void activate(void)
{
    int enabled = STAGE_ENABLED;
    if (!atomic_compare_exchange_strong_explicit(&stage, &enabled, STAGE_ACTIVE,
                                                 memory_order_acq_rel, memory_order_acquire))
        return;
    callbacks_first_use(NULL);
    bool ignored = callbacks_ignore_thread(true); /* the plugin may call HSA */
    if (plugin_open(settings.plugin, settings.plugin_folders)) {
        threads_start();
        process_watch();
    } else {
        tracing_disable();
        atomic_store_explicit(&stage, STAGE_IDLE, memory_order_release);
    }
    callbacks_ignore_thread(ignored);
}

static bool library_fits(void)
{
    uint32_t major = roctracer_version_major(), minor = roctracer_version_minor();
    if (major == ROCTRACER_VERSION_MAJOR && minor >= ROCTRACER_VERSION_MINOR)
        return true;
    log_warning("roctracer", "libroctracer64 is of version %u.%u, this tool needs %d.%d", major,
                minor, ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR);
    return false;
}

__attribute__((constructor)) static void load(void)
{
    if (!library_fits())
        return;
    settings_read(&settings);
    if (!settings_want_anything(&settings))
        return;
    callbacks_first_use(activate);
    atomic_store_explicit(&stage, STAGE_ENABLED, memory_order_release);
    tracing_enable();
}

__attribute__((destructor)) static void unload(void)
{
    finish();
}

/* ---- called by the HSA runtime ----------------------------------------------------------------
 */

typedef bool (*on_load_fn)(void *table, uint64_t version, uint64_t failed_count,
                           const char *const *failed_names);

/* The runtime gives the table to the libraries that it was told of; the tracer needs it too. */
static void *tracer_function(const char *name)
{
    void *tracer = dlopen("libroctracer64.so.4", RTLD_LAZY | RTLD_NOLOAD);
    void *function = tracer ? dlsym(tracer, name) : NULL;
    if (tracer)
        dlclose(tracer); /* we are linked with it */
    return function;
}

__attribute__((visibility("default"))) extern const uint32_t HSA_AMD_TOOL_PRIORITY;
const uint32_t HSA_AMD_TOOL_PRIORITY = 1050;

__attribute__((visibility("default"))) bool
OnLoad(void *table, uint64_t version, uint64_t failed_count, const char *const *failed_names);
bool OnLoad(void *table, uint64_t version, uint64_t failed_count, const char *const *failed_names)
{
    on_load_fn tracer_load;
    *(void **)&tracer_load = tracer_function("OnLoad");
    if (tracer_load)
        tracer_load(table, version, failed_count, failed_names);
    activate();
    return true; /* the program runs, traced or not */
}

/* HSA may be started again; what has been traced so far is written. */
__attribute__((visibility("default"))) void OnUnload(void);
void OnUnload(void)
{
    void (*tracer_unload)(void);
    *(void **)&tracer_unload = tracer_function("OnUnload");
    if (atomic_load_explicit(&stage, memory_order_acquire) == STAGE_ACTIVE) {
        bool ignored = callbacks_ignore_thread(true);
        flush(true);
        callbacks_ignore_thread(ignored);
    }
    if (tracer_unload)
        tracer_unload();
}
