/* Kernels without branches: every instruction runs once per wave, so the disassembly tells the
 * counters. Launched with any geometry, partial work-groups included. */

#define KERNEL __attribute__((amdgpu_flat_work_group_size(1, 1024))) __kernel
#define ITEM_X __builtin_amdgcn_workitem_id_x()
#define ITEM_Y __builtin_amdgcn_workitem_id_y()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()

KERNEL void vector_math(__global float *out)
{
    unsigned slot = GROUP_Y * 65536 + GROUP_X * 1024 + ITEM_Y * 64 + ITEM_X;
    float x = slot * 0.5f, y = x;
    for (int i = 0; i < 8; i++)
        y = __builtin_fmaf(y, 0.75f, x) + (slot >> i);
    out[slot] = y;
}

KERNEL void scalar_math(__global unsigned *out, unsigned a, unsigned b)
{
    unsigned slot = GROUP_X * 1024 + ITEM_X;
    unsigned s = a + GROUP_X;
    for (int i = 0; i < 8; i++)
        s = s * b + (s >> 3) ^ i;
    out[slot] = s;
}

KERNEL void local_memory(__global unsigned *out, __global const unsigned *in)
{
    __local unsigned tile[1024], other[1024];
    unsigned slot = GROUP_X * 1024 + ITEM_X;
    tile[ITEM_X] = in[slot];
    other[ITEM_X] = in[slot] * 3 + 1;
    __builtin_amdgcn_s_barrier();
    out[slot] = tile[ITEM_X] + other[ITEM_X];
}

KERNEL void generic_memory(__global unsigned *out, __global const unsigned *in)
{
    unsigned slot = GROUP_X * 1024 + ITEM_X;
    volatile generic unsigned *to = (volatile generic unsigned *)out;
    volatile generic const unsigned *from = (volatile generic const unsigned *)in;
    to[slot] = from[slot] + from[slot] + 1;
}
