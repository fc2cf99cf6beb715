// Functions of HIP and HSA that are younger than the oldest ones this is compiled with: found by
// name, and called where they are there.
#include "common.h"

#include <dlfcn.h>

template <typename F> static F find(const char *name)
{
    return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

int main()
{
    hipStream_t stream;
    void *memory;
    unsigned char bytes[4][64] = {};
    unsigned long long id = 0;
    size_t wrong = 0;
    HIP_CHECK(hipStreamCreate(&stream));
    HIP_CHECK(hipMalloc(&memory, sizeof bytes));
    HIP_CHECK(hipMemset(memory, 0, sizeof bytes));
    auto stream_id = find<hipError_t (*)(hipStream_t, unsigned long long *)>("hipStreamGetId");
    auto fill =
        find<hipError_t (*)(void *, size_t, unsigned char, size_t, size_t)>("hipMemsetD2D8");
    if (stream_id)
        HIP_CHECK(stream_id(stream, &id));
    if (fill)
        HIP_CHECK(fill(memory, 64, 7, 16, 4));
    /* Nothing to read: refused, as a wrong argument. The handle is a union of eight bytes. */
    auto read = find<int (*)(uint64_t, void *, uint64_t, int64_t, uint64_t *, int32_t *)>(
        "hsa_amd_ais_file_read");
    uint64_t copied = 0;
    int32_t status = 0;
    wrong += read && read(0, nullptr, 0, 0, &copied, &status) == 0;
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipMemcpy(bytes, memory, sizeof bytes, hipMemcpyDeviceToHost));
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 64; i++)
            wrong += bytes[row][i] != (fill && i < 16 ? 7 : 0);
    std::printf("%d of 3 functions\n",
                (stream_id != nullptr) + (fill != nullptr) + (read != nullptr));
    return verdict("newer_functions", wrong);
}
