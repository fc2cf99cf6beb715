/* Versions, errors, time: what needs nothing else. */
#include "api/roctracer/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 256 };

static __thread char message[MESSAGE_BYTES];

roctracer_status_t fail(roctracer_status_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

VERSIONS_4_0(roctracer_error_string);
const char *roctracer_error_string(void)
{
    return strdup(message);
}

VERSIONS_4_0(roctracer_version_major);
uint32_t roctracer_version_major(void)
{
    return ROCTRACER_VERSION_MAJOR;
}

VERSIONS_4_0(roctracer_version_minor);
uint32_t roctracer_version_minor(void)
{
    return ROCTRACER_VERSION_MINOR;
}

VERSIONS_4_0(roctracer_get_timestamp);
roctracer_status_t roctracer_get_timestamp(roctracer_timestamp_t *timestamp)
{
    if (!timestamp)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "get_timestamp: no place for it");
    *timestamp = engine->trace_time_ns();
    return ROCTRACER_STATUS_SUCCESS;
}
