// Events between two streams, of which the first waits for the host, so that none is complete when
// it is waited for; then what leaves no work on the device: waits for events that are complete,
// were never recorded or are of the same stream, and events of a captured stream.
#include "common.h"

enum { STEPS = 4, AGAIN = 3 };

__global__ void gate(volatile uint32_t *open)
{
    while (*open == 0)
        __builtin_amdgcn_s_sleep(1);
}

__global__ void add(uint32_t *sum, uint32_t amount)
{
    *sum += amount;
}

static void steps_take(hipStream_t *stream, hipEvent_t *event, uint32_t *sum)
{
    for (int n = 0; n < STEPS; n++)
        for (int s = 0; s < 2; s++) {
            add<<<1, 1, 0, stream[s]>>>(sum, 1);
            HIP_CHECK(hipEventRecord(event[s], stream[s]));
            HIP_CHECK(hipStreamWaitEvent(stream[1 - s], event[s], 0));
        }
}

// One after another, with nothing between them.
static void record_again(hipStream_t stream, hipEvent_t untimed)
{
    for (int n = 0; n < AGAIN; n++)
        HIP_CHECK(hipEventRecord(untimed, stream));
}

static void captured(hipStream_t stream, hipEvent_t event, uint32_t *sum)
{
    hipGraph_t graph;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(sum, 1000);
    HIP_CHECK(hipEventRecord(event, stream));
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    HIP_CHECK(hipGraphDestroy(graph));
}

int main()
{
    uint32_t *shared; // the gate, and the sum
    hipStream_t stream[2];
    hipEvent_t event[2], untimed, never;
    HIP_CHECK(hipHostMalloc((void **)&shared, 64 * sizeof(uint32_t), hipHostMallocCoherent));
    shared[0] = shared[32] = 0;
    for (int s = 0; s < 2; s++) {
        HIP_CHECK(hipStreamCreateWithFlags(&stream[s], hipStreamNonBlocking));
        HIP_CHECK(hipEventCreate(&event[s]));
    }
    HIP_CHECK(hipEventCreate(&never));
    HIP_CHECK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));

    gate<<<1, 1, 0, stream[0]>>>(shared);
    HIP_CHECK(hipStreamWaitEvent(stream[1], never, 0));
    steps_take(stream, event, &shared[32]);
    HIP_CHECK(hipStreamWaitEvent(stream[1], event[1], 0));
    record_again(stream[0], untimed);
    __atomic_store_n(&shared[0], 1u, __ATOMIC_RELEASE);
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipStreamWaitEvent(stream[1], event[0], 0));
    HIP_CHECK(hipDeviceSynchronize());
    captured(stream[0], event[0], &shared[32]);

    size_t wrong = shared[32] != 2 * STEPS;
    return verdict("events", wrong);
}
