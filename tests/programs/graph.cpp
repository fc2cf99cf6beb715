// A captured graph replayed many times.
#include "common.h"

#include <vector>

enum { REPLAYS = 20 };

__global__ void add(int *data, size_t count, int amount)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] += amount;
}

int main()
{
    const size_t count = 5000;
    int *data;
    HIP_CHECK(hipMalloc(&data, count * sizeof(int)));
    HIP_CHECK(hipMemset(data, 0, count * sizeof(int)));
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t executable;
    HIP_CHECK(hipStreamCreate(&stream));
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<groups(count, 256), 256, 0, stream>>>(data, count, 1);
    add<<<groups(count, 256), 256, 0, stream>>>(data, count, 10);
    add<<<groups(count, 256), 256, 0, stream>>>(data, count, 100);
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    HIP_CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    for (int i = 0; i < REPLAYS; i++)
        HIP_CHECK(hipGraphLaunch(executable, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    std::vector<int> host(count);
    HIP_CHECK(hipMemcpy(host.data(), data, count * sizeof(int), hipMemcpyDeviceToHost));
    HIP_CHECK(hipGraphExecDestroy(executable));
    HIP_CHECK(hipGraphDestroy(graph));
    HIP_CHECK(hipStreamDestroy(stream));
    HIP_CHECK(hipFree(data));
    size_t wrong = 0;
    for (int value : host)
        wrong += value != 111 * REPLAYS;
    return verdict("graph", wrong);
}
