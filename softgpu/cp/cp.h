/*
 * The command processor: one host thread per process that watches all queues of all devices,
 * executes AQL, PM4 and SDMA packets, and lends itself to the wave engine when it has nothing
 * else to do. The driver creates queues and kicks it.
 */
#ifndef CP_CP_H
#define CP_CP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/unit_mask.h"
#include "mem/vm.h"

/* Where a kernel's modelled cycles lie in its completion signal: in the words that amd_signal_t
 * reserves. The topology says so (measurement_quality). */
enum { SIGNAL_CYCLES_OFFSET = 56 };

struct cp;        /* the process's command processor */
struct cp_device; /* per GPU: engine, register file, vm */

enum cp_queue_type { CP_QUEUE_AQL, CP_QUEUE_SDMA, CP_QUEUE_PM4 };

/* What the command processor needs from the driver; implemented there, called from CP and pool
 * threads with no lock held. */
struct cp_driver_ops {
    void (*event_raise)(void *driver, uint32_t event_id);
    /* A thread that an event woke has not run since: perhaps it waits for this one's processor. */
    bool (*waiters_called)(void *driver);
    /* Ends in the runtime's own "Memory access fault by GPU" report. */
    void (*memory_fault)(void *driver, uint32_t gpu_id, uint64_t va, uint32_t access);
    /* A queue stops. False: that runtime wants to be told by the queue's own signal. */
    bool (*queue_exceptions)(void *driver, uint64_t area_va, uint64_t exceptions);
    /* Called by the CP thread before it sleeps. From now on a store to a doorbell page must lead
     * to cp_kick(); the CP looks at the rings once more after this call, so no store between the
     * two is lost, then sleeps on its own futex until a kick. Returns how long it may sleep in ns:
     * UINT64_MAX when every doorbell store will be noticed, less when the driver wants to be asked
     * again (it keeps the page unprotected for a while), 0 when it cannot notice stores at all:
     * the CP then polls adaptively, 50 us to 4 ms. Arming twice is harmless. */
    uint64_t (*doorbell_arm)(void *driver);
};

struct cp_queue_config {
    enum cp_queue_type type;
    uint32_t queue_id, gpu_id;
    uint64_t ring_va, ring_bytes;
    uint64_t read_pointer_va, write_pointer_va; /* AQL: inside amd_queue_t */
    volatile uint64_t *doorbell;                /* host address of the doorbell slot */
    uint32_t percent;                           /* 0: stopped */
    uint32_t sdma_engine;
    uint64_t exception_area_va; /* where the runtime asked to be told of errors; 0: it did not */
    bool gws;                   /* its kernels may use global wave sync */
    struct unit_mask units;     /* compute units for its kernels */
};

int cp_create(const struct cp_driver_ops *ops, void *driver, struct cp **cp);
void cp_destroy(struct cp *cp);
int cp_device_create(struct cp *cp, uint32_t gpu_id, const struct gpu_model *model, struct vm *vm,
                     struct cp_device **device);
void cp_device_destroy(struct cp_device *device);

int cp_queue_create(struct cp_device *device, const struct cp_queue_config *config);
/* Both return when the CP and the wave engine have left the queue. */
int cp_queue_update(struct cp_device *device, const struct cp_queue_config *config);
int cp_queue_destroy(struct cp_device *device, uint32_t queue_id);

/* Any thread: whether kernels are on the engine at this moment. A hint. */
bool cp_device_busy(const struct cp_device *device);

void cp_kick(struct cp *cp); /* any thread: look at the queues now */
void cp_after_fork_child(struct cp *cp);

#endif
