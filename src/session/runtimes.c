/* Runtimes meet the engine here: HSA's tool hooks, rocprofiler_set_api_table, and arming. */
#include "session/runtimes.h"

#include "base/callback.h"
#include "base/environment.h"
#include "base/library.h"
#include "base/log.h"
#include "session/attach.h"
#include "session/discover.h"
#include "session/lifecycle.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Provided by src/intercept; weak so that the engine links, and its tests run, without it. */
__attribute__((weak)) bool intercept_hsa_install(void *api_table, uint64_t runtime_version);
__attribute__((weak)) bool intercept_table_install(const char *library, void **tables,
                                                   uint64_t library_version);
__attribute__((weak)) void intercept_hip_operations_refresh(void);
__attribute__((weak)) void intercept_hip_tables_offered(const void *runtime_table);
__attribute__((weak)) void intercept_hsa_refresh(void);
__attribute__((weak)) void intercept_hsa_forget(void *api_table);
__attribute__((weak)) void *intercept_hsa_leaving(const void *caller);
__attribute__((weak)) bool intercept_hsa_serves_devices(const void *api_table);
__attribute__((weak)) void intercept_thunk_follow(void);
__attribute__((weak)) bool intercept_hip_arm(void (*ready)(void));
__attribute__((weak)) struct ompt_start_tool_result_t *intercept_ompt_start(void);
__attribute__((weak)) int intercept_ompt_initialized(void);
__attribute__((weak)) int intercept_ompt_finalized(void);
/* Provided by src/session/counting: GPU memory and queues of the runtime just installed. */
__attribute__((weak)) void counting_runtime_expected(void);
__attribute__((weak)) void counting_runtime_arrived(void);
__attribute__((weak)) void counting_runtime_leaves(void);
__attribute__((weak)) void counting_other_leaves(void);

/* One row per name that rocprofiler-register knows. */
static const struct runtime {
    const char *name;
    uint64_t table_count;
    int32_t initialization; /* rocprofiler_runtime_initialization_operation_t; 0: no record */
    rocprofiler_intercept_table_t tables[3];
} runtimes[] = {
    {"hsa", 1, ROCPROFILER_RUNTIME_INITIALIZATION_HSA, {ROCPROFILER_HSA_TABLE}},
    {"hip", 1, ROCPROFILER_RUNTIME_INITIALIZATION_HIP, {ROCPROFILER_HIP_RUNTIME_TABLE}},
    {"hip_compiler", 1, 0, {ROCPROFILER_HIP_COMPILER_TABLE}},
    {"roctx",
     3,
     ROCPROFILER_RUNTIME_INITIALIZATION_MARKER,
     {ROCPROFILER_MARKER_CORE_TABLE, ROCPROFILER_MARKER_CONTROL_TABLE,
      ROCPROFILER_MARKER_NAME_TABLE}},
    {"rccl", 1, ROCPROFILER_RUNTIME_INITIALIZATION_RCCL, {ROCPROFILER_RCCL_TABLE}},
    {"rocdecode", 1, ROCPROFILER_RUNTIME_INITIALIZATION_ROCDECODE, {ROCPROFILER_ROCDECODE_TABLE}},
    {"rocjpeg", 1, ROCPROFILER_RUNTIME_INITIALIZATION_ROCJPEG, {ROCPROFILER_ROCJPEG_TABLE}},
};

/* Written when HSA's table is installed, read when counting starts; relaxed, it only words a
 * message. */
static _Atomic bool dispatches_missed;

bool service_dispatches_missed(void)
{
    return atomic_load_explicit(&dispatches_missed, memory_order_relaxed);
}

/* One runtime serves what counts whole devices. NULL: any that there is. */
static void counting_use(const void *hsa_table)
{
    if (counting_runtime_arrived && intercept_hsa_serves_devices &&
        intercept_hsa_serves_devices(hsa_table))
        counting_runtime_arrived();
}

