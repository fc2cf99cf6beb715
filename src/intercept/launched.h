/*
 * What a launch of many kernels has submitted: the HIP side opens it on the launching thread, the
 * HSA side notes what comes through queues there. Internal to intercept; neither room knows the
 * other.
 */
#ifndef INTERCEPT_LAUNCHED_H
#define INTERCEPT_LAUNCHED_H

#include <rocprofiler-sdk/fwd.h>
#include <stdbool.h>
#include <stdint.h>

struct launched {
    uint64_t kernels;
    rocprofiler_agent_id_t agent; /* of the first of them; 0: there was none */
    bool open;
};

/* By value: a launch that is left by an exception leaves no pointer into a stack that is gone. */
extern __thread struct launched launched_here
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A launch begins; returns what was open around it, for launched_end. */
static inline struct launched launched_begin(void)
{
    const struct launched outer = launched_here;
    launched_here = (struct launched){.open = true};
    return outer;
}

static inline struct launched launched_end(struct launched outer)
{
    const struct launched ended = launched_here;
    launched_here = outer;
    return ended;
}

static inline bool launched_is_open(void)
{
    return launched_here.open;
}

static inline void launched_note(uint64_t kernels, rocprofiler_agent_id_t agent)
{
    if (kernels != 0 && launched_here.kernels == 0)
        launched_here.agent = agent;
    launched_here.kernels += kernels;
}

#endif
