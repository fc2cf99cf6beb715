// Touches an address nobody mapped; ends in the runtime's memory-fault report and abort.
#include "common.h"

__global__ void touch(int *where)
{
    *where = 1;
}

int main()
{
    touch<<<1, 1>>>((int *)0x123456789000);
    HIP_CHECK(hipDeviceSynchronize());
    return verdict("bad_address", 1); // must not be reached
}
