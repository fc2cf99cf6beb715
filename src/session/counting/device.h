/*
 * Counting on whole devices: from the start of a context to its stop, read when the tool asks.
 * Private to device.c (life), reading.c (values) and trace.c (traces).
 *
 * The counters run by themselves; a reading is one packet in a queue of ours (model/counting.h),
 * so it works whatever the program's queues do. A context started before there is a runtime begins
 * to count when one arrives.
 */
#ifndef SESSION_COUNTING_DEVICE_H
#define SESSION_COUNTING_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include "model/counting.h"
#include "session/counting/config.h"

#define PACKET_LIMIT_NS 10000000000ull /* a device that does not answer for so long is hung */

/* RUNNING <-> BUSY: whoever made it BUSY has the devices to itself. A start is STARTING while it
 * asks the tool, and BUSY afterwards. */
enum service_state { SERVICE_STOPPED, SERVICE_STARTING, SERVICE_RUNNING, SERVICE_BUSY };

struct counted_device {
    struct counted_device *next;
    rocprofiler_agent_id_t agent;
    struct tracebuf *buffer; /* NULL: readings go to the caller only */
    rocprofiler_device_counting_service_cb_t callback;
    void *callback_data;
    struct counting_config *config; /* of this start, with a reference; NULL: not chosen */
    struct counting_slot *power;    /* not NULL: the counters run */
    /* During one reading. */
    struct counting_slot *slot;
    struct counting_flight *flight, *look; /* of the counters, of the trace */
    uint32_t count;
};

/* One context's service; lives as long as the process, since a reading may race with the end. */
struct device_service {
    struct device_service *next;
    rocprofiler_context_id_t context;
    struct counted_device *devices; /* grows only while STOPPED, under `lock` */
    pthread_mutex_t lock;           /* state, and config while STARTING; a leaf */
    pthread_cond_t changed;
    enum service_state state;
    /* While its context starts or stops: the thread that does that. Under `lock`, too. */
    bool is_moving;
    pthread_t mover;
};

void device_state_set(struct device_service *service, enum service_state state);
/* RUNNING -> BUSY. False at once when it is anything else, but for BUSY if `wait`. */
bool device_busy_enter(struct device_service *service, bool wait);

/* NULL: no runtime. */
const struct counting_queue_ops *device_queues(void);

static inline bool device_has_hardware(const struct counted_device *device)
{
    return device->config && counting_slot_kind_programs(device->config, COUNTING_SLOT_SWITCH);
}

static inline bool device_has_counters(const struct counted_device *device)
{
    return device->config && device->config->plan_count > 0;
}

#endif
