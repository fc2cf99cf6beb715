/*
 * A plain queue of ours on each device, on which the passes of a replayed kernel run: the runtime's
 * interceptor, inside of which the loop is, allows the program's own queue one write only (ROCr
 * 5.2). One kernel at a time, by whoever has closed the device's gate (replay_gate.h).
 *
 * Internal to this folder.
 */
#ifndef INTERCEPT_HSA_REPLAY_QUEUE_H
#define INTERCEPT_HSA_REPLAY_QUEUE_H

#include "intercept/hsa/agents.h"
#include "intercept/hsa/packet.h"
#include "model/trace.h"

struct dispatch_queue;
struct replay_queue;

/* NULL: there is none, or it failed. */
struct replay_queue *replay_queue_open(const struct hsa_agent_entry *agent);

/* The kernel with what counting puts around it, for `program`, whose errors they are. */
void replay_queue_run(struct replay_queue *queue, const hsa_kernel_dispatch_packet_t *kernel,
                      const struct trace_packets *packets, struct dispatch_queue *program);

enum replay_end { REPLAY_ENDED, REPLAY_LATE, REPLAY_FAILED };
enum replay_end replay_queue_wait(const struct replay_queue *queue, uint64_t limit_ns);

/* What the kernel that ran last leaves in its signal; counting may go on behind its end. */
const amd_signal_t *replay_queue_times(const struct replay_queue *queue);
/* A barrier that waits for it and what counting put behind it. */
void replay_queue_barrier(const struct replay_queue *queue, hsa_barrier_and_packet_t *barrier);

/* The runtime goes, while it still answers, or has gone. */
void replay_queues_end(const struct hsa_instance *runtime, bool answers);

#endif
