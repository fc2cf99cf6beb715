// A program that is its own tool: kernels are launched and nobody synchronises; after the complete
// flush every record is there, at once.
#include "common.h"

#include <atomic>
#include <crocprof/flush.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

enum { ROUNDS = 5, LAUNCHES = 40 };

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static std::atomic<size_t> kernels{0};

__global__ void spin_a_while(uint32_t *data, uint32_t turns)
{
    uint32_t value = threadIdx.x;
    for (uint32_t i = 0; i < turns; i++)
        value = value * 1664525u + 1013904223u;
    data[threadIdx.x] = value;
}

static void on_buffer(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
                      rocprofiler_record_header_t **, size_t count, void *, uint64_t)
{
    kernels += count;
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
    int status = rocprofiler_create_context(&context);
    status |= rocprofiler_create_buffer(context, 1 << 20, 1 << 20,
                                        ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, nullptr,
                                        &buffer);
    status |= rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, nullptr, 0, buffer);
    status |= rocprofiler_start_context(context);
    return status;
}

static rocprofiler_tool_configure_result_t *configure(uint32_t, const char *, uint32_t,
                                                      rocprofiler_client_id_t *)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, nullptr,
                                                         nullptr};
    return &result;
}

int main()
{
    size_t wrong = rocprofiler_force_configure(configure) != ROCPROFILER_STATUS_SUCCESS;
    uint32_t *data;
    HIP_CHECK(hipMalloc(&data, 64 * sizeof(uint32_t)));
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < LAUNCHES; i++)
            spin_a_while<<<1, 64>>>(data, 20000);
        wrong += crocprof_flush_complete(buffer) != ROCPROFILER_STATUS_SUCCESS;
        wrong += kernels != (size_t)round * LAUNCHES;
    }
    HIP_CHECK(hipFree(data));
    return verdict("flush", wrong);
}