static bool install(const struct runtime *runtime, void **tables, uint64_t version)
{
    if (!strcmp(runtime->name, "hsa")) {
        bool wanted =
            trace_domain_is_configured(TRACE_KERNEL_DISPATCH) || trace_counting_is_configured();
        atomic_store_explicit(&dispatches_missed, !wanted, memory_order_relaxed);
        if (counting_runtime_expected)
            counting_runtime_expected();
        if (!intercept_hsa_install || !intercept_hsa_install(tables[0], version))
            return false;
        counting_use(tables[0]);
        return true;
    }
    return intercept_table_install && intercept_table_install(runtime->name, tables, version);
}

/* ---- tools that wrap tables themselves (rocprofiler_at_intercept_table_registration) */

enum { WATCHERS_MAX = 64 };
static struct {
    rocprofiler_intercept_library_cb_t callback;
    int tables;
    void *data;
} watchers[WATCHERS_MAX];
static _Atomic uint32_t watcher_count; /* session_lock; release after the row */

rocprofiler_status_t runtime_tables_watch(rocprofiler_intercept_library_cb_t callback, int tables,
                                          void *data)
{
    if (!callback || tables < 0)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (session_stage() >= STAGE_READY && !session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    pthread_mutex_lock(&session_lock);
    uint32_t count = atomic_load(&watcher_count);
    bool room = count < WATCHERS_MAX;
    if (room) {
        watchers[count].callback = callback;
        watchers[count].tables = tables;
        watchers[count].data = data;
        atomic_store_explicit(&watcher_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&session_lock);
    return room ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void watcher_tell(uint32_t i, const struct runtime *runtime, uint64_t table,
                         uint64_t version, uint64_t instance, void **tables)
{
    if (watchers[i].tables == 0 || (watchers[i].tables & (int)runtime->tables[table]))
        CALLBACK(watchers[i].callback(runtime->tables[table], version, instance, &tables[table], 1,
                                      watchers[i].data));
}

/* ---- offers */

static void initialization_report(const struct runtime *runtime, uint64_t version,
                                  uint64_t instance)
{
    struct trace_event event;
    if (!runtime->initialization ||
        !trace_event_open(&event, TRACE_RUNTIME_INITIALIZATION, runtime->initialization))
        return;
    rocprofiler_callback_tracing_runtime_initialization_data_t data = {
        .size = sizeof data, .version = version, .instance = instance};
    trace_event_call(&event, runtime->initialization, ROCPROFILER_CALLBACK_PHASE_NONE, &data);
    rocprofiler_buffer_tracing_runtime_initialization_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION,
        .operation = (rocprofiler_runtime_initialization_operation_t)runtime->initialization,
        .thread_id = event.thread_id,
        .timestamp = trace_time_ns(),
        .version = version,
        .instance = instance};
    trace_event_record(&event, &record, sizeof record);
    trace_event_release(&event);
}

/* The same table comes twice when both HSA_TOOLS_LIB and rocprofiler-register announce it; and
 * again when HSA was shut down and started anew. session_lock. */
enum { SEEN_MAX = 256 };
static const void *seen[SEEN_MAX];
static unsigned seen_count;

static bool seen_before(const void *table)
{
    pthread_mutex_lock(&session_lock);
    bool known = false;
    for (unsigned i = 0; i < seen_count; i++)
        known |= seen[i] == table;
    if (!known && seen_count < SEEN_MAX)
        seen[seen_count++] = table;
    pthread_mutex_unlock(&session_lock);
    return known;
}

static void seen_forget(const void *table)
{
    pthread_mutex_lock(&session_lock);
    for (unsigned i = 0; i < seen_count; i++)
        if (seen[i] == table)
            seen[i] = seen[--seen_count];
    pthread_mutex_unlock(&session_lock);
}

static const struct runtime *runtime_find(const char *name)
{
    for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++)
        if (!strcmp(runtimes[i].name, name))
            return &runtimes[i];
    return NULL;
}

/* ---- offers that came while there was no tool, or while tools are being configured. A tool may
 * still appear: a library loaded later, a client that configures itself by force. session_lock. */
enum { KEPT_MAX = 64, TABLES_MAX = sizeof runtimes[0].tables / sizeof runtimes[0].tables[0] };
static struct offer {
    const struct runtime *runtime;
    uint64_t version, instance;
    void *tables[TABLES_MAX];
    const void *base; /* of the library that has them; NULL: they are in no library's memory */
    bool installed;   /* there are wrappers in it */
    uint32_t watchers_told; /* the first so many watchers */
} kept[KEPT_MAX];
static unsigned kept_count;

static void offer_keep(const struct offer *offer)
{
    pthread_mutex_lock(&session_lock);
    bool room = kept_count < KEPT_MAX;
    if (room)
        kept[kept_count++] = *offer;
    pthread_mutex_unlock(&session_lock);
    if (!room)
        log_warning("session", "%s: too many tables wait for a tool: this one is not traced",
                    offer->runtime->name);
}

/* A library may be closed while its tables wait. Not under session_lock. */
static bool offer_is_there(const struct offer *offer)
{
    if (library_base(offer->tables[0]) == offer->base)
        return true;
    log_info("session", "%s: the library was closed before a tool wanted its tables",
             offer->runtime->name);
    return false;
}

static bool kept_pop(struct offer *offer)
{
    pthread_mutex_lock(&session_lock);
    bool some = kept_count != 0;
    if (some) {
        *offer = kept[0];
        memmove(kept, kept + 1, --kept_count * sizeof kept[0]);
    }
    pthread_mutex_unlock(&session_lock);
    return some;
}

static bool kept_take(struct offer *offer)
{
    bool some;
    do
        some = kept_pop(offer);
    while (some && !offer_is_there(offer));
    return some;
}

/* Offers that were accepted: who wants more later finds the tables here. session_lock. */
static struct offer accepted[KEPT_MAX];
static unsigned accepted_count;

static void offer_remember(const struct offer *offer)
{
    pthread_mutex_lock(&session_lock);
    if (accepted_count < KEPT_MAX)
        accepted[accepted_count++] = *offer;
    pthread_mutex_unlock(&session_lock);
}

static bool accepted_get(unsigned index, struct offer *offer)
{
    pthread_mutex_lock(&session_lock);
    bool there = index < accepted_count;
    if (there)
        *offer = accepted[index];
    pthread_mutex_unlock(&session_lock);
    return there;
}

/* NULL: a runtime that has gone. session_lock. */
static struct offer *accepted_find(const void *table)
{
    for (unsigned i = 0; i < accepted_count; i++)
        if (accepted[i].tables[0] == table)
            return &accepted[i];
    return NULL;
}

static unsigned offers_without(struct offer *offers, unsigned count, const void *table)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++)
        if (offers[i].tables[0] != table)
            offers[left++] = offers[i];
    return left;
}

