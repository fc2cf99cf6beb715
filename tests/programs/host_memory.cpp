// Memory that host and device share: managed, registered, pinned and mapped.
#include "common.h"

#include <vector>

__global__ void scale(int *data, size_t count, int factor)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = data[i] * factor + 1;
}

static size_t wrong_elements(const int *data, size_t count, int factor)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += data[i] != (int)i * factor + 1;
    return wrong;
}

static void fill(int *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (int)i;
}

int main()
{
    const size_t count = 300001;
    size_t wrong = 0;

    int *managed;
    HIP_CHECK(hipMallocManaged(&managed, count * sizeof(int)));
    fill(managed, count);
    scale<<<groups(count, 256), 256>>>(managed, count, 3);
    HIP_CHECK(hipDeviceSynchronize());
    wrong += wrong_elements(managed, count, 3);
    HIP_CHECK(hipFree(managed));

    std::vector<int> pageable(count);
    int *registered;
    fill(pageable.data(), count);
    HIP_CHECK(hipHostRegister(pageable.data(), count * sizeof(int), hipHostRegisterDefault));
    HIP_CHECK(hipHostGetDevicePointer((void **)&registered, pageable.data(), 0));
    scale<<<groups(count, 256), 256>>>(registered, count, 5);
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipHostUnregister(pageable.data()));
    wrong += wrong_elements(pageable.data(), count, 5);

    int *pinned, *pinned_on_device;
    HIP_CHECK(hipHostMalloc((void **)&pinned, count * sizeof(int), hipHostMallocMapped));
    HIP_CHECK(hipHostGetDevicePointer((void **)&pinned_on_device, pinned, 0));
    fill(pinned, count);
    scale<<<groups(count, 256), 256>>>(pinned_on_device, count, 7);
    HIP_CHECK(hipDeviceSynchronize());
    wrong += wrong_elements(pinned, count, 7);
    HIP_CHECK(hipHostFree(pinned));
    return verdict("host_memory", wrong);
}
