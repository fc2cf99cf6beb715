/*
 * Markers. Without a profiler a call is one jump through a table to a function that does next to
 * nothing. There are two ways to hear of markers. The first call offers the tables to a profiler,
 * which may put its wrappers into them. And a listener may be set and changed at any time.
 */
#include "markers.h"
#include "base/wait.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rocprofiler-register/rocprofiler-register.h>
#include <rocprofiler-sdk-roctx/api_trace.h>

#include "listener.h"

#define SAME_SLOT(table, slot, public_table, public_slot)                                          \
    _Static_assert(offsetof(struct table, slot) == offsetof(public_table, public_slot),            \
                   "the tables are an interface")
SAME_SLOT(markers_core, thread_id, roctxCoreApiTable_t, roctxGetThreadId_fn);
SAME_SLOT(markers_control, resume, roctxControlApiTable_t, roctxProfilerResume_fn);
SAME_SLOT(markers_names, stream, roctxNameApiTable_t, roctxNameHipStream_fn);

_Atomic unsigned markers_state = MARKERS_UNOFFERED; /* writers and readers: see markers.h */
__thread int markers_open_ranges __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t last_range_id; /* any thread, relaxed: only uniqueness matters */

/* ---- what the functions do by themselves ----------------------------------------------------- */

void markers_own_mark(const char *message)
{
    listener_tell(LISTENER_MARK, message, 0);
}

int markers_own_push(const char *message)
{
    listener_tell(LISTENER_PUSH, message, 0);
    return markers_open_ranges++;
}

int markers_own_pop(void)
{
    listener_tell(LISTENER_POP, NULL, 0);
    return markers_open_ranges > 0 ? --markers_open_ranges : -1;
}

static uint64_t range_start(const char *message)
{
    uint64_t id = atomic_fetch_add_explicit(&last_range_id, 1, memory_order_relaxed) + 1;
    listener_tell(LISTENER_START, message, id);
    return id;
}

static void range_stop(uint64_t id)
{
    listener_tell(LISTENER_STOP, NULL, id);
}

static int thread_id(uint64_t *tid)
{
    if (!tid)
        return -1;
    *tid = (uint64_t)syscall(SYS_gettid);
    return 0;
}

static int profiler_request(uint64_t tid)
{
    (void)tid;
    return 0;
}

static int name_thread(const char *name)
{
    (void)name;
    return 0;
}

static int name_agent(const char *name, const struct hsa_agent_s *agent)
{
    (void)name;
    (void)agent;
    return 0;
}

static int name_device(const char *name, int device_id)
{
    (void)name;
    (void)device_id;
    return 0;
}

static int name_stream(const char *name, const struct ihipStream_t *stream)
{
    (void)name;
    (void)stream;
    return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct markers_core markers_core = {
    .size_bytes = sizeof markers_core,
    .mark = markers_own_mark,
    .range_push = markers_own_push,
    .range_pop = markers_own_pop,
    .range_start = range_start,
    .range_stop = range_stop,
    .thread_id = thread_id,
};
struct markers_control markers_control = {sizeof markers_control, profiler_request,
                                          profiler_request};
struct markers_names markers_names = {sizeof markers_names, name_thread, name_agent, name_device,
                                      name_stream};

ROCPROFILER_REGISTER_DEFINE_IMPORT(roctx, ROCPROFILER_SDK_ROCTX_VERSION)

typedef rocprofiler_register_error_code_t (*register_fn)(
    const char *, rocprofiler_register_import_func_t, uint32_t, void **, uint64_t,
    rocprofiler_register_library_indentifier_t *);
typedef int (*set_api_table_fn)(const char *, uint64_t, uint64_t, void **, uint64_t);

/* A tracer whose markers were enabled before this library came has not found us yet. */
static void tracer_notify(void)
{
    int (*load)(void) = NULL;
    void *tracer = dlopen("libroctracer64.so.4", RTLD_LAZY | RTLD_NOLOAD);
    if (!tracer)
        return;
    *(void **)&load = dlsym(tracer, "roctracer_load");
    if (load)
        load();
    dlclose(tracer);
}

/* The library may have been opened locally, by the program or by the tool that needs it. */
static void *symbol_find(const char *name, const char *library, int mode)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    void *handle = symbol ? NULL : dlopen(library, RTLD_LAZY | mode);
    return handle ? dlsym(handle, name) : symbol;
}

/* Asks what rocprofiler-register itself looks for. With a tool, that library is loaded, as it is
 * with runtimes, which are linked to it. */
static bool tool_is_there(void)
{
    const char *libraries = secure_getenv("ROCP_TOOL_LIBRARIES");
    return (libraries && *libraries) || dlsym(RTLD_DEFAULT, "rocprofiler_configure");
}

/* The tables go through rocprofiler-register when the process has it, else to the profiler itself.
 * A program with markers and without either pays a few look-ups, once. */
static void tables_offer(void)
{
    void *tables[] = {&markers_core, &markers_control, &markers_names};
    register_fn register_tables;
    set_api_table_fn set_tables;
    *(void **)&register_tables =
        symbol_find("rocprofiler_register_library_api_table", "librocprofiler-register.so.0",
                    tool_is_there() ? 0 : RTLD_NOLOAD);
    *(void **)&set_tables =
        symbol_find("rocprofiler_set_api_table", "librocprofiler-sdk.so.1", RTLD_NOLOAD);
    rocprofiler_register_library_indentifier_t id = {0};
    if (register_tables)
        register_tables("roctx", rocprofiler_register_import_roctx, ROCPROFILER_SDK_ROCTX_VERSION,
                        tables, 3, &id);
    else if (set_tables)
        set_tables("roctx", ROCPROFILER_SDK_ROCTX_VERSION, 0, tables, 3);
    tracer_notify();
}

static bool is_offered(void *unused)
{
    (void)unused;
    return !(atomic_load_explicit(&markers_state, memory_order_acquire) & MARKERS_UNOFFERED);
}

/* Another thread offers: a marker made now is the profiler's already. The wait is bounded, because
 * that thread may be in a tool's configuration that waits for this one, or not exist in a child of
 * fork; and a thread waits once. */
static void offer_await(void)
{
    static __thread bool waited;
    if (waited)
        return;
    waited = true;
    wait_until(is_offered, NULL, 1500 * WAIT_NS_PER_MS, 100 * WAIT_NS_PER_US);
}

void markers_offer(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT; /* relaxed: only one thread goes on */
    static __thread bool offering_here; /* a tool that marks while it is being configured */
    if (atomic_flag_test_and_set_explicit(&begun, memory_order_relaxed)) {
        if (!offering_here)
            offer_await();
        return;
    }
    offering_here = true;
    tables_offer();
    offering_here = false;
    atomic_fetch_and_explicit(&markers_state, ~(unsigned)MARKERS_UNOFFERED, memory_order_release);
}

/* ---- calls that somebody hears, or the first ones -------------------------------------------- */

void markers_mark_heard(const char *message)
{
    markers_ready();
    MARKERS_SLOT(markers_core.mark)(message);
}

int markers_push_heard(const char *message)
{
    markers_ready();
    return MARKERS_SLOT(markers_core.range_push)(message);
}

int markers_pop_heard(void)
{
    markers_ready();
    return MARKERS_SLOT(markers_core.range_pop)();
}
