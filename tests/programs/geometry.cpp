// One kernel launch for each GROUPSxSIZE argument (x dimension), and one for each
// GXxGYxGZ:BXxBYxBZ argument, in work-groups and work-items per group.
#include "common.h"

#include <cstdio>
#include <cstring>

__global__ void touch(uint32_t *data)
{
    atomicAdd(data, 1);
}

static bool parse(const char *text, dim3 &grid, dim3 &block)
{
    if (sscanf(text, "%ux%ux%u:%ux%ux%u", &grid.x, &grid.y, &grid.z, &block.x, &block.y,
               &block.z) == 6)
        return true;
    grid = dim3(1);
    block = dim3(1);
    return sscanf(text, "%ux%u", &grid.x, &block.x) == 2;
}

int main(int argc, char **argv)
{
    uint32_t *data, host = 0;
    size_t items = 0;
    HIP_CHECK(hipMalloc(&data, sizeof(uint32_t)));
    HIP_CHECK(hipMemset(data, 0, sizeof(uint32_t)));
    for (int i = 1; i < argc; i++) {
        dim3 grid, block;
        if (!parse(argv[i], grid, block))
            return 2;
        touch<<<grid, block>>>(data);
        items += (size_t)grid.x * grid.y * grid.z * block.x * block.y * block.z;
    }
    HIP_CHECK(hipMemcpy(&host, data, sizeof(host), hipMemcpyDeviceToHost));
    return verdict("geometry", host != items);
}
