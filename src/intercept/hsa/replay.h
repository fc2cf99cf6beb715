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

/* Around the writing and posting of a kernel that is not repeated, where memory is watched. */
void replay_launch_begin(struct dispatch *dispatch);
void replay_launch_end(const struct dispatch_queue *queue);

/* The completion thread, first and last of all: what replay_run or replay_launch_begin began. A
 * dispatch that neither was called for has nothing to be done. */
void replay_times_copy(struct dispatch *dispatch);
void replay_kernel_leave(struct dispatch *dispatch);

static inline void replay_times_take(struct dispatch *dispatch)
{
    if (dispatch->replay)
        replay_times_copy(dispatch);
}

static inline void replay_kernel_ended(struct dispatch *dispatch)
{
    if (dispatch->replay || dispatch->is_in_flight)
        replay_kernel_leave(dispatch);
}

#endif
