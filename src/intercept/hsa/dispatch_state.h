/*
 * One kernel dispatch, and what the parts of dispatch share: dispatch.c (from the program's packet
 * to those in the queue), dispatch_record.c (from its end to callbacks and records),
 * dispatch_pool.c (where dispatches lie in between). Nobody else includes this.
 */
#ifndef INTERCEPT_HSA_DISPATCH_STATE_H
#define INTERCEPT_HSA_DISPATCH_STATE_H

#include "intercept/hsa/borrow.h"
#include "intercept/hsa/dispatch.h"
#include "intercept/hsa/serialize.h"

/* What a packet does for an event of HIP's. */
struct dispatch_event {
    uint64_t handle, source_queue;
    int32_t operation;
    bool is_barrier; /* QUEUE_BARRIER has it, too */
};

/* What a plain record needs stands at the beginning and fits some lines; users of callbacks and of
 * external ids go on into the trace event's slots. */
struct replay_queue;

struct dispatch {
    _Alignas(64) struct inflight work; /* first */
    struct dispatch *next;             /* of the ready, gathered and returned lists */
    struct loan loan;                  /* when the packet's own signal stays in it */
    struct dispatch_queue *queue;
    amd_signal_t *kernel; /* ends with the kernel, unless that has the packet's own signal */
    amd_signal_t *last;   /* ends with the last packet after it */
    amd_signal_t *ends;   /* the one of both that ends the dispatch when nothing is lent */
    /* The packet's own signal where ours replaces it, and we complete it; handle 0: none, or a
     * loan, which leaves it in the packet for the device to complete. */
    hsa_signal_t user;
    union {
        struct {                                       /* a kernel */
            const struct trace_counting_ops *counting; /* whose begin was called; NULL: nobody's */
            struct serial_turn turn;
        };
        struct dispatch_event hip_event;
    };
    /* Writers: the launching thread, when it has a pass delivered, and the completion thread that
     * has done so (release). Reader: the launching thread (acquire). */
    _Atomic bool pass_delivered;
    struct replay_queue *replay; /* where it has run; NULL: on the program's own queue */
    bool lent;                   /* then `user` is 0 */
    bool is_in_flight;           /* is counted as such by replay.c */
    struct trace_dispatch trace; /* last */
};

/* ---- dispatch_pool.c */

/* On the submitting thread. NULL: no memory. */
struct dispatch *dispatch_take(struct dispatch_queue *queue);
/* The same thread: it was not needed. */
void dispatch_put_back(struct dispatch *dispatch);
/* On the completion thread, which is done with it: it goes back with the others of its row. */
void dispatch_gather(struct dispatch *dispatch);

/* ---- dispatch_record.c */

void dispatch_callbacks_call(struct dispatch *dispatch, int32_t operation,
                             rocprofiler_callback_phase_t phase);

static inline void dispatch_callbacks_run(struct dispatch *dispatch, int32_t operation,
                                          rocprofiler_callback_phase_t phase)
{
    if (trace_event_is_called(&dispatch->trace.event, operation))
        dispatch_callbacks_call(dispatch, operation, phase);
}

/* `ended` of an inflight: by the program's signal, or by one of ours. */
bool dispatch_loan_ended(struct inflight *work);
bool dispatch_own_signal_ended(struct inflight *work);

/* The completion thread. False: it has no times. */
bool dispatch_times_take(struct dispatch *dispatch);

void dispatch_event_call(struct dispatch *dispatch, rocprofiler_callback_phase_t phase);

/* `complete` of an inflight: a kernel, a barrier packet that is traced, one for an event of HIP's,
 * any other packet. */
void dispatch_complete(struct inflight *work, bool failed);
void dispatch_barrier_complete(struct inflight *work, bool failed);
void dispatch_event_complete(struct inflight *work, bool failed);
void dispatch_passed_complete(struct inflight *work, bool failed);

#endif
