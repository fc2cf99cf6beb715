// Kernels that are each slow for one reason, and know by their geometry what a profiler must see.
//
//     bottlenecks [NAME]: that kernel only
#include "common.h"

#include <cstring>
#include <vector>

namespace
{

const unsigned group_size = 256, group_count = 104 * 2;

// Every lane of a half wave reads bank 0: 32 cycles instead of one.
__global__ void lds_conflicts(float *out)
{
    __shared__ volatile float table[64 * 32];
    for (unsigned i = threadIdx.x; i < 64 * 32; i += group_size)
        table[i] = (float)i;
    __syncthreads();
    float sum = 0;
    unsigned at = threadIdx.x % 64 * 32;
    for (unsigned i = 0; i < 256; i++) {
        sum += table[at];
        at ^= 1; // another row, the same bank for all lanes
    }
    out[blockIdx.x * group_size + threadIdx.x] = sum;
}

// Each lane reads a line of its own.
__global__ void strided(const float *in, float *out, unsigned count)
{
    size_t i = blockIdx.x * group_size + threadIdx.x;
    float sum = 0;
    for (unsigned k = 0; k < 8; k++)
        sum += in[(i * 32 + k * 7919 * 32) % count];
    out[i] = sum;
}

// Four ways through the loop, taken by a quarter of the lanes each.
__global__ void divergent(float *out)
{
    size_t i = blockIdx.x * group_size + threadIdx.x;
    float x = (float)threadIdx.x;
    unsigned way = threadIdx.x % 4;
    if (way == 0)
        for (int k = 0; k < 256; k++)
            x = __builtin_fmaf(x, 0.5f, 1.0f);
    else if (way == 1)
        for (int k = 0; k < 256; k++)
            x = __builtin_fmaf(x, 0.25f, 2.0f);
    else if (way == 2)
        for (int k = 0; k < 256; k++)
            x = __builtin_fmaf(x, 0.125f, 3.0f);
    else
        for (int k = 0; k < 256; k++)
            x = __builtin_fmaf(x, 0.0625f, 4.0f);
    out[i] = x;
}

// Nothing but arithmetic, enough waves to keep every SIMD busy.
__global__ void arithmetic(float *out)
{
    size_t i = blockIdx.x * group_size + threadIdx.x;
    float a = (float)i;
    for (int k = 0; k < 1024; k++)
        a = __builtin_fmaf(a, 0.5f, 1.0f);
    out[i] = a;
}

// Sixteen bytes a lane in, sixteen out, nothing twice, more than L2 holds.
__global__ void streaming(const float4 *in, float4 *out, size_t count)
{
    size_t step = (size_t)gridDim.x * group_size;
    for (size_t i = blockIdx.x * group_size + threadIdx.x; i < count; i += step)
        out[i] = in[i];
}

// 40 KB of LDS for a group of one wave: one wave a compute unit.
__global__ void few_waves(float *out)
{
    __shared__ float table[10 * 1024];
    for (unsigned i = threadIdx.x; i < 10 * 1024; i += 64)
        table[i] = (float)i;
    __syncthreads();
    float sum = 0;
    for (unsigned i = 0; i < 256; i++)
        sum = __builtin_fmaf(sum, 0.5f, table[(threadIdx.x + i) % 8192]);
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// One wave, each read waits for the one before.
__global__ void chase(const unsigned *next, unsigned *out, unsigned steps)
{
    unsigned at = threadIdx.x;
    for (unsigned k = 0; k < steps; k++)
        at = next[at];
    out[threadIdx.x] = at;
}

bool wanted(int argc, char **argv, const char *name)
{
    return argc < 2 || std::strcmp(argv[1], name) == 0;
}

} // namespace

int main(int argc, char **argv)
{
    const size_t stream_items = 1 << 20; // of sixteen bytes: 16 MiB
    float *in, *out;
    HIP_CHECK(hipMalloc(&in, stream_items * 16));
    HIP_CHECK(hipMalloc(&out, stream_items * 16));
    HIP_CHECK(hipMemset(in, 0, stream_items * 16));
    if (wanted(argc, argv, "lds_conflicts"))
        lds_conflicts<<<group_count, group_size>>>(out);
    if (wanted(argc, argv, "strided"))
        strided<<<group_count, group_size>>>(in, out, stream_items * 4);
    if (wanted(argc, argv, "divergent"))
        divergent<<<group_count, group_size>>>(out);
    if (wanted(argc, argv, "arithmetic"))
        arithmetic<<<104 * 8, group_size>>>(out);
    if (wanted(argc, argv, "streaming"))
        streaming<<<104 * 8, group_size>>>((const float4 *)in, (float4 *)out, stream_items);
    if (wanted(argc, argv, "few_waves"))
        few_waves<<<104 * 8, 64>>>(out);
    if (wanted(argc, argv, "chase")) {
        std::vector<unsigned> next(1 << 16);
        for (unsigned i = 0; i < next.size(); i++)
            next[i] = (i * 5 + 1027) % (1 << 16);
        HIP_CHECK(hipMemcpy(in, next.data(), next.size() * 4, hipMemcpyHostToDevice));
        chase<<<1, 64>>>((const unsigned *)in, (unsigned *)out, 512);
    }
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(in));
    HIP_CHECK(hipFree(out));
    return verdict("bottlenecks", 0);
}
