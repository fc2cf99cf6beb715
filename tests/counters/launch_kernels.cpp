// launch_kernels OBJECT KERNEL:GXxGYxGZ:BXxBYxBZ ...   sizes in work-items, groups may be partial.
// Prints a checksum of what each launch wrote, so that two runs can be compared.
#include "common.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <hip/hip_ext.h>
#include <vector>

struct Arguments {
    void *out;
    void *in;
    uint64_t padding[8];
};

static int launch(hipModule_t module, const char *text, uint32_t *out, uint32_t *in, size_t words)
{
    char name[64];
    uint32_t grid[3], block[3];
    hipFunction_t function;
    if (sscanf(text, "%63[^:]:%ux%ux%u:%ux%ux%u", name, &grid[0], &grid[1], &grid[2], &block[0],
               &block[1], &block[2]) != 7)
        return 2;
    HIP_CHECK(hipModuleGetFunction(&function, module, name));
    HIP_CHECK(hipMemset(out, 0, words * sizeof(uint32_t)));
    Arguments arguments = {out, in, {}};
    if (strcmp(name, "scalar_math") == 0) {
        const uint32_t values[2] = {7, 13};
        memcpy(&arguments.in, values, sizeof values);
    }
    size_t size = sizeof arguments;
    void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                      &size, HIP_LAUNCH_PARAM_END};
    HIP_CHECK(hipExtModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                                       block[2], 0, nullptr, nullptr, config, nullptr, nullptr));
    std::vector<uint32_t> host(words);
    HIP_CHECK(hipMemcpy(host.data(), out, words * sizeof(uint32_t), hipMemcpyDeviceToHost));
    uint64_t sum = 0, written = 0;
    for (size_t i = 0; i < words; i++) {
        sum = sum * 31 + host[i];
        written += host[i] != 0;
    }
    printf("%s %016llx %llu\n", text, (unsigned long long)sum, (unsigned long long)written);
    return 0;
}

int main(int argc, char **argv)
{
    const size_t words = 1 << 20;
    uint32_t *out, *in;
    hipModule_t module;
    if (argc < 2)
        return 2;
    HIP_CHECK(hipModuleLoad(&module, argv[1]));
    HIP_CHECK(hipMalloc(&out, words * sizeof(uint32_t)));
    HIP_CHECK(hipMalloc(&in, words * sizeof(uint32_t)));
    std::vector<uint32_t> host(words);
    for (size_t i = 0; i < words; i++)
        host[i] = (uint32_t)(i * 2654435761u);
    HIP_CHECK(hipMemcpy(in, host.data(), words * sizeof(uint32_t), hipMemcpyHostToDevice));
    int status = 0;
    for (int i = 2; i < argc && status == 0; i++)
        status = launch(module, argv[i], out, in, words);
    return status ? status : verdict("launch_kernels", 0);
}
