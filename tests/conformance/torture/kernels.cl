/* Runs for `loops` rounds. Groups have one wave. */
__kernel void busy(__global unsigned *out, unsigned loops)
{
    unsigned value = __builtin_amdgcn_workitem_id_x();
    for (unsigned i = 0; i < loops; i++)
        value = value * 1664525u + 1013904223u;
    out[__builtin_amdgcn_workitem_id_x()] = value;
}
