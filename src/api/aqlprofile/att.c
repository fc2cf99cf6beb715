/* Thread trace of the second interface: packets that own their memory, as in v2.c. */
#include <stdlib.h>
#include <string.h>

#include "api/aqlprofile/handles.h"
#include "api/aqlprofile/trace_config.h"

/* Packets of a trace, or of a marker in one, which has commands only. */
struct trace {
    struct handle_entry entry;
    struct gpu_target target;
    struct sqtt_config config;
    void *commands, *control, *buffer;
    aqlprofile_memory_dealloc_callback_t dealloc;
    aqlprofile_memory_copy_t copy;
    void *userdata;
};

enum { COMMAND_ALIGNMENT = 256 };
static const uint64_t DEFAULT_BUFFER_BYTES = 3ull << 26;
static void trace_free(struct trace *t)
{
    void *const memory[] = {t->commands, t->control, t->buffer};
    for (int i = 0; i < 3; i++) {
        if (memory[i])
            t->dealloc(memory[i], t->userdata);
    }
    free(t);
}

static hsa_status_t parameter_take(struct sqtt_config *c, const aqlprofile_att_parameter_t *p)
{
    switch ((uint32_t)p->parameter_name) {
    case SQTT_PARAMETER_BUFFER_SIZE:
        c->buffer_bytes = (c->buffer_bytes & ~(uint64_t)UINT32_MAX) | p->value;
        return HSA_STATUS_SUCCESS;
    case AQLPROFILE_ATT_PARAMETER_NAME_BUFFER_SIZE_HIGH:
        c->buffer_bytes = (c->buffer_bytes & UINT32_MAX) | (uint64_t)p->value << 32;
        return HSA_STATUS_SUCCESS;
    case AQLPROFILE_ATT_PARAMETER_NAME_RT_TIMESTAMP:
        c->has_timestamps = p->value != AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_DISABLE;
        return HSA_STATUS_SUCCESS;
    case SQTT_PARAMETER_COUNTER:
        return trace_counter_add(c, p->counter_id, p->simd_mask);
    default:
        return trace_parameter_take(c, p->parameter_name, p->value);
    }
}

