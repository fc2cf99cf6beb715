// Specification "tool library", section on the design of a tool: the tool declines unless it is the
// first one, names itself, and gets its own data back.
#include <rocprofiler-sdk/registration.h>

#include "say.h"

namespace
{
// saves the data provided to rocprofiler_configure
struct ToolData
{
    uint32_t                version;
    const char             *runtime_version;
    uint32_t                priority;
    rocprofiler_client_id_t client_id;
};

int tool_init(rocprofiler_client_finalize_t fini_func, void *tool_data_v)
{
    auto *data = static_cast<ToolData *>(tool_data_v);
    say("design initialize %d %d %s", fini_func != nullptr, data->client_id.handle != 0,
        data->client_id.name);
    return 0;
}

void tool_fini(void *tool_data_v)
{
    say("design finalize %u", static_cast<ToolData *>(tool_data_v)->priority);
}
} // namespace

extern "C" {
rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    if (priority > 0)
        return nullptr;

    client_id->name = "ExampleTool";

    static auto data = ToolData{version, runtime_version, priority, *client_id};

    static auto cfg =
        rocprofiler_tool_configure_result_t{sizeof(rocprofiler_tool_configure_result_t), &tool_init,
                                            &tool_fini, static_cast<void *>(&data)};
    return &cfg;
}
}
