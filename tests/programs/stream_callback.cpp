// A kernel, and a callback of its stream behind it, which the program waits for by the stream.
#include "common.h"

__global__ void store(int *to)
{
    *to = 7;
}

static int seen;

static void on_stream(hipStream_t, hipError_t status, void *value)
{
    seen = status == hipSuccess ? *static_cast<int *>(value) : -1;
}

int main()
{
    int *value;
    hipStream_t stream;
    HIP_CHECK(hipHostMalloc(&value, sizeof *value));
    HIP_CHECK(hipStreamCreate(&stream));
    *value = 0;
    store<<<1, 1, 0, stream>>>(value);
    HIP_CHECK(hipStreamAddCallback(stream, on_stream, value, 0));
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipStreamDestroy(stream));
    HIP_CHECK(hipHostFree(value));
    std::printf("stream_callback: %s\n", seen == 7 ? "ok" : "the callback has not run");
    return seen == 7 ? 0 : 1;
}