static hsa_status_t config_take(struct trace *t, const aqlprofile_att_profile_t *profile)
{
    struct sqtt_config *c = &t->config;
    sqtt_config_default(c);
    c->has_timestamps = 1;
    c->clock_khz = aqlprofile_clock_khz(profile->agent);
    c->buffer_bytes = DEFAULT_BUFFER_BYTES;
    if (profile->parameter_count && !profile->parameters)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no parameters");
    for (uint32_t i = 0; i < profile->parameter_count; i++) {
        hsa_status_t status = parameter_take(c, &profile->parameters[i]);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return trace_config_check(&t->target, c);
}

static hsa_status_t allocate(struct trace *t, aqlprofile_memory_alloc_callback_t alloc,
                             uint64_t size_bytes, aqlprofile_memory_hint_t hint, int is_for_host,
                             void **memory)
{
    aqlprofile_buffer_desc_flags_t flags = {.raw = 0};
    flags.device_access = 1;
    flags.host_access = (uint32_t)is_for_host & 1;
    flags.memory_hint = hint;
    hsa_status_t status = alloc(memory, size_bytes, flags, t->userdata);
    if (status == HSA_STATUS_SUCCESS && !*memory)
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    return status;
}

static hsa_status_t memory_take(struct trace *t, aqlprofile_memory_alloc_callback_t alloc)
{
    uint64_t control_bytes = t->target.geometry.se_count * sizeof(struct sqtt_control);
    hsa_status_t status =
        allocate(t, alloc, control_bytes, AQLPROFILE_MEMORY_HINT_HOST, 1, &t->control);
    if (status == HSA_STATUS_SUCCESS)
        status = allocate(t, alloc, t->config.buffer_bytes + SQTT_PAGE_BYTES,
                          AQLPROFILE_MEMORY_HINT_DEVICE_NONCOHERENT, 0, &t->buffer);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    memset(t->control, 0, control_bytes);
    t->config.control_va = (uint64_t)(uintptr_t)t->control;
    t->config.buffer_va =
        ((uint64_t)(uintptr_t)t->buffer + SQTT_PAGE_BYTES - 1) & ~(uint64_t)(SQTT_PAGE_BYTES - 1);
    return HSA_STATUS_SUCCESS;
}

static void packet_set(hsa_ext_amd_aql_pm4_packet_t *packet, const void *commands, uint32_t dwords)
{
    struct aql_pm4_packet filled;
    aql_pm4_packet_fill(&filled, (uint64_t)(uintptr_t)commands, dwords);
    memcpy(packet, &filled, sizeof *packet);
}

/* Puts the streams one after the other into memory that the caller's function gives, and makes a
 * packet for each. */
static hsa_status_t commands_write(struct trace *t, struct pm4_stream *streams, int count,
                                   hsa_ext_amd_aql_pm4_packet_t *const *packets,
                                   aqlprofile_memory_alloc_callback_t alloc)
{
    uint32_t bytes = 0, offset[2] = {0};
    for (int i = 0; i < count; i++) {
        if (streams[i].out_of_memory)
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        offset[i] = bytes;
        bytes += (streams[i].count * 4 + COMMAND_ALIGNMENT - 1) & ~(COMMAND_ALIGNMENT - 1u);
    }
    /* Without a copy function they are written from here, wherever that memory lies. */
    aqlprofile_memory_hint_t hint =
        t->copy ? AQLPROFILE_MEMORY_HINT_DEVICE_NONCOHERENT : AQLPROFILE_MEMORY_HINT_NONE;
    hsa_status_t status = allocate(t, alloc, bytes, hint, 1, &t->commands);
    for (int i = 0; i < count && status == HSA_STATUS_SUCCESS; i++) {
        char *at = (char *)t->commands + offset[i];
        if (t->copy)
            status = t->copy(at, streams[i].dwords, streams[i].count * 4, t->userdata);
        else
            memcpy(at, streams[i].dwords, streams[i].count * 4);
        packet_set(packets[i], at, streams[i].count);
    }
    return status;
}

static struct trace *trace_make(aqlprofile_memory_dealloc_callback_t dealloc,
                                aqlprofile_memory_copy_t copy, void *userdata)
{
    struct trace *t = calloc(1, sizeof *t);
    if (!t) {
        aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
        return NULL;
    }
    t->dealloc = dealloc;
    t->copy = copy;
    t->userdata = userdata;
    return t;
}

EXPORT hsa_status_t aqlprofile_att_create_packets(aqlprofile_handle_t *handle,
                                                  aqlprofile_att_control_aql_packets_t *packets,
                                                  aqlprofile_att_profile_t profile,
                                                  aqlprofile_memory_alloc_callback_t alloc_cb,
                                                  aqlprofile_memory_dealloc_callback_t dealloc_cb,
                                                  aqlprofile_memory_copy_t memcpy_cb,
                                                  void *userdata)
{
    struct pm4_stream streams[2] = {{0}};
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (!handle || !packets || !alloc_cb || !dealloc_cb || !memcpy_cb)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    struct trace *t = trace_make(dealloc_cb, memcpy_cb, userdata);
    if (!t)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    hsa_ext_amd_aql_pm4_packet_t *const to[] = {&packets->start_packet, &packets->stop_packet};
    memset(packets, 0, sizeof *packets);
    if (aqlprofile_target_of_hsa(profile.agent, &t->target) == 0)
        status = config_take(t, &profile);
    if (status == HSA_STATUS_SUCCESS)
        status = memory_take(t, alloc_cb);
    if (status == HSA_STATUS_SUCCESS) {
        sqtt_start(&streams[0], &t->target, &t->config);
        sqtt_stop(&streams[1], &t->target, &t->config);
        status = commands_write(t, streams, 2, to, alloc_cb);
    }
    pm4_stream_free(&streams[0]);
    pm4_stream_free(&streams[1]);
    if (status == HSA_STATUS_SUCCESS)
        *handle = handle_publish(&t->entry, HANDLE_TRACE);
    else
        trace_free(t);
    return status;
}

EXPORT void aqlprofile_att_delete_packets(aqlprofile_handle_t handle)
{
    struct trace *t = handle_take(handle, HANDLE_TRACE);
    if (t)
        trace_free(t);
}

/* Markers have handles of this sort, too, but no data: for them the result is NULL. */
static const struct trace *trace_find(aqlprofile_handle_t handle)
{
    const struct trace *t = handle_find(handle, HANDLE_TRACE);
    return t && t->buffer ? t : NULL;
}

static hsa_status_t engine_report(const struct trace *t, uint32_t engine, uint64_t bytes,
                                  aqlprofile_att_data_callback_t callback, void *userdata)
{
    uint64_t prefix;
    uint32_t prefix_bytes = sqtt_prefix(&t->target, &t->config, engine, &prefix);
    struct sqtt_part part = sqtt_part(&t->target, &t->config, engine);
    const void *from = (const void *)(uintptr_t)(t->config.buffer_va + part.offset_bytes);
    char *data = malloc(prefix_bytes + bytes + 1);
    if (!data)
        return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
    memcpy(data, &prefix, prefix_bytes);
    hsa_status_t status =
        bytes ? t->copy(data + prefix_bytes, from, bytes, t->userdata) : HSA_STATUS_SUCCESS;
    if (status == HSA_STATUS_SUCCESS)
        status = callback(engine, data, prefix_bytes + bytes, userdata);
    free(data);
    return status;
}

/* Reports each traced engine's bytes; the status says whether they are the whole trace. */
EXPORT hsa_status_t aqlprofile_att_iterate_data(aqlprofile_handle_t handle,
                                                aqlprofile_att_data_callback_t callback,
                                                void *userdata)
{
    const struct trace *t = trace_find(handle);
    hsa_status_t outcome_all = HSA_STATUS_SUCCESS;
    if (!t || !callback)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "unknown handle or no callback");
    for (uint32_t i = 0; i < t->target.geometry.se_count; i++) {
        const struct sqtt_control *control = (const struct sqtt_control *)t->control + i;
        enum sqtt_outcome outcome;
        if (!sqtt_part(&t->target, &t->config, i).is_traced)
            continue;
        uint64_t bytes = sqtt_written_bytes(&t->target, &t->config, i, control, &outcome);
        outcome_all = trace_outcome_status(outcome_all, outcome);
        hsa_status_t status = engine_report(t, i, bytes, callback, userdata);
        if (status == HSA_STATUS_INFO_BREAK)
            break;
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return outcome_all;
}

/* What a code object's marker says: where it is, how large, which, and what happened to it. */
static void marker_make(struct pm4_stream *stream, const struct gpu_target *target,
                        const aqlprofile_att_codeobj_data_t *data)
{
    enum { ID_BITS = 30, ID_SHIFT = 2, FROM_START_SHIFT = 1 };
    uint32_t header = data->isUnload | (uint32_t)data->fromStart << FROM_START_SHIFT;
    if (!data->isUnload) {
        sqtt_marker(stream, target, SQTT_CHANNEL_ADDRESS_LOW, (uint32_t)data->addr);
        sqtt_marker(stream, target, SQTT_CHANNEL_ADDRESS_HIGH, (uint32_t)(data->addr >> 32));
        sqtt_marker(stream, target, SQTT_CHANNEL_SIZE_LOW, (uint32_t)data->size);
        sqtt_marker(stream, target, SQTT_CHANNEL_SIZE_HIGH, (uint32_t)(data->size >> 32));
    }
    if (data->id >> ID_BITS) {
        sqtt_marker(stream, target, SQTT_CHANNEL_ID_LOW, (uint32_t)data->id);
        sqtt_marker(stream, target, SQTT_CHANNEL_ID_HIGH, (uint32_t)(data->id >> 32));
    } else {
        header |= (uint32_t)data->id << ID_SHIFT;
    }
    sqtt_marker(stream, target, SQTT_CHANNEL_HEADER, header);
}

EXPORT hsa_status_t aqlprofile_att_codeobj_marker(hsa_ext_amd_aql_pm4_packet_t *packet,
                                                  aqlprofile_handle_t *handle,
                                                  aqlprofile_att_codeobj_data_t data,
                                                  aqlprofile_memory_alloc_callback_t alloc_cb,
                                                  aqlprofile_memory_dealloc_callback_t dealloc_cb,
                                                  void *userdata)
{
    struct pm4_stream stream = {0};
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (!packet || !handle || !alloc_cb || !dealloc_cb)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    struct trace *t = trace_make(dealloc_cb, NULL, userdata);
    if (!t)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memset(packet, 0, sizeof *packet);
    if (aqlprofile_target_of_hsa(data.agent, &t->target) == 0) {
        marker_make(&stream, &t->target, &data);
        status = commands_write(t, &stream, 1, &packet, alloc_cb);
    }
    pm4_stream_free(&stream);
    if (status == HSA_STATUS_SUCCESS)
        *handle = handle_publish(&t->entry, HANDLE_TRACE);
    else
        trace_free(t);
    return status;
}
