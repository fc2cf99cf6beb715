#include "graphs.h"

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>

static void call_seen(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *data)
{
    (void)record, (void)user_data, (void)data;
}

/* Kernels have the id of the call that launched them, and so has the launch, where the call is
 * traced. */
static rocprofiler_status_t calls_identify(rocprofiler_context_id_t context)
{
    static const rocprofiler_tracing_operation_t launches[] = {
        ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch,
        ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch_spt,
    };
    return rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, launches,
        sizeof launches / sizeof launches[0], call_seen, NULL);
}

rocprofiler_status_t graphs_configure(rocprofiler_context_id_t context,
                                      rocprofiler_buffer_id_t buffer,
                                      const struct settings *settings)
{
    if (!settings_flag(settings, OPTION_HIP_GRAPH_TRACE))
        return ROCPROFILER_STATUS_SUCCESS;
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    if (!settings_flag(settings, OPTION_HIP_RUNTIME_TRACE))
        status = calls_identify(context);
    return status != ROCPROFILER_STATUS_SUCCESS
               ? status
               : rocprofiler_configure_buffer_tracing_service(
                     context, ROCPROFILER_BUFFER_TRACING_HIP_GRAPH, NULL, 0, buffer);
}
