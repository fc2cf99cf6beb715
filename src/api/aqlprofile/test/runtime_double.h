/* Stands in for the HSA runtime: GPUs of every generation. Included by one file of a test. */
#ifndef AQLPROFILE_RUNTIME_DOUBLE_H
#define AQLPROFILE_RUNTIME_DOUBLE_H

#include <string.h>

#include <hsa/hsa_ext_amd.h>

static const struct double_gpu {
    uint64_t handle;
    const char *name;
    uint32_t units, engines, arrays, dies; /* dies 0: the runtime is too old to know them */
} double_gpus[] = {
    {1, "gfx90a", 104, 8, 1, 0},  {2, "gfx000", 104, 8, 1, 0},   {11, "gfx906", 60, 4, 1, 0},
    {12, "gfx908", 120, 8, 1, 0}, {13, "gfx942", 304, 32, 1, 8}, {14, "gfx1010", 40, 2, 2, 0},
    {15, "gfx1030", 80, 4, 2, 1}, {16, "gfx1100", 96, 6, 2, 1},  {17, "gfx1201", 64, 4, 2, 1}};
enum { DOUBLE_GPUS = sizeof double_gpus / sizeof double_gpus[0] };

/* The library finds this by name, as it would find the runtime's. */
__attribute__((visibility("default"))) hsa_status_t
hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    const struct double_gpu *gpu = double_gpus;
    while (gpu < double_gpus + DOUBLE_GPUS && gpu->handle != agent.handle)
        gpu++;
    if (gpu == double_gpus + DOUBLE_GPUS)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    switch ((uint32_t)attribute) {
    case HSA_AGENT_INFO_NAME:
        strcpy(value, gpu->name);
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
        *(uint32_t *)value = gpu->units;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
        *(uint32_t *)value = gpu->engines;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
        *(uint32_t *)value = gpu->arrays;
        return HSA_STATUS_SUCCESS;
    case 0xA111: /* HSA_AMD_AGENT_INFO_NUM_XCC */
        if (!gpu->dies)
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        *(uint32_t *)value = gpu->dies;
        return HSA_STATUS_SUCCESS;
    case 0xA016: /* HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY, as old as NUM_XCC here */
        if (!gpu->dies)
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        *(uint64_t *)value = 100000000;
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

#endif
