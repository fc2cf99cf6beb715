/*
 * libcrocprof-tool.so: the SDK client inside the profiled program. One context has what is
 * collected, another one always runs and has the callbacks for names and for what the program says.
 * All records go through one buffer.
 */
#include <crocprof/flush.h>
#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attached.h"
#include "base/ending.h"
#include "base/wait.h"
#include "base/write_guard.h"
#include "benchmark.h"
#include "counting.h"
#include "domains.h"
#include "exec_now.h"
#include "graphs.h"
#include "launch/keys.h"
#include "launch/run_log.h"
#include "launch/settings.h"
#include "left.h"
#include "marker_stream.h"
#include "markers.h"
#include "missing_code.h"
#include "names.h"
#include "ompt.h"
#include "passes.h"
#include "periods.h"
#include "records.h"
#include "report.h"
#include "siblings.h"
#include "snapshot.h"
#include "stream_now.h"
#include "turn.h"

enum {
    BUFFER_BYTES = 4 << 20,
    WATERMARK_BYTES = 3 << 20,
    TURN_RECORDS = 256,
};

static struct {
    struct settings settings;
    enum benchmark benchmark;
    bool by_attach;                   /* it came into a program that ran already */
    bool has_attached;                /* it has come that way once */
    rocprofiler_context_id_t context; /* what is collected, while it is */
    rocprofiler_context_id_t always;  /* names, and what the program says about collecting */
    rocprofiler_buffer_id_t buffer;
    rocprofiler_client_finalize_t finalize;
    const rocprofiler_client_id_t *client; /* the library's, for the life of the process */
    pid_t pid; /* a child that fork() did not make has another one, and leaves all to its parent */
    bool has_left; /* in turns: detached, and not attached again */
    /* There may be something to report. Writers: initialise, a forked child, whoever records first
     * in it (exchange). Readers: any; relaxed. */
    _Atomic bool recording;
    /* `finishing` is the thread that completes the report, 0: none; `torn` says that a crash of its
     * own has torn it off. Writers: that thread, a forked child. Readers: signal handlers, and
     * behind them the thread of base/ending.h. */
    _Atomic pid_t finishing;
    _Atomic bool torn;
} tool;

static bool ok(rocprofiler_status_t status, const char *what)
{
    if (status == ROCPROFILER_STATUS_SUCCESS)
        return true;
    fprintf(stderr, "crocprof: %s: %s\n", what, rocprofiler_get_status_string(status));
    return false;
}

/* Of calls and kernels that were under way when the profiler left: its files are complete. */
static void late_tell(size_t records)
{
    fprintf(stderr, "crocprof: %zu records came after the profiler had left: in no file\n",
            records);
}

static void buffer_delivered(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                             rocprofiler_record_header_t **headers, size_t count, void *data,
                             uint64_t drop_count)
{
    (void)context;
    (void)buffer;
    (void)data;
    uint64_t begin_ns = tool.benchmark ? wait_now_ns() : 0;
    if (tool.benchmark == BENCHMARK_BUFFERS) {
        benchmark_delivered(count, 0);
        return;
    }
    for (size_t i = 0; i < count; i += TURN_RECORDS) {
        turn_take_politely();
        if (tool.has_left) {
            turn_give();
            late_tell(count - i);
            return;
        }
        report_resume();
        report_lost(drop_count);
        for (size_t j = i; j < count && j < i + TURN_RECORDS; j++)
            record_report(headers[j]);
        report_flush();
        turn_give();
    }
    if (tool.benchmark)
        benchmark_delivered(count, wait_now_ns() - begin_ns);
}

static void code_object(rocprofiler_callback_tracing_record_t record,
                        rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data;
    (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD)
        return;
    if (record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER)
        names_kernel_add(record.payload);
    else if (record.operation == ROCPROFILER_CODE_OBJECT_LOAD)
        names_code_object_add(record.payload);
}

/* Waits for a thread that completes the report already, unless nobody does any more. */
static void end_early(void)
{
    if (!atomic_load_explicit(&tool.torn, memory_order_seq_cst))
        tool.finalize(*tool.client);
}

static bool is_finishing_here(void)
{
    return atomic_load_explicit(&tool.finishing, memory_order_seq_cst) == gettid();
}

static void finishing_tear(void)
{
    if (is_finishing_here())
        atomic_store_explicit(&tool.torn, true, memory_order_seq_cst);
}

