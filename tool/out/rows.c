#include "rows.h"

#include <stdio.h>

#define COLUMN(name, type, row, field)                                                             \
    {                                                                                              \
        name, type, offsetof(struct row, field), sizeof(((struct row *)0)->field)                  \
    }
#define U64(name, row, field)     COLUMN(name, OUT_U64, row, field)
#define I32(name, row, field)     COLUMN(name, OUT_I32, row, field)
#define TEXT(name, row, field)    COLUMN(name, OUT_TEXT, row, field)
#define AGENT(name, row, field)   COLUMN(name, OUT_AGENT, row, field)
#define LDS(name, row, field)     COLUMN(name, OUT_LDS, row, field)
#define ADDRESS(name, row, field) COLUMN(name, OUT_ADDRESS, row, field)

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
    LDS("LDS_Block_Size", out_dispatch_row, lds_bytes),
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

/* Beside kernel_trace, whose columns are rocprofv3's. */
static const struct out_column modelled_columns[] = {
    AGENT("Agent_Id", out_dispatch_row, agent),
    U64("Process_Id", out_dispatch_row, process_id),
    U64("Dispatch_Id", out_dispatch_row, dispatch_id),
    TEXT("Kernel_Name", out_dispatch_row, kernel_name),
    U64("Modelled_Duration_Ns", out_dispatch_row, modelled_ns),
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
    LDS("LDS_Block_Size", out_counter_row, dispatch.lds_bytes),
    U64("Scratch_Size", out_counter_row, dispatch.scratch_bytes),
    U64("VGPR_Count", out_counter_row, dispatch.vgprs),
    U64("Accum_VGPR_Count", out_counter_row, dispatch.acc_vgprs),
    U64("SGPR_Count", out_counter_row, dispatch.sgprs),
    TEXT("Counter_Name", out_counter_row, counter_name),
    COLUMN("Counter_Value", OUT_COUNTER, out_counter_row, counter_value),
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

static const struct out_column allocation_columns[] = {
    TEXT("Kind", out_allocation_row, kind),
    TEXT("Operation", out_allocation_row, operation),
    AGENT("Agent_Id", out_allocation_row, agent),
    U64("Allocation_Size", out_allocation_row, bytes),
    ADDRESS("Address", out_allocation_row, address),
    U64("Correlation_Id", out_allocation_row, correlation_id),
    U64("Start_Timestamp", out_allocation_row, start_ns),
    U64("End_Timestamp", out_allocation_row, end_ns),
};

static const struct out_column graph_columns[] = {
    TEXT("Kind", out_graph_row, kind),
    AGENT("Agent_Id", out_graph_row, agent),
    U64("Queue_Id", out_graph_row, queue_id),
    U64("Thread_Id", out_graph_row, thread_id),
    U64("Graph_Exec_Id", out_graph_row, graph_exec_id),
    U64("Kernel_Dispatch_Count", out_graph_row, kernels),
    U64("Correlation_Id", out_graph_row, correlation_id),
    U64("Start_Timestamp", out_graph_row, start_ns),
    U64("End_Timestamp", out_graph_row, end_ns),
};

static const struct out_column event_columns[] = {
    TEXT("Kind", out_event_row, kind),
    TEXT("Operation", out_event_row, operation),
    AGENT("Agent_Id", out_event_row, agent),
    U64("Queue_Id", out_event_row, queue_id),
    U64("Source_Queue_Id", out_event_row, source_queue_id),
    U64("Thread_Id", out_event_row, thread_id),
    U64("Event", out_event_row, event),
    U64("Correlation_Id", out_event_row, correlation_id),
    U64("Start_Timestamp", out_event_row, start_ns),
    U64("End_Timestamp", out_event_row, end_ns),
};

static const struct out_column scratch_columns[] = {
    TEXT("Kind", out_scratch_row, kind),
    TEXT("Operation", out_scratch_row, operation),
    AGENT("Agent_Id", out_scratch_row, agent),
    U64("Queue_Id", out_scratch_row, queue_id),
    U64("Thread_Id", out_scratch_row, thread_id),
    U64("Alloc_Flags", out_scratch_row, flags),
    U64("Start_Timestamp", out_scratch_row, start_ns),
    U64("End_Timestamp", out_scratch_row, end_ns),
    U64("Allocation_Size", out_scratch_row, bytes),
};

static const struct out_column kfd_columns[] = {
    TEXT("Kind", out_kfd_row, kind),
    TEXT("Operation", out_kfd_row, operation),
    U64("Process_Id", out_kfd_row, process_id),
    AGENT("Agent_Id", out_kfd_row, agents[OUT_KFD_AGENT]),
    AGENT("Source_Agent_Id", out_kfd_row, agents[OUT_KFD_SOURCE]),
    AGENT("Destination_Agent_Id", out_kfd_row, agents[OUT_KFD_DESTINATION]),
    AGENT("Prefetch_Agent_Id", out_kfd_row, agents[OUT_KFD_PREFETCH]),
    AGENT("Preferred_Agent_Id", out_kfd_row, agents[OUT_KFD_PREFERRED]),
    ADDRESS("Start_Address", out_kfd_row, start_address),
    ADDRESS("End_Address", out_kfd_row, end_address),
    U64("Count", out_kfd_row, count),
    I32("Error_Code", out_kfd_row, error_code),
    U64("Start_Timestamp", out_kfd_row, start_ns),
    U64("End_Timestamp", out_kfd_row, end_ns),
};

static const struct out_column stats_columns[] = {
    TEXT("Name", out_stats_row, name),
    U64("Calls", out_stats_row, calls),
    U64("TotalDurationNs", out_stats_row, total_ns),
    COLUMN("AverageNs", OUT_STATISTIC, out_stats_row, average_ns),
    COLUMN("Percentage", OUT_PERCENT, out_stats_row, percentage),
    U64("MinNs", out_stats_row, min_ns),
    U64("MaxNs", out_stats_row, max_ns),
    COLUMN("StdDev", OUT_STATISTIC, out_stats_row, standard_deviation_ns),
};

static const struct out_column agent_columns[] = {
    U64("Node_Id", out_agent_row, agent.node_id),
    I32("Logical_Node_Id", out_agent_row, agent.logical_node_id),
    TEXT("Agent_Type", out_agent_row, type),
    U64("Cpu_Cores_Count", out_agent_row, agent.cpu_cores_count),
    U64("Simd_Count", out_agent_row, agent.simd_count),
    U64("Cpu_Core_Id_Base", out_agent_row, agent.cpu_core_id_base),
    U64("Simd_Id_Base", out_agent_row, agent.simd_id_base),
    U64("Max_Waves_Per_Simd", out_agent_row, agent.max_waves_per_simd),
    U64("Lds_Size_In_Kb", out_agent_row, agent.lds_size_in_kb),
    U64("Gds_Size_In_Kb", out_agent_row, agent.gds_size_in_kb),
    U64("Num_Gws", out_agent_row, agent.num_gws),
    U64("Wave_Front_Size", out_agent_row, agent.wave_front_size),
    U64("Num_Xcc", out_agent_row, agent.num_xcc),
    U64("Cu_Count", out_agent_row, agent.cu_count),
    U64("Array_Count", out_agent_row, agent.array_count),
    U64("Num_Shader_Banks", out_agent_row, agent.num_shader_banks),
    U64("Simd_Arrays_Per_Engine", out_agent_row, agent.simd_arrays_per_engine),
    U64("Cu_Per_Simd_Array", out_agent_row, agent.cu_per_simd_array),
    U64("Simd_Per_Cu", out_agent_row, agent.simd_per_cu),
    U64("Max_Slots_Scratch_Cu", out_agent_row, agent.max_slots_scratch_cu),
    U64("Gfx_Target_Version", out_agent_row, agent.gfx_target_version),
    U64("Vendor_Id", out_agent_row, agent.vendor_id),
    U64("Device_Id", out_agent_row, agent.device_id),
    U64("Location_Id", out_agent_row, agent.location_id),
    U64("Domain", out_agent_row, agent.domain),
    U64("Drm_Render_Minor", out_agent_row, agent.drm_render_minor),
    U64("Num_Sdma_Engines", out_agent_row, agent.num_sdma_engines),
    U64("Num_Sdma_Xgmi_Engines", out_agent_row, agent.num_sdma_xgmi_engines),
    U64("Num_Sdma_Queues_Per_Engine", out_agent_row, agent.num_sdma_queues_per_engine),
    U64("Num_Cp_Queues", out_agent_row, agent.num_cp_queues),
    U64("Max_Engine_Clk_Ccompute", out_agent_row, agent.max_engine_clk_ccompute),
    U64("Max_Engine_Clk_Fcompute", out_agent_row, agent.max_engine_clk_fcompute),
    U64("Sdma_Fw_Version", out_agent_row, agent.sdma_fw_version.Value),
    U64("Fw_Version", out_agent_row, agent.fw_version.Value),
    U64("Capability", out_agent_row, agent.capability.Value),
    U64("Cu_Per_Engine", out_agent_row, agent.cu_per_engine),
    U64("Max_Waves_Per_Cu", out_agent_row, agent.max_waves_per_cu),
    U64("Family_Id", out_agent_row, agent.family_id),
    U64("Workgroup_Max_Size", out_agent_row, agent.workgroup_max_size),
    U64("Grid_Max_Size", out_agent_row, agent.grid_max_size),
    U64("Local_Mem_Size", out_agent_row, agent.local_mem_size),
    U64("Hive_Id", out_agent_row, agent.hive_id),
    U64("Gpu_Id", out_agent_row, agent.gpu_id),
    U64("Workgroup_Max_Dim_X", out_agent_row, agent.workgroup_max_dim.x),
    U64("Workgroup_Max_Dim_Y", out_agent_row, agent.workgroup_max_dim.y),
    U64("Workgroup_Max_Dim_Z", out_agent_row, agent.workgroup_max_dim.z),
    U64("Grid_Max_Dim_X", out_agent_row, agent.grid_max_dim.x),
    U64("Grid_Max_Dim_Y", out_agent_row, agent.grid_max_dim.y),
    U64("Grid_Max_Dim_Z", out_agent_row, agent.grid_max_dim.z),
    TEXT("Name", out_agent_row, agent.name),
    TEXT("Vendor_Name", out_agent_row, agent.vendor_name),
    TEXT("Product_Name", out_agent_row, agent.product_name),
    TEXT("Model_Name", out_agent_row, agent.model_name),
};

#define TABLE(file, columns)                                                                       \
    {                                                                                              \
        file, columns, sizeof columns / sizeof columns[0]                                          \
    }
const struct out_table out_tables[OUT_TABLE_COUNT] = {
    [OUT_HIP_API] = TABLE("hip_api_trace", api_columns),
    [OUT_HSA_API] = TABLE("hsa_api_trace", api_columns),
    [OUT_MARKER_API] = TABLE("marker_api_trace", api_columns),
    [OUT_RCCL_API] = TABLE("rccl_api_trace", api_columns),
    [OUT_ROCDECODE_API] = TABLE("rocdecode_api_trace", api_columns),
    [OUT_ROCJPEG_API] = TABLE("rocjpeg_api_trace", api_columns),
    [OUT_HIPFILE_API] = TABLE("hipfile_api_trace", api_columns),
    [OUT_ROCSHMEM_API] = TABLE("rocshmem_api_trace", api_columns),
    [OUT_OMPT] = TABLE("ompt_trace", api_columns),
    [OUT_KERNEL_TRACE] = TABLE("kernel_trace", kernel_columns),
    [OUT_COUNTER_COLLECTION] = TABLE("counter_collection", counter_columns),
    [OUT_MEMORY_COPY] = TABLE("memory_copy_trace", copy_columns),
    [OUT_MEMORY_ALLOCATION] = TABLE("memory_allocation_trace", allocation_columns),
    [OUT_SCRATCH_MEMORY] = TABLE("scratch_memory_trace", scratch_columns),
    [OUT_KFD] = TABLE("kfd_trace", kfd_columns),
    [OUT_GRAPH_LAUNCH] = TABLE("graph_launch_trace", graph_columns),
    [OUT_HIP_EVENT] = TABLE("hip_event_trace", event_columns),
    [OUT_KERNEL_STATS] = TABLE("kernel_stats", stats_columns),
    [OUT_HIP_STATS] = TABLE("hip_api_stats", stats_columns),
    [OUT_HSA_STATS] = TABLE("hsa_api_stats", stats_columns),
    [OUT_COPY_STATS] = TABLE("memory_copy_stats", stats_columns),
    [OUT_MARKER_STATS] = TABLE("marker_api_stats", stats_columns),
    [OUT_RCCL_STATS] = TABLE("rccl_api_stats", stats_columns),
    [OUT_ROCDECODE_STATS] = TABLE("rocdecode_api_stats", stats_columns),
    [OUT_ROCJPEG_STATS] = TABLE("rocjpeg_api_stats", stats_columns),
    [OUT_HIPFILE_STATS] = TABLE("hipfile_api_stats", stats_columns),
    [OUT_ROCSHMEM_STATS] = TABLE("rocshmem_api_stats", stats_columns),
    [OUT_OMPT_STATS] = TABLE("ompt_stats", stats_columns),
    [OUT_ALLOCATION_STATS] = TABLE("memory_allocation_stats", stats_columns),
    [OUT_SCRATCH_STATS] = TABLE("scratch_memory_stats", stats_columns),
    [OUT_KFD_STATS] = TABLE("kfd_stats", stats_columns),
    [OUT_EVENT_STATS] = TABLE("hip_event_stats", stats_columns),
    [OUT_DOMAIN_STATS] = TABLE("domain_stats", stats_columns),
    [OUT_MODELLED_TIME] = TABLE("modelled_time", modelled_columns),
    [OUT_AGENT_INFO] = TABLE("agent_info", agent_columns),
};

bool out_argument_next(const struct out_api_row *row, uint32_t *at, struct out_argument *argument)
{
    const char **const texts[] = {&argument->type, &argument->name, &argument->value};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = row->arguments + *at;
        const char *end = row->arguments ? memchr(text, 0, row->arguments_bytes - *at) : NULL;
        if (!end)
            return false;
        *texts[i] = text;
        *at = (uint32_t)(end + 1 - row->arguments);
    }
    return true;
}

void out_device_text(const struct out_agent_row *row, char *text, size_t size)
{
    const rocprofiler_agent_v0_t *agent = &row->agent;
    const char *product = agent->product_name;
    snprintf(text, size, "agent %u, %s, %s%s%s%s", agent->node_id, agent->name,
             product && *product ? product : agent->model_name,
             row->times ? " (by its own word its times are " : "", row->times ? row->times : "",
             row->times ? ")" : "");
}
