// Kernels inside marked ranges.
#include "common.h"

#include <rocprofiler-sdk-roctx/roctx.h>

__global__ void add_one(uint32_t *data)
{
    atomicAdd(data, 1);
}

int main()
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
    return verdict("markers", host != 4 * 64);
}
