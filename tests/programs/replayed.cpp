// Kernels that a profiler may execute several times, and that change in place what they find:
// device memory, variables, pinned and managed memory; from several streams and threads; and one
// that waits for its host. Every result is what one execution makes, worked out by the host.
//
// "large MB LAUNCHES": so many launches beside so much device memory, which grows and shrinks, with
// the time of each; "threads ROUNDS": so many times the part with threads, which copy pageable
// memory beside each other's kernels.
#include "common.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

enum { COUNT = 5000, ROUNDS = 4, STREAMS = 3, STEPS = 5 };

__device__ uint32_t steps_done;
__device__ uint32_t unread_by_host[64];

__global__ void step(uint32_t *data, size_t count, uint32_t add)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = data[i] * 3 + add;
    if (i == 0)
        steps_done++;
    if (i < 64)
        unread_by_host[i] += add;
}

__global__ void sum(const uint32_t *data, size_t count, unsigned long long *total)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(total, (unsigned long long)data[i]);
}

__global__ void step_shared(uint32_t *data, size_t count, uint32_t add)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = data[i] * 5 + add;
}

__global__ void read_variables(uint32_t *to)
{
    to[threadIdx.x] = threadIdx.x == 63 ? steps_done : unread_by_host[threadIdx.x];
}

__global__ void wait_for_host(volatile uint32_t *words)
{
    words[1] = words[1] + 1;
    __threadfence_system();
    while (words[0] == 0)
        __builtin_amdgcn_s_sleep(8);
}

static uint32_t expected(uint32_t value, unsigned steps, uint32_t factor, uint32_t first)
{
    for (unsigned n = 0; n < steps; n++)
        value = value * factor + first + n;
    return value;
}

static size_t differing(const std::vector<uint32_t> &values, uint32_t wanted)
{
    size_t wrong = 0;
    for (uint32_t value : values)
        wrong += value != wanted;
    return wrong;
}

