/* What both interfaces of libhsa-amd-aqlprofile64 share; private to this folder. */
#ifndef API_AQLPROFILE_INTERNAL_H
#define API_AQLPROFILE_INTERNAL_H

#include <aqlprofile-sdk/aql_profile_v2.h>

#include "gpu/aql/vendor.h"
#include "gpu/pmc.h"

#define EXPORT __attribute__((visibility("default")))

/* The header declares these two without a prototype. */
EXPORT uint32_t hsa_ven_amd_aqlprofile_version_major(void);
EXPORT uint32_t hsa_ven_amd_aqlprofile_version_minor(void);

/* Functions and types of the first interface that ROCm 5.2's header does not have yet. */
typedef hsa_status_t (*eventname_callback_t)(int id, const char *name);
typedef uint32_t att_marker_channel_t;
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_ids(eventname_callback_t callback);
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_coord(
    hsa_agent_t agent, hsa_ven_amd_aqlprofile_event_t event, uint32_t sample_id,
    aqlprofile_coordinate_callback_t callback, void *userdata);
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_att_marker(hsa_ven_amd_aqlprofile_profile_t *profile,
                                                      hsa_ext_amd_aql_pm4_packet_t *packet,
                                                      uint32_t data, att_marker_channel_t channel);

/* A profile may hold so many events: more than any GPU has counters. */
enum { EVENTS_MAX = 1 << 16 };

/* Remembers the message for error_string() of this thread and returns the status. */
__attribute__((format(printf, 2, 3))) hsa_status_t aqlprofile_fail(hsa_status_t status,
                                                                   const char *format, ...);
const char *aqlprofile_last_error(void);

/* ---- agents.c: 0, or -1 with the error set */
int aqlprofile_target_of_hsa(hsa_agent_t agent, struct gpu_target *target);
int aqlprofile_target_of_handle(aqlprofile_agent_handle_t agent, struct gpu_target *target);
/* Frequency of the agent's timestamps as a trace's 20 bits hold it; 0: not known. */
uint32_t aqlprofile_clock_khz(hsa_agent_t agent);

/* ---- coordinates.c: the dimensions of a block's samples */
enum {
    COORDINATE_XCD,
    COORDINATE_AID,
    COORDINATE_SE,
    COORDINATE_SA,
    COORDINATE_WGP,
    COORDINATE_INSTANCE,
    COORDINATE_KINDS
};
const char *coordinate_name(int id);
struct coordinate {
    int id, extent, value;
};
enum { COORDINATES_MAX = 5 };
/* Coordinates of a sample of the block's grid; returns how many. */
int coordinates_of(const struct gpu_target *target, const struct gpu_block *block, uint32_t die,
                   uint32_t instance, uint32_t sample,
                   struct coordinate coordinates[COORDINATES_MAX]);
/* Calls back for each. A status other than success ends the iteration and is returned;
 * INFO_BREAK ends it with success. */
hsa_status_t coordinates_report(const struct coordinate *coordinates, int count,
                                aqlprofile_coordinate_callback_t callback, void *userdata);

#endif
