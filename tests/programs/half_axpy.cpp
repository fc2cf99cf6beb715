// y = a * x + y in half precision, scalar and packed; the host repeats it with exact rounding.
#include "common.h"

#include <hip/hip_fp16.h>

#include <vector>

__global__ void axpy(__half a, const __half *x, __half *y, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = __hfma(a, x[i], y[i]);
}

__global__ void axpy2(__half2 a, const __half2 *x, __half2 *y, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = __hfma2(a, x[i], y[i]);
}

// The product of two halves is exact in double and so is its sum with a half of these magnitudes,
// so one conversion rounds once, as a fused multiply-add does.
static _Float16 fma_reference(_Float16 a, _Float16 x, _Float16 y)
{
    return (_Float16)((double)a * (double)x + (double)y);
}

int main()
{
    const size_t count = 100002;
    const _Float16 a = (_Float16)1.375;
    std::vector<_Float16> x(count), y(count), expected(count), once(count), twice(count);
    Random random(3);
    for (size_t i = 0; i < count; i++) {
        x[i] = (_Float16)(random.unit() * 16.0f - 8.0f);
        y[i] = (_Float16)(random.unit() * 16.0f - 8.0f);
        expected[i] = fma_reference(a, x[i], y[i]);
    }
    const size_t bytes = count * sizeof(_Float16);
    __half *dx, *dy, ha;
    memcpy(&ha, &a, sizeof ha);
    HIP_CHECK(hipMalloc(&dx, bytes));
    HIP_CHECK(hipMalloc(&dy, bytes));
    HIP_CHECK(hipMemcpy(dx, x.data(), bytes, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(dy, y.data(), bytes, hipMemcpyHostToDevice));
    axpy<<<groups(count, 256), 256>>>(ha, dx, dy, count);
    HIP_CHECK(hipMemcpy(once.data(), dy, bytes, hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(dy, y.data(), bytes, hipMemcpyHostToDevice));
    axpy2<<<groups(count / 2, 256), 256>>>(__half2{ha, ha}, (__half2 *)dx, (__half2 *)dy, count / 2);
    HIP_CHECK(hipMemcpy(twice.data(), dy, bytes, hipMemcpyDeviceToHost));

    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += (once[i] != expected[i]) + (twice[i] != expected[i]);
    return verdict("half_axpy", wrong);
}
