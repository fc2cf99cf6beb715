/* Everything about traced rocSHMEM functions: ids, arguments, tables. */
#ifndef ROCPROFILER_SDK_ROCSHMEM_H
#define ROCPROFILER_SDK_ROCSHMEM_H

#include <rocprofiler-sdk/rocshmem/api_args.h>
#include <rocprofiler-sdk/rocshmem/api_id.h>
#include <rocprofiler-sdk/rocshmem/table_id.h>

#endif
