/*
 * What the command processor's tests stand on: one device whose wave engine and driver are doubles,
 * and an arena of guest memory that lies at another address than in the host, so that a forgotten
 * translation crashes.
 */
#ifndef CP_TEST_GPU_DOUBLE_H
#define CP_TEST_GPU_DOUBLE_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

#include "cp/cp.h"
#include "cp/internal.h"

enum {
    DOUBLE_ARENA_BYTES = 64 << 20,
    DOUBLE_GPU_ID = 77,
    DOUBLE_DISPATCHES_MAX = 4096,
    DOUBLE_EVENTS = 1024
};
enum {
    DOUBLE_QUEUE_BYTES = sizeof(amd_queue_t) + 128 * 16
}; /* the second version of amd_queue_t */

struct double_dispatch {
    struct dispatch_request request;
    bool finished;
};

struct gpu_double {
    struct cp *cp;
    struct cp_device *device;
    struct vm *vm;
    uint8_t *arena;
    uint64_t used_bytes;
    atomic_bool waiters_called;     /* what waiters_called answers */
    _Atomic uint64_t waiters_asked; /* how often it was */
    _Atomic uint64_t sleep_ns;      /* what doorbell_arm answers */

    pthread_mutex_t lock; /* all below: written by the CP thread through the doubles */
    bool hold;            /* dispatches end only by double_finish() */
    int submit_status;
    uint32_t dispatch_count;
    struct double_dispatch dispatch[DOUBLE_DISPATCHES_MAX];
    uint32_t aborted_queue;
    bool is_late; /* a dispatch without times has ended, and engine_settle() was not called since */
    uint32_t invalidations, invalidated_late; /* of code; while a dispatch was late */
    uint32_t events[DOUBLE_EVENTS];
    uint32_t faults;
    uint64_t fault_va;
    uint32_t fault_access;
    uint64_t exception_area; /* of queues that are made from now on */
    uint64_t exceptions;     /* told for such queues */
};

struct double_queue {
    struct gpu_double *gpu;
    struct cp_queue_config config;
    uint64_t amd_queue_va;
    amd_queue_t *amd_queue;
    uint64_t doorbell;
    uint8_t *ring;
    uint64_t *read_pointer, *write_pointer; /* SDMA */
    hsa_signal_t inactive;
};

extern const uint64_t double_arena_va;

struct gpu_double *double_create(void); /* a gfx90a */
struct gpu_double *double_create_as(const char *model);
void double_destroy(struct gpu_double *gpu);
uint64_t double_alloc(struct gpu_double *gpu,
                      uint64_t size_bytes); /* guest address, 64-byte aligned, zeroed */
void *double_host(struct gpu_double *gpu, uint64_t va);
hsa_signal_t double_signal(struct gpu_double *gpu, int64_t value, uint32_t event_id);
amd_signal_t *double_signal_host(struct gpu_double *gpu, hsa_signal_t signal);
int64_t double_signal_value(struct gpu_double *gpu, hsa_signal_t signal);
void double_signal_set(struct gpu_double *gpu, hsa_signal_t signal, int64_t value);

/* Polls for up to five seconds. */
#define double_wait(condition)                                                                     \
    ({                                                                                             \
        bool met_ = false;                                                                         \
        for (int i_ = 0; i_ < 100000 && !(met_ = (condition)); i_++)                               \
            double_pause();                                                                        \
        met_;                                                                                      \
    })
void double_pause(void);
/* Long enough for the CP to have looked several times. */
void double_settle(void);

void double_hold(struct gpu_double *gpu, bool hold);
uint32_t double_dispatch_count(struct gpu_double *gpu);
uint32_t double_event_count(struct gpu_double *gpu, uint32_t event_id);
uint32_t double_fault_count(struct gpu_double *gpu);
void double_finish(struct gpu_double *gpu, uint32_t index, const struct dispatch_result *result);

struct double_queue *double_aql_create(struct gpu_double *gpu, uint32_t queue_id, uint32_t packets);
struct double_queue *double_sdma_create(struct gpu_double *gpu, uint32_t queue_id,
                                        uint32_t ring_bytes);
void double_queue_destroy(struct double_queue *queue);
uint64_t double_read_index(struct double_queue *queue);
/* The host's protocol: take an index, write the body, then the header, then the doorbell. */
uint64_t double_reserve(struct double_queue *queue);
void double_publish(struct double_queue *queue, uint64_t index, const void *packet);
uint64_t double_push(struct double_queue *queue, const void *packet);

hsa_kernel_dispatch_packet_t double_kernel(bool barrier, hsa_signal_t completion);
/* A vendor packet that runs dwords of PM4. */
uint64_t double_push_pm4(struct double_queue *queue, const uint32_t *words, uint32_t dwords,
                         hsa_signal_t completion);

#endif