/* A runtime that goes takes its table with it. */
static void offers_forget(const void *table)
{
    pthread_mutex_lock(&session_lock);
    kept_count = offers_without(kept, kept_count, table);
    accepted_count = offers_without(accepted, accepted_count, table);
    pthread_mutex_unlock(&session_lock);
}

/* For a runtime that was never installed: the one table that was offered, or NULL. */
static void *offers_only_hsa(void)
{
    void *table = NULL;
    unsigned count = 0;
    pthread_mutex_lock(&session_lock);
    for (unsigned i = 0; i < kept_count + accepted_count; i++) {
        const struct offer *offer = i < kept_count ? &kept[i] : &accepted[i - kept_count];
        if (strcmp(offer->runtime->name, "hsa") != 0)
            continue;
        table = offer->tables[0];
        count++;
    }
    pthread_mutex_unlock(&session_lock);
    return count == 1 ? table : NULL;
}

static bool kept_any(void)
{
    pthread_mutex_lock(&session_lock);
    bool any = kept_count != 0;
    pthread_mutex_unlock(&session_lock);
    return any;
}

/* Each watcher is told once of each table, also when tables and tools come at the same time. */
static void offer_show(struct offer *offer)
{
    uint32_t count = atomic_load_explicit(&watcher_count, memory_order_acquire);
    pthread_mutex_lock(&session_lock);
    struct offer *known = accepted_find(offer->tables[0]);
    uint32_t first = known ? known->watchers_told : offer->watchers_told;
    offer->watchers_told = first > count ? first : count;
    if (known)
        known->watchers_told = offer->watchers_told;
    pthread_mutex_unlock(&session_lock);
    for (uint64_t t = 0; t < offer->runtime->table_count; t++)
        for (uint32_t i = first; i < count; i++)
            watcher_tell(i, offer->runtime, t, offer->version, offer->instance, offer->tables);
}

