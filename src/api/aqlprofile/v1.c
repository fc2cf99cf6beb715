/* First interface: the profile struct carries the caller's command and output buffers. */
#include <stdlib.h>
#include <string.h>

#include "api/aqlprofile/v1_commands.h"

/* Versions 1 and 2 of the library have the same functions here; clients ask for 2 at most. */
enum { VERSION_MAJOR = 2, VERSION_MINOR = 0 };

/* Beyond the last value of hsa_ven_amd_aqlprofile_info_type_t. */
enum { INFO_WAIT_IDLE_CMD = HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD + 1 };

EXPORT uint32_t hsa_ven_amd_aqlprofile_version_major(void)
{
    return VERSION_MAJOR;
}

EXPORT uint32_t hsa_ven_amd_aqlprofile_version_minor(void)
{
    return VERSION_MINOR;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char **str)
{
    if (!str)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *str = aqlprofile_last_error();
    return HSA_STATUS_SUCCESS;
}

static struct gpu_event event_of(const struct gpu_target *target,
                                 const hsa_ven_amd_aqlprofile_event_t *event)
{
    return (struct gpu_event){.block = gpu_block_by_id(target, event->block_name),
                              .instance = event->block_index,
                              .event = event->counter_id};
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_validate_event(
    hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event, bool *result)
{
    struct gpu_target target;
    if (!event || !result)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    *result = false;
    if (aqlprofile_target_of_hsa(agent, &target))
        return HSA_STATUS_ERROR;
    struct gpu_event e = event_of(&target, event);
    *result = gpu_event_check(&target, &e) == GPU_PMC_OK;
    return HSA_STATUS_SUCCESS;
}

struct request {
    struct gpu_target target;
    struct gpu_event *events;
    uint32_t count;
};

/* Gives the profile's events their registers. request_free() is due in any case. */
static hsa_status_t request_make(const profile_t *profile, struct request *r)
{
    *r = (struct request){0};
    if (!profile || (!profile->events && profile->event_count))
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    if (profile->event_count > EVENTS_MAX)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "%u events",
                               profile->event_count);
    if (profile->type != HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "unknown profile type %u",
                               (unsigned)profile->type);
    if (aqlprofile_target_of_hsa(profile->agent, &r->target))
        return HSA_STATUS_ERROR;
    r->count = profile->event_count;
    r->events = calloc(r->count + 1u, sizeof *r->events);
    if (!r->events)
        return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
    for (uint32_t i = 0; i < r->count; i++)
        r->events[i] = event_of(&r->target, &profile->events[i]);
    enum gpu_pmc_status status = gpu_pmc_assign(&r->target, r->events, r->count);
    if (status != GPU_PMC_OK)
        return aqlprofile_fail(HSA_STATUS_ERROR, "%s", gpu_pmc_status_text(status));
    return HSA_STATUS_SUCCESS;
}

static void request_free(struct request *r)
{
    free(r->events);
}

static void streams_make(const struct request *r, uint64_t result_va,
                         struct pm4_stream streams[SECTION_COUNT])
{
    gpu_pmc_start(&streams[SECTION_START], &r->target, r->events, r->count);
    gpu_pmc_read(&streams[SECTION_READ], &r->target, r->events, r->count, result_va);
    gpu_pmc_stop(&streams[SECTION_STOP], &r->target, r->events, r->count);
}

/* Writes the sizes of the buffers to the profile, and the commands if it has such buffers. */
static hsa_status_t commands_make(profile_t *profile, packet_t *packet, const struct request *r,
                                  struct pm4_stream streams[SECTION_COUNT])
{
    struct v1_commands header;
    void *commands = profile->command_buffer.ptr, *output = profile->output_buffer.ptr;
    streams_make(r, (uint64_t)(uintptr_t)output, streams);
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (streams[i].out_of_memory)
            return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
    }
    uint32_t output_bytes = gpu_pmc_result_bytes(&r->target, r->events, r->count);
    uint32_t command_bytes =
        v1_commands_layout(streams, HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC, 0, &header);
    hsa_status_t output_status =
        v1_size_check(output, output_bytes, &profile->output_buffer.size, "output");
    hsa_status_t status =
        v1_size_check(commands, command_bytes, &profile->command_buffer.size, "command");
    status = status == HSA_STATUS_SUCCESS ? output_status : status;
    if (status != HSA_STATUS_SUCCESS || !commands)
        return status;
    if (!packet || (!output && output_bytes))
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no packet or no output buffer");
    v1_commands_write(commands, &header, streams);
    v1_packet_set(packet, (char *)commands + header.offset[SECTION_START],
                  header.dwords[SECTION_START]);
    return HSA_STATUS_SUCCESS;
}

