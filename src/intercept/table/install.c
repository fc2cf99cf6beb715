#include "intercept/table/install.h"

#include <string.h>

#include "base/log.h"
#include "intercept/hip/arm.h"
#include "intercept/hip/host_functions.h"
#include "intercept/marker/ranges.h"
#include "intercept/table/table.h"

extern const struct table_wrappers table_wrappers_hip_runtime, table_wrappers_hip_compiler,
    table_wrappers_marker_core, table_wrappers_marker_control, table_wrappers_marker_name,
    table_wrappers_rccl, table_wrappers_rocdecode, table_wrappers_rocjpeg;

/* Wrappers of the same table are listed from the innermost to the outermost. */
static const struct {
    const char *library;
    uint32_t table;
    const struct table_wrappers *wrappers;
} rows[] = {
    {"hip", 0, &table_wrappers_hip_runtime},
    {"hip_compiler", 0, &table_wrappers_hip_compiler},
    {"hip_compiler", 0, &table_wrappers_host_functions},
    {"roctx", 0, &table_wrappers_marker_core},
    {"roctx", 0, &table_wrappers_marker_ranges},
    {"roctx", 1, &table_wrappers_marker_control},
    {"roctx", 2, &table_wrappers_marker_name},
    {"rccl", 0, &table_wrappers_rccl},
    {"rocdecode", 0, &table_wrappers_rocdecode},
    {"rocjpeg", 0, &table_wrappers_rocjpeg},
};

bool intercept_table_install(const char *library, void **tables, uint64_t library_version)
{
    int total = -1;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].library, library) != 0)
            continue;
        int wrapped = table_wrap(rows[i].wrappers, tables[rows[i].table]);
        if (wrapped >= 0)
            total = (total < 0 ? 0 : total) + wrapped;
    }
    if (total < 0)
        return false;
    if (strcmp(library, "hip") == 0)
        intercept_hip_tables_arrived(library_version);
    log_info("intercept", "%s %llu: %d functions wrapped", library,
             (unsigned long long)library_version, total);
    return true;
}
