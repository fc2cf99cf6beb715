/*
 * The agents of this machine, from the KFD topology in sysfs. Read once; everything in the result
 * is immutable and lives until topology_free.
 */
#ifndef TOPOLOGY_TOPOLOGY_H
#define TOPOLOGY_TOPOLOGY_H

#include <rocprofiler-sdk/agent.h>
#include <stdint.h>

enum topology_status {
    TOPOLOGY_OK,
    TOPOLOGY_NONE, /* the kernel publishes no topology: no AMD GPU driver */
    TOPOLOGY_NO_MEMORY,
};

struct topology {
    const rocprofiler_agent_v0_t **agents; /* in node order */
    uint32_t agent_count;
};

/* `root` is put before every path ("" or NULL: the running system). Nodes whose properties cannot
 * be read (a container that shows only some GPUs) are left out; a missing or malformed number is 0.
 * On any other status than TOPOLOGY_OK `topology` is empty. */
enum topology_status topology_read(const char *root, struct topology *topology);
void topology_free(struct topology *topology);

/* The process's one topology of the running system, read at the first call (any thread; never freed
 * or changed). Empty when there is no driver. */
const struct topology *topology_system(void);

/* Returns NULL when there is none. `node_id` is HSA_AMD_AGENT_INFO_DRIVER_NODE_ID. */
const rocprofiler_agent_v0_t *topology_agent_by_node(const struct topology *topology,
                                                     uint32_t node_id);
const rocprofiler_agent_v0_t *topology_agent_by_id(const struct topology *topology,
                                                   rocprofiler_agent_id_t id);

#endif