static void endings_watch(void)
{
    ending_notice(finishing_tear, is_finishing_here);
    int status = ending_prepare(end_early, false);
    if (status != 0)
        fprintf(stderr, "crocprof: a report only if the program ends by exit: %s\n",
                strerror(-status));
}

static void records_flush(void)
{
    rocprofiler_flush_buffer(tool.buffer);
}

/* Measures of the work itself are taken without it. */
static void streaming_begin(void)
{
    if (!tool.benchmark)
        stream_now_begin(records_flush);
}

/* Runs on the thread that records first in a forked child. */
static void recording_begin(void)
{
    if (atomic_load_explicit(&tool.recording, memory_order_relaxed) || getpid() != tool.pid ||
        atomic_exchange_explicit(&tool.recording, true, memory_order_relaxed))
        return;
    if (settings_flag(&tool.settings, OPTION_SIGNAL_HANDLERS))
        endings_watch();
    streaming_begin();
}

/* The library makes a thread in a forked child when that has its first record. */
static void thread_comes(rocprofiler_runtime_library_t library, void *data)
{
    (void)library;
    (void)data;
    if (tool.finalize)
        recording_begin();
}

static void marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user_data,
                   void *data)
{
    recording_begin();
    markers_callback(record, user_data, data);
}

/* The range that the launching thread is in becomes the record's external id. */
static int range_give(rocprofiler_thread_id_t thread_id, rocprofiler_context_id_t context,
                      rocprofiler_external_correlation_id_request_kind_t kind,
                      rocprofiler_tracing_operation_t operation, uint64_t internal_id,
                      rocprofiler_user_data_t *external_id, void *data)
{
    (void)context;
    (void)kind;
    (void)operation;
    (void)internal_id;
    (void)data;
    external_id->ptr = (void *)markers_current(thread_id);
    return 0;
}

static void rename_configure(void)
{
    static const rocprofiler_external_correlation_id_request_kind_t dispatches[] = {
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH};
    if (settings_flag(&tool.settings, OPTION_KERNEL_RENAME))
        ok(rocprofiler_configure_external_correlation_id_request_service(tool.context, dispatches,
                                                                         1, range_give, NULL),
           "kernel names");
}

static void marker_forget(const struct marker *marker)
{
    (void)marker;
}

/* What becomes of markers that were only wanted for the names of kernels. */
static void (*marker_visitor(void))(const struct marker *marker)
{
    return settings_flag(&tool.settings, OPTION_MARKER_TRACE) ? report_marker : marker_forget;
}

/* Also while nothing is collected: kernels take their names from ranges that were pushed before,
 * and a pop in a pause ends a range from in front of it. */
static void markers_configure(void)
{
    bool renamed = settings_flag(&tool.settings, OPTION_KERNEL_RENAME);
    marker_stream_configure(marker_visitor());
    if (renamed || settings_flag(&tool.settings, OPTION_MARKER_TRACE))
        ok(rocprofiler_configure_callback_tracing_service(
               tool.always, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, marker,
               &tool.context),
           "markers");
}

/* A word that is none is said: the command has looked at its own, a variable may have any. */
static rocprofiler_status_t ompt_configure(void)
{
    rocprofiler_tracing_operation_t operations[OMPT_OPERATIONS_MAX];
    const char *words = settings_text(&tool.settings, OPTION_OMPT_OPERATIONS);
    char unknown[32];
    size_t count = ompt_operations(words, operations, unknown);
    if (*unknown)
        fprintf(stderr, "crocprof: %s: %s is none of %s\n",
                options_table[OPTION_OMPT_OPERATIONS].variable, unknown, OMPT_WORDS);
    if (*unknown && count == 0)
        return ROCPROFILER_STATUS_SUCCESS; /* not what nobody asked for */
    return rocprofiler_configure_buffer_tracing_service(
        tool.context, ROCPROFILER_BUFFER_TRACING_OMPT, count ? operations : NULL, count,
        tool.buffer);
}

static rocprofiler_status_t service_configure(const struct domain_service *service)
{
    rocprofiler_buffer_tracing_kind_t kind = service->kind;
    if (tool.benchmark == BENCHMARK_CALLBACKS)
        return benchmark_callbacks_configure(tool.context, kind);
    if (kind == ROCPROFILER_BUFFER_TRACING_OMPT)
        return ompt_configure();
    if (settings_flag(&tool.settings, OPTION_API_ARGUMENTS) &&
        service->kind_with_arguments != ROCPROFILER_BUFFER_TRACING_NONE)
        kind = service->kind_with_arguments;
    return rocprofiler_configure_buffer_tracing_service(tool.context, kind, NULL, 0, tool.buffer);
}

