/* What programs that print arguments include: hip_ostream_ops.h, hsa_ostream_ops.h, and what HIP's own
 * header builds on them (hipApiString). */
#define HIP_PROF_HIP_API_STRING 1
#include <roctracer/roctracer_hip.h>
#include <roctracer/roctracer_hsa.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

static int failures;

template <typename T> static void writes(const T &value, const std::string &expected)
{
    std::ostringstream out;
    out << value;
    if (out.str() == expected)
        return;
    std::cerr << "written:  " << out.str() << "\nexpected: " << expected << "\n";
    failures++;
}

static void nesting()
{
    hipMemcpy3DParms copy;
    std::memset(&copy, 0, sizeof copy);
    copy.srcPos.y = 4;
    copy.extent.width = 8;
    copy.kind = hipMemcpyDeviceToHost;
    writes(copy, "{srcArray=0, srcPos={}, srcPtr={}, dstArray=0, dstPos={}, dstPtr={}, extent={}, "
                 "kind=2}");
    roctracer::hip_support::HIP_depth_max = 2;
    writes(copy, "{srcArray=0, srcPos={x=0, y=4, z=0}, srcPtr={ptr=0, pitch=0, xsize=0, ysize=0}, "
                 "dstArray=0, dstPos={x=0, y=0, z=0}, dstPtr={ptr=0, pitch=0, xsize=0, ysize=0}, "
                 "extent={width=8, height=0, depth=0}, kind=2}");
    roctracer::hip_support::HIP_depth_max = 0;
    writes(copy, "{}");
    roctracer::hip_support::HIP_depth_max = -1;
    roctracer::hip_support::HIP_structs_regex = "hipPos::y";
    writes(copy.srcPos, "{y=4}");
    roctracer::hip_support::HIP_structs_regex = "";
    roctracer::hip_support::HIP_depth_max = 1;
}

/* An unterminated name does not run out of its array. */
static void text()
{
    hipDeviceProp_t properties;
    std::memset(&properties, 0, sizeof properties);
    std::memcpy(properties.name, "a \"b\"\n\x01", 8);
    roctracer::hip_support::HIP_structs_regex = "hipDeviceProp_t::name";
    writes(properties, "{name=\"a \\\"b\\\"\\n\\x01\"}");
    std::memset(properties.name, 'n', sizeof properties.name);
    writes(properties, "{name=\"" + std::string(sizeof properties.name, 'n') + "\"}");
    roctracer::hip_support::HIP_structs_regex = "maxThreadsDim";
    properties.maxThreadsDim[2] = 7;
    writes(properties, "{maxThreadsDim={0, 0, 7}}");
    roctracer::hip_support::HIP_structs_regex = "";
    hipDeviceArch_t features;
    std::memset(&features, 0, sizeof features);
    features.hasDoubles = 1;
    roctracer::hip_support::HIP_structs_regex = "hasDoubles";
    writes(features, "{hasDoubles=1}");
    roctracer::hip_support::HIP_structs_regex = "";
}

static void hip_calls()
{
    hip_api_data_t data{};
    std::memset(static_cast<void *>(&data.args), 0, sizeof data.args);
    data.args.hipLaunchKernel.numBlocks = dim3(1, 2, 3);
    data.args.hipLaunchKernel.dimBlocks = dim3(4, 5, 6);
    data.args.hipLaunchKernel.sharedMemBytes = 64;
    const char *string = hipApiString(HIP_API_ID_hipLaunchKernel, &data);
    writes(std::string(string),
           "hipLaunchKernel(function_address=0, numBlocks={x=1, y=2, z=3}, "
           "dimBlocks={x=4, y=5, z=6}, args=NULL, sharedMemBytes=64, stream=0)");
    std::free(const_cast<char *>(string));

    void *memory = reinterpret_cast<void *>(0x1000);
    std::memset(static_cast<void *>(&data.args), 0, sizeof data.args);
    data.args.hipMalloc.ptr = &memory;
    data.args.hipMalloc.size = 40;
    hipApiArgsInit(HIP_API_ID_hipMalloc, &data);
    string = hipApiString(HIP_API_ID_hipMalloc, &data);
    writes(std::string(string), "hipMalloc(ptr=0x1000, size=40)");
    std::free(const_cast<char *>(string));
}

static void hsa_calls()
{
    hsa_api_data_t data;
    std::memset(&data, 0, sizeof data);
    data.args.hsa_queue_create.agent.handle = 77;
    data.args.hsa_queue_create.size = 64;
    data.hsa_status_t_retval = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    writes(hsa_api_data_pair_t(HSA_API_ID_hsa_queue_create, data),
           "hsa_queue_create({handle=77}, 64, 0, 0, 0, 0, 0, 0) = 4097");
    std::memset(&data, 0, sizeof data);
    writes(hsa_api_data_pair_t(HSA_API_ID_hsa_init, data), "hsa_init() = 0");
    data.args.hsa_signal_store_relaxed.value = -3;
    writes(hsa_api_data_pair_t(HSA_API_ID_hsa_signal_store_relaxed, data),
           "hsa_signal_store_relaxed({handle=0}, -3) = void");
    /* the string may be gone when it is written */
    std::memset(&data, 0, sizeof data);
    data.args.hsa_executable_get_symbol_by_name.symbol_name = reinterpret_cast<const char *>(16);
    writes(hsa_api_data_pair_t(HSA_API_ID_hsa_executable_get_symbol_by_name, data),
           "hsa_executable_get_symbol_by_name({handle=0}, 0x10, 0, 0) = 0");
    writes(hsa_api_data_pair_t(HSA_API_ID_NUMBER, data), "unknown");
    hsa_dim3_t range = {1, 2, 3};
    writes(range, "{x=1, y=2, z=3}");
}

int main()
{
    nesting();
    text();
    hip_calls();
    hsa_calls();
    return failures;
}
