/*
 * A librocprofiler-register.so.0 that decides as AMD's does: tables go on only when a tool is seen
 * (a global rocprofiler_configure, or one of three environment variables, asked at each
 * registration), to the global rocprofiler_set_api_table, or to the library that the environment
 * names; once that was found, it gets everything. What AMD's makes a fatal message of is abort().
 */
#include <dlfcn.h>
#include <rocprofiler-register/rocprofiler-register.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 16 };
typedef int (*set_table_fn)(const char *, uint64_t, uint64_t, void **, uint64_t);

static struct {
    const char *name;
    uint32_t version;
    void *table;
    bool given;
} kept[KEPT_MAX];
static unsigned kept_count;
static set_table_fn profiler;

static bool tool_is_seen(void)
{
    const char *const names[] = {"ROCPROFILER_REGISTER_FORCE_LOAD", "ROCP_TOOL_LIBRARIES",
                                 "ROCPROFILER_REGISTER_LIBRARY"};
    bool seen = dlsym(RTLD_DEFAULT, "rocprofiler_configure") != NULL;
    for (unsigned i = 0; i < 3; i++)
        seen |= getenv(names[i]) && *getenv(names[i]);
    return seen;
}

static void profiler_find(void)
{
    if (!tool_is_seen() || profiler)
        return;
    *(void **)&profiler = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
    const char *path = getenv("ROCPROFILER_REGISTER_LIBRARY");
    void *library = profiler ? NULL : dlopen(path ? path : "librocprofiler-sdk.so", RTLD_LAZY);
    if (library)
        *(void **)&profiler = dlsym(library, "rocprofiler_set_api_table");
    if (!profiler)
        abort();
}

static bool give(unsigned i)
{
    kept[i].given = profiler(kept[i].name, kept[i].version, 0, &kept[i].table, 1) == 0;
    return kept[i].given;
}

rocprofiler_register_error_code_t
rocprofiler_register_library_api_table(const char *name, rocprofiler_register_import_func_t import,
                                       uint32_t version, void **tables, uint64_t count,
                                       rocprofiler_register_library_indentifier_t *id)
{
    (void)import, (void)count;
    profiler_find();
    if (kept_count == KEPT_MAX)
        return ROCP_REG_EXCESS_API_INSTANCES;
    id->handle = kept_count;
    kept[kept_count].name = name;
    kept[kept_count].version = version;
    kept[kept_count].table = tables[0];
    kept_count++;
    if (!profiler)
        return ROCP_REG_NO_TOOLS;
    return give(kept_count - 1) ? ROCP_REG_SUCCESS : ROCP_REG_ROCPROFILER_ERROR;
}

/* In no installed header. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_invoke_nonpropagated_registrations(void);

rocprofiler_register_error_code_t rocprofiler_register_invoke_nonpropagated_registrations(void)
{
    for (unsigned i = 0; i < kept_count; i++) {
        if (kept[i].given)
            continue;
        profiler_find();
        if (profiler && !give(i))
            return ROCP_REG_ROCPROFILER_ERROR;
    }
    return ROCP_REG_SUCCESS;
}
