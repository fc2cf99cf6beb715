// Kernels that one part of the GPU limits, for tests of modelled time; what they compute is not
// looked at. Prints what each moves or computes: "speed KERNEL AMOUNT".
//
//     speeds [KERNEL]
#include "common.h"

#include <cstdio>
#include <cstring>

namespace
{

const unsigned group_size = 256, group_count = 104 * 8; // what a gfx90a holds at once
const unsigned triad_items = 1 << 20, resident_items = 1 << 18, resident_times = 16;
const unsigned lds_rounds = 64, fma_rounds = 128, mfma_rounds = 64;
typedef double double4_vector __attribute__((ext_vector_type(4)));
typedef float float4_vector __attribute__((ext_vector_type(4)));
typedef _Float16 half4_vector __attribute__((ext_vector_type(4)));

__global__ void triad(const double *a, const double *b, double *c, double factor)
{
    unsigned step = gridDim.x * group_size;
    for (unsigned i = blockIdx.x * group_size + threadIdx.x; i < triad_items; i += step)
        c[i] = a[i] + factor * b[i];
}

// More than the L1s hold, less than the L2.
__global__ void resident(const double *in, double *out)
{
    unsigned step = gridDim.x * group_size, first = blockIdx.x * group_size + threadIdx.x;
    double sum = 0;
    for (unsigned k = 0; k < resident_times; k++)
        sum += in[(first + k * step) % resident_items];
    out[first] = sum;
}

__global__ void local(float *out)
{
    __shared__ float table[group_size * 2];
    table[threadIdx.x] = table[threadIdx.x + group_size] = (float)threadIdx.x;
    __syncthreads();
    float sum[8] = {};
    for (unsigned k = 0; k < lds_rounds; k++)
        for (unsigned n = 0; n < 8; n++)
            sum[n] +=
                ((volatile __attribute__((address_space(3))) float *)table)[threadIdx.x + n + k];
    for (unsigned n = 1; n < 8; n++)
        sum[0] += sum[n];
    out[blockIdx.x * group_size + threadIdx.x] = sum[0];
}

__global__ void fma64(double *out)
{
    double x[8];
    for (unsigned n = 0; n < 8; n++)
        x[n] = threadIdx.x + n;
    for (unsigned k = 0; k < fma_rounds; k++)
        for (unsigned n = 0; n < 8; n++)
            x[n] = __builtin_fma(x[n], 0.5, 1.0);
    for (unsigned n = 1; n < 8; n++)
        x[0] += x[n];
    out[blockIdx.x * group_size + threadIdx.x] = x[0];
}

__global__ void mfma64(double *out)
{
    double4_vector sum[4] = {};
    double x = threadIdx.x;
    for (unsigned k = 0; k < mfma_rounds; k++)
        for (unsigned n = 0; n < 4; n++)
            sum[n] = __builtin_amdgcn_mfma_f64_16x16x4f64(x, x, sum[n], 0, 0, 0);
    out[blockIdx.x * group_size + threadIdx.x] = sum[0].x + sum[1].y + sum[2].z + sum[3].w;
}

__global__ void mfma16(float *out)
{
    float4_vector sum[4] = {};
    half4_vector x = {(_Float16)threadIdx.x, 1, 2, 3};
    for (unsigned k = 0; k < mfma_rounds; k++)
        for (unsigned n = 0; n < 4; n++)
            sum[n] = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, sum[n], 0, 0, 0);
    out[blockIdx.x * group_size + threadIdx.x] = sum[0].x + sum[1].y + sum[2].z + sum[3].w;
}

const char *only;

bool wanted(const char *name, double amount)
{
    if (only && std::strcmp(only, name) != 0)
        return false;
    std::printf("speed %s %.0f\n", name, amount);
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    const double items = (double)group_size * group_count, waves = items / 64;
    double *a, *b, *c;
    only = argc > 1 ? argv[1] : nullptr;
    HIP_CHECK(hipMalloc(&a, triad_items * sizeof *a));
    HIP_CHECK(hipMalloc(&b, triad_items * sizeof *a));
    HIP_CHECK(hipMalloc(&c, triad_items * sizeof *a));
    if (wanted("triad", 3.0 * sizeof *a * triad_items))
        triad<<<group_count, group_size>>>(a, b, c, 3.0);
    if (wanted("resident", sizeof *a * resident_times * items))
        resident<<<group_count, group_size>>>(a, c);
    if (wanted("local", items * lds_rounds * 8 * 4))
        local<<<group_count, group_size>>>((float *)c);
    if (wanted("fma64", items * fma_rounds * 8 * 2))
        fma64<<<group_count, group_size>>>(c);
    if (wanted("mfma64", waves * mfma_rounds * 4 * 2 * 16 * 16 * 4))
        mfma64<<<group_count, group_size>>>(c);
    if (wanted("mfma16", waves * mfma_rounds * 4 * 2 * 16 * 16 * 16))
        mfma16<<<group_count, group_size>>>((float *)c);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(a));
    HIP_CHECK(hipFree(b));
    HIP_CHECK(hipFree(c));
    return verdict("speeds", 0);
}
