/* Meeting the process: HSA loads this library as its tool, and this library loads the profiler's
 * (ROCP_TOOL_LIB). Whatever is wrong with that is said, and the program runs on unprofiled. */
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"
#include "base/environment.h"
#include "base/log.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRACE_BYTES_DEFAULT = 32 << 20 };
/* Writer: the load of a tool. Readers: waits (relaxed: a number of its own). */
_Atomic uint64_t wait_limit_ns = UINT64_MAX;
/* Writer: the load of a tool. Readers: opened contexts (relaxed: as above). */
_Atomic uint32_t trace_size_bytes = TRACE_BYTES_DEFAULT;
/* Writer: the load of a tool. Readers: opened contexts (relaxed: as above). */
_Atomic bool trace_is_local = true;
/* Writer: the load of a tool. Readers: dispatches (relaxed: as above). */
_Atomic bool dispatches_are_brief;
/* Writer: the load of a tool. Readers: dispatches (relaxed: as above). */
_Atomic bool kernels_are_concurrent;

/* Written in OnLoad, which the runtime calls on one thread at a time. */
static struct {
    void *library;
    void (*load)(void);
    void (*load_settings)(rocprofiler_settings_t *settings);
    void (*unload)(void);
    pid_t process;
} tool;
/* Writers: OnLoad, and whoever ends the tool (exchange). */
static _Atomic bool tool_is_loaded;

/* ---- being there */

/* Queues are told to count their waves when they are made: first it is said that somebody wants
 * that, and then a runtime that is there already gets its wrappers. */
static void begin_once(void)
{
    standalone_expect();
    engine->subscription_create(1ull << TRACE_RUNTIME_INITIALIZATION);
}

void library_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_once);
}

/* HSA will load us itself where it was told so. A program that only links this library is met by
 * the engine. */
static bool hsa_knows_us(void)
{
    const char *list = getenv("HSA_TOOLS_LIB");
    return list && strstr(list, "librocprofiler64.so");
}

/* Tools such as TAU join the libraries by colons, which no HSA runtime from 5.2 to 7.2 takes apart:
 * it looks for one file of that name. Where we are there before the runtime, it gets spaces. */
static void list_separate(void)
{
    const char *list = getenv("HSA_TOOLS_LIB");
    char *spaced = list && strchr(list, ':') ? strdup(list) : NULL;
    for (char *colon = spaced; colon && (colon = strchr(colon, ':'));)
        *colon = ' ';
    if (spaced)
        environment_change(&(struct environment_variable){"HSA_TOOLS_LIB", spaced}, 1);
    free(spaced);
}

__attribute__((constructor)) static void begin(void)
{
    if (hsa_knows_us())
        list_separate();
    else
        engine->runtime_arm();
    engine->runtime_registered_collect();
}

/* ---- the tool */

static void *symbol_find(const char *name)
{
    return dlsym(tool.library, name);
}

/* False, with a message: there is none that can be used. */
static bool tool_open(const char *path)
{
    memset(&tool, 0, sizeof tool);
    tool.library = dlopen(path, RTLD_NOW);
    if (!tool.library) {
        log_error("rocprofiler", "ROCP_TOOL_LIB: %s: the program runs unprofiled", dlerror());
        return false;
    }
    *(void **)&tool.load = symbol_find("OnLoadTool");
    *(void **)&tool.load_settings = symbol_find("OnLoadToolProp");
    *(void **)&tool.unload = symbol_find("OnUnloadTool");
    tool.process = getpid();
    if ((tool.load || tool.load_settings) && tool.unload)
        return true;
    log_error("rocprofiler", "ROCP_TOOL_LIB: %s has no %s: the program runs unprofiled", path,
              tool.unload ? "OnLoadTool or OnLoadToolProp" : "OnUnloadTool");
    dlclose(tool.library);
    return false;
}

static void settings_apply(const rocprofiler_settings_t *settings)
{
    atomic_store_explicit(&wait_limit_ns, settings->timeout, memory_order_relaxed);
    atomic_store_explicit(&trace_size_bytes, settings->trace_size, memory_order_relaxed);
    atomic_store_explicit(&trace_is_local, settings->trace_local != 0, memory_order_relaxed);
    atomic_store_explicit(&dispatches_are_brief, settings->opt_mode != 0, memory_order_relaxed);
    atomic_store_explicit(&kernels_are_concurrent, settings->k_concurrent != 0,
                          memory_order_relaxed);
    if (settings->k_concurrent)
        log_info("rocprofiler", "k_concurrent: the values of kernels that overlap include each "
                                "other's work");
    settings_follow(settings);
}

static void tool_load(int intercept)
{
    rocprofiler_settings_t settings = {.intercept_mode = 1,
                                       .code_obj_tracking = 1,
                                       .trace_size = TRACE_BYTES_DEFAULT,
                                       .trace_local = 1,
                                       .timeout = UINT64_MAX,
                                       .timestamp_on = intercept == 2};
    atomic_store_explicit(&tool_is_loaded, true, memory_order_seq_cst);
    if (tool.load)
        CALLBACK(tool.load());
    else
        CALLBACK(tool.load_settings(&settings));
    settings_apply(&settings);
}

/* Calls the tool once for each load, and only in the process that loaded it. */
static void tool_unload(void)
{
    if (!atomic_exchange_explicit(&tool_is_loaded, false, memory_order_seq_cst) ||
        tool.process != getpid())
        return;
    CALLBACK(tool.unload());
}

static void at_exit(void)
{
    if (atomic_load_explicit(&tool_is_loaded, memory_order_seq_cst) && tool.process == getpid())
        engine->session_work_wait(); /* the data of kernels that have ended is handed out first */
    tool_unload();
}

/* A runtime that is not shut down never calls OnUnload, so the end of the process is watched. */
static void exit_watch(void)
{
    atexit(at_exit);
}

/* ---- HSA's entry points */

/* -1, with a message: the value is not known. */
static int intercepting_mode(void)
{
    const char *value = getenv("ROCP_HSA_INTERCEPT");
    if (!value || !*value)
        return 0;
    if (value[0] >= '0' && value[0] <= '2' && value[1] == 0)
        return value[0] - '0';
    log_error("rocprofiler",
              "ROCP_HSA_INTERCEPT=%s: it must be 0 (standalone), 1 or 2 (kernels are intercepted, "
              "2: with their times): the program runs unprofiled",
              value);
    return -1;
}

/* This comes before the table is installed, because it counts for everything that is made later. */
static bool expect(int intercept)
{
    const char *path = getenv("ROCP_TOOL_LIB");
    bool has_tool = intercept >= 0 && path && *path && tool_open(path);
    library_begin();
    if (intercept > 0 || has_tool)
        dispatch_expect();
    return has_tool;
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
                     const char *const *failed_tool_names);
EXPORTED void OnUnload(void);
EXPORTED extern const uint32_t HSA_AMD_TOOL_PRIORITY;

bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
            const char *const *failed_tool_names)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)failed_tool_count, (void)failed_tool_names;
    int intercept = intercepting_mode();
    bool has_tool = expect(intercept);
    engine->runtime_hsa_load(table, runtime_version);
    if (has_tool) {
        pthread_once(&once, exit_watch);
        engine->runtime_hsa_leaving_watch(tool_unload);
        tool_load(intercept);
    }
    return true;
}

/* The runtime calls this inside of hsa_shut_down, which has handed out the data of all kernels
 * before. */
void OnUnload(void)
{
    tool_unload();
    engine->runtime_hsa_unload(__builtin_return_address(0));
}

const uint32_t HSA_AMD_TOOL_PRIORITY = 25;
