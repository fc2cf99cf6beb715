/* Kernel dispatches of one intercepted queue: from packet to record. */
#ifndef INTERCEPT_HSA_DISPATCH_H
#define INTERCEPT_HSA_DISPATCH_H

#include <hsa/hsa.h>
#include <stdatomic.h>

#include "intercept/hsa/agents.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/ring_guard.h"
#include "model/trace.h"

struct dispatch;

struct dispatch_queue {
    struct inflight_lane lane; /* first */
    /* Immutable once the queue is reachable. */
    const struct hsa_agent_entry *agent;
    hsa_queue_t *queue;
    uint64_t id;
    hsa_queue_t *shared; /* cooperative: the runtime's own, of which we hold a reference */
    void (*error_callback)(hsa_status_t status, hsa_queue_t *source, void *data); /* program's */
    void *error_data;
    struct dispatch_queue *next; /* list of live queues, queues.c */

    /* The submitting thread's: the runtime serialises a queue's submissions. */
    _Alignas(64) struct dispatch *ready; /* records ready for use */
    struct dispatch_block *blocks;       /* all memory, freed with the queue */
    struct ring_guard guard;
    uint64_t lost; /* dispatches passed on untraced: no memory */
    uint64_t
        owed; /* signals of the program's that we are to complete, ever; `paid`: that are done */

    /* Records on their way back: the completion thread gathers a row's and pushes them (release),
     * the submitter takes all of it (acquire). */
    _Alignas(64) _Atomic(struct dispatch *) returned;
    /* Writer: the completion thread, when it has completed the signal (release). Reader: the
     * submitter (acquire), who leaves the next packet's signal to the device after that. */
    _Atomic uint64_t paid;
    struct dispatch *gathered, *gathered_last; /* completion thread */

    _Alignas(64) struct inflight_ring ring;
};

/* NULL: no memory. Not yet known to the runtime. */
struct dispatch_queue *dispatch_queue_make(const struct hsa_agent_entry *agent);

/* The interceptor that the runtime calls for each doorbell ring, packets in queue order. */
void dispatch_packets_submit(const void *packets, uint64_t count, uint64_t first_index, void *queue,
                             void (*writer)(const void *packets, uint64_t count));

/* As the runtime's own report of an error: nothing in flight will end any more. */
void dispatch_queue_fail(struct dispatch_queue *queue, hsa_status_t status);

/* The queues of a runtime that has gone; queues.c. What was in flight on them has failed. */
void dispatch_queues_abandon(const struct hsa_instance *runtime);

/* Frees the records; the lane must be empty. */
void dispatch_queue_free(struct dispatch_queue *queue);

#endif
