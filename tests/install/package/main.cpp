// Beside main.c in one program: both languages go through the launcher.
#include <rocprofiler-sdk/rocprofiler.h>

int compiled_as_cxx();
int compiled_as_cxx()
{
    return ROCPROFILER_SDK_VERSION_MAJOR;
}
