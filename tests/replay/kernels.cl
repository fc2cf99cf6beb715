/* Each execution gives other values than the one before. Work-groups have 64 work-items. */
enum { GROUP_ITEMS = 64 };

static uint item(void)
{
    return __builtin_amdgcn_workgroup_id_x() * GROUP_ITEMS + __builtin_amdgcn_workitem_id_x();
}

/* A variable of the code object's would be new in each test: it is loaded anew. */
__kernel void in_place(__global uint *words, __global uint *sum)
{
    uint i = item();
    words[i] = words[i] * 3 + 1;
    __atomic_fetch_add(sum, words[i], __ATOMIC_RELAXED);
}
