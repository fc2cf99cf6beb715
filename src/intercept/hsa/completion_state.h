/*
 * What the parts of completion share: completion.c (the thread, its looks, posting), nap.c (when it
 * sleeps and for how long), drain.c (who waits for it). Nobody else includes this.
 */
#ifndef INTERCEPT_HSA_COMPLETION_STATE_H
#define INTERCEPT_HSA_COMPLETION_STATE_H

#include "intercept/hsa/completion.h"

#include <time.h>

/*
 * A lane's state: 0, the thread does not know it; LISTED, the thread looks at it; PARKING, the
 * thread is about to sleep and looks at it a last time. The epoch above counts forks: what a
 * parent's thread knew, the child's does not.
 *
 * Posters put an entry and then read the state; the thread stores PARKING and then looks for
 * entries (thread_fence_light and _heavy between): one of the two sees the other. A poster that
 * does not find LISTED stores it, and whoever replaces another state by LISTED hands the lane over.
 */
enum { LISTED = 1, PARKING = 2, EPOCH_STEP = 4 };

struct completion_state {
    /* Lanes that became active: posters push (seq_cst), the thread takes all (acquire). */
    _Atomic(struct inflight_lane *) arrivals;
    /* Posters that may have set a lane's state and not yet pushed it: they count up before and down
       after (seq_cst). Drain waits for 0, since others post to that lane meanwhile. */
    _Atomic uint32_t announcing;
    /* 1 while the thread sleeps until woken. The thread stores 1 and then looks at `arrivals`, a
       poster pushes and then looks here (all seq_cst): one of the two sees the other. */
    _Atomic uint32_t sleeping;
    /* Nothing is in flight: the thread stores (release) when it has parked all lanes, and takes it
       back before it takes arrivals; idle() reads it (acquire) after those. */
    _Atomic uint32_t asleep;
    /* Futex word of naps: bumped by whoever wants a look now (release), thread reads (acquire). */
    _Atomic uint32_t nudge;
    /* 1 during a nap that urgent work must cut short. The thread stores 1 and then looks at
       `urgent_posted`, a poster counts that and then looks here (all seq_cst). */
    _Atomic uint32_t lazy_nap;
    _Atomic uint32_t urgent_posted;
    /* Who holds counts up (seq_cst) and then looks at `looking`; the thread stores that and then
       looks here (seq_cst): one of the two sees the other. */
    _Atomic uint32_t holds, looking;
    /* Looks begun and done: the thread writes (release), harvest reads (acquire). */
    _Atomic uint32_t looks_begun, looks_done;
    /* Of entries: the thread writes (release), drain reads (acquire). */
    _Atomic uint64_t completed, failed;
    /* Drain asks (counts `drain_wanted` up, seq_cst) and the thread answers with the question
       before which everything has completed (release; read with acquire). `drain_progress` are the
       entries completed that some question was about. */
    _Atomic uint32_t drain_wanted, drain_done;
    _Atomic uint64_t drain_progress;
    _Atomic bool running; /* completion_start and the fork handler write, all read; seq_cst */
    /* LISTED of this process; the fork handler writes while the process has one thread. */
    _Atomic uint32_t listed;
    struct inflight_lane *active; /* thread only */
    uint64_t received;            /* entries, thread only */
    uint32_t batch;               /* of entries received from now on, thread only */
    /* completion_tick_set writes (release), the thread reads (acquire). */
    void (*_Atomic tick)(uint64_t now_ns);
};
extern struct completion_state completion __attribute__((visibility("hidden")));

static inline uint64_t completion_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A counter that only this thread writes. */
static inline void own_count_add(_Atomic uint64_t *count, uint64_t add)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + add,
                          memory_order_release);
}

struct look {
    uint64_t begun_at_ns;
    bool thorough; /* look behind entries that are not done */
    bool progress;
    bool urgent; /* urgent work remains, or was there until just now */
};

struct nap {
    uint64_t length_ns;
    uint64_t thorough_at_ns;
    uint64_t busy_at_ns;           /* when something was last in flight */
    uint32_t nudge, urgent_posted; /* as they were when the look began */
};

static inline void lane_list(struct inflight_lane *lane)
{
    lane->active_next = completion.active;
    completion.active = lane;
}

/* ---- completion.c */

/* The thread looks soon, whatever it does now. */
void completion_nudge(void);
/* Entries that are done with, whether completed or failed. */
uint64_t completion_finished_count(void);

/* ---- nap.c; on the thread, after a look */

bool nap_look_is_thorough(const struct nap *nap, uint64_t now);
void nap_or_sleep(struct nap *nap, const struct look *look, bool thorough);

#endif
