/*
 * Thread trace of the first interface. The configuration that start() made of the profile and the
 * control array that the packets write are kept in the command buffer, behind its header.
 */
#include <stdbool.h>
#include <string.h>

#include "api/aqlprofile/trace_config.h"
#include "api/aqlprofile/v1_commands.h"

struct state {
    uint64_t engine_count;
    struct sqtt_config config;
    struct sqtt_control control[]; /* one for each engine */
};
_Static_assert(offsetof(struct state, control) % 8 == 0, "clocks are 64 bits wide");

static uint32_t state_bytes(const struct gpu_target *target)
{
    return (uint32_t)(offsetof(struct state, control) +
                      target->geometry.se_count * sizeof(struct sqtt_control));
}

static struct state *state_of(void *commands)
{
    return (struct state *)(void *)((char *)commands + V1_STATE_OFFSET);
}

static hsa_status_t parameter_take(struct sqtt_config *c,
                                   const hsa_ven_amd_aqlprofile_parameter_t *p)
{
    const char *problem =
        sqtt_first_parameter_take(c, (uint32_t)p->parameter_name, (uint32_t)p->value);
    bool is_mask = p->parameter_name == HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK ||
                   p->parameter_name == HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK;
    if (!problem)
        return HSA_STATUS_SUCCESS;
    return aqlprofile_fail(is_mask ? HSA_STATUS_ERROR : HSA_STATUS_ERROR_INVALID_ARGUMENT,
                           "thread trace: %s (parameter %u: 0x%x)", problem,
                           (unsigned)p->parameter_name, (unsigned)p->value);
}

/* A trace begins at a page, so a buffer that begins elsewhere loses its first bytes. */
static void buffer_take(struct sqtt_config *c, const hsa_ven_amd_aqlprofile_descriptor_t *buffer)
{
    uint64_t begin = (uint64_t)(uintptr_t)buffer->ptr;
    uint64_t skipped_bytes = -begin & (SQTT_PAGE_BYTES - 1);
    c->buffer_va = begin + skipped_bytes;
    c->buffer_bytes = buffer->size > skipped_bytes ? buffer->size - skipped_bytes : 0;
}

/* Without an output buffer the smallest one is assumed: the packets are as long with any. */
static hsa_status_t config_make(const profile_t *profile, struct gpu_target *target,
                                struct sqtt_config *c)
{
    if (profile->event_count)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                               "counters cannot be streamed into a trace");
    if (profile->parameter_count && !profile->parameters)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument 'parameters'");
    if (aqlprofile_target_of_hsa(profile->agent, target))
        return HSA_STATUS_ERROR;
    sqtt_config_default(c);
    for (uint32_t i = 0; i < profile->parameter_count; i++) {
        hsa_status_t status = parameter_take(c, &profile->parameters[i]);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    if (profile->output_buffer.ptr)
        buffer_take(c, &profile->output_buffer);
    else
        c->buffer_bytes = (uint64_t)SQTT_ENGINES_MAX * SQTT_PART_BYTES_MIN;
    return trace_config_check(target, c);
}

static void streams_make(const struct gpu_target *target, const struct sqtt_config *config,
                         struct pm4_stream streams[SECTION_COUNT])
{
    sqtt_start(&streams[SECTION_START], target, config);
    sqtt_read(&streams[SECTION_READ], target, config);
    sqtt_stop(&streams[SECTION_STOP], target, config);
}

/* Writes the sizes of the buffers to the profile, and the commands if it has such buffers. */
static hsa_status_t commands_make(profile_t *profile, packet_t *packet,
                                  const struct gpu_target *target, struct sqtt_config *config,
                                  struct pm4_stream streams[SECTION_COUNT])
{
    struct v1_commands header;
    void *commands = profile->command_buffer.ptr;
    if (commands)
        config->control_va = (uint64_t)(uintptr_t)state_of(commands)->control;
    streams_make(target, config, streams);
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (streams[i].out_of_memory)
            return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
    }
    uint32_t needed = v1_commands_layout(streams, HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE,
                                         state_bytes(target), &header);
    hsa_status_t status = v1_size_check(commands, needed, &profile->command_buffer.size, "command");
    if (status != HSA_STATUS_SUCCESS || !commands)
        return status;
    if (!packet || !profile->output_buffer.ptr)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no packet or no output buffer");
    memset(state_of(commands), 0, state_bytes(target));
    state_of(commands)->engine_count = target->geometry.se_count;
    state_of(commands)->config = *config;
    v1_commands_write(commands, &header, streams);
    v1_packet_set(packet, (char *)commands + header.offset[SECTION_START],
                  header.dwords[SECTION_START]);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t v1_trace_start(profile_t *profile, packet_t *packet)
{
    struct pm4_stream streams[SECTION_COUNT] = {{0}};
    struct sqtt_config config;
    struct gpu_target target;
    hsa_status_t status = config_make(profile, &target, &config);
    if (status == HSA_STATUS_SUCCESS && !profile->output_buffer.ptr)
        status =
            v1_size_check(NULL, (uint32_t)sqtt_buffer_bytes_min(&target, &config) + SQTT_PAGE_BYTES,
                          &profile->output_buffer.size, "output");
    if (status == HSA_STATUS_SUCCESS)
        status = commands_make(profile, packet, &target, &config, streams);
    for (int i = 0; i < SECTION_COUNT; i++)
        pm4_stream_free(&streams[i]);
    return status;
}