static void tracing_configure(void)
{
    for (const struct domain_service *service = domain_services;
         service->kind != ROCPROFILER_BUFFER_TRACING_NONE; service++)
        if (settings_flag(&tool.settings, service->option))
            ok(service_configure(service), "tracing");
    ok(graphs_configure(tool.context, tool.buffer, &tool.settings), "graphs");
    markers_configure();
    rename_configure();
}

/* Writes everything that there is, and completes the files. */
static void report_write(bool hold)
{
    struct write_guard guard;
    write_guard_begin(&guard);
    turn_take();
    turn_hold(hold);
    if (!hold)
        marker_stream_stop();
    markers_each(marker_visitor());
    snapshot_write();
    counting_tell();
    report_close();
    passes_close();
    turn_give();
    write_guard_end(&guard);
}

/* ---- fork and exec */

/* The periods come first: who starts or stops the context may need what is taken behind. */
static void on_fork_prepare(void)
{
    periods_fork_prepare();
    turn_take();
    names_fork_prepare();
    markers_fork_prepare();
}

static void on_fork_parent(void)
{
    markers_fork_parent();
    names_fork_done();
    turn_give();
    periods_fork_parent();
}

/* The child has files of its own, from its first record on; so has its pid. */
static void on_fork_child(void)
{
    tool.pid = getpid();
    atomic_store_explicit(&tool.recording, false, memory_order_relaxed);
    atomic_store_explicit(&tool.finishing, 0, memory_order_seq_cst);
    counting_fork_child();
    report_forget();
    passes_forget();
    turn_forget_waiting();
    turn_hold(false);
    marker_stream_fork_child();
    stream_now_fork_child();
    markers_fork_child();
    names_fork_done();
    turn_give();
    periods_fork_child();
    if (settings_flag(&tool.settings, OPTION_PROCESS_SYNC))
        siblings_join();
}

static void on_exec(void)
{
    crocprof_flush_complete(tool.buffer);
    report_write(true);
}

static void on_exec_failed(void)
{
    turn_hold(false);
}

/* After the library's own handlers, so that ours come before them: a delivery that we wait for may
 * need what they lock. */
static void process_watch(void)
{
    pthread_atfork(on_fork_prepare, on_fork_parent, on_fork_child);
    if (settings_flag(&tool.settings, OPTION_SIGNAL_HANDLERS))
        endings_watch();
    exec_now_watch(on_exec, on_exec_failed);
}

/* ---- start and end */

__attribute__((constructor)) static void loaded_tell(void)
{
    run_log_attach();
    run_log_put(RUN_LOG_LOADED, program_invocation_short_name);
    exec_now_inform(left_tell);
}

static int contexts_create(void)
{
    if (ok(rocprofiler_create_context(&tool.context), "context") &&
        ok(rocprofiler_create_context(&tool.always), "context") &&
        ok(rocprofiler_create_buffer(tool.context, BUFFER_BYTES, WATERMARK_BYTES,
                                     ROCPROFILER_BUFFER_POLICY_LOSSLESS, buffer_delivered, NULL,
                                     &tool.buffer),
           "buffer"))
        return 0;
    return -1;
}

static int collection_start(void)
{
    names_style_set(settings_flag(&tool.settings, OPTION_DEMANGLE),
                    settings_flag(&tool.settings, OPTION_TRUNCATE_KERNELS));
    counting_definitions_load(&tool.settings);
    names_agents_load();
    missing_code_tell();
    report_open(&tool.settings);
    if (contexts_create() != 0)
        return -1;
    ok(rocprofiler_configure_callback_tracing_service(
           tool.always, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, code_object, NULL),
       "code objects");
    tracing_configure();
    counting_configure(&tool.settings, tool.context, tool.buffer);
    if ((tool.benchmark != BENCHMARK_DISABLED_CONTEXTS &&
         periods_begin(&tool.settings, tool.context, tool.always) != 0) ||
        !ok(rocprofiler_start_context(tool.always), "start"))
        return -1;
    process_watch();
    return 0;
}

