// Does what each line of its input says, and answers with a line: "mark N", "launch N", "begin" (a kernel that runs
// until) "end".
#include "common.h"

#include <cstring>

#include <rocprofiler-sdk-roctx/roctx.h>

__global__ void count(uint32_t *counter)
{
    if (threadIdx.x == 0)
        atomicAdd(counter, 1);
}

__global__ void wait_for(volatile uint32_t *flag)
{
    while (*flag == 0)
        __builtin_amdgcn_s_sleep(8);
}

int main()
{
    uint32_t *counter;
    volatile uint32_t *flag;
    char line[64];
    unsigned many = 0;
    HIP_CHECK(hipMalloc((void **)&counter, sizeof *counter));
    HIP_CHECK(hipHostMalloc((void **)&flag, sizeof *flag, hipHostMallocCoherent));
    for (*flag = 0; std::fgets(line, sizeof line, stdin);) {
        if (std::sscanf(line, "mark %u", &many) == 1) {
            for (unsigned i = 0; i < many; i++)
                roctxMark("here");
        } else if (std::sscanf(line, "launch %u", &many) == 1) {
            for (unsigned i = 0; i < many; i++)
                count<<<1, 64>>>(counter);
            HIP_CHECK(hipDeviceSynchronize());
        } else if (std::strcmp(line, "begin\n") == 0) {
            wait_for<<<1, 1>>>(flag);
        } else if (std::strcmp(line, "end\n") == 0) {
            *flag = 1;
            HIP_CHECK(hipDeviceSynchronize());
            *flag = 0;
        }
        std::puts("done");
        std::fflush(stdout);
    }
    return 0;
}