/* What start() left in the command buffer. */
static hsa_status_t state_find(const profile_t *profile, struct gpu_target *target,
                               const struct state **state)
{
    struct v1_commands header;
    hsa_status_t status =
        v1_commands_read(profile, HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE, &header);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (aqlprofile_target_of_hsa(profile->agent, target))
        return HSA_STATUS_ERROR;
    *state = state_of(profile->command_buffer.ptr);
    if (profile->command_buffer.size < V1_STATE_OFFSET + state_bytes(target) ||
        (*state)->engine_count != target->geometry.se_count)
        return aqlprofile_fail(HSA_STATUS_ERROR, "the profile was started for another GPU");
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t engine_report(const struct gpu_target *target, const struct state *state,
                                  uint32_t engine, enum sqtt_outcome *outcome,
                                  hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
    const struct sqtt_config *config = &state->config;
    struct sqtt_part part = sqtt_part(target, config, engine);
    hsa_ven_amd_aqlprofile_info_data_t info = {.sample_id = engine};
    info.trace_data.ptr = (void *)(uintptr_t)(config->buffer_va + part.offset_bytes);
    info.trace_data.size =
        (uint32_t)sqtt_written_bytes(target, config, engine, &state->control[engine], outcome);
    return callback(HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &info, data);
}

/* Reports each traced engine's bytes where the GPU wrote them; the status says whether what was
 * reported is the whole trace of those engines, also when the callback has ended it. */
hsa_status_t v1_trace_iterate(const profile_t *profile,
                              hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
    struct gpu_target target;
    const struct state *state;
    hsa_status_t status = state_find(profile, &target, &state);
    hsa_status_t outcome_all = HSA_STATUS_SUCCESS;
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (!callback)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no callback");
    for (uint32_t i = 0; i < target.geometry.se_count; i++) {
        enum sqtt_outcome outcome;
        if (!sqtt_part(&target, &state->config, i).is_traced)
            continue;
        status = engine_report(&target, state, i, &outcome, callback, data);
        if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK)
            return status;
        outcome_all = trace_outcome_status(outcome_all, outcome);
        if (status == HSA_STATUS_INFO_BREAK)
            break;
    }
    return outcome_all;
}

static hsa_status_t data_take(hsa_ven_amd_aqlprofile_info_type_t type,
                              hsa_ven_amd_aqlprofile_info_data_t *found, void *wanted)
{
    (void)type;
    ((hsa_ven_amd_aqlprofile_info_data_t *)wanted)->trace_data = found->trace_data;
    return HSA_STATUS_SUCCESS;
}

/* The status is that of this engine's trace alone; it says, too, that the data is not all of it. */
hsa_status_t v1_trace_data(const profile_t *profile, hsa_ven_amd_aqlprofile_info_data_t *value)
{
    struct gpu_target target;
    const struct state *state;
    enum sqtt_outcome outcome;
    value->trace_data = (hsa_ven_amd_aqlprofile_descriptor_t){NULL, 0};
    hsa_status_t status = state_find(profile, &target, &state);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (value->sample_id >= target.geometry.se_count ||
        !sqtt_part(&target, &state->config, value->sample_id).is_traced)
        return aqlprofile_fail(HSA_STATUS_ERROR, "shader engine %u is not traced",
                               value->sample_id);
    engine_report(&target, state, value->sample_id, &outcome, data_take, value);
    return trace_outcome_status(HSA_STATUS_SUCCESS, outcome);
}

/* A marker's commands have a command buffer of their own. A call without one sets its size, a call
 * with one writes the commands and the packet. */
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_att_marker(profile_t *profile, packet_t *packet,
                                                      uint32_t data, att_marker_channel_t channel)
{
    struct pm4_stream stream = {0};
    struct gpu_target target;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (!profile || profile->type != HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no trace");
    if (channel >= SQTT_CHANNEL_COUNT)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no channel %u", channel);
    if (aqlprofile_target_of_hsa(profile->agent, &target))
        return HSA_STATUS_ERROR;
    sqtt_marker(&stream, &target, (enum sqtt_channel)channel, data);
    uint32_t bytes = stream.count * 4, room = profile->command_buffer.size;
    if (stream.out_of_memory) {
        status = aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
        goto out;
    }
    profile->command_buffer.size = bytes;
    if (!profile->command_buffer.ptr)
        goto out;
    if (room < bytes || !packet) {
        status = aqlprofile_fail(packet ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
                                        : HSA_STATUS_ERROR_INVALID_ARGUMENT,
                                 "the marker needs a packet and %u bytes", bytes);
        goto out;
    }
    memcpy(profile->command_buffer.ptr, stream.dwords, bytes);
    v1_packet_set(packet, profile->command_buffer.ptr, stream.count);
out:
    pm4_stream_free(&stream);
    return status;
}
