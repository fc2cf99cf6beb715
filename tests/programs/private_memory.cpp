// Private arrays indexed at run time and a recursive device function: scratch memory and calls.
#include "common.h"

#include <vector>

enum { SLOTS = 48 };

__host__ __device__ __attribute__((noinline)) static uint32_t ackermann_like(uint32_t m, uint32_t n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann_like(m - 1, 1);
    return ackermann_like(m - 1, ackermann_like(m, n - 1)) + (m & 1);
}

__host__ __device__ static uint32_t shuffle_sum(uint32_t seed)
{
    uint32_t slot[SLOTS];
    for (uint32_t i = 0; i < SLOTS; i++)
        slot[i] = seed * (i + 1);
    for (uint32_t i = 0; i < SLOTS; i++) {
        uint32_t j = (slot[i] >> 3) % SLOTS;
        uint32_t swap = slot[i];
        slot[i] = slot[j];
        slot[j] = swap + i;
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        sum = sum * 31 + slot[i];
    return sum;
}

__global__ void private_arrays(uint32_t *out, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = shuffle_sum(i * 2654435761u + 1);
}

__global__ void recursion(uint32_t *out, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = ackermann_like(i % 3, i % 4);
}

int main()
{
    const uint32_t count = 20000, few = 500;
    std::vector<uint32_t> out(count), deep(few);
    uint32_t *dout;
    HIP_CHECK(hipMalloc(&dout, count * sizeof(uint32_t)));
    private_arrays<<<groups(count, 128), 128>>>(dout, count);
    HIP_CHECK(hipMemcpy(out.data(), dout, count * sizeof(uint32_t), hipMemcpyDeviceToHost));
    recursion<<<groups(few, 64), 64>>>(dout, few);
    HIP_CHECK(hipMemcpy(deep.data(), dout, few * sizeof(uint32_t), hipMemcpyDeviceToHost));

    size_t wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong += out[i] != shuffle_sum(i * 2654435761u + 1);
    for (uint32_t i = 0; i < few; i++)
        wrong += deep[i] != ackermann_like(i % 3, i % 4);
    return verdict("private_memory", wrong);
}
