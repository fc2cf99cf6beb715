/* Everything about traced hipFile functions: ids, arguments, tables. */
#ifndef ROCPROFILER_SDK_HIPFILE_H
#define ROCPROFILER_SDK_HIPFILE_H

#include <rocprofiler-sdk/hipfile/api_args.h>
#include <rocprofiler-sdk/hipfile/api_id.h>
#include <rocprofiler-sdk/hipfile/table_id.h>

#endif
