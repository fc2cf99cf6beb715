/*
 * Global wave sync: 64 counters of a device by which waves of different work-groups wait for each
 * other (cooperative launches). A resource is a barrier or a semaphore by what is done to it.
 */
#ifndef WAVE_GWS_H
#define WAVE_GWS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "isa/inst.h"

struct gws_resource {
    uint32_t counter;  /* barrier: arrivals still awaited, less one; semaphore: free places */
    uint64_t releases; /* barrier: times it opened; semaphore: times all were let go */
};

struct gws {
    pthread_mutex_t lock; /* held for a few instructions; nothing is called under it */
    struct gws_resource resource[GPU_GWS_COUNT];
};

/* What a wave waits for, while it waits. */
struct gws_wait {
    uint64_t releases; /* what the resource's stood at when the wave came */
    uint8_t resource;
    bool semaphore;
};

void gws_init(struct gws *gws);
void gws_destroy(struct gws *gws);

/* Under the lock inside: whether the wave may go on now. */
bool gws_may_pass(struct gws *gws, const struct gws_wait *wait);

/* NULL: no GWS instruction. */
inst_exec_fn *gws_handler(const struct inst *inst);

#endif
