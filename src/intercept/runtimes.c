/* The rows of model/runtime.h. */
#include "intercept/hip/runtime.h"
#include "intercept/hsa/runtime.h"
#include "intercept/ompt/start.h"
#include "intercept/table/install.h"
#include "intercept/thunk/follow.h"

const struct runtime_row runtime_rows[RUNTIME_KINDS] = {
    [RUNTIME_HSA] = {.kind = RUNTIME_HSA,
                     .name = "hsa",
                     .library = "libhsa-runtime64.so.1",
                     .table_count = 1,
                     .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_HSA,
                     .has_queues = true,
                     .tables = {ROCPROFILER_HSA_TABLE},
                     .ops = &hsa_runtime_ops},
    [RUNTIME_HIP] = {.kind = RUNTIME_HIP,
                     .name = "hip",
                     .table_count = 1,
                     .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_HIP,
                     .tables = {ROCPROFILER_HIP_RUNTIME_TABLE},
                     .ops = &hip_runtime_ops},
    [RUNTIME_HIP_COMPILER] = {.kind = RUNTIME_HIP_COMPILER,
                              .name = "hip_compiler",
                              .table_count = 1,
                              .tables = {ROCPROFILER_HIP_COMPILER_TABLE},
                              .ops = &table_runtime_ops},
    [RUNTIME_ROCTX] = {.kind = RUNTIME_ROCTX,
                       .name = "roctx",
                       .table_count = 3,
                       .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_MARKER,
                       .tables = {ROCPROFILER_MARKER_CORE_TABLE, ROCPROFILER_MARKER_CONTROL_TABLE,
                                  ROCPROFILER_MARKER_NAME_TABLE},
                       .ops = &table_runtime_ops},
    [RUNTIME_RCCL] = {.kind = RUNTIME_RCCL,
                      .name = "rccl",
                      .table_count = 1,
                      .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_RCCL,
                      .tables = {ROCPROFILER_RCCL_TABLE},
                      .ops = &table_runtime_ops},
    [RUNTIME_ROCDECODE] = {.kind = RUNTIME_ROCDECODE,
                           .name = "rocdecode",
                           .table_count = 1,
                           .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_ROCDECODE,
                           .tables = {ROCPROFILER_ROCDECODE_TABLE},
                           .ops = &table_runtime_ops},
    [RUNTIME_ROCJPEG] = {.kind = RUNTIME_ROCJPEG,
                         .name = "rocjpeg",
                         .table_count = 1,
                         .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_ROCJPEG,
                         .tables = {ROCPROFILER_ROCJPEG_TABLE},
                         .ops = &table_runtime_ops},
    /* AMD's own helper for attaching, which AMD's rocprofiler-register offers like a runtime: there
     * is nothing in it that we need, but refusing it would make every attachment fail. */
    [RUNTIME_ROCATTACH] = {.kind = RUNTIME_ROCATTACH, .name = "rocattach"},
    [RUNTIME_THUNK] = {.kind = RUNTIME_THUNK, .ops = &thunk_runtime_ops},
    [RUNTIME_OPENMP] = {.kind = RUNTIME_OPENMP, .ops = &ompt_runtime_ops},
};
