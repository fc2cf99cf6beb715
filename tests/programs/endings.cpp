// Launches kernels and copies, then ends in the way it is told to: profilers must lose nothing.
// usage: endings LAUNCHES COPIES
// return|exit|_exit|quick_exit|abort|term|crash|size_limit|thread|thread_exit|SIGNAL
#include "common.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum { STATUS = 23 };

__global__ void add_one(uint32_t *data, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i]++;
}

// No synchronisation after the last launch: it may not have begun when the program ends.
static void work(int launches, int copies)
{
    const size_t count = 4096;
    uint32_t *data;
    std::vector<uint32_t> host(count);
    HIP_CHECK(hipMalloc(&data, count * sizeof(uint32_t)));
    for (int n = 0; n < copies; n++)
        HIP_CHECK(hipMemcpy(data, host.data(), count * sizeof(uint32_t), hipMemcpyHostToDevice));
    for (int n = 0; n < launches; n++)
        add_one<<<groups(count, 64), 64>>>(data, count);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int launches = atoi(argv[1]), copies = atoi(argv[2]);
    const char *way = argv[3];
    if (strcmp(way, "thread") == 0) {
        std::thread(work, launches, copies).join();
        return STATUS;
    }
    if (strcmp(way, "thread_exit") == 0) { // main never returns
        std::thread([=] {
            work(launches, copies);
            exit(STATUS);
        }).detach();
        for (;;)
            pause();
    }
    work(launches, copies);
    if (strcmp(way, "exit") == 0)
        exit(STATUS);
    if (strcmp(way, "_exit") == 0)
        _exit(STATUS);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(STATUS);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "term") == 0)
        raise(SIGTERM);
    if (strcmp(way, "crash") == 0)
        *(volatile int *)nullptr = 1;
    if (strcmp(way, "size_limit") == 0) { // of files; HIP itself has written some that are large
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_FSIZE, &none);
    }
    if (atoi(way) > 0)
        raise(atoi(way));
    return STATUS;
}
