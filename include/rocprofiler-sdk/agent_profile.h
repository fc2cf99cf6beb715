/* The 0.x place of device_counting_service.h. */
#ifndef ROCPROFILER_SDK_AGENT_PROFILE_H
#define ROCPROFILER_SDK_AGENT_PROFILE_H

#include <rocprofiler-sdk/deprecated/profile_config.h>
#include <rocprofiler-sdk/deprecated/profile_counting.h>
#include <rocprofiler-sdk/device_counting_service.h>

#endif
