// What HIP programs of several sorts cost: microseconds of wall time for each call, as the program
// sees it, and of CPU time of the whole process, its start left out.
// usage: programs_bench launches|copies COUNT [THREADS]
#include "common.h"

#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

__global__ void empty() {}

static double process_cpu_us()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void launch(long count, hipStream_t stream)
{
    for (long i = 1; i <= count; i++) {
        empty<<<1, 64, 0, stream>>>();
        if (i % 500 == 0)
            HIP_CHECK(hipStreamSynchronize(stream));
    }
    HIP_CHECK(hipStreamSynchronize(stream));
}

static void copy(long count)
{
    enum { BYTES = 4096 };
    std::vector<char> host(BYTES);
    char *device;
    HIP_CHECK(hipMalloc(&device, BYTES));
    for (long i = 0; i < count; i++)
        HIP_CHECK(hipMemcpy(device, host.data(), BYTES, hipMemcpyHostToDevice));
    HIP_CHECK(hipFree(device));
}

static void run(const char *what, long count, int threads)
{
    std::vector<std::thread> workers;
    if (std::strcmp(what, "copies") == 0)
        return copy(count);
    for (int i = 0; i < threads; i++)
        workers.emplace_back([=] {
            hipStream_t stream;
            HIP_CHECK(hipStreamCreate(&stream));
            launch(count / threads, stream);
            HIP_CHECK(hipStreamDestroy(stream));
        });
    for (auto &worker : workers)
        worker.join();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "launches";
    long count = argc > 2 ? std::atol(argv[2]) : 1000;
    int threads = argc > 3 ? std::atoi(argv[3]) : 1;
    run(what, 64, threads);
    double cpu = process_cpu_us();
    auto begin = Clock::now();
    run(what, count, threads);
    double wall = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    std::printf("%s %d %.3f %.3f\n", what, threads, wall / count, (process_cpu_us() - cpu) / count);
    return 0;
}
