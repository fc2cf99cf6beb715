#include "rows.h"

#include <string.h>

#define U64(name, row, field)                                                                      \
    {                                                                                              \
        name, OUT_U64, offsetof(struct row, field)                                                 \
    }
#define DOUBLE(name, row, field)                                                                   \
    {                                                                                              \
        name, OUT_DOUBLE, offsetof(struct row, field)                                              \
    }
#define TEXT(name, row, field)                                                                     \
    {                                                                                              \
        name, OUT_TEXT, offsetof(struct row, field)                                                \
    }
#define AGENT(name, row, field)                                                                    \
    {                                                                                              \
        name, OUT_AGENT, offsetof(struct row, field)                                               \
    }

static const struct out_column api_columns[] = {
    TEXT("Domain", out_api_row, domain),
    TEXT("Function", out_api_row, function),
    U64("Process_Id", out_api_row, process_id),
    U64("Thread_Id", out_api_row, thread_id),
    U64("Correlation_Id", out_api_row, correlation_id),
    U64("Start_Timestamp", out_api_row, start_ns),
    U64("End_Timestamp", out_api_row, end_ns),
};

static const struct out_column kernel_columns[] = {
    TEXT("Kind", out_dispatch_row, kind),
    AGENT("Agent_Id", out_dispatch_row, agent),
    U64("Queue_Id", out_dispatch_row, queue_id),
    U64("Stream_Id", out_dispatch_row, stream_id),
    U64("Thread_Id", out_dispatch_row, thread_id),
    U64("Dispatch_Id", out_dispatch_row, dispatch_id),
    U64("Kernel_Id", out_dispatch_row, kernel_id),
    TEXT("Kernel_Name", out_dispatch_row, kernel_name),
    U64("Correlation_Id", out_dispatch_row, correlation_id),
    U64("Start_Timestamp", out_dispatch_row, start_ns),
    U64("End_Timestamp", out_dispatch_row, end_ns),
    U64("LDS_Block_Size", out_dispatch_row, lds_bytes),
    U64("Scratch_Size", out_dispatch_row, scratch_bytes),
    U64("VGPR_Count", out_dispatch_row, vgprs),
    U64("Accum_VGPR_Count", out_dispatch_row, acc_vgprs),
    U64("SGPR_Count", out_dispatch_row, sgprs),
    U64("Workgroup_Size_X", out_dispatch_row, workgroup[0]),
    U64("Workgroup_Size_Y", out_dispatch_row, workgroup[1]),
    U64("Workgroup_Size_Z", out_dispatch_row, workgroup[2]),
    U64("Grid_Size_X", out_dispatch_row, grid[0]),
    U64("Grid_Size_Y", out_dispatch_row, grid[1]),
    U64("Grid_Size_Z", out_dispatch_row, grid[2]),
};

static const struct out_column counter_columns[] = {
    U64("Correlation_Id", out_counter_row, dispatch.correlation_id),
    U64("Dispatch_Id", out_counter_row, dispatch.dispatch_id),
    AGENT("Agent_Id", out_counter_row, dispatch.agent),
    U64("Queue_Id", out_counter_row, dispatch.queue_id),
    U64("Process_Id", out_counter_row, dispatch.process_id),
    U64("Thread_Id", out_counter_row, dispatch.thread_id),
    U64("Grid_Size", out_counter_row, dispatch.grid_size),
    U64("Kernel_Id", out_counter_row, dispatch.kernel_id),
    TEXT("Kernel_Name", out_counter_row, dispatch.kernel_name),
    U64("Workgroup_Size", out_counter_row, dispatch.workgroup_size),
    U64("LDS_Block_Size", out_counter_row, dispatch.lds_bytes),
    U64("Scratch_Size", out_counter_row, dispatch.scratch_bytes),
    U64("VGPR_Count", out_counter_row, dispatch.vgprs),
    U64("Accum_VGPR_Count", out_counter_row, dispatch.acc_vgprs),
    U64("SGPR_Count", out_counter_row, dispatch.sgprs),
    TEXT("Counter_Name", out_counter_row, counter_name),
    DOUBLE("Counter_Value", out_counter_row, counter_value),
    U64("Start_Timestamp", out_counter_row, dispatch.start_ns),
    U64("End_Timestamp", out_counter_row, dispatch.end_ns),
};

