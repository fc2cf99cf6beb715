/* The rows of a program without interception: what is offered is known by name, and nothing is
 * done with it. For tests and benchmarks of what is above. */
#include "model/runtime.h"

const struct runtime_row runtime_rows[RUNTIME_KINDS] = {
    [RUNTIME_HSA] = {.kind = RUNTIME_HSA,
                     .name = "hsa",
                     .table_count = 1,
                     .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_HSA,
                     .has_queues = true,
                     .tables = {ROCPROFILER_HSA_TABLE}},
    [RUNTIME_HIP] = {.kind = RUNTIME_HIP,
                     .name = "hip",
                     .table_count = 1,
                     .initialization = ROCPROFILER_RUNTIME_INITIALIZATION_HIP,
                     .tables = {ROCPROFILER_HIP_RUNTIME_TABLE}},
    [RUNTIME_ROCATTACH] = {.kind = RUNTIME_ROCATTACH, .name = "rocattach"},
};