/* Watchers are told even when their tool wants nothing else of us. From now on wrappers may be in
 * the library's tables, and the tables in watchers' hands: it stays, also when the program closes
 * it. */
static void offer_accept(struct offer *offer)
{
    library_keep(offer->tables[0]);
    bool again = seen_before(offer->tables[0]);
    if (!strcmp(offer->runtime->name, "hip") && intercept_hip_tables_offered)
        intercept_hip_tables_offered(offer->tables[0]);
    if (!strcmp(offer->runtime->name, "hip") && subscriptions_exist())
        runtime_hip_arm(); /* its numbers of functions, its reports of finished work */
    if (session_has_tools())
        session_endings_watch();
    offer->installed =
        session_is_wanted() && install(offer->runtime, offer->tables, offer->version);
    if (session_is_wanted() && !offer->installed)
        log_info("session", "%s: nothing was intercepted", offer->runtime->name);
    if (again)
        return;
    offer_remember(offer);
    initialization_report(offer->runtime, offer->version, offer->instance);
    offer_show(offer);
}

void runtime_offers_replay(void)
{
    struct offer offer;
    while (kept_take(&offer))
        offer_accept(&offer);
}

void runtimes_follow_operations(void)
{
    if (intercept_hip_operations_refresh)
        intercept_hip_operations_refresh();
}

/* HSA's wrappers, once there, are completed by intercept_hsa_refresh; the counting service must not
 * take it for a new runtime. What is in other tables already stays. */
static void accepted_install(const struct offer *offer)
{
    if (!strcmp(offer->runtime->name, "hsa") && offer->installed) {
        if (counting_runtime_expected)
            counting_runtime_expected();
        return;
    }
    void *tables[TABLES_MAX];
    memcpy(tables, offer->tables, sizeof tables);
    bool installed = install(offer->runtime, tables, offer->version);
    pthread_mutex_lock(&session_lock);
    struct offer *known = accepted_find(offer->tables[0]);
    if (known)
        known->installed = installed;
    pthread_mutex_unlock(&session_lock);
}

void runtimes_catch_up(void)
{
    if (session_stage() == STAGE_BEFORE && kept_any())
        session_initialize();
    if (session_stage() != STAGE_READY)
        return;
    session_exit_watch();
    runtime_offers_replay();
    struct offer offer;
    for (unsigned i = 0; accepted_get(i, &offer); i++)
        accepted_install(&offer);
    if (intercept_hsa_refresh)
        intercept_hsa_refresh();
}

static bool runtime_is_known(const char *name)
{
    struct offer offer;
    for (unsigned i = 0; accepted_get(i, &offer); i++)
        if (!strcmp(offer.runtime->name, name))
            return true;
    return false;
}

static bool hsa_is_loaded(void)
{
    void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOLOAD | RTLD_LAZY);
    if (library)
        dlclose(library);
    return library != NULL;
}

void runtimes_missed_report(bool kernels_were_wanted)
{
    if (!runtime_is_known("hsa") && hsa_is_loaded())
        log_warning("session", "an HSA runtime is loaded that has not announced itself: if it runs "
                               "already, its calls and kernels are not seen");
    else if (runtime_is_known("hsa") && !kernels_were_wanted &&
             (trace_domain_is_wanted(TRACE_KERNEL_DISPATCH) || trace_counting_is_configured()))
        log_warning("session", "kernels on queues that exist already are not seen; programs that "
                               "are started with ROCP_TOOL_ATTACH=1 show them all");
}

void runtimes_meet_newcomers(void)
{
    struct offer offer;
    runtime_arm();
    runtimes_catch_up();
    for (unsigned i = 0; accepted_get(i, &offer); i++)
        offer_show(&offer);
}

/* Arming asks HIP for names, and what it is asked first makes a HIP that registers do so: on this
 * thread, inside of the question. Wrapped there and then, the questions would be traced. */
