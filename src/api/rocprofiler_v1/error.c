/* Versions and errors: what needs nothing else. */
#include "api/rocprofiler_v1/internal.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_BYTES = 1024 };

static __thread char message[MESSAGE_BYTES];

hsa_status_t fail(hsa_status_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

const char *failure(void)
{
    return message;
}

hsa_status_t rocprofiler_error_string(const char **str)
{
    if (!str)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *str = message;
    return HSA_STATUS_SUCCESS;
}

uint32_t rocprofiler_version_major(void)
{
    return ROCPROFILER_VERSION_MAJOR;
}

uint32_t rocprofiler_version_minor(void)
{
    return ROCPROFILER_VERSION_MINOR;
}

uint32_t rocprofiler_major_version(void)
{
    return ROCPROFILER_VERSION_MAJOR;
}

uint32_t rocprofiler_minor_version(void)
{
    return ROCPROFILER_VERSION_MINOR;
}
