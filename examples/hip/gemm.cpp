// C = A * B with LDS tiles in single and double precision; usage: gemm [size]
#include "common.h"

#include <cmath>
#include <vector>

enum { TILE = 16 };

template <typename T> __global__ void gemm(const T *a, const T *b, T *c, int n)
{
    __shared__ T as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < n && ka < n ? a[(size_t)row * n + ka] : T(0);
        bs[threadIdx.y][threadIdx.x] = kb < n && column < n ? b[(size_t)kb * n + column] : T(0);
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[(size_t)row * n + column] = sum;
}

template <typename T> static size_t run(int n, double tolerance)
{
    const size_t count = (size_t)n * n, bytes = count * sizeof(T);
    std::vector<T> a(count), b(count), c(count);
    Random random(n);
    for (size_t i = 0; i < count; i++) {
        a[i] = T(random.unit() - 0.5f);
        b[i] = T(random.unit() - 0.5f);
    }
    T *da, *db, *dc;
    HIP_CHECK(hipMalloc(&da, bytes));
    HIP_CHECK(hipMalloc(&db, bytes));
    HIP_CHECK(hipMalloc(&dc, bytes));
    HIP_CHECK(hipMemcpy(da, a.data(), bytes, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(db, b.data(), bytes, hipMemcpyHostToDevice));
    dim3 grid(groups(n, TILE), groups(n, TILE)), block(TILE, TILE);
    gemm<T><<<grid, block>>>(da, db, dc, n);
    HIP_CHECK(hipMemcpy(c.data(), dc, bytes, hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(da));
    HIP_CHECK(hipFree(db));
    HIP_CHECK(hipFree(dc));

    size_t wrong = 0;
    std::vector<double> row(n);
    for (int y = 0; y < n; y++) {
        std::fill(row.begin(), row.end(), 0.0);
        for (int k = 0; k < n; k++)
            for (int x = 0; x < n; x++)
                row[x] += (double)a[(size_t)y * n + k] * (double)b[(size_t)k * n + x];
        for (int x = 0; x < n; x++)
            wrong += !(std::fabs((double)c[(size_t)y * n + x] - row[x]) <= tolerance * n);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 256;
    if (n < 1 || n > 4096) {
        std::fprintf(stderr, "usage: gemm [size 1..4096]\n");
        return 2;
    }
    size_t wrong = run<float>(n, 1e-6);
    wrong += run<double>(n, 1e-15);
    return verdict("gemm", wrong);
}
