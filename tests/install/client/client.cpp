/* The same headers in the other language; linked with the C file, so that both agree. */
#include <rocprofiler-sdk-roctx/roctx.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

int client_marks();
int client_marks()
{
    roctxMark("from C++");
    return roctxRangePush("range") + roctxRangePop();
}
