/* Everything about traced rocJPEG functions: ids, arguments, tables. */
#ifndef ROCPROFILER_SDK_ROCJPEG_H
#define ROCPROFILER_SDK_ROCJPEG_H

#include <rocprofiler-sdk/rocjpeg/api_args.h>
#include <rocprofiler-sdk/rocjpeg/api_id.h>
#include <rocprofiler-sdk/rocjpeg/table_id.h>

#endif