static size_t in_device_memory()
{
    std::vector<uint32_t> host(COUNT, 7), variables(64);
    uint32_t *data, *read;
    unsigned long long *total, sum_seen = 0;
    HIP_CHECK(hipMalloc(&data, COUNT * sizeof *data));
    HIP_CHECK(hipMalloc(&read, 64 * sizeof *read));
    HIP_CHECK(hipMalloc(&total, sizeof *total));
    HIP_CHECK(hipMemset(total, 0, sizeof *total));
    HIP_CHECK(hipMemcpy(data, host.data(), COUNT * sizeof *data, hipMemcpyHostToDevice));
    for (uint32_t n = 0; n < ROUNDS; n++)
        step<<<groups(COUNT, 256), 256>>>(data, COUNT, n);
    sum<<<groups(COUNT, 256), 256>>>(data, COUNT, total);
    read_variables<<<1, 64>>>(read);
    HIP_CHECK(hipMemcpy(host.data(), data, COUNT * sizeof *data, hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(&sum_seen, total, sizeof sum_seen, hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(variables.data(), read, 64 * sizeof *read, hipMemcpyDeviceToHost));
    const uint32_t wanted = expected(7, ROUNDS, 3, 0);
    size_t wrong = differing(host, wanted) + (sum_seen != (unsigned long long)wanted * COUNT) +
                   (variables[63] != ROUNDS) + (variables[1] != ROUNDS * (ROUNDS - 1) / 2);
    HIP_CHECK(hipFree(data));
    HIP_CHECK(hipFree(read));
    HIP_CHECK(hipFree(total));
    return wrong;
}

static size_t in_shared_memory(bool is_managed)
{
    uint32_t *data;
    if (is_managed)
        HIP_CHECK(hipMallocManaged(&data, COUNT * sizeof *data));
    else
        HIP_CHECK(hipHostMalloc(&data, COUNT * sizeof *data));
    for (int i = 0; i < COUNT; i++)
        data[i] = 11;
    for (uint32_t n = 0; n < ROUNDS; n++)
        step_shared<<<groups(COUNT, 256), 256>>>(data, COUNT, n);
    HIP_CHECK(hipDeviceSynchronize());
    std::vector<uint32_t> seen(data, data + COUNT);
    HIP_CHECK(is_managed ? hipFree(data) : hipHostFree(data));
    return differing(seen, expected(11, ROUNDS, 5, 0));
}

static void stream_run(unsigned number, std::atomic<size_t> *wrong)
{
    std::vector<uint32_t> host(COUNT, number);
    hipStream_t stream;
    uint32_t *data;
    HIP_CHECK(hipStreamCreate(&stream));
    HIP_CHECK(hipMalloc(&data, COUNT * sizeof *data));
    HIP_CHECK(
        hipMemcpyAsync(data, host.data(), COUNT * sizeof *data, hipMemcpyHostToDevice, stream));
    for (uint32_t n = 0; n < STEPS; n++)
        step_shared<<<groups(COUNT, 256), 256, 0, stream>>>(data, COUNT, number + n);
    HIP_CHECK(
        hipMemcpyAsync(host.data(), data, COUNT * sizeof *data, hipMemcpyDeviceToHost, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    *wrong += differing(host, expected(number, STEPS, 5, number));
    HIP_CHECK(hipFree(data));
    HIP_CHECK(hipStreamDestroy(stream));
}

static size_t in_threads()
{
    std::atomic<size_t> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < STREAMS; n++)
        threads.emplace_back(stream_run, n + 1, &wrong);
    for (std::thread &thread : threads)
        thread.join();
    return wrong;
}

static size_t with_the_host()
{
    size_t wrong = 0;
    uint32_t *words;
    HIP_CHECK(hipHostMalloc(&words, 4096));
    for (uint32_t n = 1; n <= ROUNDS; n++) {
        words[0] = 0;
        words[1] = n - 1;
        wait_for_host<<<1, 1>>>(words);
        __atomic_store_n(&words[0], 1, __ATOMIC_RELEASE);
        HIP_CHECK(hipDeviceSynchronize());
        wrong += words[1] != n;
    }
    HIP_CHECK(hipHostFree(words));
    return wrong;
}

static double now_ms()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// Three quarters of the memory come and go in between: the last launches have all of it again.
static size_t in_large_memory(size_t megabytes, uint32_t launches)
{
    const size_t count = megabytes << 18;
    std::vector<uint32_t> seen(count / 4);
    uint32_t *data[4] = {};
    for (uint32_t n = 0; n < launches; n++) {
        const bool is_small = n % 8 == 6;
        for (int part = 0; part < 4; part++) {
            if (data[part] || (part > 0 && is_small))
                continue;
            HIP_CHECK(hipMalloc(&data[part], count));
            HIP_CHECK(hipMemset(data[part], 0, count));
        }
        HIP_CHECK(hipDeviceSynchronize());
        const double begin = now_ms();
        step_shared<<<groups(COUNT, 256), 256>>>(data[0], COUNT, n);
        HIP_CHECK(hipDeviceSynchronize());
        printf("launch %u: %.2f ms\n", n, now_ms() - begin);
        for (int part = 1; part < 4 && n % 8 == 5; part++) {
            HIP_CHECK(hipFree(data[part]));
            data[part] = nullptr;
        }
    }
    HIP_CHECK(hipMemcpy(seen.data(), data[0], count, hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < seen.size(); i++)
        wrong += seen[i] != (i < COUNT ? expected(0, launches, 5, 0) : 0);
    return wrong;
}

static size_t in_threads_often(uint32_t rounds)
{
    size_t wrong = 0;
    for (uint32_t n = 0; n < rounds; n++)
        wrong += in_threads();
    return wrong;
}

static int part_run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    size_t wrong;
    if (argc == 4 && !strcmp(name, "large"))
        wrong = in_large_memory(strtoul(argv[2], nullptr, 10), (uint32_t)atoi(argv[3]));
    else if (argc == 3 && !strcmp(name, "threads"))
        wrong = in_threads_often((uint32_t)atoi(argv[2]));
    else
        return -1;
    printf("replayed: %s\n", wrong ? "wrong" : "ok");
    return wrong != 0;
}

int main(int argc, char **argv)
{
    const int part = part_run(argc, argv);
    if (part >= 0)
        return part;
    struct {
        const char *name;
        size_t wrong;
    } parts[] = {
        {"device", in_device_memory()},
        {"pinned", in_shared_memory(false)},
        {"managed", in_shared_memory(true)},
        {"threads", in_threads()},
        {"waiting", argc > 1 && !strcmp(argv[1], "wait") ? with_the_host() : 0},
    };
    size_t wrong = 0;
    for (const auto &part : parts) {
        if (part.wrong > 0)
            printf("replayed: %s: %zu wrong\n", part.name, part.wrong);
        wrong += part.wrong;
    }
    printf("replayed: %s\n", wrong ? "wrong" : "ok");
    return wrong != 0;
}
