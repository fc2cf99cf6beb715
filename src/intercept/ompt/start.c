#include "intercept/ompt/start.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "intercept/ompt/events.h"

/* Writers: the thread of the OpenMP runtime that starts or ends the tool (release). Readers: any
 * (acquire). */
static _Atomic int initialized, finalized;
static atomic_flag answered = ATOMIC_FLAG_INIT;

static ompt_finalize_tool_t finalize_tool; /* written before `initialized` is 1 */
static pid_t process;

static ompt_interface_fn_t entry_find(ompt_function_lookup_t lookup, const char *name)
{
    ompt_interface_fn_t entry = lookup(name);
    if (!entry)
        log_info("ompt", "the OpenMP runtime has no %s", name);
    return entry;
}

static void entries_report(ompt_function_lookup_t lookup)
{
    rocprofiler_callback_tracing_ompt_data_t data = {.size = sizeof data};
    rocprofiler_ompt_callback_functions_t *entries = &data.args.callback_functions;
#define ENTRY(name) entries->name = (name##_t)entry_find(lookup, #name)
    ENTRY(ompt_enumerate_states);
    ENTRY(ompt_enumerate_mutex_impls);
    ENTRY(ompt_get_thread_data);
    ENTRY(ompt_get_num_places);
    ENTRY(ompt_get_place_proc_ids);
    ENTRY(ompt_get_place_num);
    ENTRY(ompt_get_partition_place_nums);
    ENTRY(ompt_get_proc_id);
    ENTRY(ompt_get_state);
    ENTRY(ompt_get_parallel_info);
    ENTRY(ompt_get_task_info);
    ENTRY(ompt_get_task_memory);
    ENTRY(ompt_get_num_devices);
    ENTRY(ompt_get_num_procs);
    ENTRY(ompt_get_target_info);
    ENTRY(ompt_get_unique_id);
#undef ENTRY
    ompt_event_moment(ROCPROFILER_OMPT_ID_callback_functions, &data);
}

static uint32_t callbacks_register(ompt_set_callback_t set)
{
    uint32_t registered = 0;
    for (const struct ompt_callback_row *row = ompt_callback_rows; row->function; row++) {
        if (!trace_is_configured(TRACE_OMPT, row->operation))
            continue;
        ompt_set_result_t result = set((ompt_callbacks_t)row->event, row->function);
        if (result == ompt_set_error || result == ompt_set_never || result == ompt_set_impossible)
            log_info("ompt", "the OpenMP runtime does not report event %u", row->event);
        else
            registered++;
    }
    return registered;
}

/* Idle threads of the runtime still owe the ends of their last region; it reports them when the
 * tool is finalised, and session, whose handler runs after this one, delivers them. */
static void finalize_at_exit(void)
{
    if (atomic_load_explicit(&finalized, memory_order_acquire) == 0 && finalize_tool &&
        getpid() == process)
        finalize_tool();
}

static int on_initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool_data)
{
    (void)device, (void)tool_data;
    ompt_set_callback_t set = (ompt_set_callback_t)entry_find(lookup, "ompt_set_callback");
    if (!set)
        return 0;
    atomic_store_explicit(&initialized, -1, memory_order_release);
    finalize_tool = (ompt_finalize_tool_t)entry_find(lookup, "ompt_finalize_tool");
    process = getpid();
    entries_report(lookup);
    uint32_t registered = callbacks_register(set);
    log_info("ompt", "%u OpenMP events are traced", registered);
    atexit(finalize_at_exit);
    atomic_store_explicit(&initialized, 1, memory_order_release);
    return 1;
}

static void on_finalize(ompt_data_t *tool_data)
{
    (void)tool_data;
    atomic_store_explicit(&finalized, 1, memory_order_release);
}

struct ompt_start_tool_result_t *intercept_ompt_start(void)
{
    static ompt_start_tool_result_t result = {on_initialize, on_finalize, {0}};
    if (atomic_flag_test_and_set_explicit(&answered, memory_order_seq_cst)) {
        log_warning("ompt", "a second OpenMP runtime in this process is not traced");
        return NULL;
    }
    return &result;
}

static int is_initialized(void)
{
    return atomic_load_explicit(&initialized, memory_order_acquire);
}

static int is_finalized(void)
{
    return atomic_load_explicit(&finalized, memory_order_acquire);
}

const struct runtime_ops ompt_runtime_ops = {
    .tool = intercept_ompt_start,
    .tool_initialized = is_initialized,
    .tool_finalized = is_finalized,
};
