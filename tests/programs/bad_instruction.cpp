// Executes a dword that is no instruction; ends in the runtime's error, not in a wrong result.
#include "common.h"

__global__ void broken(int *out)
{
    asm volatile(".long 0xfeedface");
    *out = 1;
}

int main()
{
    int *out;
    HIP_CHECK(hipMalloc(&out, sizeof(int)));
    broken<<<1, 1>>>(out);
    hipError_t status = hipDeviceSynchronize();
    std::printf("bad_instruction: %s\n", hipGetErrorString(status));
    return status == hipSuccess;
}
