// Kernels that read, write and add to memory of each kind: the GPU's own, coarse- and fine-grained,
// the host's, and with two GPUs the other one's. What AMD's documents of rocprofiler-compute
// measure on an MI250 ("Infinity Fabric transactions"), with smaller sizes.
//
//     memory_types [KIND]
#include "common.h"

#include <cstring>

namespace
{

const unsigned items = 1 << 18, rounds = 4, group_size = 256, group_count = 64;

#define DEFINE_READ(name)                                                                          \
    __global__ void read_##name(unsigned *x)                                                       \
    {                                                                                              \
        unsigned sum = 0, first = blockIdx.x * group_size + threadIdx.x;                           \
        for (unsigned round = 0; round < rounds; round++)                                          \
            for (unsigned i = first; i < items; i += group_size * group_count)                     \
                sum += x[i];                                                                       \
        if (sum)                                                                                   \
            x[first] = sum;                                                                        \
    }
DEFINE_READ(own)
DEFINE_READ(own_fine)
DEFINE_READ(host)
DEFINE_READ(host_coarse)
DEFINE_READ(peer)
DEFINE_READ(peer_fine)

__global__ void write_host(unsigned *x)
{
    unsigned first = blockIdx.x * group_size + threadIdx.x;
    for (unsigned i = first; i < items; i += group_size * group_count)
        x[i] = i;
}

__global__ void add_host(unsigned *x)
{
    unsigned first = blockIdx.x * group_size + threadIdx.x;
    for (unsigned i = first; i < items; i += group_size * group_count)
        atomicAdd_system(&x[i], 1u);
}

void run(const char *wanted, const char *name, void (*kernel)(unsigned *), unsigned *x)
{
    if (wanted && strcmp(wanted, name) != 0)
        return;
    hipLaunchKernelGGL(kernel, dim3(group_count), dim3(group_size), 0, 0, x);
    HIP_CHECK(hipDeviceSynchronize());
}

unsigned *own(int device, unsigned flags)
{
    void *memory = nullptr;
    HIP_CHECK(hipSetDevice(device));
    HIP_CHECK(hipExtMallocWithFlags(&memory, items * sizeof(unsigned), flags));
    HIP_CHECK(hipMemset(memory, 0, items * sizeof(unsigned)));
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipSetDevice(0));
    return (unsigned *)memory;
}

unsigned *host(unsigned flags)
{
    void *memory = nullptr;
    HIP_CHECK(hipHostMalloc(&memory, items * sizeof(unsigned), flags));
    memset(memory, 0, items * sizeof(unsigned));
    return (unsigned *)memory;
}

size_t sums_wrong(const unsigned *x)
{
    size_t wrong = 0;
    for (unsigned i = 0; i < items; i++)
        wrong += x[i] != i + 1;
    return wrong;
}

} // namespace

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : nullptr;
    int devices = 0;
    HIP_CHECK(hipGetDeviceCount(&devices));
    run(wanted, "read_own", read_own, own(0, hipDeviceMallocDefault));
    run(wanted, "read_own_fine", read_own_fine, own(0, hipDeviceMallocFinegrained));
    unsigned *fine = host(hipHostMallocCoherent);
    run(wanted, "read_host", read_host, fine);
    run(wanted, "read_host_coarse", read_host_coarse, host(hipHostMallocNonCoherent));
    run(wanted, "write_host", write_host, fine);
    run(wanted, "add_host", add_host, fine);
    if (devices > 1) {
        HIP_CHECK(hipDeviceEnablePeerAccess(1, 0));
        run(wanted, "read_peer", read_peer, own(1, hipDeviceMallocDefault));
        run(wanted, "read_peer_fine", read_peer_fine, own(1, hipDeviceMallocFinegrained));
    }
    return verdict("memory_types", wanted ? 0 : sums_wrong(fine));
}
