// Specification "tool library", the full sample: a tool that keeps its contexts and its finaliser
// and traces code objects.
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "say.h"
#include <atomic>
#include <vector>

namespace
{
struct rocp_tool_data
{
    uint32_t                              version;
    const char                           *runtime_version;
    uint32_t                              priority;
    rocprofiler_client_id_t               client_id;
    rocprofiler_client_finalize_t         finalizer;
    std::vector<rocprofiler_context_id_t> contexts;
    std::atomic<int>                      loads, unloads, kernels;
};

void tool_tracing_callback(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
                           void *callback_data)
{
    auto *tool_data = static_cast<rocp_tool_data *>(callback_data);
    if (record.kind != ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT)
        say("full: wrong kind %d", record.kind);
    else if (record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER)
        tool_data->kernels += record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD;
    else if (record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD)
        tool_data->loads++;
    else
        tool_data->unloads++;
}

int tool_init(rocprofiler_client_finalize_t fini_func, void *tool_data_v)
{
    rocp_tool_data *tool_data = static_cast<rocp_tool_data *>(tool_data_v);

    // Save the finalizer function
    tool_data->finalizer = fini_func;

    // create a context
    auto ctx = rocprofiler_context_id_t{};
    rocprofiler_create_context(&ctx);

    // Save your contexts
    tool_data->contexts.emplace_back(ctx);

    // associate code object tracing with this context
    rocprofiler_configure_callback_tracing_service(ctx, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
                                                   nullptr, 0, tool_tracing_callback, tool_data);
    rocprofiler_start_context(ctx);
    return 0;
}

void tool_fini(void *tool_data_v)
{
    auto *tool_data = static_cast<rocp_tool_data *>(tool_data_v);
    say("full contexts %zu code objects %d balanced %d kernels %d", tool_data->contexts.size(),
        tool_data->loads > 0, tool_data->loads == tool_data->unloads, tool_data->kernels > 0);
}
} // namespace

extern "C" {
rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    // (optional) Provide a name for this tool to rocprofiler
    client_id->name = "ExampleTool";

    // info provided back to tool_init and tool_fini
    auto *my_tool_data = new rocp_tool_data{version, runtime_version, priority, *client_id,
                                            nullptr, {},              {},       {},
                                            {}};

    // create configure data
    static auto cfg =
        rocprofiler_tool_configure_result_t{sizeof(rocprofiler_tool_configure_result_t), &tool_init,
                                            &tool_fini, my_tool_data};
    return &cfg;
}
}
