// Eight streams, events between them, and times that make sense.
#include "common.h"

#include <vector>

enum { STREAMS = 8, STEPS = 12 };

__global__ void step(uint32_t *data, size_t count, uint32_t add)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = data[i] * 3 + add;
}

int main()
{
    const size_t count = 10000;
    hipStream_t stream[STREAMS];
    hipEvent_t begin, end, done[STREAMS];
    uint32_t *data[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        HIP_CHECK(hipStreamCreate(&stream[s]));
        HIP_CHECK(hipEventCreate(&done[s]));
        HIP_CHECK(hipMalloc(&data[s], count * sizeof(uint32_t)));
        HIP_CHECK(hipMemsetAsync(data[s], 0, count * sizeof(uint32_t), stream[s]));
    }
    HIP_CHECK(hipEventCreate(&begin));
    HIP_CHECK(hipEventCreate(&end));
    HIP_CHECK(hipEventRecord(begin, stream[0]));
    for (int n = 0; n < STEPS; n++)
        for (int s = 0; s < STREAMS; s++)
            step<<<groups(count, 256), 256, 0, stream[s]>>>(data[s], count, (uint32_t)(n + s));
    // Each stream then adds what its left neighbour's last event stands for.
    for (int s = 0; s < STREAMS; s++)
        HIP_CHECK(hipEventRecord(done[s], stream[s]));
    for (int s = 0; s < STREAMS; s++) {
        HIP_CHECK(hipStreamWaitEvent(stream[s], done[(s + STREAMS - 1) % STREAMS], 0));
        step<<<groups(count, 256), 256, 0, stream[s]>>>(data[s], count, 99);
    }
    HIP_CHECK(hipEventRecord(end, stream[0]));
    HIP_CHECK(hipDeviceSynchronize());
    float elapsed_ms = -1;
    HIP_CHECK(hipEventElapsedTime(&elapsed_ms, begin, end));

    size_t wrong = !(elapsed_ms > 0 && elapsed_ms < 60000);
    std::vector<uint32_t> host(count);
    for (int s = 0; s < STREAMS; s++) {
        uint32_t expected = 0;
        for (int n = 0; n < STEPS; n++)
            expected = expected * 3 + (uint32_t)(n + s);
        expected = expected * 3 + 99;
        HIP_CHECK(hipMemcpy(host.data(), data[s], count * sizeof(uint32_t), hipMemcpyDeviceToHost));
        for (uint32_t value : host)
            wrong += value != expected;
        HIP_CHECK(hipFree(data[s]));
        HIP_CHECK(hipStreamDestroy(stream[s]));
        HIP_CHECK(hipEventDestroy(done[s]));
    }
    return verdict("streams", wrong);
}
