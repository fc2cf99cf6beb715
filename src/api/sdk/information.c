/* Version, time, thread, status. */
#include "model/describe/status.h"
#include "session/front/engine.h"

#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/version.h>
#include <sys/syscall.h>
#include <unistd.h>

rocprofiler_status_t rocprofiler_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
    if (major)
        *major = ROCPROFILER_SDK_VERSION_MAJOR;
    if (minor)
        *minor = ROCPROFILER_SDK_VERSION_MINOR;
    if (patch)
        *patch = ROCPROFILER_SDK_VERSION_PATCH;
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_get_version_triplet(rocprofiler_version_triplet_t *info)
{
    if (!info)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return rocprofiler_get_version(&info->major, &info->minor, &info->patch);
}

rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts)
{
    if (!ts)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *ts = crocprof_engine()->trace_time_ns();
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_get_thread_id(rocprofiler_thread_id_t *tid)
{
    if (!tid)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *tid = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    return ROCPROFILER_STATUS_SUCCESS;
}

const char *rocprofiler_get_status_name(rocprofiler_status_t status)
{
    return status_name(status);
}

const char *rocprofiler_get_status_string(rocprofiler_status_t status)
{
    return status_text(status);
}
