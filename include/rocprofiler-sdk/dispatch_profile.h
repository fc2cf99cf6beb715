/* The 0.x place of dispatch_counting_service.h. */
#ifndef ROCPROFILER_SDK_DISPATCH_PROFILE_H
#define ROCPROFILER_SDK_DISPATCH_PROFILE_H

#include <rocprofiler-sdk/deprecated/profile_config.h>
#include <rocprofiler-sdk/deprecated/profile_counting.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>

#endif
