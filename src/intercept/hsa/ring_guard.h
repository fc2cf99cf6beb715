/*
 * Room in the hardware queue behind an intercepted one, for runtimes before ROCm 6.
 *
 * Their intercepted queue puts aside what a full hardware queue does not take, but only for one
 * packet: when one ring of the doorbell covers several, the next one ends the program (assertion
 * "overflow buffer not empty"). So before a packet that is not alone we wait until there is room.
 * How far the device has come is seen by markers: a barrier packet of ours after each eighth of the
 * queue, whose signal tells that everything before it has ended.
 *
 * The submitting thread only; the runtime serialises a queue's submissions.
 */
#ifndef INTERCEPT_HSA_RING_GUARD_H
#define INTERCEPT_HSA_RING_GUARD_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hsa_instance;

enum { RING_MARKERS = 16 };

struct ring_guard {
    uint64_t size;                 /* packets; 0: the runtime needs no guard */
    uint64_t written;              /* packets given to the runtime, ours included */
    uint64_t ended;                /* packets of these that have left the queue for certain */
    uint64_t first, next;          /* markers in flight */
    uint64_t marked[RING_MARKERS]; /* what `written` was when the marker was written */
    const struct hsa_instance *runtime;
    amd_signal_t *signals;
};

/* Leaves size 0 where no guard is needed or can be had. */
void ring_guard_make(struct ring_guard *guard, const struct hsa_instance *runtime,
                     const hsa_queue_t *queue);
void ring_guard_free(struct ring_guard *guard);

/* `packet_index` is the program's. Waits while there may be no room for `count` packets, unless the
 * packet is alone, the queue has `failed`, or nothing moves for ten seconds. */
void ring_guard_wait(struct ring_guard *guard, const hsa_queue_t *queue, uint64_t packet_index,
                     uint32_t count, const _Atomic bool *failed);

/* True: `packet` is a marker to be written now. */
bool ring_guard_mark(struct ring_guard *guard, hsa_barrier_and_packet_t *packet);

#endif
