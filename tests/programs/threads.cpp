// Four host threads, two hundred launches each, one stream each.
#include "common.h"

#include <atomic>
#include <thread>
#include <vector>

enum { THREADS = 4, LAUNCHES = 200 };

__global__ void count_up(uint32_t *data, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i]++;
}

static size_t worker()
{
    const size_t count = 1000;
    uint32_t *data;
    hipStream_t stream;
    HIP_CHECK(hipStreamCreate(&stream));
    HIP_CHECK(hipMalloc(&data, count * sizeof(uint32_t)));
    HIP_CHECK(hipMemsetAsync(data, 0, count * sizeof(uint32_t), stream));
    for (int n = 0; n < LAUNCHES; n++)
        count_up<<<groups(count, 64), 64, 0, stream>>>(data, count);
    HIP_CHECK(hipStreamSynchronize(stream));
    std::vector<uint32_t> host(count);
    HIP_CHECK(hipMemcpy(host.data(), data, count * sizeof(uint32_t), hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(data));
    HIP_CHECK(hipStreamDestroy(stream));
    size_t wrong = 0;
    for (uint32_t value : host)
        wrong += value != LAUNCHES;
    return wrong;
}

int main()
{
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back([&] { wrong += worker(); });
    for (auto &thread : threads)
        thread.join();
    return verdict("threads", wrong);
}
