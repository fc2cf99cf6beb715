// Specification "buffered services": creating a buffer and a thread for its callbacks, configuring
// two services on it, and the callback function.
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/registration.h>

#include "say.h"
#include <stdexcept>

namespace
{
int                      apis, dispatches;
uint64_t                 dropped;
rocprofiler_context_id_t context_id{0};

void buffer_callback_func(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
                          rocprofiler_record_header_t **headers, size_t num_headers, void *,
                          uint64_t drop_count)
{
    dropped = drop_count;
    for (size_t i = 0; i < num_headers; ++i) {
        auto *header = headers[i];

        if (header->category == ROCPROFILER_BUFFER_CATEGORY_TRACING &&
            header->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API) {
            auto *record =
                static_cast<rocprofiler_buffer_tracing_hip_api_record_t *>(header->payload);
            apis += record->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API;
        } else if (header->category == ROCPROFILER_BUFFER_CATEGORY_TRACING &&
                   header->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) {
            auto *record =
                static_cast<rocprofiler_buffer_tracing_kernel_dispatch_record_t *>(header->payload);
            dispatches += record->end_timestamp > record->start_timestamp;
        } else {
            throw std::runtime_error{"unhandled record header category + kind"};
        }
    }
}

int tool_init(rocprofiler_client_finalize_t, void *)
{
    // create a context
    rocprofiler_create_context(&context_id);

    // buffer parameters
    constexpr auto KB          = 1024; // 1024 bytes
    constexpr auto buffer_size = 16 * KB;
    constexpr auto watermark   = 15 * KB;
    constexpr auto policy      = ROCPROFILER_BUFFER_POLICY_LOSSLESS;

    // buffer handle
    auto buffer_id = rocprofiler_buffer_id_t{};

    // create a buffer associated with the context
    rocprofiler_create_buffer(context_id, buffer_size, watermark, policy, buffer_callback_func,
                              nullptr, &buffer_id);

    // specify that a new callback thread should be created and provide
    // and assign the identifier for it to the "thr_id" variable
    auto thr_id = rocprofiler_callback_thread_t{};
    rocprofiler_create_callback_thread(&thr_id);

    // assign the buffer callback to be delivered on this thread
    rocprofiler_assign_callback_thread(buffer_id, thr_id);

    // configure HIP runtime API function records to be placed in buffer
    rocprofiler_configure_buffer_tracing_service(
        context_id, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, nullptr, 0, buffer_id);

    // configure kernel dispatch records to be placed in buffer
    // (more than one service can use the same buffer)
    rocprofiler_configure_buffer_tracing_service(
        context_id, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, nullptr, 0, buffer_id);

    rocprofiler_start_context(context_id);
    return 0;
}

void tool_fini(void *)
{
    say("buffered apis %d dispatches %d dropped %d", apis > dispatches, dispatches,
        static_cast<int>(dropped));
}
} // namespace

extern "C" rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *)
{
    static auto cfg = rocprofiler_tool_configure_result_t{
        sizeof(rocprofiler_tool_configure_result_t), &tool_init, &tool_fini, nullptr};
    return &cfg;
}
