// Ten kernels; the second and third, and the last four, where the program lets itself be profiled.
#include "common.h"

#include <clocale>

#include <rocprofiler-sdk-roctx/roctx.h>

__global__ void add_one(uint32_t *data)
{
    atomicAdd(data, 1);
}

static void launch(uint32_t *data, int count)
{
    for (int i = 0; i < count; i++) {
        add_one<<<1, 64>>>(data);
        HIP_CHECK(hipDeviceSynchronize());
    }
}

int main()
{
    uint32_t *data, host = 0;
    std::setlocale(LC_ALL, "");
    if (std::localeconv()->decimal_point[0] != '.')
        std::printf("a half: %.1f\n", 0.5);
    HIP_CHECK(hipMalloc(&data, sizeof(uint32_t)));
    HIP_CHECK(hipMemset(data, 0, sizeof(uint32_t)));
    launch(data, 1);
    roctxProfilerResume(0);
    launch(data, 2);
    roctxProfilerPause(0);
    launch(data, 3);
    roctxProfilerResume(0);
    roctxRangePush("outer");
    roctxRangePush("inner");
    launch(data, 3);
    roctxRangePop();
    launch(data, 1);
    roctxRangePop();
    HIP_CHECK(hipMemcpy(&host, data, sizeof(host), hipMemcpyDeviceToHost));
    return verdict("regions", host != 10 * 64);
}
