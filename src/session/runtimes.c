/* What becomes of a runtime that has come: it waits for tools, or is met by those that are there.
 * src/runtime knows which are in the process, and in which state. */
#include "session/runtimes.h"

#include "base/library.h"
#include "base/log.h"
#include "runtime/watchers.h"
#include "runtime/work.h"
#include "session/clients.h"
#include "session/discover.h"
#include "session/endings.h"
#include "session/expect.h"
#include "session/lifecycle.h"
#include "session/stage.h"

#include <dlfcn.h>
#include <string.h>

const struct runtime_ops *runtime_ops_of(const struct runtime_row *row)
{
    static const struct runtime_ops none;
    return row->ops ? row->ops : &none;
}

bool service_dispatches_missed(void)
{
    return runtime_kernels_missed();
}

rocprofiler_status_t runtime_tables_watch(rocprofiler_intercept_library_cb_t callback, int tables,
                                          void *data)
{
    if (!callback || tables < 0)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (session_stage() >= STAGE_READY && !session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    return watcher_add(callback, tables, data) ? ROCPROFILER_STATUS_SUCCESS
                                               : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* ---- a runtime is met */

static void initialization_report(const struct runtime_row *row, uint64_t version, uint64_t number)
{
    struct trace_event event;
    if (!row->initialization ||
        !trace_event_open(&event, TRACE_RUNTIME_INITIALIZATION, row->initialization))
        return;
    rocprofiler_callback_tracing_runtime_initialization_data_t data = {
        .size = sizeof data, .version = version, .instance = number};
    trace_event_call(&event, row->initialization, ROCPROFILER_CALLBACK_PHASE_NONE, &data);
    rocprofiler_buffer_tracing_runtime_initialization_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION,
        .operation = (rocprofiler_runtime_initialization_operation_t)row->initialization,
        .thread_id = event.thread_id,
        .timestamp = trace_time_ns(),
        .version = version,
        .instance = number};
    trace_event_record(&event, &record, sizeof record);
    trace_event_release(&event);
}

static bool kernels_are_configured(void)
{
    return trace_domain_is_configured(TRACE_KERNEL_DISPATCH) || trace_counting_is_configured();
}

static void install(struct runtime_instance *instance)
{
    const struct runtime_ops *ops = runtime_ops_of(instance->row);
    if (instance->row->has_queues)
        runtime_kernels_missed_set(instance, !kernels_are_configured());
    if (!ops->install || !ops->install(instance->row, instance->tables, instance->version))
        return;
    runtime_work_begin(instance->row);
    runtime_move(instance, RUNTIME_INSTALLED);
}

/* Watchers are told even when their tool wants nothing else of us. From now on wrappers may be in
 * the library's tables, and the tables in watchers' hands: it stays, also when the program closes
 * it. */
static void meet(struct runtime_instance *instance)
{
    const struct runtime_ops *ops = runtime_ops_of(instance->row);
    library_keep(instance->tables[0]);
    if (ops->offer)
        ops->offer(instance->tables);
    if (ops->hook && subscriptions_exist())
        runtimes_hook(); /* its numbers of functions, its reports of finished work */
    if (session_has_tools())
        session_endings_watch();
    if (session_is_wanted())
        install(instance);
    if (session_is_wanted() && instance->state != RUNTIME_INSTALLED)
        log_info("session", "%s: nothing was intercepted", instance->row->name);
    if (!runtime_announce(instance))
        return;
    initialization_report(instance->row, instance->version, instance->number);
    watchers_tell(instance);
}

/* ---- offers */

/* A library may be closed while its tables wait. */
static bool library_is_there(struct runtime_instance *instance)
{
    if (library_base(instance->tables[0]) == instance->library)
        return true;
    log_info("session", "%s: the library was closed before a tool wanted its tables",
             instance->row->name);
    runtime_move(instance, RUNTIME_GONE);
    return false;
}

static bool kept_take(struct runtime_instance *instance)
{
    bool some;
    do
        some = runtime_kept_take(instance);
    while (some && !library_is_there(instance));
    return some;
}

void runtime_offers_replay(void)
{
    struct runtime_instance instance;
    while (kept_take(&instance))
        meet(&instance);
}

/* The stage may have changed meanwhile. */
static void keep(struct runtime_instance *instance)
{
    session_when_ready(runtime_offers_replay);
    runtime_move(instance, RUNTIME_KEPT);
    if (session_stage() == STAGE_READY)
        runtime_offers_replay();
}

/* A tool may still appear: a library loaded later, a client that configures itself by force. */
static void decide(struct runtime_instance *instance)
{
    if (session_stage() == STAGE_BEFORE && !discover_any() && !subscriptions_exist()) {
        keep(instance);
        return;
    }
    session_initialize();
    enum session_stage stage = session_stage();
    if (stage < STAGE_READY) /* a tool uses the runtime while it is being configured */
        keep(instance);
    else if (stage == STAGE_READY) {
        runtime_move(instance, RUNTIME_OFFERED); /* it was kept, and its table came again */
        meet(instance);
    }
}

void runtimes_kept_decide(void)
{
    struct runtime_instance instance;
    for (uint32_t count = runtime_kept_count(); count > 0 && kept_take(&instance); count--)
        decide(&instance);
}

void runtime_offer_row(const struct runtime_row *row, uint64_t version, uint64_t number,
                       void *const *tables)
{
    struct runtime_instance instance = {.row = row, .version = version, .number = number};
    attach_expect_if_asked();
    memcpy(instance.tables, tables, row->table_count * sizeof *tables);
    instance.library = library_base(tables[0]);
    if (!runtime_arrive(&instance))
        log_warning("session", "%s: too many tables in this process: this one is not traced",
                    row->name);
    else if (runtimes_hooking_here()) /* runtimes_hook() goes on with it */
        runtime_move(&instance, RUNTIME_KEPT);
    else
        decide(&instance);
}

static const struct runtime_row *row_find(const char *name)
{
    for (int kind = 0; kind < RUNTIME_KINDS; kind++)
        if (runtime_rows[kind].name && !strcmp(runtime_rows[kind].name, name))
            return &runtime_rows[kind];
    return NULL;
}

int runtime_offer(const char *name, uint64_t version, uint64_t number, void **tables,
                  uint64_t table_count)
{
    const struct runtime_row *row = name ? row_find(name) : NULL;
    if (row && row->table_count == 0)
        return ROCPROFILER_STATUS_SUCCESS;
    if (!row || !tables || table_count < row->table_count)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < row->table_count; i++)
        if (!tables[i])
            return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    runtime_offer_row(row, version, number, tables);
    return ROCPROFILER_STATUS_SUCCESS;
}

