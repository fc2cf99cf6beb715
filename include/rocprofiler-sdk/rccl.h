/* Everything about traced RCCL functions: ids, arguments, tables. */
#ifndef ROCPROFILER_SDK_RCCL_H
#define ROCPROFILER_SDK_RCCL_H

#include <rocprofiler-sdk/rccl/api_args.h>
#include <rocprofiler-sdk/rccl/api_id.h>
#include <rocprofiler-sdk/rccl/table_id.h>

#endif
