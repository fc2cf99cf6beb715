/* Second interface: handles own their command and result memory. */
#include <stdlib.h>
#include <string.h>

#include "api/aqlprofile/handles.h"

struct collection {
    struct handle_entry entry;
    struct gpu_target target;
    aqlprofile_pmc_event_t *asked; /* as the caller gave them */
    struct gpu_event *events;
    uint32_t count;
    void *commands;
    uint64_t *result;
    aqlprofile_memory_dealloc_callback_t dealloc;
    void *userdata;
};

EXPORT hsa_status_t aqlprofile_get_version(aqlprofile_version_t *version)
{
    if (!version)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    *version = (aqlprofile_version_t){AQLPROFILE_VERSION_MAJOR, AQLPROFILE_VERSION_MINOR,
                                      AQLPROFILE_VERSION_PATCH};
    return HSA_STATUS_SUCCESS;
}

static struct gpu_event event_of(const struct gpu_target *target,
                                 const aqlprofile_pmc_event_t *event)
{
    static const enum gpu_accumulate accumulate[8] = {GPU_ACCUMULATE_NONE, GPU_ACCUMULATE_LOW_RES,
                                                      GPU_ACCUMULATE_HIGH_RES};
    return (struct gpu_event){.block = gpu_block_by_id(target, event->block_name),
                              .instance = event->block_index,
                              .event = event->event_id,
                              .accumulate = accumulate[event->flags.sq_flags.accum]};
}

EXPORT hsa_status_t aqlprofile_validate_pmc_event(aqlprofile_agent_handle_t agent,
                                                  const aqlprofile_pmc_event_t *event, bool *result)
{
    struct gpu_target target;
    if (!event || !result)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument");
    *result = false;
    if (aqlprofile_target_of_handle(agent, &target))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    struct gpu_event e = event_of(&target, event);
    *result = gpu_event_check(&target, &e) == GPU_PMC_OK;
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t aqlprofile_get_pmc_info(const aqlprofile_pmc_profile_t *profile,
                                            aqlprofile_pmc_info_type_t attribute, void *value)
{
    struct gpu_target target;
    const struct gpu_block *block = NULL;
    hsa_ven_amd_aqlprofile_id_query_t *query = value;
    if (!profile || !value)
        return aqlprofile_fail(HSA_STATUS_ERROR, "NULL argument");
    if (attribute != AQLPROFILE_INFO_BLOCK_ID && attribute != AQLPROFILE_INFO_BLOCK_COUNTERS)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "unknown attribute %u",
                               (unsigned)attribute);
    if (aqlprofile_target_of_handle(profile->agent, &target))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (attribute == AQLPROFILE_INFO_BLOCK_ID && query->name)
        block = gpu_block_by_name(&target, query->name);
    if (attribute == AQLPROFILE_INFO_BLOCK_COUNTERS && profile->events && profile->event_count)
        block = gpu_block_by_id(&target, profile->events[0].block_name);
    if (!block)
        return aqlprofile_fail(HSA_STATUS_ERROR, "the GPU has no such block");
    if (attribute == AQLPROFILE_INFO_BLOCK_COUNTERS) {
        *(uint32_t *)value = block->counters;
        return HSA_STATUS_SUCCESS;
    }
    query->id = block->id;
    query->instance_count = gpu_block_instances(&target, block);
    return HSA_STATUS_SUCCESS;
}

static void collection_free(struct collection *c)
{
    if (c->commands)
        c->dealloc(c->commands, c->userdata);
    if (c->result)
        c->dealloc(c->result, c->userdata);
    free(c->asked);
    free(c->events);
    free(c);
}

