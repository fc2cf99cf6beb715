// printf in a kernel; the caller compares the lines on stdout.
#include "common.h"

__global__ void hello(int base)
{
    unsigned block = blockIdx.x, thread = threadIdx.x;
    if (thread < 3)
        printf("block %u thread %u sum %d half %.2f %s\n", block, thread,
               base + (int)thread, thread * 0.5, "text");
}

int main()
{
    hello<<<2, 64>>>(40);
    HIP_CHECK(hipDeviceSynchronize());
    return verdict("device_printf", 0);
}
