// A runtime that announces itself, with every macro that runtimes use.
#include <rocprofiler-register/rocprofiler-register.h>

#define RUNTIME_NAME hip
static const uint32_t version = ROCPROFILER_REGISTER_COMPUTE_VERSION_3(7, 2, 4);
ROCPROFILER_REGISTER_DEFINE_IMPORT(RUNTIME_NAME, version)

static_assert(ROCPROFILER_REGISTER_COMPUTE_VERSION_1(7) == 70000, "major");
static_assert(ROCPROFILER_REGISTER_COMPUTE_VERSION_2(7, 2) == 70200, "major, minor");
static_assert(ROCPROFILER_REGISTER_COMPUTE_VERSION_4(7, 2, 4, 9) == 70204, "tweak is left out");
static_assert(sizeof ROCPROFILER_REGISTER_SOVERSION == 2, "a string");

int main()
{
    struct {
        size_t size;
        void (*function)();
    } table = {sizeof table, nullptr};
    void *tables[] = {&table};
    rocprofiler_register_library_indentifier_t id = {};
    if (rocprofiler_register_import_hip() != 70204)
        return 1;
    // no tool is there
    return rocprofiler_register_library_api_table("hip", &ROCPROFILER_REGISTER_IMPORT_FUNC(hip),
                                                  version, tables, 1, &id) != ROCP_REG_NO_TOOLS;
}
