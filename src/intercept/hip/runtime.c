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
    .calls_want = intercept_hip_calls_want,
    .work_want = intercept_hip_operations_refresh,
};

const struct hip_facts hip_facts = {
    .on_armed = intercept_hip_on_armed,
    .in_tables = intercept_hip_in_tables,
    .data_write = intercept_hip_data_write,
    .function_end = intercept_hip_function_end,
    .function = intercept_hip_function,
    .listed_function = intercept_hip_listed_function,
    .listed_end = intercept_hip_listed_end,
    .command_name = intercept_hip_command_name,
    .operations_settle = intercept_hip_operations_settle,
};
