/*
 * Kernels whose private arrays are indexed at run time, so that they lie in private memory. Few of
 * their elements are touched, all over the array: large ones cost the software GPU no more. Work-groups
 * have 64 work-items.
 */
enum { STEPS = 16, GROUP_ITEMS = 64 };

static uint item(void)
{
    return __builtin_amdgcn_workgroup_id_x() * GROUP_ITEMS + __builtin_amdgcn_workitem_id_x();
}

#define KERNEL(elements)                                                                           \
    __kernel void private_##elements(__global uint *out, uint seed)                                \
    {                                                                                              \
        uint i = item(), sum = 0;                                                                  \
        uint array[elements];                                                                      \
        _Pragma("unroll 1") for (uint k = 0; k < STEPS; k++)                                       \
            array[(i * 7 + k * seed) % elements] = i * k + seed;                                   \
        _Pragma("unroll 1") for (uint k = 0; k < STEPS; k++)                                       \
            sum = sum * 31 + array[(i * 7 + (STEPS - 1 - k) * seed) % elements];                   \
        out[i] = sum;                                                                              \
    }

KERNEL(59)
KERNEL(179)
KERNEL(4003)
KERNEL(26000)

__kernel void private_0(__global uint *out, uint seed)
{
    uint i = item();
    out[i] = i * seed;
}
