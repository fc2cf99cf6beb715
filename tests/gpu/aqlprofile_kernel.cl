/* Adds the work-item's number to its word; 256 items a group. */
__attribute__((reqd_work_group_size(256, 1, 1))) kernel void add(global uint *words)
{
    uint i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    words[i] += i;
}
