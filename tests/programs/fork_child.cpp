// A process that looked at the GPU forks; parent and child then both use HIP, each with its own
// GPU state, and a second child is started by exec.
#include "common.h"

#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

__global__ void add_index(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += i;
}

static size_t use_gpu(int base)
{
    const int n = 1 << 18;
    std::vector<int> data(n, base);
    int *device;
    size_t wrong = 0;
    HIP_CHECK(hipMalloc(&device, n * sizeof(int)));
    for (int round = 0; round < 5; round++) {
        HIP_CHECK(hipMemcpy(device, data.data(), n * sizeof(int), hipMemcpyHostToDevice));
        add_index<<<groups(n, 256), 256>>>(device, n);
        HIP_CHECK(hipMemcpy(data.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
    }
    for (int i = 0; i < n; i++)
        wrong += data[i] != base + 5 * i;
    HIP_CHECK(hipFree(device));
    return wrong;
}

static size_t child_wait(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return status != 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "child") == 0)
        return use_gpu(3) != 0;
    int device = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    size_t wrong = device < 0;
    pid_t forked = fork();
    if (forked == 0)
        _exit(use_gpu(1) != 0);
    wrong += use_gpu(2);
    pid_t executed = fork(); // this parent has streams, queues and buffers; its child only execs
    if (executed == 0) {
        execl("/proc/self/exe", argv[0], "child", (char *)NULL);
        _exit(127);
    }
    wrong += use_gpu(4);
    wrong += child_wait(forked) + child_wait(executed);
    return verdict("fork_child", wrong);
}
