/* Meeting the process: the library is linked, opened, or named in HSA_TOOLS_LIB. */
#include "api/roctracer/internal.h"

/* This runs before the program's own constructors, so that runtimes which they start are met. */
__attribute__((constructor)) static void begin(void)
{
    engine->hip_facts->on_armed(registry_hip_armed);
    engine->runtime_arm();
    engine->runtime_registered_collect();
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
                     const char *const *failed_tool_names);
EXPORTED void OnUnload(void);
EXPORTED extern const uint32_t HSA_AMD_TOOL_PRIORITY;

/* A user who names this library as HSA's tool means to trace; a program that only links it does not
 * come here. ROC Profiler's library may be in HSA's list, too: the engine takes a table once. */
VERSIONS_4_0(OnLoad);
bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
            const char *const *failed_tool_names)
{
    (void)failed_tool_count, (void)failed_tool_names;
    registry_queues_expect();
    engine->runtime_hsa_load(table, runtime_version);
    return true;
}

VERSIONS_4_0(OnUnload);
void OnUnload(void)
{
    engine->runtime_hsa_unload(__builtin_return_address(0));
}

const uint32_t HSA_AMD_TOOL_PRIORITY = 50;
