// Kernels on memory that nobody has told the runtime of: the heap, the stack, globals, mappings,
// constants. Waves wait for page faults (HSA_XNACK=1). With "unmapped", "read_only" or "device" a
// kernel touches what page faults do not find, which ends in the runtime's report.
#include "common.h"

#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void scale(int *data, size_t count, int factor)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        data[i] = data[i] * factor + 1;
}

__global__ void count_letters(const char *text, int *letters)
{
    if (text[threadIdx.x] != ' ')
        atomicAdd(letters, 1);
}

__global__ void count_up(unsigned *counter)
{
    atomicAdd_system(counter, 1u);
}

static int globals[5000];

static size_t scaled_wrong(int *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (int)i;
    scale<<<120, 256>>>(data, count, 7);
    HIP_CHECK(hipDeviceSynchronize());
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += data[i] != (int)i * 7 + 1;
    return wrong;
}

static int *mapping(size_t count, int rights)
{
    void *at = mmap(nullptr, count * sizeof(int), rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? nullptr : (int *)at;
}

// Of a heap that grows and shrinks: the same addresses are other mappings from one to the next.
static size_t heap_wrong()
{
    size_t wrong = 0;
    for (size_t count = 1; count < 4000000; count = count * 3 + 1) {
        std::unique_ptr<int[]> data(new int[count]);
        wrong += scaled_wrong(data.get(), count);
    }
    return wrong;
}

// Host and device add to one word.
static size_t sum_wrong()
{
    unsigned counter = 0;
    std::thread other([&] {
        for (int i = 0; i < 100000; i++)
            __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    });
    count_up<<<100, 256>>>(&counter);
    HIP_CHECK(hipDeviceSynchronize());
    other.join();
    return counter != 100000 + 100 * 256;
}

// Of which the first one has no right.
static int *memory_of_another_gpu(size_t size_bytes)
{
    int *data;
    HIP_CHECK(hipSetDevice(1));
    HIP_CHECK(hipMalloc(&data, size_bytes));
    HIP_CHECK(hipSetDevice(0));
    return data;
}

// One page, and then as the case says.
static int bad_access(const char *what)
{
    const size_t page = 4096 / sizeof(int);
    int *data = mapping(page, PROT_READ | PROT_WRITE);
    if (scaled_wrong(data, page))
        return 3;
    if (std::strcmp(what, "unmapped") == 0)
        munmap(data, 4096);
    else if (std::strcmp(what, "read_only") == 0)
        data = mapping(page, PROT_READ);
    else
        data = memory_of_another_gpu(4096);
    scale<<<1, 64>>>(data, 64, 7);
    HIP_CHECK(hipDeviceSynchronize());
    return verdict("page_faults", 1); // must not be reached
}

int main(int argc, char **argv)
{
    int pageable = 0, devices = 0;
    HIP_CHECK(hipDeviceGetAttribute(&pageable, hipDeviceAttributePageableMemoryAccess, 0));
    if (!pageable) {
        std::printf("page_faults: this device does not wait for page faults\n");
        return 4;
    }
    if (argc > 1)
        return bad_access(argv[1]);
    HIP_CHECK(hipGetDeviceCount(&devices));
    size_t wrong = 0;
    for (int device = 0; device < devices; device++) {
        HIP_CHECK(hipSetDevice(device));
        int locals[3000], letters = 0;
        int *mapped = mapping(1 << 20, PROT_READ | PROT_WRITE);
        wrong += heap_wrong() + scaled_wrong(locals, 3000) + scaled_wrong(globals, 5000) +
                 scaled_wrong(mapped, 1 << 20) + sum_wrong();
        munmap(mapped, 4 << 20);
        count_letters<<<1, 24>>>("constants are memory too", &letters);
        HIP_CHECK(hipDeviceSynchronize());
        wrong += letters != 21;
        std::vector<int> copied(1000), pageable_too(1000, 5);
        int *on_device;
        HIP_CHECK(hipMalloc(&on_device, 4000));
        HIP_CHECK(hipMemcpy(on_device, pageable_too.data(), 4000, hipMemcpyDefault));
        scale<<<4, 256>>>(on_device, 1000, 3);
        HIP_CHECK(hipMemcpy(copied.data(), on_device, 4000, hipMemcpyDefault));
        for (int value : copied)
            wrong += value != 16;
        HIP_CHECK(hipFree(on_device));
    }
    return verdict("page_faults", wrong);
}
