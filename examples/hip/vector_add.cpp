// c = a + b over a million floats: the smallest complete HIP program.
#include "common.h"

#include <vector>

__global__ void vector_add(const float *a, const float *b, float *c, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        c[i] = a[i] + b[i];
}

int main()
{
    const size_t count = 1 << 20;
    const size_t bytes = count * sizeof(float);
    std::vector<float> a(count), b(count), c(count);
    Random random(1);
    for (size_t i = 0; i < count; i++) {
        a[i] = random.unit();
        b[i] = random.unit();
    }

    float *da, *db, *dc;
    HIP_CHECK(hipMalloc(&da, bytes));
    HIP_CHECK(hipMalloc(&db, bytes));
    HIP_CHECK(hipMalloc(&dc, bytes));
    HIP_CHECK(hipMemcpy(da, a.data(), bytes, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(db, b.data(), bytes, hipMemcpyHostToDevice));
    vector_add<<<groups(count, 256), 256>>>(da, db, dc, count);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipMemcpy(c.data(), dc, bytes, hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(da));
    HIP_CHECK(hipFree(db));
    HIP_CHECK(hipFree(dc));

    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += c[i] != a[i] + b[i];
    return verdict("vector_add", wrong);
}
