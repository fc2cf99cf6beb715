/* What arguments of rocSHMEM functions need. The library's own headers are C++ and declare the
 * same. */
#ifndef ROCPROFILER_SDK_DETAIL_ROCSHMEM_TYPES_H
#define ROCPROFILER_SDK_DETAIL_ROCSHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/detail/hip_types.h>

typedef uint64_t *rocshmem_team_t;

#endif
