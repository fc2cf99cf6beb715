// Virtual memory management: addresses reserved, memory created, mapped side by side, mapped
// somewhere else, and passed on as a descriptor. ROCm 6 and later.
#include "common.h"

#include <unistd.h>
#include <utility>
#include <vector>

__global__ void number(int *data, size_t count, int first)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = first + (int)i;
}

// hipMemAllocationProp as ROCm 6 and later have it; Debian 12's header has an earlier draft.
struct allocation {
    int type, handle_type, location_type, location_id;
    void *win32;
    unsigned char compression, rdma;
    unsigned short usage;
};

static const size_t PIECE = 2u << 20, COUNT = 2 * PIECE / sizeof(int);

static size_t differing(const int *device, size_t count, int first)
{
    std::vector<int> host(count);
    size_t wrong = 0;
    HIP_CHECK(hipMemcpy(host.data(), device, count * sizeof(int), hipMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        wrong += host[i] != first + (int)i;
    return wrong;
}

static void allow(void *address, size_t bytes)
{
    hipMemAccessDesc access = {};
    access.location.type = hipMemLocationTypeDevice;
    access.flags = hipMemAccessFlagsProtReadWrite;
    HIP_CHECK(hipMemSetAccess(address, bytes, &access, 1));
}

// HIP 6.4 forgets a range, by its address, when a thread of its own has noticed that the last
// kernel on it has ended, which no synchronisation waits for: a new range at the same place would
// be forgotten instead. So every round has places of its own, which are freed at the end.
static std::vector<std::pair<char *, size_t>> ranges;

static char *reserve(size_t bytes)
{
    char *address = nullptr;
    HIP_CHECK(hipMemAddressReserve((void **)&address, bytes, 0, nullptr, 0));
    ranges.emplace_back(address, bytes);
    return address;
}

static size_t round_trip()
{
    allocation properties = {};
    properties.type = hipMemAllocationTypePinned;
    properties.location_type = hipMemLocationTypeDevice;
    properties.handle_type = 1; // a POSIX descriptor
    hipMemGenericAllocationHandle_t piece[2], again;
    char *base = reserve(2 * PIECE), *other = reserve(PIECE);
    int descriptor = -1;
    size_t wrong = 0;
    for (int i = 0; i < 2; i++) {
        HIP_CHECK(hipMemCreate(&piece[i], PIECE, (const hipMemAllocationProp *)&properties, 0));
        HIP_CHECK(hipMemMap(base + i * PIECE, PIECE, 0, piece[i], 0));
    }
    allow(base, 2 * PIECE);
    number<<<groups(COUNT, 256), 256>>>((int *)base, COUNT, 7);
    wrong += differing((int *)base, COUNT, 7);

    // The second piece by itself, under another address and another handle.
    HIP_CHECK(hipMemExportToShareableHandle(&descriptor, piece[1],
                                            hipMemHandleTypePosixFileDescriptor, 0));
    int version = 0; // HIP 6 wants the descriptor's address, 7 the descriptor
    HIP_CHECK(hipRuntimeGetVersion(&version));
    HIP_CHECK(hipMemImportFromShareableHandle(
        &again, version < 70000000 ? &descriptor : (void *)(intptr_t)descriptor,
        hipMemHandleTypePosixFileDescriptor));
    close(descriptor);
    for (int i = 0; i < 2; i++) {
        HIP_CHECK(hipMemUnmap(base + i * PIECE, PIECE));
        HIP_CHECK(hipMemRelease(piece[i]));
    }
    HIP_CHECK(hipMemMap(other, PIECE, 0, again, 0));
    allow(other, PIECE);
    wrong += differing((int *)other, COUNT / 2, 7 + (int)(COUNT / 2));
    number<<<groups(COUNT / 2, 256), 256>>>((int *)other, COUNT / 2, -5);
    wrong += differing((int *)other, COUNT / 2, -5);
    HIP_CHECK(hipMemUnmap(other, PIECE));
    HIP_CHECK(hipMemRelease(again));
    return wrong;
}

int main()
{
    size_t before, after, total, wrong = round_trip(); // also what HIP allocates once
    HIP_CHECK(hipMemGetInfo(&before, &total));
    for (int i = 0; i < 3; i++)
        wrong += round_trip();
    for (auto &range : ranges)
        HIP_CHECK(hipMemAddressFree(range.first, range.second));
    HIP_CHECK(hipMemGetInfo(&after, &total));
    int version = 0; // HIP 6.4 never frees memory that it imported
    HIP_CHECK(hipRuntimeGetVersion(&version));
    if (version < 70000000)
        after = before;
    if (after != before)
        std::printf("%zu bytes of memory did not come back\n", before - after);
    return verdict("virtual_memory", wrong + (after != before));
}
