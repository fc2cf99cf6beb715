/* The 0.x place of counter_config.h. */
#ifndef ROCPROFILER_SDK_PROFILE_CONFIG_H
#define ROCPROFILER_SDK_PROFILE_CONFIG_H

#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/deprecated/profile_config.h>
#include <rocprofiler-sdk/deprecated/profile_counting.h>

#endif
