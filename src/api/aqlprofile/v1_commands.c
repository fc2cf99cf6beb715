#include "api/aqlprofile/v1_commands.h"

#include <string.h>

enum { SECTION_ALIGNMENT = 256, BUFFER_ALIGNMENT = 4096 };
static const uint64_t COMMAND_MAGIC = 0x32434d50434f5243; /* "CROCPMC2" */

static uint32_t aligned(uint32_t bytes, uint32_t alignment)
{
    return (bytes + alignment - 1) & ~(alignment - 1);
}

uint32_t v1_commands_layout(const struct pm4_stream streams[SECTION_COUNT],
                            hsa_ven_amd_aqlprofile_event_type_t type, uint32_t state_bytes,
                            struct v1_commands *header)
{
    uint32_t offset = V1_STATE_OFFSET + aligned(state_bytes, SECTION_ALIGNMENT);
    *header = (struct v1_commands){.magic = COMMAND_MAGIC, .type = type};
    for (int i = 0; i < SECTION_COUNT; i++) {
        header->offset[i] = offset;
        header->dwords[i] = streams[i].count;
        offset += aligned(streams[i].count * 4, SECTION_ALIGNMENT);
    }
    return aligned(offset, BUFFER_ALIGNMENT);
}

void v1_commands_write(void *commands, const struct v1_commands *header,
                       const struct pm4_stream streams[SECTION_COUNT])
{
    memcpy(commands, header, sizeof *header);
    for (int i = 0; i < SECTION_COUNT; i++)
        memcpy((char *)commands + header->offset[i], streams[i].dwords, streams[i].count * 4);
}

hsa_status_t v1_size_check(const void *buffer, uint32_t needed, uint32_t *size, const char *what)
{
    if (*size >= needed)
        return HSA_STATUS_SUCCESS;
    *size = needed;
    if (!buffer)
        return HSA_STATUS_SUCCESS;
    return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "the %s buffer needs %u bytes", what,
                           needed);
}

hsa_status_t v1_commands_read(const profile_t *profile, hsa_ven_amd_aqlprofile_event_type_t type,
                              struct v1_commands *header)
{
    if (!profile || !profile->command_buffer.ptr || profile->command_buffer.size < sizeof *header)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no command buffer");
    memcpy(header, profile->command_buffer.ptr, sizeof *header);
    if (header->magic != COMMAND_MAGIC || header->type != type)
        return aqlprofile_fail(HSA_STATUS_ERROR, "the profile was not started");
    return HSA_STATUS_SUCCESS;
}

void v1_packet_set(packet_t *packet, const void *commands, uint32_t dwords)
{
    struct aql_pm4_packet filled;
    aql_pm4_packet_fill(&filled, (uint64_t)(uintptr_t)commands, dwords);
    filled.header = packet->header;
    filled.completion_signal = packet->completion_signal.handle;
    memcpy(packet, &filled, sizeof *packet);
}
