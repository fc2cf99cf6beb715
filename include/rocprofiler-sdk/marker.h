/* Everything about traced marker (roctx) functions: ids, arguments, tables. */
#ifndef ROCPROFILER_SDK_MARKER_H
#define ROCPROFILER_SDK_MARKER_H

#include <rocprofiler-sdk/marker/api_args.h>
#include <rocprofiler-sdk/marker/api_id.h>
#include <rocprofiler-sdk/marker/table_id.h>

#endif
