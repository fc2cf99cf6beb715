// Specification "tool library", sections on initialisation and finalisation: a context is created
// and started in the initialisation, and a thread of the tool ends it some time later.
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "say.h"
#include <chrono>
#include <cstdlib>
#include <thread>

namespace
{
struct ToolData
{
    rocprofiler_client_id_t *client_id;
};

void tool_fini(void *)
{
    say("finalizer finalize");
}

int tool_init(rocprofiler_client_finalize_t fini_func, void *data_v)
{
    // function, which finalizes the tool after some time
    auto explicit_finalize = [](rocprofiler_client_finalize_t finalizer,
                                rocprofiler_client_id_t      *client_id) {
        std::this_thread::sleep_for(std::chrono::milliseconds{atoi(getenv("SNIPPET_MS"))});
        finalizer(*client_id);
        say("finalizer returned");
    };

    // create a context
    auto ctx = rocprofiler_context_id_t{};
    rocprofiler_create_context(&ctx);

    // start the context
    rocprofiler_start_context(ctx);
    int active = 0;
    rocprofiler_context_is_active(ctx, &active);
    say("finalizer active %d", active);

    // dispatch a background thread to explicitly finalize
    std::thread{explicit_finalize, fini_func, static_cast<ToolData *>(data_v)->client_id}.detach();
    return 0;
}
} // namespace

extern "C" rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *client_id)
{
    static auto data = ToolData{client_id};
    static auto cfg  = rocprofiler_tool_configure_result_t{
        sizeof(rocprofiler_tool_configure_result_t), &tool_init, &tool_fini, &data};
    return &cfg;
}
