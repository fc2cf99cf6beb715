// How fast the (software) GPU is: wave instructions per second on VALU-, LDS- and memory-bound
// kernels, copies, launch latency. Instruction counts are fixed by the inline assembly, so the
// figures need no counter. Rows that end in _of_host are shares of what a bare loop on one thread
// of this machine's processor does in the same run. usage: gpu_bench [--json FILE] [PART...]
#include "common.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

static double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

#define FOUR(text)    text text text text
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
        asm volatile(SIXTEEN("ds_write_b32 %1, %0\n ds_read_b32 %0, %1\n") "s_waitcnt lgkmcnt(0)\n"
                     : "+v"(value)
                     : "v"(address));
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Loads and stores of one wave, in the host's cache: what remains is the engine's own work.
enum { MEMORY_PER_LOOP = 16, MEMORY_WAVES = 8, MEMORY_BYTES = 64 * 16 + 64 };
enum Pattern { CONTIGUOUS, MISALIGNED, SCATTERED, PARTIAL };
static const char *const pattern_names[] = {"contiguous", "misaligned", "scattered", "partial"};

template <int DWORDS> struct Dwords {
    typedef uint32_t type __attribute__((ext_vector_type(DWORDS)));
};
template <> struct Dwords<1> {
    typedef uint32_t type;
};

// One asm statement for each width: the mnemonic is text.
#define MEMORY_KERNELS(DWORDS, suffix)                                                             \
    __global__ void load_##DWORDS(char *memory, int pattern, int loops)                            \
    {                                                                                              \
        uint32_t lane = pattern == SCATTERED ? threadIdx.x * 37 % 64 : threadIdx.x;                \
        char *at = memory + lane * 4 * DWORDS + (pattern == MISALIGNED ? 4 : 0);                   \
        Dwords<DWORDS>::type value;                                                                \
        if (pattern == PARTIAL && threadIdx.x % 4 == 3)                                            \
            return;                                                                                \
        for (int i = 0; i < loops; i++)                                                            \
            asm volatile(SIXTEEN("global_load_" suffix " %0, %1, off\n") "s_waitcnt vmcnt(0)\n"    \
                         : "=&v"(value)                                                            \
                         : "v"(at)                                                                 \
                         : "memory");                                                              \
    }                                                                                              \
    __global__ void store_##DWORDS(char *memory, int pattern, int loops)                           \
    {                                                                                              \
        uint32_t lane = pattern == SCATTERED ? threadIdx.x * 37 % 64 : threadIdx.x;                \
        char *at = memory + lane * 4 * DWORDS + (pattern == MISALIGNED ? 4 : 0);                   \
        Dwords<DWORDS>::type value = threadIdx.x;                                                  \
        if (pattern == PARTIAL && threadIdx.x % 4 == 3)                                            \
            return;                                                                                \
        for (int i = 0; i < loops; i++)                                                            \
            asm volatile(SIXTEEN("global_store_" suffix " %1, %0, off\n") "s_waitcnt vmcnt(0)\n"   \
                         :                                                                         \
                         : "v"(value), "v"(at)                                                     \
                         : "memory");                                                              \
    }
MEMORY_KERNELS(1, "dword")
MEMORY_KERNELS(2, "dwordx2")
MEMORY_KERNELS(4, "dwordx4")

// A store that the next instruction waits for, as code between two fences does.
__global__ void store_and_wait(char *memory, int, int loops)
{
    uint32_t value = threadIdx.x;
    for (int i = 0; i < loops; i++)
        asm volatile(SIXTEEN("global_store_dword %1, %0, off\ns_waitcnt vmcnt(0)\n")
                     :
                     : "v"(value), "v"(memory + 4 * threadIdx.x)
                     : "memory");
}

// Matrices in registers: operations of one instruction are 2 * rows * columns * depth * blocks.
typedef float Floats16 __attribute__((ext_vector_type(16)));
typedef double Doubles4 __attribute__((ext_vector_type(4)));
typedef _Float16 Halves4 __attribute__((ext_vector_type(4)));
enum { MATRIX_PER_LOOP = 16 };

