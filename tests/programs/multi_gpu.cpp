// Several GPUs in one process: a kernel on each, copies between them, and one reading another's
// memory. With one GPU it checks that one. argv[1]: how many there must be.
#include "common.h"

#include <vector>

__global__ void scale(const int *from, int *to, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] * factor + i;
}

static size_t wrong;

static void check(const std::vector<int> &got, const std::vector<int> &from, int factor)
{
    for (int i = 0; i < (int)got.size(); i++)
        wrong += got[i] != from[i] * factor + i;
}

int main(int argc, char **argv)
{
    const int n = 100003;
    int count = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    wrong += argc > 1 && count != std::atoi(argv[1]);
    std::vector<int> host(n), back(n);
    std::vector<int *> in(count), out(count);
    for (int i = 0; i < n; i++)
        host[i] = i ^ 0x55;
    for (int device = 0; device < count; device++) {
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(hipMalloc(&in[device], n * sizeof(int)));
        HIP_CHECK(hipMalloc(&out[device], n * sizeof(int)));
        HIP_CHECK(hipMemcpy(in[device], host.data(), n * sizeof(int), hipMemcpyHostToDevice));
        scale<<<groups(n, 256), 256>>>(in[device], out[device], n, device + 2);
        HIP_CHECK(hipGetLastError());
    }
    std::vector<std::vector<int>> left(count, std::vector<int>(n)); // what `out` holds
    for (int device = 0; device < count; device++) {
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(
            hipMemcpy(left[device].data(), out[device], n * sizeof(int), hipMemcpyDeviceToHost));
        check(left[device], host, device + 2);
    }
    for (int device = 1; device < count; device++) {
        int reachable = 0;
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(hipMemcpyPeer(in[device], device, out[device - 1], device - 1, n * sizeof(int)));
        scale<<<groups(n, 256), 256>>>(in[device], out[device], n, 3);
        HIP_CHECK(hipMemcpy(back.data(), out[device], n * sizeof(int), hipMemcpyDeviceToHost));
        check(back, left[device - 1], 3);
        HIP_CHECK(hipDeviceCanAccessPeer(&reachable, device, device - 1));
        wrong += !reachable; // GPUs of one kind form a hive
        HIP_CHECK(hipDeviceEnablePeerAccess(device - 1, 0));
        scale<<<groups(n, 256), 256>>>(out[device - 1], out[device], n, 7);
        HIP_CHECK(hipMemcpy(back.data(), out[device], n * sizeof(int), hipMemcpyDeviceToHost));
        check(back, left[device - 1], 7);
        left[device] = back;
    }
    return verdict("multi_gpu", wrong);
}
