// Launches an empty kernel so often, a synchronisation after every thousand; prints what a launch
// took and how much memory the process. usage: launches COUNT
#include "common.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

__global__ void empty() {}

static void peak_print()
{
    char line[256];
    FILE *status = std::fopen("/proc/self/status", "r");
    while (status && std::fgets(line, sizeof line, status))
        if (std::strncmp(line, "VmHWM:", 6) == 0)
            std::fputs(line, stdout);
    if (status)
        std::fclose(status);
}

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
    peak_print();
    std::printf("launches: ok, %.2f us each\n", us / (double)count);
    return 0;
}
