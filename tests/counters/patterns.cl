/* One load, one store or one atomic per work-item, each at an address that model_test.py knows. No
 * branches; the launcher's buffers start at 2 MiB boundaries. */

#define KERNEL __attribute__((amdgpu_flat_work_group_size(1, 1024))) __kernel
#define INDEX  (__builtin_amdgcn_workgroup_id_x() * 256u + __builtin_amdgcn_workitem_id_x())

#define COPY(name, type, from, to)                                                                 \
    KERNEL void name(__global type *out, __global const type *in)                                  \
    {                                                                                              \
        unsigned i = INDEX;                                                                        \
        out[to] = in[from];                                                                        \
    }

COPY(copy_byte, uchar, i, i)
COPY(copy_dword, uint, i, i)
COPY(copy_qword, ulong, i, i)
COPY(copy_oword, uint4, i, i)
COPY(copy_shifted, uint, i + 1, i + 3)
COPY(copy_strided, uint, i * 3, i)
COPY(copy_lines, uint, i * 16, i * 32)
COPY(scatter, uint, i, (i * 2654435761u) >> 12)
COPY(reuse, uint, i & 1023, i)

KERNEL void count(__global uint *out)
{
    __opencl_atomic_fetch_add((__global atomic_uint *)&out[INDEX & 255], 1u, memory_order_relaxed,
                              memory_scope_device);
}

KERNEL void ticket(__global uint *out)
{
    uint old = __opencl_atomic_fetch_add((__global atomic_uint *)&out[INDEX], 1u,
                                         memory_order_relaxed, memory_scope_device);
    out[INDEX + 65536] = old;
}
