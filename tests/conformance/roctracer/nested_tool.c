/* A tool of the SDK that uses ROCtracer while it is being set up. */
#include <rocprofiler-sdk/registration.h>
#include <roctracer/roctracer.h>

#define EXPORTED __attribute__((visibility("default")))
EXPORTED extern roctracer_status_t nested_status;
roctracer_status_t nested_status = ROCTRACER_STATUS_ERROR;

static void on_call(uint32_t domain, uint32_t id, const void *data, void *arg)
{
    (void)domain, (void)id, (void)data, (void)arg;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    nested_status = roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_API, on_call, NULL);
    return 0;
}

EXPORTED rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                                    const char *runtime_version,
                                                                    uint32_t priority,
                                                                    rocprofiler_client_id_t *client)
{
    static rocprofiler_tool_configure_result_t result = {.size = sizeof result,
                                                         .initialize = initialize};
    (void)version, (void)runtime_version, (void)priority, (void)client;
    return &result;
}