static hsa_status_t events_take(struct collection *c, const aqlprofile_pmc_profile_t *profile)
{
    c->count = profile->event_count;
    c->asked = calloc(c->count + 1u, sizeof *c->asked);
    c->events = calloc(c->count + 1u, sizeof *c->events);
    if (!c->asked || !c->events)
        return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
    for (uint32_t i = 0; i < c->count; i++) {
        c->asked[i] = profile->events[i];
        c->events[i] = event_of(&c->target, &profile->events[i]);
        if (profile->events[i].flags.raw && c->events[i].block &&
            !(c->events[i].block->flags & BLOCK_SQ))
            return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                                   "only SQ events can be accumulated");
    }
    enum gpu_pmc_status status = gpu_pmc_assign(&c->target, c->events, c->count);
    if (status != GPU_PMC_OK)
        return aqlprofile_fail(HSA_STATUS_ERROR, "%s", gpu_pmc_status_text(status));
    return HSA_STATUS_SUCCESS;
}

static void packet_set(hsa_ext_amd_aql_pm4_packet_t *packet, const char *commands, uint32_t dwords)
{
    struct aql_pm4_packet filled;
    aql_pm4_packet_fill(&filled, (uint64_t)(uintptr_t)commands, dwords);
    memcpy(packet, &filled, sizeof *packet);
}

enum { STREAM_COUNT = 3, STREAM_ALIGNMENT = 256 };

static hsa_status_t commands_write(struct collection *c, aqlprofile_pmc_aql_packets_t *packets,
                                   aqlprofile_memory_alloc_callback_t alloc,
                                   aqlprofile_memory_copy_t copy)
{
    struct pm4_stream streams[STREAM_COUNT] = {{0}};
    hsa_ext_amd_aql_pm4_packet_t *const to[STREAM_COUNT] = {
        &packets->read_packet, &packets->start_packet, &packets->stop_packet};
    aqlprofile_buffer_desc_flags_t flags = {.raw = 0};
    uint32_t offset[STREAM_COUNT], bytes = 0;
    hsa_status_t status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    gpu_pmc_read(&streams[0], &c->target, c->events, c->count, (uint64_t)(uintptr_t)c->result);
    gpu_pmc_start(&streams[1], &c->target, c->events, c->count);
    gpu_pmc_stop(&streams[2], &c->target, c->events, c->count);
    for (int i = 0; i < STREAM_COUNT; i++) {
        offset[i] = bytes;
        bytes += (streams[i].count * 4 + STREAM_ALIGNMENT - 1) & ~(STREAM_ALIGNMENT - 1u);
    }
    if (streams[0].out_of_memory || streams[1].out_of_memory || streams[2].out_of_memory)
        goto out;
    flags.host_access = flags.device_access = 1;
    flags.memory_hint = AQLPROFILE_MEMORY_HINT_DEVICE_NONCOHERENT;
    status = alloc(&c->commands, bytes, flags, c->userdata);
    if (status == HSA_STATUS_SUCCESS && !c->commands)
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (int i = 0; i < STREAM_COUNT && status == HSA_STATUS_SUCCESS; i++) {
        char *at = (char *)c->commands + offset[i];
        status = copy(at, streams[i].dwords, streams[i].count * 4, c->userdata);
        packet_set(to[i], at, streams[i].count);
    }
out:
    for (int i = 0; i < STREAM_COUNT; i++)
        pm4_stream_free(&streams[i]);
    return status;
}

static hsa_status_t result_allocate(struct collection *c, aqlprofile_memory_alloc_callback_t alloc)
{
    aqlprofile_buffer_desc_flags_t flags = {.raw = 0};
    void *memory = NULL;
    flags.host_access = flags.device_access = 1;
    flags.memory_hint = AQLPROFILE_MEMORY_HINT_DEVICE_UNCACHED;
    hsa_status_t status = alloc(&memory, gpu_pmc_result_bytes(&c->target, c->events, c->count) + 8,
                                flags, c->userdata);
    c->result = memory;
    if (status == HSA_STATUS_SUCCESS && !memory)
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    return status;
}

