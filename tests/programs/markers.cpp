// Kernels inside marked ranges; then so many marks and ranges, and how much memory it took.
// usage: markers [COUNT]
#include "common.h"

#include <cstring>

#include <rocprofiler-sdk-roctx/roctx.h>

__global__ void add_one(uint32_t *data)
{
    atomicAdd(data, 1);
}

static void peak_print()
{
    char line[256];
    FILE *status = std::fopen("/proc/self/status", "r");
    while (status && std::fgets(line, sizeof line, status))
        if (std::strncmp(line, "VmHWM:", 6) == 0)
            std::fputs(line, stdout);
    if (status)
        std::fclose(status);
}

int main(int argc, char **argv)
{
    uint32_t *data, host = 0;
    roctxRangePush("whole program");
    HIP_CHECK(hipMalloc(&data, sizeof(uint32_t)));
    HIP_CHECK(hipMemset(data, 0, sizeof(uint32_t)));
    roctx_range_id_t loop = roctxRangeStart("loop");
    for (int i = 0; i < 4; i++) {
        roctxRangePush("launch");
        add_one<<<1, 64>>>(data);
        HIP_CHECK(hipDeviceSynchronize());
        roctxRangePop();
    }
    roctxRangeStop(loop);
    roctxMark("copy \"back\"");
    HIP_CHECK(hipMemcpy(&host, data, sizeof(host), hipMemcpyDeviceToHost));
    roctxRangePop();
    for (long i = argc > 1 ? std::atol(argv[1]) : 0; i > 0; i--) {
        roctxRangePush("many");
        roctxMark("more");
        roctxRangePop();
    }
    peak_print();
    return verdict("markers", host != 4 * 64);
}