static const struct out_column copy_columns[] = {
    TEXT("Kind", out_copy_row, kind),
    TEXT("Direction", out_copy_row, direction),
    U64("Stream_Id", out_copy_row, stream_id),
    AGENT("Source_Agent_Id", out_copy_row, source_agent),
    AGENT("Destination_Agent_Id", out_copy_row, destination_agent),
    U64("Correlation_Id", out_copy_row, correlation_id),
    U64("Start_Timestamp", out_copy_row, start_ns),
    U64("End_Timestamp", out_copy_row, end_ns),
};

static const struct out_column stats_columns[] = {
    TEXT("Name", out_stats_row, name),
    U64("Calls", out_stats_row, calls),
    U64("TotalDurationNs", out_stats_row, total_ns),
    DOUBLE("AverageNs", out_stats_row, average_ns),
    DOUBLE("Percentage", out_stats_row, percentage),
    U64("MinNs", out_stats_row, min_ns),
    U64("MaxNs", out_stats_row, max_ns),
    DOUBLE("StdDev", out_stats_row, standard_deviation_ns),
};

static const struct out_column agent_columns[] = {
    U64("Node_Id", out_agent_row, node_id),
    U64("Logical_Node_Id", out_agent_row, logical_node_id),
    TEXT("Agent_Type", out_agent_row, type),
    U64("Cpu_Cores_Count", out_agent_row, cpu_cores),
    U64("Simd_Count", out_agent_row, simd_count),
    U64("Max_Waves_Per_Simd", out_agent_row, max_waves_per_simd),
    U64("Lds_Size_In_Kb", out_agent_row, lds_kb),
    U64("Wave_Front_Size", out_agent_row, wave_front_size),
    U64("Num_Xcc", out_agent_row, xcc_count),
    U64("Cu_Count", out_agent_row, cu_count),
    U64("Array_Count", out_agent_row, array_count),
    U64("Num_Shader_Banks", out_agent_row, shader_engines),
    U64("Gfx_Target_Version", out_agent_row, gfx_target_version),
    U64("Vendor_Id", out_agent_row, vendor_id),
    U64("Device_Id", out_agent_row, device_id),
    U64("Location_Id", out_agent_row, location_id),
    U64("Drm_Render_Minor", out_agent_row, drm_render_minor),
    TEXT("Name", out_agent_row, name),
    TEXT("Product_Name", out_agent_row, product_name),
};

#define TABLE(file, columns)                                                                       \
    {                                                                                              \
        file, columns, sizeof columns / sizeof columns[0]                                          \
    }
const struct out_table out_tables[OUT_TABLE_COUNT] = {
    [OUT_HIP_API] = TABLE("hip_api_trace", api_columns),
    [OUT_HSA_API] = TABLE("hsa_api_trace", api_columns),
    [OUT_MARKER_API] = TABLE("marker_api_trace", api_columns),
    [OUT_KERNEL_TRACE] = TABLE("kernel_trace", kernel_columns),
    [OUT_COUNTER_COLLECTION] = TABLE("counter_collection", counter_columns),
    [OUT_MEMORY_COPY] = TABLE("memory_copy_trace", copy_columns),
    [OUT_KERNEL_STATS] = TABLE("kernel_stats", stats_columns),
    [OUT_HIP_STATS] = TABLE("hip_api_stats", stats_columns),
    [OUT_HSA_STATS] = TABLE("hsa_api_stats", stats_columns),
    [OUT_COPY_STATS] = TABLE("memory_copy_stats", stats_columns),
    [OUT_AGENT_INFO] = TABLE("agent_info", agent_columns),
};

uint64_t out_column_u64(const struct out_column *column, const void *row)
{
    uint64_t value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value;
}

double out_column_double(const struct out_column *column, const void *row)
{
    double value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value;
}

const char *out_column_text(const struct out_column *column, const void *row)
{
    const char *value;
    memcpy(&value, (const char *)row + column->offset, sizeof value);
    return value ? value : "";
}
