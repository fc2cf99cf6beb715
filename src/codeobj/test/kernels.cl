/* GPU code for codeobj_test.c: its expectations are the numbers written here. */

/* 3 pointers and an int: 28 bytes of explicit arguments. */
kernel void vector_add(global const float *a, global const float *b, global float *c, int n)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();

    if (i < n)
        c[i] = a[i] + b[i];
}

/* 1024 floats of LDS; 64 work-items. */
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void lds_reverse(global float *data)
{
    local float tile[1024];
    int         i = __builtin_amdgcn_workitem_id_x();

    tile[i] = data[i];
    __builtin_amdgcn_s_barrier();
    data[i] = tile[63 - i];
}
