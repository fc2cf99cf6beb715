// A kernel that spins on a flag which a kernel launched later, in another stream, sets; and one
// that waits for the host.
#include "common.h"

__global__ void wait_for(volatile uint32_t *flag, uint32_t *seen)
{
    while (*flag == 0)
        __builtin_amdgcn_s_sleep(1);
    *seen = *flag;
}

__global__ void spin_hard(volatile uint32_t *flag, uint32_t *seen)
{
    while (*flag == 0) {
    }
    *seen = *flag;
}

__global__ void set_flag(volatile uint32_t *flag, uint32_t value)
{
    *flag = value;
}

int main()
{
    uint32_t *shared;
    hipStream_t first, second;
    HIP_CHECK(hipHostMalloc((void **)&shared, 6 * sizeof(uint32_t), hipHostMallocCoherent));
    for (int i = 0; i < 6; i++)
        shared[i] = 0;
    HIP_CHECK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    HIP_CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    wait_for<<<1, 64, 0, first>>>(&shared[0], &shared[1]);
    set_flag<<<1, 1, 0, second>>>(&shared[0], 77);
    HIP_CHECK(hipDeviceSynchronize());

    spin_hard<<<4, 64, 0, first>>>(&shared[2], &shared[3]);
    set_flag<<<1, 1, 0, second>>>(&shared[2], 78);
    HIP_CHECK(hipDeviceSynchronize());

    wait_for<<<1, 64, 0, first>>>(&shared[4], &shared[5]);
    __atomic_store_n(&shared[4], 79u, __ATOMIC_RELEASE);
    HIP_CHECK(hipDeviceSynchronize());
    size_t wrong = (shared[1] != 77) + (shared[3] != 78) + (shared[5] != 79);
    return verdict("spin", wrong);
}
