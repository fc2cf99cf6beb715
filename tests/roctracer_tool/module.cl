kernel void fill(global uint *data)
{
    data[__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x()] = 42;
}
