// Calls the library of tools that KOKKOS_TOOLS_LIBS names as Kokkos does, around kernels of its own, and pauses and
// resumes profiling in regions inside of regions.
#include "common.h"

#include <dlfcn.h>
#include <rocprofiler-sdk-roctx/roctx.h>

struct space {
    char name[64];
};

static void *tools;

template <typename Function> static Function *tool(const char *name)
{
    void *found = tools ? dlsym(tools, name) : nullptr;
    if (tools && !found)
        std::printf("no %s\n", name);
    return reinterpret_cast<Function *>(found);
}

__global__ void add_one(uint32_t *data)
{
    atomicAdd(data, 1);
}

static void launch(uint32_t *data, int count)
{
    for (int i = 0; i < count; i++)
        add_one<<<1, 64>>>(data);
    HIP_CHECK(hipDeviceSynchronize());
}

static void kernel(const char *kind, const char *name, uint32_t *data, int count)
{
    uint64_t id = 0;
    std::string begin = std::string("kokkosp_begin_") + kind, end = std::string("kokkosp_end_") + kind;
    if (tools)
        tool<void(const char *, uint32_t, uint64_t *)>(begin.c_str())(name, 0, &id);
    launch(data, count);
    if (tools)
        tool<void(uint64_t)>(end.c_str())(id);
}

static void kokkos(uint32_t *data)
{
    uint32_t first, second;
    tool<void(int, uint64_t, uint32_t, void *)>("kokkosp_init_library")(0, 20211015, 0, nullptr);
    tool<void(const char *)>("kokkosp_push_profile_region")("solve");
    tool<void(const char *, uint32_t *)>("kokkosp_create_profile_section")("first", &first);
    tool<void(const char *, uint32_t *)>("kokkosp_create_profile_section")("second", &second);
    tool<void(uint32_t)>("kokkosp_start_profile_section")(first);
    tool<void(uint32_t)>("kokkosp_start_profile_section")(second);
    kernel("parallel_for", "axpy", data, 2);
    tool<void(uint32_t)>("kokkosp_stop_profile_section")(first);
    kernel("parallel_reduce", "dot", data, 1);
    tool<void(uint32_t)>("kokkosp_stop_profile_section")(second);
    tool<void(space, const char *, const void *, space, const char *, const void *, uint64_t)>(
        "kokkosp_begin_deep_copy")(space{"HIP"}, "x", nullptr, space{"Host"}, "y", nullptr, 4096);
    tool<void()>("kokkosp_end_deep_copy")();
    tool<void(const char *)>("kokkosp_profile_event")("an event");
    tool<void()>("kokkosp_pop_profile_region")();
    tool<void()>("kokkosp_finalize_library")();
}

int main()
{
    const char *library = std::getenv("KOKKOS_TOOLS_LIBS");
    uint32_t *data, host = 0;
    tools = library ? dlopen(library, RTLD_NOW) : nullptr;
    if (library && !tools)
        std::printf("%s\n", dlerror());
    HIP_CHECK(hipMalloc(&data, sizeof(uint32_t)));
    HIP_CHECK(hipMemset(data, 0, sizeof(uint32_t)));
    if (tools)
        kokkos(data);
    else
        launch(data, 3);
    roctxProfilerResume(0);
    launch(data, 1);
    roctxProfilerResume(0);
    launch(data, 1);
    roctxProfilerPause(0);
    launch(data, 2);
    roctxProfilerPause(0);
    launch(data, 4);
    HIP_CHECK(hipMemcpy(&host, data, sizeof(host), hipMemcpyDeviceToHost));
    return verdict("kokkos_like", host != 11 * 64 || (library && !tools));
}