EXPORT hsa_status_t aqlprofile_pmc_create_packets(aqlprofile_handle_t *handle,
                                                  aqlprofile_pmc_aql_packets_t *packets,
                                                  aqlprofile_pmc_profile_t profile,
                                                  aqlprofile_memory_alloc_callback_t alloc_cb,
                                                  aqlprofile_memory_dealloc_callback_t dealloc_cb,
                                                  aqlprofile_memory_copy_t memcpy_cb,
                                                  void *userdata)
{
    if (!handle || !packets || !alloc_cb || !dealloc_cb || !memcpy_cb || !profile.events ||
        !profile.event_count || profile.event_count > EVENTS_MAX)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "NULL argument, or %u events",
                               profile.event_count);
    struct collection *c = calloc(1, sizeof *c);
    if (!c)
        return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
    c->dealloc = dealloc_cb;
    c->userdata = userdata;
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_AGENT;
    memset(packets, 0, sizeof *packets);
    if (aqlprofile_target_of_handle(profile.agent, &c->target) == 0)
        status = events_take(c, &profile);
    if (status == HSA_STATUS_SUCCESS)
        status = result_allocate(c, alloc_cb);
    if (status == HSA_STATUS_SUCCESS)
        status = commands_write(c, packets, alloc_cb, memcpy_cb);
    if (status != HSA_STATUS_SUCCESS) {
        collection_free(c);
        return status;
    }
    *handle = handle_publish(&c->entry, HANDLE_COUNTERS);
    return HSA_STATUS_SUCCESS;
}

EXPORT void aqlprofile_pmc_delete_packets(aqlprofile_handle_t handle)
{
    struct collection *c = handle_take(handle, HANDLE_COUNTERS);
    if (c)
        collection_free(c);
}

/* A sample's number counts dies, then instances, then the places where a block is sampled (struct
 * gpu_grid), the last fastest. */
EXPORT hsa_status_t aqlprofile_pmc_iterate_data(aqlprofile_handle_t handle,
                                                aqlprofile_pmc_data_callback_t callback,
                                                void *userdata)
{
    const struct collection *c = handle_find(handle, HANDLE_COUNTERS);
    if (!c || !callback)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "unknown handle or no callback");
    for (uint32_t die = 0; die < c->target.geometry.xcc_count; die++) {
        for (uint32_t i = 0; i < c->count; i++) {
            const struct gpu_block *block = c->events[i].block;
            uint32_t samples = gpu_block_samples(&c->target, block);
            uint64_t instances = gpu_block_instances(&c->target, block);
            if (die >= gpu_block_dies(&c->target, block))
                continue;
            for (uint32_t k = 0; k < samples; k++) {
                uint64_t id = (die * instances + c->events[i].instance) * samples + k;
                uint32_t at = gpu_pmc_result_index(&c->target, c->events, c->count, i, die, k);
                hsa_status_t status = callback(c->asked[i], id, c->result[at], userdata);
                if (status == HSA_STATUS_INFO_BREAK)
                    return HSA_STATUS_SUCCESS;
                if (status != HSA_STATUS_SUCCESS)
                    return status;
            }
        }
    }
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t aqlprofile_iterate_event_coord(aqlprofile_agent_handle_t agent,
                                                   aqlprofile_pmc_event_t event, uint64_t sample_id,
                                                   aqlprofile_coordinate_callback_t callback,
                                                   void *userdata)
{
    struct gpu_target target;
    struct coordinate coordinates[COORDINATES_MAX];
    if (!callback)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no callback");
    if (aqlprofile_target_of_handle(agent, &target))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    const struct gpu_block *block = gpu_block_by_id(&target, event.block_name);
    if (!block)
        return aqlprofile_fail(HSA_STATUS_ERROR, "the GPU has no such block");
    uint64_t samples = gpu_block_samples(&target, block);
    uint64_t instances = gpu_block_instances(&target, block);
    uint64_t die = sample_id / samples / instances;
    if (die >= gpu_block_dies(&target, block))
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_INDEX, "sample %llu does not exist",
                               (unsigned long long)sample_id);
    int count =
        coordinates_of(&target, block, (uint32_t)die, (uint32_t)(sample_id / samples % instances),
                       (uint32_t)(sample_id % samples), coordinates);
    return coordinates_report(coordinates, count, callback, userdata);
}
