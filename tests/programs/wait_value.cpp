// hipStreamWaitValue and hipStreamWriteValue: a stream that waits for memory to change.
#include "common.h"

__global__ void copy_word(const uint32_t *from, uint32_t *to)
{
    *to = *from;
}

int main()
{
    uint64_t *signal;
    uint32_t *data;
    hipStream_t waiter, writer;
    HIP_CHECK(hipExtMallocWithFlags((void **)&signal, sizeof(uint64_t), hipMallocSignalMemory));
    HIP_CHECK(hipHostMalloc((void **)&data, 2 * sizeof(uint32_t), hipHostMallocCoherent));
    HIP_CHECK(hipStreamCreateWithFlags(&waiter, hipStreamNonBlocking));
    HIP_CHECK(hipStreamCreateWithFlags(&writer, hipStreamNonBlocking));
    *signal = 0;
    data[0] = 0;
    data[1] = 0;
    HIP_CHECK(hipStreamWaitValue64(waiter, signal, 5, hipStreamWaitValueGte, ~0ull));
    copy_word<<<1, 1, 0, waiter>>>(&data[0], &data[1]);
    data[0] = 123;
    HIP_CHECK(hipStreamWriteValue64(writer, signal, 6, 0));
    HIP_CHECK(hipStreamSynchronize(writer));
    HIP_CHECK(hipStreamSynchronize(waiter));
    return verdict("wait_value", data[1] != 123);
}
