// How fast the (software) GPU is: wave instructions per second on VALU-, LDS- and memory-bound
// kernels, copies, launch latency. Instruction counts are fixed by the inline assembly, so the
// figures need no counter. usage: gpu_bench [--json FILE]
#include "common.h"

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

static double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

#define FOUR(text) text text text text
#define SIXTEEN(text) FOUR(FOUR(text))

enum { VALU_PER_LOOP = 64, LDS_PER_LOOP = 32, GROUP = 256, WAVES_PER_GROUP = GROUP / 64 };

__global__ void valu_bound(float *out, int loops)
{
    float a = threadIdx.x, b = 1.0001f, c = 0.5f, d = 2.0f;
    for (int i = 0; i < loops; i++)
        asm volatile(SIXTEEN("v_fma_f32 %0, %0, %2, %3\n v_add_f32 %1, %1, %0\n"
                             "v_mul_f32 %0, %2, %1\n v_max_f32 %1, %0, %1\n")
                     : "+v"(a), "+v"(b)
                     : "v"(c), "v"(d));
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

__global__ void valu_integer(uint32_t *out, int loops)
{
    uint32_t a = threadIdx.x, b = 7, c = 3;
    for (int i = 0; i < loops; i++)
        asm volatile(SIXTEEN("v_add_u32 %0, %0, %1\n v_xor_b32 %1, %0, %2\n"
                             "v_lshl_add_u32 %0, %1, 3, %0\n v_and_b32 %1, %1, %0\n")
                     : "+v"(a), "+v"(b)
                     : "v"(c));
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

__global__ void lds_bound(uint32_t *out, int loops)
{
    __shared__ uint32_t words[GROUP];
    // The low half of a generic pointer is the LDS offset; taking it keeps the array allocated.
    uint32_t address = (uint32_t)(uintptr_t)&words[threadIdx.x], value = threadIdx.x;
    words[threadIdx.x] = value;
    __syncthreads();
    for (int i = 0; i < loops; i++)
        asm volatile(SIXTEEN("ds_write_b32 %1, %0\n ds_read_b32 %0, %1\n")
                     "s_waitcnt lgkmcnt(0)\n"
                     : "+v"(value)
                     : "v"(address));
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void triad(const float4 *a, const float4 *b, float4 *c, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float4 x = a[i], y = b[i];
        c[i] = float4{x.x + 2 * y.x, x.y + 2 * y.y, x.z + 2 * y.z, x.w + 2 * y.w};
    }
}

__global__ void empty()
{
}

struct Result {
    std::string name, unit;
    double value;
};
static std::vector<Result> results;

static void report(const char *name, double value, const char *unit)
{
    std::printf("%-28s %12.3f %s\n", name, value, unit);
    results.push_back({name, unit, value});
}

// The best of five runs: the machine is shared, and the best run is the least disturbed one.
template <typename Work> static double best_seconds(Work work)
{
    double best = 1e30;
    for (int run = 0; run < 5; run++) {
        auto start = Clock::now();
        work();
        HIP_CHECK(hipDeviceSynchronize());
        best = std::min(best, seconds_since(start));
    }
    return best;
}

static void bench_instructions(int groups_count)
{
    const int loops = 400;
    uint32_t *out;
    HIP_CHECK(hipMalloc(&out, (size_t)groups_count * GROUP * 4));
    double waves = (double)groups_count * WAVES_PER_GROUP;
    double s = best_seconds([&] { valu_bound<<<groups_count, GROUP>>>((float *)out, loops); });
    report("valu_f32", waves * loops * VALU_PER_LOOP / s / 1e6, "M wave-instructions/s");
    s = best_seconds([&] { valu_integer<<<groups_count, GROUP>>>(out, loops); });
    report("valu_int", waves * loops * VALU_PER_LOOP / s / 1e6, "M wave-instructions/s");
    s = best_seconds([&] { lds_bound<<<groups_count, GROUP>>>(out, loops); });
    report("lds", waves * loops * LDS_PER_LOOP / s / 1e6, "M wave-instructions/s");
    HIP_CHECK(hipFree(out));
}

static void bench_memory()
{
    const size_t bytes = 64u << 20, count = bytes / sizeof(float4);
    float4 *a, *b, *c;
    HIP_CHECK(hipMalloc(&a, bytes));
    HIP_CHECK(hipMalloc(&b, bytes));
    HIP_CHECK(hipMalloc(&c, bytes));
    std::vector<char> host(bytes, 1);
    double s = best_seconds([&] {
        HIP_CHECK(hipMemcpy(a, host.data(), bytes, hipMemcpyHostToDevice));
    });
    report("copy_host_to_device", bytes / s / 1e9, "GB/s");
    s = best_seconds([&] { HIP_CHECK(hipMemcpy(host.data(), a, bytes, hipMemcpyDeviceToHost)); });
    report("copy_device_to_host", bytes / s / 1e9, "GB/s");
    s = best_seconds([&] { HIP_CHECK(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice)); });
    report("copy_device_to_device", bytes / s / 1e9, "GB/s");
    s = best_seconds([&] { triad<<<groups(count, GROUP), GROUP>>>(a, b, c, count); });
    report("triad", 3.0 * bytes / s / 1e9, "GB/s");
    HIP_CHECK(hipFree(a));
    HIP_CHECK(hipFree(b));
    HIP_CHECK(hipFree(c));
}

static void bench_launch()
{
    empty<<<1, 64>>>();
    HIP_CHECK(hipDeviceSynchronize());
    const int launches = 2000, syncs = 500;
    double s = best_seconds([&] {
        for (int i = 0; i < launches; i++)
            empty<<<1, 64>>>();
    });
    report("launch", s / launches * 1e6, "us");
    s = best_seconds([&] {
        for (int i = 0; i < syncs; i++) {
            empty<<<1, 64>>>();
            HIP_CHECK(hipDeviceSynchronize());
        }
    });
    report("launch_and_synchronize", s / syncs * 1e6, "us");
}

static bool write_json(const char *path)
{
    FILE *file = std::fopen(path, "w");
    if (!file)
        return false;
    std::fprintf(file, "{\"gpu\": [\n");
    for (size_t i = 0; i < results.size(); i++)
        std::fprintf(file, "  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}%s\n",
                     results[i].name.c_str(), results[i].value, results[i].unit.c_str(),
                     i + 1 < results.size() ? "," : "");
    std::fprintf(file, "]}\n");
    return std::fclose(file) == 0;
}

int main(int argc, char **argv)
{
    const char *json = argc == 3 && !strcmp(argv[1], "--json") ? argv[2] : nullptr;
    if (argc != 1 && !json) {
        std::fprintf(stderr, "usage: gpu_bench [--json FILE]\n");
        return 2;
    }
    bench_instructions(64);
    bench_memory();
    bench_launch();
    if (json && !write_json(json)) {
        std::fprintf(stderr, "gpu_bench: %s: cannot write\n", json);
        return 1;
    }
    return 0;
}