/* ---- who wants more later */

void runtimes_follow_operations(void)
{
    for (int kind = 0; kind < RUNTIME_KINDS; kind++)
        if (runtime_ops_of(&runtime_rows[kind])->work_want)
            runtime_ops_of(&runtime_rows[kind])->work_want();
}

void runtimes_follow_calls(void)
{
    bool unhooked = false;
    if (session_stage() != STAGE_READY)
        return;
    for (int kind = 0; kind < RUNTIME_KINDS; kind++)
        if (runtime_ops_of(&runtime_rows[kind])->calls_want)
            unhooked |= runtime_ops_of(&runtime_rows[kind])->calls_want();
    if (unhooked)
        runtime_registered_collect(); /* as a first call does, see runtime_hook_ready */
}

static bool has_met_tools(const struct runtime_instance *instance)
{
    return instance->is_announced && instance->state != RUNTIME_GONE;
}

/* What can be completed was not installed anew: queues that were made unseen stay unseen. */
static void complete(struct runtime_instance *instance)
{
    bool completes = runtime_ops_of(instance->row)->refresh != NULL;
    if (has_met_tools(instance) && !(completes && instance->state == RUNTIME_INSTALLED))
        install(instance);
}

void runtimes_catch_up(void)
{
    struct runtime_instance instance;
    if (session_stage() == STAGE_BEFORE && runtime_kept_count() != 0)
        session_initialize();
    if (session_stage() != STAGE_READY)
        return;
    session_exit_watch();
    runtime_offers_replay();
    for (uint32_t i = 0; runtime_at(i, &instance); i++)
        complete(&instance);
    for (int kind = 0; kind < RUNTIME_KINDS; kind++)
        if (runtime_ops_of(&runtime_rows[kind])->refresh)
            runtime_ops_of(&runtime_rows[kind])->refresh();
}

void runtimes_meet_newcomers(void)
{
    struct runtime_instance instance;
    runtime_arm();
    runtimes_follow_calls();
    runtimes_catch_up();
    for (uint32_t i = 0; runtime_at(i, &instance); i++)
        if (has_met_tools(&instance))
            watchers_tell(&instance);
}

static bool is_loaded(const struct runtime_row *row)
{
    void *library = row->library ? dlopen(row->library, RTLD_NOLOAD | RTLD_LAZY) : NULL;
    if (library)
        dlclose(library);
    return library != NULL;
}

void runtimes_missed_report(bool kernels_were_wanted)
{
    bool known = runtime_is_known(RUNTIME_HSA);
    if (!known && is_loaded(&runtime_rows[RUNTIME_HSA]))
        log_warning("session", "an HSA runtime is loaded that has not announced itself: if it runs "
                               "already, its calls and kernels are not seen");
    else if (known && !kernels_were_wanted &&
             (trace_domain_is_wanted(TRACE_KERNEL_DISPATCH) || trace_counting_is_configured()))
        log_warning("session", "kernels on queues that exist already are not seen; programs that "
                               "are started with ROCP_TOOL_ATTACH=1 show them all");
}

/* ---- libraries that hand over no tables: their first call comes here */

void runtime_hook_ready(void)
{
    session_initialize();
    if (!session_is_wanted() || session_stage() != STAGE_READY)
        return;
    if (session_has_tools())
        session_endings_watch();
    runtime_registered_collect(); /* a tool that came late is seen by no register library */
    if (!runtime_is_known(RUNTIME_HIP))
        initialization_report(&runtime_rows[RUNTIME_HIP], 0, 0);
}

void runtime_first_use(void)
{
    if (session_stage() == STAGE_BEFORE && discover_any() && runtime_is_hooked())
        runtime_hook_ready();
}
