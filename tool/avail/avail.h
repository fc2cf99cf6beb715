/* The agents of the machine and the counters of each, as the library has them. */
#ifndef AVAIL_AVAIL_H
#define AVAIL_AVAIL_H

#include <rocprofiler-sdk/rocprofiler.h>

#include <stdbool.h>
#include <stddef.h>

enum { AVAIL_AGENTS_MAX = 256 };

struct avail_agent {
    const rocprofiler_agent_v0_t *agent;
    rocprofiler_counter_info_v1_t *counters;
    size_t count;
};

struct avail {
    struct avail_agent agents[AVAIL_AGENTS_MAX];
    unsigned count;
};

/* Texts and dimensions are the library's and live as long as it. A GPU whose counters are not known
 * has none. */
rocprofiler_status_t avail_read(struct avail *avail);
void avail_free(struct avail *avail);

static inline bool avail_is_gpu(const struct avail_agent *agent)
{
    return agent->agent->type == ROCPROFILER_AGENT_TYPE_GPU;
}

/* NULL when no agent, or no counter of any agent, has that handle. */
const struct avail_agent *avail_agent_find(const struct avail *avail, uint64_t handle);
const rocprofiler_counter_info_v1_t *avail_counter_find(const struct avail *avail, uint64_t handle);

/* In any case; NULL when the agent has no such counter. */
const rocprofiler_counter_info_v1_t *avail_counter_named(const struct avail_agent *agent,
                                                         const char *name);

#endif
