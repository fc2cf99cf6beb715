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
    const struct hsa_agent_entry *agent;
    hsa_queue_t *queue;
    uint64_t id;
    /* Records ready for use. The submitting thread owns `ready` (the runtime serialises a queue's
     * submissions), the completion thread pushes to `returned` (release), the submitter takes all
     * of it (acquire). */
    struct dispatch *ready;
    _Atomic(struct dispatch *) returned;
    struct dispatch_block *blocks; /* all memory, freed with the queue */
    struct ring_guard guard;       /* the submitting thread's */
    _Atomic uint64_t lost;         /* dispatches passed on untraced: no memory */
    /* The program's own error callback. */
    void (*error_callback)(hsa_status_t status, hsa_queue_t *source, void *data);
    void *error_data;
    struct dispatch_queue *next; /* list of live queues, queues.c */
};

/* The interceptor that the runtime calls for each doorbell ring, packets in queue order. */
void dispatch_packets_submit(const void *packets, uint64_t count, uint64_t first_index, void *queue,
                             void (*writer)(const void *packets, uint64_t count));

/* Frees the records; the lane must be empty. */
void dispatch_queue_free(struct dispatch_queue *queue);

#endif