static int is_trace(const profile_t *profile)
{
    return profile && profile->type == HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_start(profile_t *profile, packet_t *aql_start_packet)
{
    struct pm4_stream streams[SECTION_COUNT] = {{0}};
    struct request r;
    if (is_trace(profile))
        return v1_trace_start(profile, aql_start_packet);
    hsa_status_t status = request_make(profile, &r);
    if (status == HSA_STATUS_SUCCESS)
        status = commands_make(profile, aql_start_packet, &r, streams);
    for (int i = 0; i < SECTION_COUNT; i++)
        pm4_stream_free(&streams[i]);
    request_free(&r);
    return status;
}

static hsa_status_t section_packet(const profile_t *profile, packet_t *packet, int section)
{
    struct v1_commands header;
    if (!profile || !packet)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    hsa_status_t status = v1_commands_read(profile, profile->type, &header);
    if (status == HSA_STATUS_SUCCESS)
        v1_packet_set(packet, (char *)profile->command_buffer.ptr + header.offset[section],
                      header.dwords[section]);
    return status;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_stop(const profile_t *profile, packet_t *aql_stop_packet)
{
    return section_packet(profile, aql_stop_packet, SECTION_STOP);
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_read(const profile_t *profile, packet_t *aql_read_packet)
{
    return section_packet(profile, aql_read_packet, SECTION_READ);
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_legacy_get_pm4(const packet_t *aql_packet, void *data)
{
    (void)aql_packet;
    (void)data;
    return aqlprofile_fail(HSA_STATUS_ERROR, "no supported GPU needs PM4 blobs");
}

/* Reports samples die by die and, in each, event by event; blocks outside of the dies come with the
 * first. */
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_data(
    const profile_t *profile, hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
    struct request r;
    if (is_trace(profile))
        return v1_trace_iterate(profile, callback, data);
    hsa_status_t status = request_make(profile, &r);
    if (status == HSA_STATUS_SUCCESS && (!callback || !profile->output_buffer.ptr))
        status = aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    if (status == HSA_STATUS_SUCCESS &&
        profile->output_buffer.size < gpu_pmc_result_bytes(&r.target, r.events, r.count))
        status = aqlprofile_fail(HSA_STATUS_ERROR, "the output buffer is too small");
    const uint64_t *samples = status == HSA_STATUS_SUCCESS ? profile->output_buffer.ptr : NULL;
    uint32_t dies = r.target.geometry.xcc_count;
    for (uint32_t die = 0; die < dies && status == HSA_STATUS_SUCCESS; die++) {
        for (uint32_t i = 0; i < r.count && status == HSA_STATUS_SUCCESS; i++) {
            const struct gpu_block *block = r.events[i].block;
            uint32_t count = gpu_block_samples(&r.target, block);
            if (die >= gpu_block_dies(&r.target, block))
                continue;
            for (uint32_t k = 0; k < count && status == HSA_STATUS_SUCCESS; k++) {
                hsa_ven_amd_aqlprofile_info_data_t info = {
                    .sample_id = block->flags & BLOCK_OUTSIDE ? r.events[i].instance : k};
                info.pmc_data.event = profile->events[i];
                info.pmc_data.result =
                    samples[gpu_pmc_result_index(&r.target, r.events, r.count, i, die, k)];
                status = callback(HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &info, data);
            }
        }
    }
    request_free(&r);
    return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_coord(
    hsa_agent_t agent, hsa_ven_amd_aqlprofile_event_t event, uint32_t sample_id,
    aqlprofile_coordinate_callback_t callback, void *userdata)
{
    struct gpu_target target;
    struct coordinate coordinates[COORDINATES_MAX];
    if (!callback)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no callback");
    if (aqlprofile_target_of_hsa(agent, &target))
        return HSA_STATUS_ERROR;
    struct gpu_event e = event_of(&target, &event);
    enum gpu_pmc_status status = gpu_event_check(&target, &e);
    if (status != GPU_PMC_OK)
        return aqlprofile_fail(HSA_STATUS_ERROR, "%s", gpu_pmc_status_text(status));
    uint32_t samples = gpu_block_samples(&target, e.block), die = sample_id / samples;
    if (e.block->flags & BLOCK_OUTSIDE) /* its samples have the numbers of its instances */
        die = sample_id == e.instance ? 0 : target.geometry.xcc_count;
    if (die >= target.geometry.xcc_count)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_INDEX, "sample %u does not exist",
                               sample_id);
    int count = coordinates_of(&target, e.block, die, e.instance, sample_id % samples, coordinates);
    return coordinates_report(coordinates, count, callback, userdata);
}

static hsa_status_t find_sample(hsa_ven_amd_aqlprofile_info_type_t type,
                                hsa_ven_amd_aqlprofile_info_data_t *sample, void *wanted_data)
{
    hsa_ven_amd_aqlprofile_info_data_t *wanted = wanted_data;
    const hsa_ven_amd_aqlprofile_event_t *a = &sample->pmc_data.event;
    const hsa_ven_amd_aqlprofile_event_t *b = &wanted->pmc_data.event;
    (void)type;
    if (a->block_name != b->block_name || a->block_index != b->block_index ||
        a->counter_id != b->counter_id)
        return HSA_STATUS_SUCCESS;
    if (wanted->sample_id == UINT32_MAX) { /* asks for the sum of all */
        wanted->pmc_data.result += sample->pmc_data.result;
        return HSA_STATUS_SUCCESS;
    }
    if (wanted->sample_id != sample->sample_id)
        return HSA_STATUS_SUCCESS;
    wanted->pmc_data.result = sample->pmc_data.result;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t info_data(const profile_t *profile, hsa_ven_amd_aqlprofile_info_data_t *value)
{
    if (is_trace(profile))
        return aqlprofile_fail(HSA_STATUS_ERROR, "a trace has no counters");
    value->pmc_data.result = 0;
    return hsa_ven_amd_aqlprofile_iterate_data(profile, find_sample, value);
}

/* The sizes that hsa_ven_amd_aqlprofile_start() will ask for. */
static hsa_status_t info_sizes(const profile_t *profile, uint32_t *command_bytes,
                               uint32_t *output_bytes)
{
    profile_t copy = *profile;
    copy.command_buffer.ptr = copy.output_buffer.ptr = NULL;
    copy.command_buffer.size = copy.output_buffer.size = 0;
    hsa_status_t status = hsa_ven_amd_aqlprofile_start(&copy, NULL);
    *command_bytes = copy.command_buffer.size;
    *output_bytes = copy.output_buffer.size;
    return status;
}

static hsa_status_t info_block(const profile_t *profile, int by_name, void *value)
{
    struct gpu_target target;
    const struct gpu_block *block = NULL;
    hsa_ven_amd_aqlprofile_id_query_t *query = value;
    if (aqlprofile_target_of_hsa(profile->agent, &target))
        return HSA_STATUS_ERROR;
    if (by_name && query->name)
        block = gpu_block_by_name(&target, query->name);
    else if (!by_name && profile->events && profile->event_count)
        block = gpu_block_by_id(&target, profile->events[0].block_name);
    if (!block)
        return aqlprofile_fail(HSA_STATUS_ERROR, "the GPU has no such block");
    if (!by_name) {
        *(uint32_t *)value = block->counters;
        return HSA_STATUS_SUCCESS;
    }
    query->id = block->id;
    query->instance_count = block->instances;
    return HSA_STATUS_SUCCESS;
}

/* Without a command buffer, sets its exact size; with one, writes the commands and *packet. */
static hsa_status_t info_command(profile_t *profile, uint32_t attribute, packet_t *packet)
{
    struct pm4_stream stream = {0};
    struct gpu_target target;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (aqlprofile_target_of_hsa(profile->agent, &target))
        return HSA_STATUS_ERROR;
    if (attribute == INFO_WAIT_IDLE_CMD)
        pm4_wait_idle(&stream);
    else
        gpu_pmc_enable(&stream, &target, attribute == HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD);
    uint32_t bytes = stream.count * 4;
    if (stream.out_of_memory) {
        status = aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
    } else if (!profile->command_buffer.ptr) {
        profile->command_buffer.size = bytes;
    } else if (profile->command_buffer.size < bytes || !packet) {
        status = aqlprofile_fail(HSA_STATUS_ERROR, "the command buffer needs %u bytes", bytes);
    } else {
        memcpy(profile->command_buffer.ptr, stream.dwords, bytes);
        v1_packet_set(packet, profile->command_buffer.ptr, stream.count);
    }
    pm4_stream_free(&stream);
    return status;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_get_info(const profile_t *profile,
                                                    hsa_ven_amd_aqlprofile_info_type_t attribute,
                                                    void *value)
{
    uint32_t unused;
    if (!profile)
        return aqlprofile_fail(HSA_STATUS_ERROR, "NULL argument 'profile'");
    if (!value && (uint32_t)attribute < HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD)
        return aqlprofile_fail(HSA_STATUS_ERROR, "NULL argument 'value'");
    switch ((uint32_t)attribute) {
    case HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE:
        return info_sizes(profile, value, &unused);
    case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE:
        return info_sizes(profile, &unused, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA:
        return info_data(profile, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA:
        return v1_trace_data(profile, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS:
        return info_block(profile, 0, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID:
        return info_block(profile, 1, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD:
    case HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD:
    case INFO_WAIT_IDLE_CMD:
        /* The interface declares the profile const and writes the size into it all the same. */
        return info_command((profile_t *)(uintptr_t)profile, attribute, value);
    default:
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "unknown attribute %u",
                               (unsigned)attribute);
    }
}
