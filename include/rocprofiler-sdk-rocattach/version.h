/* The version of the attaching interface that these headers describe. */
#ifndef ROCPROFILER_SDK_ROCATTACH_VERSION_H
#define ROCPROFILER_SDK_ROCATTACH_VERSION_H

#define ROCATTACH_VERSION_MAJOR 1
#define ROCATTACH_VERSION_MINOR 0
#define ROCATTACH_VERSION_PATCH 0

#endif
