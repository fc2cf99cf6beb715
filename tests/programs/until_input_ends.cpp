// A service: runs a kernel every few milliseconds until its input ends. For those who attach to it.
#include <poll.h>

#include "common.h"

__global__ void count(uint32_t *counter)
{
    if (threadIdx.x == 0)
        atomicAdd(counter, 1);
}

int main()
{
    uint32_t *counter, result = 0, rounds = 0;
    struct pollfd input = {0, POLLIN, 0};
    HIP_CHECK(hipMalloc((void **)&counter, sizeof *counter));
    HIP_CHECK(hipMemset(counter, 0, sizeof *counter));
    std::puts("ready");
    std::fflush(stdout);
    for (; poll(&input, 1, 2) == 0; rounds++) {
        count<<<1, 64>>>(counter);
        HIP_CHECK(hipGetLastError());
        HIP_CHECK(hipDeviceSynchronize());
    }
    HIP_CHECK(hipMemcpy(&result, counter, sizeof result, hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(counter));
    std::printf("until_input_ends: %s\n", result == rounds ? "ok" : "wrong");
    return result != rounds;
}