static __thread bool arming;

static int offer_decide(struct offer *offer)
{
    if (session_stage() == STAGE_BEFORE && !discover_any() && !subscriptions_exist()) {
        offer_keep(offer);
        return ROCPROFILER_STATUS_SUCCESS;
    }
    session_initialize();
    enum session_stage stage = session_stage();
    if (stage < STAGE_READY) /* a tool uses the runtime while it is being configured */
        offer_keep(offer);
    else if (stage == STAGE_READY)
        offer_accept(offer);
    return ROCPROFILER_STATUS_SUCCESS;
}

/* "rocattach" is AMD's own helper for attaching, which AMD's rocprofiler-register offers like a
 * runtime: there is nothing in it that we need, but refusing it would make every attachment fail.
 */
int runtime_offer(const char *name, uint64_t version, uint64_t instance, void **tables,
                  uint64_t table_count)
{
    const struct runtime *runtime = name ? runtime_find(name) : NULL;
    if (name && !strcmp(name, "rocattach"))
        return ROCPROFILER_STATUS_SUCCESS;
    if (!runtime || !tables || table_count < runtime->table_count)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    attach_expect_if_asked();
    struct offer offer = {.runtime = runtime, .version = version, .instance = instance};
    for (uint64_t i = 0; i < runtime->table_count; i++) {
        if (!tables[i])
            return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
        offer.tables[i] = tables[i];
    }
    offer.base = library_base(offer.tables[0]);
    if (!arming)
        return offer_decide(&offer);
    offer_keep(&offer);
    return ROCPROFILER_STATUS_SUCCESS;
}

/* HIP up to 5.2 offers no table: its callbacks are armed early, and its first call comes here. */
static void hip_ready(void)
{
    session_initialize();
    if (!session_is_wanted() || session_stage() != STAGE_READY)
        return;
    if (session_has_tools())
        session_endings_watch();
    runtime_registered_collect(); /* a tool that came late is seen by no register library */
    if (!runtime_is_known("hip"))
        initialization_report(runtime_find("hip"), 0, 0);
}

static _Atomic bool hip_armed; /* writers: whoever arms; reader: runtime_first_use; relaxed */

/* What came while HIP was asked, and what waits for a tool anyhow. */
static void kept_decide(void)
{
    struct offer offer;
    pthread_mutex_lock(&session_lock);
    unsigned count = kept_count;
    pthread_mutex_unlock(&session_lock);
    for (; count > 0 && kept_take(&offer); count--)
        offer_decide(&offer);
}

void runtime_hip_arm(void)
{
    if (arming || !intercept_hip_arm)
        return;
    arming = true;
    bool armed = intercept_hip_arm(hip_ready);
    arming = false;
    if (armed)
        atomic_store_explicit(&hip_armed, true, memory_order_relaxed);
    kept_decide();
}

void runtime_first_use(void)
{
    if (session_stage() == STAGE_BEFORE && discover_any() &&
        atomic_load_explicit(&hip_armed, memory_order_relaxed))
        hip_ready();
}

/* ---- OpenMP: its runtime asks for a tool once, when it starts */

struct ompt_start_tool_result_t *runtime_ompt_start(void)
{
    if (session_stage() == STAGE_BEFORE && !discover_any())
        return NULL;
    session_initialize();
    return session_stage() == STAGE_READY && trace_domain_is_configured(TRACE_OMPT) &&
                   intercept_ompt_start
               ? intercept_ompt_start()
               : NULL;
}

int runtime_ompt_initialized(void)
{
    return intercept_ompt_initialized ? intercept_ompt_initialized() : 0;
}

int runtime_ompt_finalized(void)
{
    return intercept_ompt_finalized ? intercept_ompt_finalized() : 0;
}

/* ---- HSA tool entry points (HSA_TOOLS_LIB). The runtime calls them inside hsa_init,
 * hsa_shut_down. */

#define EXPORTED __attribute__((visibility("default")))
EXPORTED bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
                     const char *const *failed_tool_names);
EXPORTED void OnUnload(void);
EXPORTED extern const uint32_t HSA_AMD_TOOL_PRIORITY;

