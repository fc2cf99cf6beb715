// Pitched 2-D copies in all directions, with widths and offsets that no power of two divides.
#include "common.h"

#include <cstring>
#include <vector>

static size_t run(size_t width, size_t height)
{
    const size_t host_pitch = width + 13;
    std::vector<uint8_t> source(host_pitch * height), back(host_pitch * height, 0xee);
    Random random((uint64_t)width * height);
    for (auto &byte : source)
        byte = (uint8_t)random.bits();
    uint8_t *first, *second;
    size_t first_pitch, second_pitch;
    HIP_CHECK(hipMallocPitch((void **)&first, &first_pitch, width, height));
    HIP_CHECK(hipMallocPitch((void **)&second, &second_pitch, width + 100, height));
    HIP_CHECK(hipMemcpy2D(first, first_pitch, source.data(), host_pitch, width, height,
                          hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy2D(second, second_pitch, first, first_pitch, width, height,
                          hipMemcpyDeviceToDevice));
    HIP_CHECK(hipMemcpy2D(back.data(), host_pitch, second, second_pitch, width, height,
                          hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(first));
    HIP_CHECK(hipFree(second));
    size_t wrong = 0;
    for (size_t y = 0; y < height; y++) {
        const size_t row = y * host_pitch;
        wrong += memcmp(&source[row], &back[row], width) != 0;
        for (size_t x = width; x < host_pitch; x++)
            wrong += back[row + x] != 0xee; // the gap between rows stays untouched
    }
    return wrong;
}

int main()
{
    size_t wrong = run(64, 64) + run(1, 7) + run(1001, 37) + run(4096, 300) + run(333, 1);
    return verdict("copy_2d", wrong);
}
