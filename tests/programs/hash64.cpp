// A 64-bit integer mixing hash: multiplies, shifts, divisions and remainders.
#include "common.h"

#include <vector>

__host__ __device__ static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    x ^= x >> 31;
    uint64_t quotient = x / ((x & 0xffff) + 3);
    int64_t remainder = (int64_t)x % (int64_t)((x >> 40) + 5);
    return x + quotient * 31 + (uint64_t)remainder + (x << (x & 63)) + ((int64_t)x >> (x % 61));
}

__global__ void hash(const uint64_t *in, uint64_t *out, size_t count, int rounds)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint64_t x = in[i];
    for (int round = 0; round < rounds; round++)
        x = mix(x + round);
    out[i] = x;
}

int main()
{
    const size_t count = 65537;
    const int rounds = 8;
    std::vector<uint64_t> in(count), out(count);
    Random random(11);
    for (auto &value : in)
        value = (uint64_t)random.bits() << 32 | random.bits();
    uint64_t *din, *dout;
    HIP_CHECK(hipMalloc(&din, count * sizeof(uint64_t)));
    HIP_CHECK(hipMalloc(&dout, count * sizeof(uint64_t)));
    HIP_CHECK(hipMemcpy(din, in.data(), count * sizeof(uint64_t), hipMemcpyHostToDevice));
    hash<<<groups(count, 256), 256>>>(din, dout, count, rounds);
    HIP_CHECK(hipMemcpy(out.data(), dout, count * sizeof(uint64_t), hipMemcpyDeviceToHost));

    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t x = in[i];
        for (int round = 0; round < rounds; round++)
            x = mix(x + round);
        wrong += out[i] != x;
    }
    return verdict("hash64", wrong);
}