/* HSA does not number its copies in the process, as rocprofiler-register does: in the order in
 * which they come, and one that starts anew has its table's number. session_lock. */
static uint64_t hsa_number(const void *table)
{
    enum { NUMBERED_MAX = 16 };
    static const void *numbered[NUMBERED_MAX];
    unsigned i = 0;
    pthread_mutex_lock(&session_lock);
    while (i < NUMBERED_MAX - 1 && numbered[i] && numbered[i] != table)
        i++;
    numbered[i] = table;
    pthread_mutex_unlock(&session_lock);
    return i;
}

void runtime_hsa_load(void *table, uint64_t runtime_version)
{
    runtime_offer("hsa", runtime_version, hsa_number(table), &table, 1);
    if (session_is_wanted())
        runtime_hip_arm(); /* a HIP that was loaded after our constructor */
    if (subscriptions_exist())
        runtime_registered_collect();
    if (intercept_thunk_follow)
        intercept_thunk_follow(); /* a libhsakmt that was loaded with the runtime */
}

static void hsa_leaves(void *table)
{
    bool another_serves = intercept_hsa_serves_devices && intercept_hsa_serves_devices(NULL) &&
                          !intercept_hsa_serves_devices(table);
    if (another_serves && counting_other_leaves)
        counting_other_leaves();
    else if (counting_runtime_leaves)
        counting_runtime_leaves();
    if (intercept_hsa_forget)
        intercept_hsa_forget(table);
    if (!another_serves)
        counting_use(NULL);
}

void runtime_hsa_unload(const void *caller)
{
    void *table = intercept_hsa_leaving ? intercept_hsa_leaving(caller) : NULL;
    if (!table)
        table = offers_only_hsa();
    if (!table)
        return;
    hsa_leaves(table);
    offers_forget(table);
    seen_forget(table);
}

bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
            const char *const *failed_tool_names)
{
    (void)failed_tool_count;
    (void)failed_tool_names;
    runtime_hsa_load(table, runtime_version);
    return true;
}

void OnUnload(void)
{
    runtime_hsa_unload(__builtin_return_address(0));
}

/* Before tools without a priority, which wrap what we installed. */
const uint32_t HSA_AMD_TOOL_PRIORITY = 50;

/* ---- arming: runtimes that know nothing of rocprofiler-register load what HSA_TOOLS_LIB names. */

/* HSA splits its list at spaces and takes what is behind a backslash as it is. */
static char *list_entry(const char *path)
{
    char *entry = path ? malloc(2 * strlen(path) + 1) : NULL, *to = entry;
    for (const char *from = path; entry && *from; *to++ = *from++)
        if (strchr(" \"\\", *from))
            *to++ = '\\';
    if (entry)
        *to = 0;
    return entry;
}

static bool list_has(const char *list, const char *path)
{
    size_t length = strlen(path);
    for (const char *at = list; (at = strstr(at, path)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

void runtime_arm(void)
{
    Dl_info self;
    /* not OnLoad: a program may have a function of that name */
    if (!dladdr((const void *)&runtime_arm, &self) || !self.dli_fname)
        return;
    char *path = realpath(self.dli_fname, NULL);
    /* dlopen() replaces $LIB and its like, and there is no way to quote them */
    char *entry = list_entry(path && strchr(path, '$') ? self.dli_fname : path);
    const char *list = getenv("HSA_TOOLS_LIB");
    char *extended = NULL;
    if (entry && (!list || !list_has(list, entry)) &&
        asprintf(&extended, "%s%s%s", list ? list : "", list && *list ? " " : "", entry) > 0)
        environment_change(&(struct environment_variable){"HSA_TOOLS_LIB", extended}, 1);
    free(extended);
    free(entry);
    free(path);
    runtime_hip_arm();
}

/* Runs before the program's own constructors when a tool was linked or preloaded. */
__attribute__((constructor)) static void arm_when_wanted(void)
{
    if (discover_any() || attach_is_asked_for())
        runtime_arm();
    const char *now = getenv("ROCPROFILER_LIBRARY_CTOR");
    if (now && !strcmp(now, "1"))
        session_initialize();
}
