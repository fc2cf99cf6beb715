// Memory of one process used by another through a hipIpc handle, also after its owner freed it.
#include "common.h"

#include <sys/wait.h>
#include <unistd.h>
#include <vector>

enum { COUNT = 300001 };

__global__ void triple(int *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] *= 3;
}

template <typename T> static bool send(int fd, const T &value)
{
    return write(fd, &value, sizeof value) == (ssize_t)sizeof value;
}

template <typename T> static bool receive(int fd, T *value)
{
    return read(fd, value, sizeof *value) == (ssize_t)sizeof *value;
}

static size_t differing(const int *device, int factor)
{
    std::vector<int> host(COUNT);
    size_t wrong = 0;
    HIP_CHECK(hipMemcpy(host.data(), device, COUNT * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != factor * i;
    return wrong;
}

// Reads what the owner wrote, changes it, and looks once more when the owner has freed it.
static size_t user(int in, int out)
{
    hipIpcMemHandle_t handle;
    int *data = nullptr;
    char step = 0;
    if (!receive(in, &handle))
        return 1;
    const unsigned lazy_peer_access = 1; // of ROCm 6; what 5.2 calls so is 0
    if (hipIpcOpenMemHandle((void **)&data, handle, lazy_peer_access) != hipSuccess)
        HIP_CHECK(hipIpcOpenMemHandle((void **)&data, handle, 0));
    size_t wrong = differing(data, 1);
    triple<<<groups(COUNT, 256), 256>>>(data, COUNT);
    HIP_CHECK(hipDeviceSynchronize());
    wrong += !send(out, 'c') + !receive(in, &step);
    wrong += differing(data, 3);
    HIP_CHECK(hipIpcCloseMemHandle(data));
    return wrong + !send(out, 'd');
}

static size_t owner(int in, int out)
{
    std::vector<int> host(COUNT);
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    size_t before, after, total, bytes = COUNT * sizeof(int);
    int *data = nullptr;
    char step = 0;
    for (int round = 0; round < 2; round++) { // the first also allocates what HIP keeps
        HIP_CHECK(hipMalloc(&data, bytes));
        HIP_CHECK(hipMemcpy(data, host.data(), bytes, hipMemcpyHostToDevice));
        differing(data, 1);
        HIP_CHECK(hipFree(data));
        HIP_CHECK(hipMemGetInfo(&before, &total));
    }
    HIP_CHECK(hipMalloc(&data, bytes));
    HIP_CHECK(hipMemcpy(data, host.data(), bytes, hipMemcpyHostToDevice));
    hipIpcMemHandle_t handle;
    HIP_CHECK(hipIpcGetMemHandle(&handle, data));
    size_t wrong = !send(out, handle) + !receive(in, &step);
    wrong += differing(data, 3);
    HIP_CHECK(hipFree(data));
    wrong += !send(out, 'f') + !receive(in, &step);
    HIP_CHECK(hipMemGetInfo(&after, &total));
    return wrong + (after != before);
}

int main()
{
    int there[2], back[2], status = 1;
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pid_t child = fork(); // before either process has touched HIP
    close(child == 0 ? there[1] : there[0]); // whoever is left alone reads the end of the pipe
    close(child == 0 ? back[0] : back[1]);
    if (child == 0)
        _exit(user(there[0], back[1]) != 0);
    size_t wrong = owner(back[0], there[1]);
    waitpid(child, &status, 0);
    return verdict("ipc", wrong + (status != 0));
}
