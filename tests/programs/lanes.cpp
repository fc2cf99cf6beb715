// Lane crossing: shuffles of every kind, ballots, votes and lane counts.
#include "common.h"

#include <vector>

enum { WAVE = 64, KINDS = 9 };

__global__ void lanes(const int *in, uint64_t *out, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i % count];
    int lane = threadIdx.x % WAVE;
    uint64_t *mine = out + i * KINDS;
    mine[0] = (uint32_t)__shfl(value, (lane * 7 + 3) % WAVE);
    mine[1] = (uint32_t)__shfl_up(value, 5);
    mine[2] = (uint32_t)__shfl_down(value, 9, 32);
    mine[3] = (uint32_t)__shfl_xor(value, 21);
    mine[4] = __ballot(value & 1);
    mine[5] = (uint64_t)__any(value > 1000000) | (uint64_t)__all(value >= 0) << 1;
    mine[6] = __popcll(__ballot(value & 2) & ((1ull << lane) - 1));
    double wide = __shfl((double)value * 1.5, 63 - lane);
    mine[7] = (uint64_t)__double_as_longlong(wide);
    int sum = value;
    for (int step = 1; step < WAVE; step *= 2) {
        int other = __shfl_up(sum, step);
        if (lane >= step)
            sum += other;
    }
    mine[8] = (uint32_t)sum;
}

static void reference(const int *wave, int lane, uint64_t *out)
{
    auto value = [&](int l) { return (uint64_t)(uint32_t)wave[l]; };
    uint64_t odd = 0, two = 0;
    int any = 0, all = 1, sum = 0;
    for (int l = 0; l < WAVE; l++) {
        odd |= (uint64_t)(wave[l] & 1) << l;
        two |= (uint64_t)((wave[l] & 2) != 0) << l;
        any |= wave[l] > 1000000;
        all &= wave[l] >= 0;
        if (l <= lane)
            sum += wave[l];
    }
    out[0] = value((lane * 7 + 3) % WAVE);
    out[1] = value(lane >= 5 ? lane - 5 : lane);
    out[2] = value(lane % 32 + 9 < 32 ? lane + 9 : lane);
    out[3] = value(lane ^ 21);
    out[4] = odd;
    out[5] = (uint64_t)any | (uint64_t)all << 1;
    out[6] = (uint64_t)__builtin_popcountll(two & ((1ull << lane) - 1));
    double wide = wave[63 - lane] * 1.5;
    memcpy(&out[7], &wide, sizeof wide);
    out[8] = (uint32_t)sum;
}

int main()
{
    const size_t count = 256 * 8;
    std::vector<int> in(count);
    std::vector<uint64_t> out(count * KINDS);
    Random random(5);
    for (auto &value : in)
        value = (int)(random.bits() >> 4) - (random.bits() % 16 == 0);
    int *din;
    uint64_t *dout;
    HIP_CHECK(hipMalloc(&din, count * sizeof(int)));
    HIP_CHECK(hipMalloc(&dout, out.size() * sizeof(uint64_t)));
    HIP_CHECK(hipMemcpy(din, in.data(), count * sizeof(int), hipMemcpyHostToDevice));
    lanes<<<8, 256>>>(din, dout, count);
    HIP_CHECK(hipMemcpy(out.data(), dout, out.size() * sizeof(uint64_t), hipMemcpyDeviceToHost));

    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t expected[KINDS];
        reference(&in[i / WAVE * WAVE], (int)(i % WAVE), expected);
        for (int kind = 0; kind < KINDS; kind++)
            wrong += out[i * KINDS + kind] != expected[kind];
    }
    return verdict("lanes", wrong);
}
