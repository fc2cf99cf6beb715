/*
 * Test rig of the command processor: one device whose wave engine and driver are doubles, and an
 * arena of guest memory that lies at another address than in the host, so that a forgotten
 * translation crashes.
 */
#ifndef CP_RIG_H
#define CP_RIG_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

#include "cp/cp.h"
#include "cp/internal.h"

enum { RIG_ARENA_BYTES = 64 << 20, RIG_GPU_ID = 77, RIG_DISPATCHES_MAX = 4096, RIG_EVENTS = 64 };
enum { RIG_QUEUE_BYTES = sizeof(amd_queue_t) + 128 * 16 }; /* the second version of amd_queue_t */

struct rig_dispatch {
    struct dispatch_request request;
    bool finished;
};

struct rig {
    struct cp *cp;
    struct cp_device *device;
    struct vm *vm;
    uint8_t *arena;
    uint64_t used_bytes;
    _Atomic uint64_t sleep_ns; /* what doorbell_arm answers */

    pthread_mutex_t lock; /* all below: written by the CP thread through the doubles */
    bool hold;            /* dispatches end only by rig_finish() */
    int submit_status;
    uint32_t dispatch_count;
    struct rig_dispatch dispatch[RIG_DISPATCHES_MAX];
    uint32_t aborted_queue;
    uint32_t events[RIG_EVENTS];
    uint32_t faults;
    uint64_t fault_va;
    uint32_t fault_access;
};

struct rig_queue {
    struct rig *rig;
    struct cp_queue_config config;
    uint64_t amd_queue_va;
    amd_queue_t *amd_queue;
    uint64_t doorbell;
    uint8_t *ring;
    uint64_t *read_pointer, *write_pointer; /* SDMA */
    hsa_signal_t inactive;
};

extern const uint64_t rig_arena_va;

struct rig *rig_create(void); /* a gfx90a */
struct rig *rig_create_as(const char *model);
void rig_destroy(struct rig *rig);
uint64_t rig_alloc(struct rig *rig,
                   uint64_t size_bytes); /* guest address, 64-byte aligned, zeroed */
void *rig_host(struct rig *rig, uint64_t va);
hsa_signal_t rig_signal(struct rig *rig, int64_t value, uint32_t event_id);
amd_signal_t *rig_signal_host(struct rig *rig, hsa_signal_t signal);
int64_t rig_signal_value(struct rig *rig, hsa_signal_t signal);
void rig_signal_set(struct rig *rig, hsa_signal_t signal, int64_t value);

/* Polls for up to five seconds. */
#define rig_wait(condition)                                                                        \
    ({                                                                                             \
        bool met_ = false;                                                                         \
        for (int i_ = 0; i_ < 100000 && !(met_ = (condition)); i_++)                               \
            rig_pause();                                                                           \
        met_;                                                                                      \
    })
void rig_pause(void);
/* Long enough for the CP to have looked several times. */
void rig_settle(void);

void rig_hold(struct rig *rig, bool hold);
uint32_t rig_dispatch_count(struct rig *rig);
uint32_t rig_event_count(struct rig *rig, uint32_t event_id);
uint32_t rig_fault_count(struct rig *rig);
void rig_finish(struct rig *rig, uint32_t index, const struct dispatch_result *result);

struct rig_queue *rig_aql_create(struct rig *rig, uint32_t queue_id, uint32_t packets);
struct rig_queue *rig_sdma_create(struct rig *rig, uint32_t queue_id, uint32_t ring_bytes);
void rig_queue_destroy(struct rig_queue *queue);
uint64_t rig_read_index(struct rig_queue *queue);
/* The host's protocol: take an index, write the body, then the header, then the doorbell. */
uint64_t rig_reserve(struct rig_queue *queue);
void rig_publish(struct rig_queue *queue, uint64_t index, const void *packet);
uint64_t rig_push(struct rig_queue *queue, const void *packet);

hsa_kernel_dispatch_packet_t rig_kernel(bool barrier, hsa_signal_t completion);
/* A vendor packet that runs dwords of PM4. */
uint64_t rig_push_pm4(struct rig_queue *queue, const uint32_t *words, uint32_t dwords,
                      hsa_signal_t completion);

#endif
