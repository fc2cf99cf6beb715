// Microseconds of a kernel launch, and of launch and synchronise, as the program sees them: the best
// of many short runs, and the middle one. usage: launch_bench [rounds]
#include "common.h"

#include <algorithm>
#include <chrono>
#include <vector>

using Clock = std::chrono::steady_clock;

__global__ void empty()
{
}

template <typename Work> static void measure(const char *name, int rounds, int count, Work work)
{
    std::vector<double> us;
    for (int round = 0; round < rounds; round++) {
        auto start = Clock::now();
        work(count);
        us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
                     count);
        HIP_CHECK(hipDeviceSynchronize());
    }
    std::sort(us.begin(), us.end());
    std::printf("%s %.2f %.2f\n", name, us.front(), us[us.size() / 2]);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20;
    empty<<<1, 64>>>();
    HIP_CHECK(hipDeviceSynchronize());
    measure("launch", rounds, 500, [](int count) {
        for (int i = 0; i < count; i++)
            empty<<<1, 64>>>();
    });
    measure("launch_and_synchronize", rounds, 200, [](int count) {
        for (int i = 0; i < count; i++) {
            empty<<<1, 64>>>();
            HIP_CHECK(hipDeviceSynchronize());
        }
    });
    return 0;
}