static int tool_initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)data;
    struct write_guard guard;
    write_guard_begin(&guard);
    run_log_put(RUN_LOG_RUNTIME, "");
    tool.finalize = finalize;
    tool.recording = true;
    if (settings_flag(&tool.settings, OPTION_PROCESS_SYNC))
        siblings_join();
    int status = collection_start();
    if (status == 0) {
        snapshot_begin(&tool.settings, records_flush);
        streaming_begin();
    }
    write_guard_end(&guard);
    return status;
}

static void tool_finalize(void *data)
{
    (void)data;
    if (getpid() != tool.pid)
        return;
    if (!atomic_load_explicit(&tool.recording, memory_order_relaxed)) {
        siblings_wait();
        return;
    }
    atomic_store_explicit(&tool.finishing, gettid(), memory_order_seq_cst);
    snapshot_end();
    stream_now_end();
    periods_end();
    rocprofiler_stop_context(tool.context);
    rocprofiler_flush_buffer(tool.buffer);
    uint64_t begin_ns = wait_now_ns();
    report_write(false);
    benchmark_tell(wait_now_ns() - begin_ns);
    siblings_wait();
    ending_done(); /* not before: a thread that calls _exit() waits until then */
    atomic_store_explicit(&tool.finishing, 0, memory_order_seq_cst);
}

/* --profile-mpi-ranks: in other ranks there is no tool at all. */
static bool is_wanted_rank(const struct settings *settings)
{
    const char *ranks = settings_text(settings, OPTION_PROFILE_MPI_RANKS);
    bool is_in = true;
    if (ranks && !keys_ranks_read(ranks, keys_rank(), &is_in))
        fprintf(stderr, "crocprof: ROCPROF_MPI_RANKS: %s is no list of ranks\n", ranks);
    if (ranks && !is_in) {
        char sentence[256];
        snprintf(sentence, sizeof sentence, "rank %u is none of --profile-mpi-ranks %s",
                 keys_rank(), ranks);
        run_log_put(RUN_LOG_NOT_ASKED, sentence);
    }
    return !ranks || is_in;
}

__attribute__((visibility("default"))) rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    (void)version;
    (void)runtime_version;
    (void)priority;
    client_id->name = "crocprof";
    settings_from_environment(&tool.settings);
    if (!is_wanted_rank(&tool.settings))
        return NULL;
    tool.by_attach = attached_is();
    if (tool.by_attach)
        attached_first(&tool.settings);
    tool.benchmark = benchmark_begin(&tool.settings);
    tool.pid = getpid();
    tool.client = client_id;
    rocprofiler_at_internal_thread_create(thread_comes, NULL, ROCPROFILER_LIBRARY, NULL);
    static rocprofiler_tool_configure_result_t result = {sizeof result, tool_initialize,
                                                         tool_finalize, NULL};
    return &result;
}

/* ---- attaching */

static int tool_attach(rocprofiler_client_detach_t detach, rocprofiler_context_id_t *contexts,
                       uint64_t count, void *data)
{
    (void)detach;
    (void)contexts;
    (void)count;
    (void)data;
    if (!tool.by_attach) {
        fprintf(stderr, "crocprof: this process is profiled already, since it began\n");
        return -1;
    }
    if (!tool.has_attached) {
        tool.has_attached = true;
        return 0;
    }
    if (!attached_again(&tool.settings))
        return -1;
    crocprof_flush_complete(tool.buffer); /* what came too late for the attachment before */
    turn_take();
    tool.has_left = false;
    marker_stream_resume();
    report_open(&tool.settings);
    snapshot_resume(&tool.settings);
    streaming_begin();
    turn_give();
    return 0;
}

/* The contexts are stopped, and what has ended is delivered. */
static void tool_detach(void *data)
{
    (void)data;
    snapshot_end();
    stream_now_end();
    turn_take();
    tool.has_left = true;
    turn_give();
    report_write(false);
}

__attribute__((visibility("default"))) rocprofiler_tool_configure_attach_result_t *
rocprofiler_configure_attach(uint32_t version, const char *runtime_version, uint32_t priority,
                             rocprofiler_client_id_t *client_id)
{
    (void)version;
    (void)runtime_version;
    (void)priority;
    (void)client_id;
    static rocprofiler_tool_configure_attach_result_t result = {sizeof result, tool_attach,
                                                                tool_detach, NULL};
    return &result;
}
