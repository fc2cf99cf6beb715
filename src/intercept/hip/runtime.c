#include "intercept/hip/runtime.h"

#include "intercept/hip/arm.h"
#include "intercept/table/install.h"

static void offer(void *const *tables)
{
    intercept_hip_tables_offered(tables[0]);
}

static bool install(const struct runtime_row *row, void *const *tables, uint64_t version)
{
    if (!intercept_table_install(row, tables, version))
        return false;
    intercept_hip_tables_arrived(version);
    return true;
}

const struct runtime_ops hip_runtime_ops = {
    .offer = offer,
    .install = install,
    .hook = intercept_hip_arm,
    .work_want = intercept_hip_operations_refresh,
};
