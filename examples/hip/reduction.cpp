// A tree reduction in LDS and a histogram with atomics in LDS and in memory.
#include "common.h"

#include <vector>

enum { BLOCK = 256, BINS = 256 };

__global__ void reduce_sum(const uint32_t *in, uint64_t *out, size_t count)
{
    __shared__ uint64_t partial[BLOCK];
    uint64_t sum = 0;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        sum += in[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd((unsigned long long *)out, (unsigned long long)partial[0]);
}

__global__ void histogram(const uint32_t *in, uint32_t *bins, size_t count)
{
    __shared__ uint32_t local[BINS];
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        atomicAdd(&local[in[i] % BINS], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

int main()
{
    const size_t count = 1000003;
    std::vector<uint32_t> values(count), bins(BINS), expected(BINS);
    Random random(7);
    uint64_t expected_sum = 0;
    for (auto &value : values) {
        value = random.bits();
        expected_sum += value;
        expected[value % BINS]++;
    }

    uint32_t *din, *dbins;
    uint64_t *dsum, sum = 0;
    HIP_CHECK(hipMalloc(&din, count * sizeof(uint32_t)));
    HIP_CHECK(hipMalloc(&dbins, BINS * sizeof(uint32_t)));
    HIP_CHECK(hipMalloc(&dsum, sizeof(uint64_t)));
    HIP_CHECK(hipMemcpy(din, values.data(), count * sizeof(uint32_t), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemset(dsum, 0, sizeof(uint64_t)));
    HIP_CHECK(hipMemset(dbins, 0, BINS * sizeof(uint32_t)));
    reduce_sum<<<64, BLOCK>>>(din, dsum, count);
    histogram<<<64, BLOCK>>>(din, dbins, count);
    HIP_CHECK(hipMemcpy(&sum, dsum, sizeof sum, hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(bins.data(), dbins, BINS * sizeof(uint32_t), hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(din));
    HIP_CHECK(hipFree(dbins));
    HIP_CHECK(hipFree(dsum));

    size_t wrong = sum != expected_sum;
    for (int i = 0; i < BINS; i++)
        wrong += bins[i] != expected[i];
    return verdict("reduction", wrong);
}
