/*
 * Kernels that are executed several times, because a tool asked for it (decision 0024): the loop
 * over passes, on the launching thread, in the interceptor. All passes run on a queue of ours;
 * exactly one of them, the last, is the kernel that the program launched.
 *
 * Internal to this folder.
 */
#ifndef INTERCEPT_HSA_REPLAY_H
#define INTERCEPT_HSA_REPLAY_H

#include "intercept/hsa/dispatch_state.h"
#include "intercept/hsa/packet.h"

struct replay_queue;

/* The launching thread, with the dispatch described and its ENTER callbacks done. False: nothing
 * was run, the kernel is launched as any other, between the two calls below. True: it has run, or
 * still runs, and counting was begun for that pass; `barrier` is to be written in the kernel's
 * place, and ends the dispatch. */
bool replay_run(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *kernel,
                hsa_barrier_and_packet_t *barrier);

/* Around the writing and posting of a kernel that is not repeated. The first one's result, false
 * where nothing is watched, is for the second. */
bool replay_launch_begin(struct dispatch *dispatch);
void replay_launch_end(const struct dispatch_queue *queue, bool has_begun);

/* The completion thread, first and last of all: what replay_run or replay_launch_begin began. */
void replay_times_take(struct dispatch *dispatch);
void replay_kernel_ended(struct dispatch *dispatch);

#endif
