// Launches an empty kernel so often, a synchronisation after every thousand.
// usage: launches COUNT
#include "common.h"

#include <chrono>
#include <cstdlib>

__global__ void empty() {}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    empty<<<1, 64>>>();
    HIP_CHECK(hipDeviceSynchronize());
    auto start = std::chrono::steady_clock::now();
    for (long i = 1; i < count; i++) {
        empty<<<1, 64>>>();
        if (i % 1000 == 0)
            HIP_CHECK(hipDeviceSynchronize());
    }
    HIP_CHECK(hipDeviceSynchronize());
    double us =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    std::printf("launches: ok, %.2f us each\n", us / (double)count);
    return 0;
}
