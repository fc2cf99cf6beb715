#include "intercept/table/install.h"

#include "base/log.h"
#include "intercept/hip/host_functions.h"
#include "intercept/marker/ranges.h"
#include "intercept/table/table.h"

extern const struct table_wrappers table_wrappers_hip_runtime, table_wrappers_hip_compiler,
    table_wrappers_marker_core, table_wrappers_marker_control, table_wrappers_marker_name,
    table_wrappers_rccl, table_wrappers_rocdecode, table_wrappers_rocjpeg, table_wrappers_rocshmem,
    table_wrappers_hipfile;

/* Wrappers of the same table are listed from the innermost to the outermost. */
static const struct {
    enum runtime_kind kind;
    uint32_t table;
    const struct table_wrappers *wrappers;
} rows[] = {
    {RUNTIME_HIP, 0, &table_wrappers_hip_runtime},
    {RUNTIME_HIP_COMPILER, 0, &table_wrappers_hip_compiler},
    {RUNTIME_HIP_COMPILER, 0, &table_wrappers_host_functions},
    {RUNTIME_ROCTX, 0, &table_wrappers_marker_core},
    {RUNTIME_ROCTX, 0, &table_wrappers_marker_ranges},
    {RUNTIME_ROCTX, 1, &table_wrappers_marker_control},
    {RUNTIME_ROCTX, 2, &table_wrappers_marker_name},
    {RUNTIME_RCCL, 0, &table_wrappers_rccl},
    {RUNTIME_ROCDECODE, 0, &table_wrappers_rocdecode},
    {RUNTIME_ROCJPEG, 0, &table_wrappers_rocjpeg},
    {RUNTIME_ROCSHMEM, 0, &table_wrappers_rocshmem},
    {RUNTIME_HIPFILE, 0, &table_wrappers_hipfile},
};

bool intercept_table_install(const struct runtime_row *row, void *const *tables,
                             uint64_t library_version)
{
    int total = -1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].kind != row->kind)
            continue;
        int wrapped = table_wrap(rows[i].wrappers, tables[rows[i].table]);
        if (wrapped >= 0)
            total = (total < 0 ? 0 : total) + wrapped;
    }
    if (total < 0)
        return false;
    log_info("intercept", "%s %llu: %d functions wrapped", row->name,
             (unsigned long long)library_version, total);
    return true;
}

const struct runtime_ops table_runtime_ops = {.install = intercept_table_install};
