// Small kernels of every kind, their sizes and parameters from a seed, for tests of counters; what
// they compute is not looked at.
//
//     mixture [SEED]
#include "common.h"

#include <cstdlib>

namespace
{

const unsigned words = 1 << 18;

// All lanes of a half wave in one bank, or in as many as `stride` reaches.
__global__ void lds_strided(unsigned *out, unsigned stride, unsigned rounds)
{
    __shared__ unsigned table[4096];
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x)
        table[i] = i * 7;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum += table[(threadIdx.x * stride + i) % 4096];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Through generic addresses.
__global__ void lds_generic(unsigned *out, unsigned rounds)
{
    __shared__ volatile unsigned table[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        table[i] = i;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum += table[(threadIdx.x + i) % 1024];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// `spread` words for everybody.
__global__ void atomics(unsigned *out, unsigned spread)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[1024 + i] = atomicAdd(&out[i % spread], i);
    atomicMax(&out[i * 7 % spread], i);
}

__global__ void private_arrays(unsigned *out, unsigned rounds)
{
    volatile unsigned own[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < 32; k++)
        own[k] = k * i;
    for (unsigned k = 0; k < rounds; k++)
        own[(k * 5 + i) % 32] += own[(i + k) % 32];
    out[i] = own[i % 32];
}

__global__ void copy(const uint4 *in, uint4 *out, unsigned count)
{
    unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        out[i] = in[i];
}

__global__ void gather(const unsigned *in, unsigned *out, unsigned factor)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    for (unsigned k = 0; k < 4; k++)
        at = in[(at * factor + k) % words] + i;
    out[i] = at;
}

__global__ void bytes(const unsigned char *in, unsigned char *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1;
}

__global__ void few_lanes(const float *in, float *out, unsigned lanes, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 64 >= lanes)
        return;
    float x = in[i], y = 0;
    for (unsigned k = 0; k < rounds; k++) {
        x = __builtin_fmaf(x, 0.5f, 1.0f);
        y += __builtin_amdgcn_sqrtf(x);
    }
    out[i] = x + y;
}

__global__ void doubles(double *out, unsigned rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = i;
    for (unsigned k = 0; k < rounds; k++)
        x = __builtin_fma(x, 0.5, 1.0);
    out[i] = x;
}

__global__ void nothing(void) {}

unsigned random_below(unsigned long long *state, unsigned limit)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(*state >> 40) % limit;
}

} // namespace

int main(int argc, char **argv)
{
    unsigned long long state = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    unsigned *in, *out;
    HIP_CHECK(hipMalloc(&in, words * 4));
    HIP_CHECK(hipMalloc(&out, words * 4));
    HIP_CHECK(hipMemset(in, 1, words * 4));
    auto some = [&](unsigned limit) { return 1 + random_below(&state, limit); };
    unsigned block = some(512), grid = some(160);
    lds_strided<<<some(160), some(512)>>>(out, 1u << random_below(&state, 7), some(256));
    lds_generic<<<some(160), some(512)>>>(out, some(64));
    atomics<<<grid, block>>>(out, 1u << random_below(&state, 6));
    private_arrays<<<some(64), some(256)>>>(out, some(32));
    copy<<<some(160), some(512)>>>((const uint4 *)in, (uint4 *)out, words / 4);
    gather<<<some(160), some(512)>>>(in, out, some(words));
    bytes<<<some(160), some(512)>>>((const unsigned char *)in, (unsigned char *)out);
    few_lanes<<<some(160), some(512)>>>((const float *)in, (float *)out, some(64), some(64));
    doubles<<<some(160), some(512)>>>((double *)out, some(256));
    nothing<<<some(160), some(512)>>>();
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(in));
    HIP_CHECK(hipFree(out));
    return verdict("mixture", 0);
}
