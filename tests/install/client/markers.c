/* A program with markers, built with the packages roctx and roctracer. */
#include <roctracer/roctracer.h>
#include <roctracer/roctx.h>

int main(void)
{
    roctxMark("installed");
    return roctx_version_major() != ROCTX_VERSION_MAJOR ||
           roctracer_version_major() != ROCTRACER_VERSION_MAJOR;
}
