// Matrix transpose through LDS tiles, once with and once without padding against bank conflicts.
#include "common.h"

#include <vector>

enum { TILE = 32, ROWS = 8 };

template <int PAD> __global__ void transpose(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS)
        if (x < width && y + row < height)
            tile[threadIdx.y + row][threadIdx.x] = in[(size_t)(y + row) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS)
        if (x < height && y + row < width)
            out[(size_t)(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
}

static size_t wrong_elements(const std::vector<float> &in, const std::vector<float> &out, int width,
                             int height)
{
    size_t wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            wrong += out[(size_t)x * height + y] != in[(size_t)y * width + x];
    return wrong;
}

static size_t run(int width, int height)
{
    const size_t count = (size_t)width * height;
    const size_t bytes = count * sizeof(float);
    std::vector<float> in(count), out(count);
    for (size_t i = 0; i < count; i++)
        in[i] = (float)i;
    float *din, *dout;
    HIP_CHECK(hipMalloc(&din, bytes));
    HIP_CHECK(hipMalloc(&dout, bytes));
    HIP_CHECK(hipMemcpy(din, in.data(), bytes, hipMemcpyHostToDevice));

    dim3 grid(groups(width, TILE), groups(height, TILE)), block(TILE, ROWS);
    size_t wrong = 0;
    transpose<0><<<grid, block>>>(din, dout, width, height);
    HIP_CHECK(hipMemcpy(out.data(), dout, bytes, hipMemcpyDeviceToHost));
    wrong += wrong_elements(in, out, width, height);
    HIP_CHECK(hipMemset(dout, 0, bytes));
    transpose<1><<<grid, block>>>(din, dout, width, height);
    HIP_CHECK(hipMemcpy(out.data(), dout, bytes, hipMemcpyDeviceToHost));
    wrong += wrong_elements(in, out, width, height);
    HIP_CHECK(hipFree(din));
    HIP_CHECK(hipFree(dout));
    return wrong;
}

int main()
{
    size_t wrong = run(1024, 1024);
    wrong += run(1000, 333); // edges that no tile divides
    return verdict("transpose", wrong);
}
