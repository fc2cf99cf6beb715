/* For a tool that comes when code objects are loaded already. */
#include "base/callback.h"
#include "runtime/work.h"
#include "session/internal.h"

static void tell_context(const struct context *context, int32_t operation, void *payload)
{
    const struct callback_service *service =
        &context->callbacks[ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT];
    struct thread *thread = session_self();
    if (!thread || !service->callback ||
        !(service->operations.words[operation / 32] >> (operation % 32) & 1))
        return;
    rocprofiler_user_data_t user_data = {.value = 0};
    rocprofiler_callback_tracing_record_t record = {
        .context_id = context_id(context),
        .thread_id = session_of(thread)->tid,
        .kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
        .operation = operation,
        .phase = ROCPROFILER_CALLBACK_PHASE_LOAD,
        .payload = payload,
    };
    CALLBACK(service->callback(record, &user_data, service->data));
}

static void tell(int32_t operation, void *payload, void *data)
{
    const uint32_t *client = data;
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        if (context->valid && context->client == *client && context_is_active(context_id(context)))
            tell_context(context, operation, payload);
}

void session_objects_announce(uint32_t client)
{
    runtimes_objects_announce(tell, &client);
}