__global__ void matrix_f32(float *out, int loops)
{
    Floats16 sum = {};
    float a = threadIdx.x * 0.5f, b = 1.0f + threadIdx.x;
    for (int i = 0; i < loops * MATRIX_PER_LOOP; i++)
        sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, sum, 0, 0, 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0];
}
__global__ void matrix_f16(float *out, int loops)
{
    Floats16 sum = {};
    Halves4 a = {1, 2, 3, 4}, b = {(_Float16)threadIdx.x, 1, 2, 3};
    for (int i = 0; i < loops * MATRIX_PER_LOOP; i++)
        sum = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, sum, 0, 0, 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0];
}
__global__ void matrix_f64(float *out, int loops)
{
    Doubles4 sum = {};
    double a = threadIdx.x * 0.5, b = 1.0 + threadIdx.x;
    for (int i = 0; i < loops * MATRIX_PER_LOOP; i++)
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, sum, 0, 0, 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = (float)sum[0];
}

__global__ void triad(const float4 *a, const float4 *b, float4 *c, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float4 x = a[i], y = b[i];
        c[i] = float4{x.x + 2 * y.x, x.y + 2 * y.y, x.z + 2 * y.z, x.w + 2 * y.w};
    }
}

__global__ void empty() {}

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

// The best run: the machine is shared, and the best is the least disturbed one.
template <typename Work> static double best_seconds(Work work, int runs = 5)
{
    double best = 1e30;
    for (int run = 0; run < runs; run++) {
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

static const struct {
    const char *name;
    void (*kernel)(char *, int, int);
} accesses[] = {{"load_4", load_1},   {"load_8", load_2},   {"load_16", load_4},
                {"store_4", store_1}, {"store_8", store_2}, {"store_16", store_4}};

static void bench_access(const std::string &name, void (*kernel)(char *, int, int), int pattern)
{
    const int loops = 300, runs = 60; // short enough for some to run undisturbed
    char *memory;
    HIP_CHECK(hipMalloc(&memory, MEMORY_BYTES));
    double s = best_seconds([&] { kernel<<<MEMORY_WAVES, 64>>>(memory, pattern, loops); }, runs);
    report(name.c_str(), (double)MEMORY_WAVES * loops * MEMORY_PER_LOOP / s / 1e6,
           "M wave-instructions/s");
    HIP_CHECK(hipFree(memory));
}

static void bench_accesses()
{
    for (const auto &access : accesses) {
        for (int pattern = CONTIGUOUS; pattern <= PARTIAL; pattern++)
            bench_access(std::string(access.name) + "_" + pattern_names[pattern], access.kernel,
                         pattern);
    }
    bench_access("store_and_wait", store_and_wait, CONTIGUOUS);
}

static double host_triad_seconds(size_t count)
{
    std::vector<float> a(count, 1), b(count, 2), c(count);
    double best = 1e30;
    for (int run = 0; run < 5; run++) {
        auto start = Clock::now();
        const float *x = a.data(), *y = b.data();
        float *z = c.data();
        for (size_t i = 0; i < count; i++)
            z[i] = x[i] + 2 * y[i];
        asm volatile("" ::"r"(z) : "memory");
        best = std::min(best, seconds_since(start));
    }
    return best;
}

static void bench_memory()
{
    const size_t bytes = 64u << 20, count = bytes / sizeof(float4);
    float4 *a, *b, *c;
    HIP_CHECK(hipMalloc(&a, bytes));
    HIP_CHECK(hipMalloc(&b, bytes));
    HIP_CHECK(hipMalloc(&c, bytes));
    std::vector<char> host(bytes, 1);
    double s =
        best_seconds([&] { HIP_CHECK(hipMemcpy(a, host.data(), bytes, hipMemcpyHostToDevice)); });
    report("copy_host_to_device", bytes / s / 1e9, "GB/s");
    s = best_seconds([&] { HIP_CHECK(hipMemcpy(host.data(), a, bytes, hipMemcpyDeviceToHost)); });
    report("copy_device_to_host", bytes / s / 1e9, "GB/s");
    s = best_seconds([&] { HIP_CHECK(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice)); });
    report("copy_device_to_device", bytes / s / 1e9, "GB/s");
    s = best_seconds([&] { triad<<<groups(count, GROUP), GROUP>>>(a, b, c, count); });
    report("triad", 3.0 * bytes / s / 1e9, "GB/s");
    double host_s = host_triad_seconds(count * 4);
    report("triad_of_host", 100 * host_s / s, "%");
    HIP_CHECK(hipFree(a));
    HIP_CHECK(hipFree(b));
    HIP_CHECK(hipFree(c));
}

// Fused multiply-adds of the host on independent chains, in the widest vectors it has: chains of
// two registers each would not fit into AVX2's.
enum { HOST_CHAINS = 12 };
#ifdef __HIP_DEVICE_COMPILE__
#define HOST_TARGET(names)
#else
#define HOST_TARGET(names) __attribute__((target(names)))
#endif
#define HOST_FMA(name, bytes, options)                                                             \
    options static double name(int rounds)                                                         \
    {                                                                                              \
        typedef float Vector __attribute__((vector_size(bytes)));                                  \
        static volatile float sink;                                                                \
        Vector x[HOST_CHAINS] = {}, factor = {}, addend = {};                                      \
        factor += 0.5f;                                                                            \
        addend += 1.0f;                                                                            \
        for (int i = 0; i < rounds; i++)                                                           \
            _Pragma("clang loop unroll(full)") for (int n = 0; n < HOST_CHAINS; n++) x[n] =        \
                x[n] * factor + addend;                                                            \
        for (int n = 1; n < HOST_CHAINS; n++)                                                      \
            x[0] += x[n];                                                                          \
        sink = x[0][0];                                                                            \
        (void)sink;                                                                                \
        return (double)rounds * HOST_CHAINS * 2 * (bytes / sizeof(float));                         \
    }
HOST_FMA(host_fma_avx512, 64, HOST_TARGET("avx512f"))
HOST_FMA(host_fma_avx2, 32, HOST_TARGET("avx2,fma"))
HOST_FMA(host_fma_any, 16, )
// Returns the operations done.
static double host_fma(int rounds)
{
    if (__builtin_cpu_supports("avx512f"))
        return host_fma_avx512(rounds);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return host_fma_avx2(rounds);
    return host_fma_any(rounds);
}
static double host_gflops()
{
    double best = 0;
    for (int run = 0; run < 5; run++) {
        auto start = Clock::now();
        double operations = host_fma(2000000);
        best = std::max(best, operations / seconds_since(start) / 1e9);
    }
    return best;
}

static void bench_matrices()
{
    static const struct {
        const char *name;
        void (*kernel)(float *, int);
        double operations, host_share; // doubles: half as many in a vector
    } matrices[] = {{"mfma_f32", matrix_f32, 4096, 1},
                    {"mfma_f16", matrix_f16, 16384, 1},
                    {"mfma_f64", matrix_f64, 2048, 0.5}};
    const int loops = 500, waves = 16;
    const double host = host_gflops();
    float *out;
    HIP_CHECK(hipMalloc(&out, waves * 64 * sizeof *out));
    report("host_fma_f32", host, "Gop/s");
    for (const auto &matrix : matrices) {
        double s = best_seconds([&] { matrix.kernel<<<waves, 64>>>(out, loops); });
        double rate = matrix.operations * waves * loops * MATRIX_PER_LOOP / s / 1e9;
        report(matrix.name, rate, "Gop/s");
        report((std::string(matrix.name) + "_of_host").c_str(),
               100 * rate / (host * matrix.host_share), "%");
    }
    HIP_CHECK(hipFree(out));
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

static const struct {
    const char *name;
    void (*run)();
} parts[] = {{"instructions", [] { bench_instructions(64); }},
             {"matrices", bench_matrices},
             {"accesses", bench_accesses},
             {"memory", bench_memory},
             {"launch", bench_launch}};

static bool is_part(const char *name)
{
    for (const auto &part : parts)
        if (!strcmp(part.name, name))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    const char *json = argc >= 3 && !strcmp(argv[1], "--json") ? argv[2] : nullptr;
    const std::vector<std::string> wanted(argv + (json ? 3 : 1), argv + argc);
    for (const auto &name : wanted)
        if (!is_part(name.c_str())) {
            std::fprintf(stderr, "usage: gpu_bench [--json FILE] [PART...]\n");
            return 2;
        }
    for (const auto &part : parts)
        if (wanted.empty() || std::count(wanted.begin(), wanted.end(), part.name))
            part.run();
    if (json && !write_json(json)) {
        std::fprintf(stderr, "gpu_bench: %s: cannot write\n", json);
        return 1;
    }
    return 0;
}
