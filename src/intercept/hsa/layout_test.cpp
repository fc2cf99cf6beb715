// Our slot numbers against the runtime's own header, which only C++ can read: every function of the
// installed generation sits where data/api says.
#include <cstddef>
#include <cstdio>

#define AMD_INTERNAL_BUILD
#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>
#undef AMD_INTERNAL_BUILD

extern "C" {
#include "intercept/hsa/tables.h"
}

using table_CORE = CoreApiTable;
using table_AMD_EXT = AmdExtTable;
using table_IMAGE_EXT = ImageExtTable;
using table_FINALIZE_EXT = FinalizerExtTable;

#define X(name, table, slot)                                                                       \
    static_assert(offsetof(table_##table, name##_fn) == sizeof(ApiTableVersion) + 8 * (slot),      \
                  #name " is in another slot");
#if HSA_AMD_INTERFACE_VERSION_MINOR < 2
HSA_FUNCTIONS_1(X)
enum { MAJOR = 1 };
#else
HSA_FUNCTIONS_2(X)
enum { MAJOR = 2 };
#endif
#undef X

static int failures;

static void check(bool condition, const char *what)
{
    if (condition)
        return;
    std::fprintf(stderr, "layout_test: %s\n", what);
    failures++;
}

static HsaApiTable root;
static CoreApiTable core;
static AmdExtTable amd_ext;
static FinalizerExtTable finalizer_ext;
static ImageExtTable image_ext;

template <typename T> static void version_set(T &table, uint32_t major)
{
    table.version.major_id = major;
    table.version.minor_id = sizeof table;
}

static void root_make()
{
    version_set(root, 1);
    version_set(core, MAJOR);
    version_set(amd_ext, MAJOR);
    version_set(finalizer_ext, MAJOR);
    version_set(image_ext, MAJOR);
    root.core_ = &core;
    root.amd_ext_ = &amd_ext;
    root.finalizer_ext_ = &finalizer_ext;
    root.image_ext_ = &image_ext;
}

int main()
{
    hsa_tables tables;

    root_make();
    check(hsa_tables_read(&tables, &root), "a table of the installed header is refused");
#define SLOT(name) (void *)hsa_tables_slot(&tables, HSA_FN_##name)
    check(SLOT(hsa_init) == &core.hsa_init_fn, "hsa_init");
    check(SLOT(hsa_executable_freeze) == &core.hsa_executable_freeze_fn, "hsa_executable_freeze");
    check(SLOT(hsa_amd_queue_intercept_create) == &amd_ext.hsa_amd_queue_intercept_create_fn,
          "hsa_amd_queue_intercept_create");
    check(SLOT(hsa_ext_image_create) == &image_ext.hsa_ext_image_create_fn, "hsa_ext_image_create");
    check(SLOT(hsa_ext_program_create) == &finalizer_ext.hsa_ext_program_create_fn,
          "hsa_ext_program_create");

    // A shorter table ends where it says.
    core.version.minor_id = offsetof(CoreApiTable, hsa_queue_create_fn);
    check(hsa_tables_read(&tables, &root), "a short table is refused");
    check(SLOT(hsa_agent_get_info) == &core.hsa_agent_get_info_fn, "last slot of a short table");
    check(SLOT(hsa_queue_create) == nullptr, "a slot behind the end of a short table");
    root_make();

    // Between the known generations only what lies before the first insertion is sure.
    version_set(amd_ext, 1);
    amd_ext.version.minor_id = sizeof amd_ext + 16;
    check(hsa_tables_read(&tables, &root), "an unknown size is refused");
    check(SLOT(hsa_amd_memory_async_copy) == &amd_ext.hsa_amd_memory_async_copy_fn,
          "a slot before the insertion");
    check(SLOT(hsa_amd_queue_intercept_create) == nullptr, "a slot behind the insertion");

    root_make();
    root.image_ext_ = nullptr;
    check(hsa_tables_read(&tables, &root), "a missing image table is refused");
    check(SLOT(hsa_ext_image_create) == nullptr, "a slot of a missing table");
    root.version.minor_id = 3;
    check(!hsa_tables_read(&tables, &root), "a root table without members is accepted");
    check(!hsa_tables_read(&tables, nullptr), "NULL is accepted");
    return failures != 0;
}
