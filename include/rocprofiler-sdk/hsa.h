/* Everything about traced HSA functions: ids, arguments, tables, scratch events. */
#ifndef ROCPROFILER_SDK_HSA_H
#define ROCPROFILER_SDK_HSA_H

#include <hsa/hsa.h>
#include <rocprofiler-sdk/hsa/api_args.h>
#include <rocprofiler-sdk/hsa/api_id.h>
#include <rocprofiler-sdk/hsa/api_trace_version.h>
#include <rocprofiler-sdk/hsa/scratch_memory_args.h>
#include <rocprofiler-sdk/hsa/scratch_memory_id.h>
#include <rocprofiler-sdk/hsa/table_id.h>

#endif
