/* The first interface's command buffer, which is the caller's memory: a header of ours that says
 * where the streams lie, room for what the kind of profile keeps there, then the streams. */
#ifndef AQLPROFILE_V1_COMMANDS_H
#define AQLPROFILE_V1_COMMANDS_H

#include "api/aqlprofile/internal.h"

typedef hsa_ven_amd_aqlprofile_profile_t profile_t;
typedef hsa_ext_amd_aql_pm4_packet_t packet_t;

enum v1_section { SECTION_START, SECTION_READ, SECTION_STOP, SECTION_COUNT };
enum { V1_STATE_OFFSET = 256 }; /* of what the profile keeps, from the buffer's begin */

struct v1_commands {
    uint64_t magic;
    hsa_ven_amd_aqlprofile_event_type_t type;
    uint32_t offset[SECTION_COUNT], dwords[SECTION_COUNT];
};
_Static_assert(sizeof(struct v1_commands) <= V1_STATE_OFFSET, "the header's room");

/* The layout for streams behind `state_bytes` of state; returns the buffer's size. */
uint32_t v1_commands_layout(const struct pm4_stream streams[SECTION_COUNT],
                            hsa_ven_amd_aqlprofile_event_type_t type, uint32_t state_bytes,
                            struct v1_commands *header);
/* Header and streams, into memory of the size that v1_commands_layout() said. */
void v1_commands_write(void *commands, const struct v1_commands *header,
                       const struct pm4_stream streams[SECTION_COUNT]);

/* Grows *size to `needed`. It is an error when there is a buffer and it is too small. */
hsa_status_t v1_size_check(const void *buffer, uint32_t needed, uint32_t *size, const char *what);

/* The header that start() wrote for a profile of this type. */
hsa_status_t v1_commands_read(const profile_t *profile, hsa_ven_amd_aqlprofile_event_type_t type,
                              struct v1_commands *header);

/* Sets the packet's format and commands; its header and signal stay the caller's. */
void v1_packet_set(packet_t *packet, const void *commands, uint32_t dwords);

/* ---- v1_trace.c: profiles of type TRACE */
hsa_status_t v1_trace_start(profile_t *profile, packet_t *packet);
hsa_status_t v1_trace_iterate(const profile_t *profile,
                              hsa_ven_amd_aqlprofile_data_callback_t callback, void *data);
/* The trace of the shader engine that value->sample_id names. */
hsa_status_t v1_trace_data(const profile_t *profile, hsa_ven_amd_aqlprofile_info_data_t *value);

#endif
