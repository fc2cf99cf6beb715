/* What the counting tests run: straight code, and code that waits for the host. No library. */
__kernel void store_index(__global unsigned *out)
{
    unsigned slot = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    out[slot] = slot;
}

__kernel void wait_for(__global unsigned *flag)
{
    while (*(volatile __global unsigned *)flag == 0)
        __builtin_amdgcn_s_sleep(1);
}

/* Every work-item says that it runs, in the second word, and waits for the first one. */
__kernel void tell_and_wait(__global unsigned *flags)
{
    __opencl_atomic_fetch_add((volatile __global atomic_uint *)(flags + 1), 1u,
                              memory_order_relaxed, memory_scope_all_svm_devices);
    while (*(volatile __global unsigned *)flags == 0)
        __builtin_amdgcn_s_sleep(1);
}
