// Cooperative launches: all blocks of a grid, and of one grid on each GPU, meet at barriers.
#include "common.h"

#include <hip/hip_cooperative_groups.h>

#include <vector>

namespace cg = cooperative_groups;

enum { BLOCK = 128, ROUNDS = 6 };

// Every block adds up the values of all blocks, so each needs what every other has just written.
__global__ void totals(unsigned *values, unsigned *sums, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ unsigned partial[BLOCK];
    for (int round = 0; round < rounds; round++) {
        unsigned sum = 0;
        for (unsigned i = threadIdx.x; i < gridDim.x; i += BLOCK)
            sum += values[i];
        partial[threadIdx.x] = sum;
        grid.sync();
        if (threadIdx.x == 0) {
            for (unsigned i = 1; i < BLOCK; i++)
                sum += partial[i];
            sums[blockIdx.x] = sum;
            values[blockIdx.x] = sum * 3 + blockIdx.x + (unsigned)grid.thread_rank();
        }
        grid.sync();
    }
}

static size_t compare(const unsigned *device, unsigned blocks, int rounds)
{
    std::vector<unsigned> got(blocks), values(blocks);
    unsigned sum = 0;
    for (unsigned i = 0; i < blocks; i++)
        values[i] = i * i + 1;
    for (int round = 0; round < rounds; round++) {
        sum = 0;
        for (unsigned value : values)
            sum += value;
        for (unsigned i = 0; i < blocks; i++)
            values[i] = sum * 3 + i + i * BLOCK; // thread 0's rank in the grid is i * BLOCK
    }
    HIP_CHECK(hipMemcpy(got.data(), device, blocks * sizeof(unsigned), hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (unsigned value : got)
        wrong += value != sum;
    return wrong;
}

struct buffers {
    unsigned *values, *sums;
};

static buffers make_buffers(unsigned blocks)
{
    std::vector<unsigned> host(blocks);
    for (unsigned i = 0; i < blocks; i++)
        host[i] = i * i + 1;
    buffers b;
    HIP_CHECK(hipMalloc(&b.values, blocks * sizeof(unsigned)));
    HIP_CHECK(hipMalloc(&b.sums, blocks * sizeof(unsigned)));
    HIP_CHECK(
        hipMemcpy(b.values, host.data(), blocks * sizeof(unsigned), hipMemcpyHostToDevice));
    return b;
}

static size_t launch(unsigned blocks, hipStream_t stream)
{
    buffers b = make_buffers(blocks);
    int rounds = ROUNDS;
    void *arguments[] = {&b.values, &b.sums, &rounds};
    HIP_CHECK(hipLaunchCooperativeKernel((void *)totals, dim3(blocks), dim3(BLOCK), arguments, 0,
                                         stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    size_t wrong = compare(b.sums, blocks, rounds);
    HIP_CHECK(hipFree(b.values));
    HIP_CHECK(hipFree(b.sums));
    return wrong;
}

// One grid per GPU; each adds its neighbour's value of the last round, so none may run ahead.
__global__ void ring(unsigned *own, const unsigned *other, int rounds)
{
    cg::multi_grid_group all = cg::this_multi_grid();
    for (int round = 0; round < rounds; round++) {
        unsigned next = 0;
        if (threadIdx.x == 0)
            next = __atomic_load_n(&other[blockIdx.x], __ATOMIC_RELAXED) + 1 + all.grid_rank();
        all.sync();
        if (threadIdx.x == 0)
            __atomic_store_n(&own[blockIdx.x], next, __ATOMIC_RELAXED);
        all.sync();
    }
}

static size_t launch_on_all(int gpus)
{
    const unsigned blocks = 12;
    int rounds = ROUNDS;
    std::vector<unsigned *> slots(gpus);
    std::vector<hipStream_t> streams(gpus);
    std::vector<std::vector<void *>> arguments(gpus);
    std::vector<const unsigned *> others(gpus);
    std::vector<hipLaunchParams> launches(gpus);
    unsigned *memory;
    HIP_CHECK(hipHostMalloc(&memory, gpus * blocks * sizeof(unsigned), hipHostMallocCoherent));
    for (unsigned i = 0; i < gpus * blocks; i++)
        memory[i] = 0;
    for (int gpu = 0; gpu < gpus; gpu++) {
        HIP_CHECK(hipSetDevice(gpu));
        HIP_CHECK(hipStreamCreate(&streams[gpu]));
        slots[gpu] = memory + gpu * blocks;
        others[gpu] = memory + (gpu + 1) % gpus * blocks;
        arguments[gpu] = {&slots[gpu], &others[gpu], &rounds};
        launches[gpu] = {(void *)ring,           dim3(blocks), dim3(BLOCK),
                         arguments[gpu].data(), 0,            streams[gpu]};
    }
    HIP_CHECK(hipLaunchCooperativeKernelMultiDevice(launches.data(), gpus, 0));
    for (int gpu = 0; gpu < gpus; gpu++) {
        HIP_CHECK(hipSetDevice(gpu));
        HIP_CHECK(hipStreamSynchronize(streams[gpu]));
        HIP_CHECK(hipStreamDestroy(streams[gpu]));
    }
    std::vector<unsigned> expected(gpus, 0), next(gpus);
    for (int round = 0; round < rounds; round++) {
        for (int gpu = 0; gpu < gpus; gpu++)
            next[gpu] = expected[(gpu + 1) % gpus] + 1 + gpu;
        expected = next;
    }
    size_t wrong = 0;
    for (unsigned i = 0; i < gpus * blocks; i++)
        wrong += memory[i] != expected[i / blocks];
    HIP_CHECK(hipHostFree(memory));
    HIP_CHECK(hipSetDevice(0));
    return wrong;
}

int main()
{
    int gpus = 0, cooperative = 0, several = 0, per_unit = 0, units = 0;
    HIP_CHECK(hipGetDeviceCount(&gpus));
    HIP_CHECK(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, 0));
    HIP_CHECK(hipDeviceGetAttribute(&several, hipDeviceAttributeCooperativeMultiDeviceLaunch, 0));
    HIP_CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, totals, BLOCK, 0));
    size_t wrong = !cooperative + !several;
    hipStream_t stream;
    HIP_CHECK(hipStreamCreate(&stream));
    unsigned most = (unsigned)(per_unit * units);
    for (unsigned blocks : {1u, 2u, 37u, (unsigned)units, most}) {
        size_t bad = launch(blocks, stream);
        if (bad)
            std::printf("%u blocks: %zu wrong\n", blocks, bad);
        wrong += bad;
    }
    wrong += launch(64, nullptr);
    // More blocks than fit at once are refused, not left to hang.
    buffers b = make_buffers(1);
    int rounds = 1;
    void *arguments[] = {&b.values, &b.sums, &rounds};
    wrong += hipLaunchCooperativeKernel((void *)totals, dim3(most + 1), dim3(BLOCK), arguments, 0,
                                        stream) != hipErrorCooperativeLaunchTooLarge;
    HIP_CHECK(hipFree(b.values));
    HIP_CHECK(hipFree(b.sums));
    HIP_CHECK(hipStreamDestroy(stream));
    size_t bad = launch_on_all(gpus);
    if (bad)
        std::printf("%d GPUs: %zu wrong\n", gpus, bad);
    return verdict("cooperative", wrong + bad);
}
