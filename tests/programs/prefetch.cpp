// Shared memory that the program has moved to the GPU and back: the driver tells of each way.
#include "common.h"

#include <cstdio>
#include <cstring>

int main()
{
    constexpr size_t pages = 16, bytes = pages * 4096;
    char *shared;
    HIP_CHECK(hipMallocManaged(&shared, bytes));
    memset(shared, 1, bytes);
    HIP_CHECK(hipMemPrefetchAsync(shared, bytes, 0, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipMemPrefetchAsync(shared, bytes, hipCpuDeviceId, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    printf("prefetch: %p %zu\n", static_cast<void *>(shared), bytes);
    HIP_CHECK(hipFree(shared));
    return 0;
}
