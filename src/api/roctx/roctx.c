/*
 * librocprofiler-sdk-roctx: markers. Without a profiler a call is one jump through a table to a
 * function that does next to nothing. The first call offers the tables to a profiler, which may
 * put its wrappers into them; after that they do not change.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rocprofiler-register/rocprofiler-register.h>
#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk-roctx/roctx.h>

static _Thread_local int open_ranges;          /* pushed and not popped */
static _Atomic roctx_range_id_t last_range_id; /* any thread, relaxed: only uniqueness matters */

/* ---- what the functions do by themselves ----------------------------------------------------- */

static void mark(const char *message)
{
    (void)message;
}

static int range_push(const char *message)
{
    (void)message;
    return open_ranges++;
}

static int range_pop(void)
{
    return open_ranges > 0 ? --open_ranges : -1;
}

static roctx_range_id_t range_start(const char *message)
{
    (void)message;
    return atomic_fetch_add_explicit(&last_range_id, 1, memory_order_relaxed) + 1;
}

static void range_stop(roctx_range_id_t id)
{
    (void)id;
}

static int thread_id(roctx_thread_id_t *tid)
{
    if (!tid)
        return -1;
    *tid = (roctx_thread_id_t)syscall(SYS_gettid);
    return 0;
}

static int profiler_request(roctx_thread_id_t tid)
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

/* ---- tables -----------------------------------------------------------------------------------
 */

static roctxCoreApiTable_t core = {sizeof core, mark,       range_push, range_pop,
                                   range_start, range_stop, thread_id};
static roctxControlApiTable_t control = {sizeof control, profiler_request, profiler_request};
static roctxNameApiTable_t name = {sizeof name, name_thread, name_agent, name_device, name_stream};

/* 0 before, 1 while one thread offers, 2 after. Written by that thread (release), read by every
 * call (acquire): whoever sees 2 sees the profiler's pointers. */
static _Atomic int offered;

ROCPROFILER_REGISTER_DEFINE_IMPORT(roctx, ROCPROFILER_SDK_ROCTX_VERSION)

typedef rocprofiler_register_error_code_t (*register_fn)(
    const char *, rocprofiler_register_import_func_t, uint32_t, void **, uint64_t,
    rocprofiler_register_library_indentifier_t *);
typedef int (*set_api_table_fn)(const char *, uint64_t, uint64_t, void **, uint64_t);

/* Through rocprofiler-register when the process has it, else to the profiler itself. A program with
 * markers and without either pays two symbol look-ups, once. */
static void tables_offer(void)
{
    void *tables[] = {&core, &control, &name};
    register_fn register_tables;
    set_api_table_fn set_tables;
    *(void **)&register_tables = dlsym(RTLD_DEFAULT, "rocprofiler_register_library_api_table");
    *(void **)&set_tables = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
    rocprofiler_register_library_indentifier_t id = {0};
    if (register_tables)
        register_tables("roctx", rocprofiler_register_import_roctx, ROCPROFILER_SDK_ROCTX_VERSION,
                        tables, 3, &id);
    else if (set_tables)
        set_tables("roctx", ROCPROFILER_SDK_ROCTX_VERSION, 0, tables, 3);
}

static void offer_once(void)
{
    int before = 0;
    /* A tool that marks while it is being configured, and threads that come meanwhile, go on with
     * the library's own functions. */
    if (!atomic_compare_exchange_strong_explicit(&offered, &before, 1, memory_order_acquire,
                                                 memory_order_acquire))
        return;
    tables_offer();
    atomic_store_explicit(&offered, 2, memory_order_release);
}

static inline void ready(void)
{
    if (__builtin_expect(atomic_load_explicit(&offered, memory_order_acquire) != 2, 0))
        offer_once();
}

/* ---- exported ---------------------------------------------------------------------------------
 */

void roctxMarkA(const char *message)
{
    ready();
    core.roctxMarkA_fn(message);
}

int roctxRangePushA(const char *message)
{
    ready();
    return core.roctxRangePushA_fn(message);
}

int roctxRangePop(void)
{
    ready();
    return core.roctxRangePop_fn();
}

roctx_range_id_t roctxRangeStartA(const char *message)
{
    ready();
    return core.roctxRangeStartA_fn(message);
}

void roctxRangeStop(roctx_range_id_t id)
{
    ready();
    core.roctxRangeStop_fn(id);
}

int roctxGetThreadId(roctx_thread_id_t *tid)
{
    ready();
    return core.roctxGetThreadId_fn(tid);
}

int roctxProfilerPause(roctx_thread_id_t tid)
{
    ready();
    return control.roctxProfilerPause_fn(tid);
}

int roctxProfilerResume(roctx_thread_id_t tid)
{
    ready();
    return control.roctxProfilerResume_fn(tid);
}

int roctxNameOsThread(const char *text)
{
    ready();
    return name.roctxNameOsThread_fn(text);
}

int roctxNameHsaAgent(const char *text, const struct hsa_agent_s *agent)
{
    ready();
    return name.roctxNameHsaAgent_fn(text, agent);
}

int roctxNameHipDevice(const char *text, int device_id)
{
    ready();
    return name.roctxNameHipDevice_fn(text, device_id);
}

int roctxNameHipStream(const char *text, const struct ihipStream_t *stream)
{
    ready();
    return name.roctxNameHipStream_fn(text, stream);
}
