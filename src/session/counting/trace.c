/* Thread traces beside counters: options, and what a collection left in its buffer. */
#include "gpu/sqtt/parameters.h"
#include "model/service.h"
#include "session/counting/device.h"

enum { BUFFER_BYTES_DEFAULT = 32 << 20 };

const char *counting_trace_options_fill(const struct counting_agent *agent,
                                        const uint32_t (*parameters)[2], uint32_t count,
                                        struct counting_trace_options *options)
{
    const char *problem = NULL;
    if (!agent->is_supported)
        return "the GPU is not known";
    sqtt_config_default(&options->sqtt);
    for (uint32_t i = 0; i < count && !problem; i++)
        problem = sqtt_first_parameter_take(&options->sqtt, parameters[i][0], parameters[i][1]);
    if (!options->buffer_bytes)
        options->buffer_bytes = BUFFER_BYTES_DEFAULT;
    options->buffer_bytes &= ~(uint64_t)(SQTT_PAGE_BYTES - 1);
    options->sqtt.buffer_bytes = options->buffer_bytes;
    return problem ? problem : sqtt_config_fit(agent->target, &options->sqtt);
}

uint32_t counting_trace_parts(const struct counting_slot *trace,
                              struct counting_trace_part parts[SQTT_ENGINES_MAX])
{
    const struct gpu_target *target = trace->config->agent->target;
    uint32_t count = 0;
    for (uint32_t i = 0; i < target->geometry.se_count; i++) {
        struct sqtt_part part = sqtt_part(target, &trace->trace, i);
        if (!part.is_traced)
            continue;
        struct counting_trace_part *found = &parts[count++];
        *found = (struct counting_trace_part){.shader_engine = i, .offset = part.offset_bytes};
        found->bytes =
            sqtt_written_bytes(target, &trace->trace, i, &trace->trace_control[i], &found->outcome);
    }
    return count;
}

void *counting_trace_buffer(const struct counting_slot *trace, size_t *bytes)
{
    *bytes = trace->trace_buffer.bytes;
    return trace->trace_buffer.address;
}

bool counting_trace_read(const struct counting_slot *trace, size_t offset, void *to, size_t bytes)
{
    return offset <= trace->trace_buffer.bytes && bytes <= trace->trace_buffer.bytes - offset &&
           counting_buffer_read(trace, offset, to, bytes);
}

void counting_trace_hold(struct counting_slot *trace)
{
    counting_slot_hold(trace);
}

void counting_trace_release(struct counting_slot *trace)
{
    counting_slot_release(trace);
}

struct counting_slot *counting_device_trace(rocprofiler_context_id_t context)
{
    struct device_service *service = service_find(context, SERVICE_DEVICE_COUNTING);
    struct counting_slot *trace = NULL;
    if (!service || !device_busy_enter(service, true))
        return NULL;
    for (struct counted_device *device = service->devices; device && !trace; device = device->next)
        if (device->power && device->power->trace_buffer.address)
            trace = device->power;
    if (trace)
        counting_slot_hold(trace);
    device_state_set(service, SERVICE_RUNNING);
    return trace;
}
