#include <stdio.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

int main(void)
{
    uint32_t major = 0;
    rocprofiler_status_t status = rocprofiler_get_version(&major, NULL, NULL);
    if (status != ROCPROFILER_STATUS_SUCCESS || major != ROCPROFILER_SDK_VERSION_MAJOR) {
        printf("status %s, version %u\n", rocprofiler_get_status_name(status), major);
        return 1;
    }
    const char *name = rocprofiler_get_status_name(ROCPROFILER_STATUS_ERROR_BUFFER_BUSY);
    return strcmp(name, "ROCPROFILER_STATUS_ERROR_BUFFER_BUSY") != 0;
}
