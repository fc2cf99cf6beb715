/* Where runtimes themselves call us: HSA's tool hooks, OpenMP's question for a tool. What
 * rocprofiler-register calls is in registered.c. */
#include "runtime/instances.h"
#include "session/discover.h"
#include "session/lifecycle.h"
#include "session/runtimes.h"

/* ---- OpenMP: its runtime asks for a tool once, when it starts */

static const struct runtime_ops *openmp(void)
{
    return runtime_ops_of(&runtime_rows[RUNTIME_OPENMP]);
}

struct ompt_start_tool_result_t *runtime_ompt_start(void)
{
    if (session_stage() == STAGE_BEFORE && !discover_any())
        return NULL;
    session_initialize();
    return session_stage() == STAGE_READY && trace_domain_is_configured(TRACE_OMPT) &&
                   openmp()->tool
               ? openmp()->tool()
               : NULL;
}

int runtime_ompt_initialized(void)
{
    return openmp()->tool_initialized ? openmp()->tool_initialized() : 0;
}

int runtime_ompt_finalized(void)
{
    return openmp()->tool_finalized ? openmp()->tool_finalized() : 0;
}

/* ---- HSA tool entry points (HSA_TOOLS_LIB). The runtime calls them inside hsa_init,
 * hsa_shut_down. */

#define EXPORTED __attribute__((visibility("default")))
EXPORTED bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
                     const char *const *failed_tool_names);
EXPORTED void OnUnload(void);
EXPORTED extern const uint32_t HSA_AMD_TOOL_PRIORITY;

void runtimes_follow_libraries(void)
{
    for (int kind = 0; kind < RUNTIME_KINDS; kind++)
        if (runtime_ops_of(&runtime_rows[kind])->follow)
            runtime_ops_of(&runtime_rows[kind])->follow();
}

/* HSA does not number its copies in the process, as rocprofiler-register does. */
void runtime_hsa_load(void *table, uint64_t runtime_version)
{
    if (table)
        runtime_offer_row(&runtime_rows[RUNTIME_HSA], runtime_version, RUNTIME_UNNUMBERED, &table);
    if (session_is_wanted()) {
        runtimes_hook(); /* a HIP that was loaded after our constructor */
        runtimes_follow_calls();
    }
    if (subscriptions_exist())
        runtime_registered_collect();
    runtimes_follow_libraries(); /* a libhsakmt that was loaded with the runtime */
}

/* Writers: a front end, once (release). Readers: runtimes that leave (acquire). */
static _Atomic(void (*)(void)) leaving_told;

void runtime_hsa_leaving_watch(void (*told)(void))
{
    atomic_store_explicit(&leaving_told, told, memory_order_release);
}

void runtime_hsa_unload(const void *caller)
{
    const struct runtime_ops *ops = runtime_ops_of(&runtime_rows[RUNTIME_HSA]);
    void (*told)(void) = atomic_load_explicit(&leaving_told, memory_order_acquire);
    if (told)
        told();
    void *table = ops->leaving ? ops->leaving(caller) : NULL;
    if (!table)
        table = runtime_only_table(RUNTIME_HSA);
    if (!table)
        return;
    if (ops->forget)
        ops->forget(table);
    else
        runtime_leave(RUNTIME_HSA, table);
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
