/*
 * What the parts of completion share: completion.c (the thread, its looks, posting), nap.c (when it
 * sleeps and for how long), drain.c (who waits for it). Nobody else includes this.
 */
#ifndef INTERCEPT_HSA_COMPLETION_STATE_H
#define INTERCEPT_HSA_COMPLETION_STATE_H

#include "intercept/hsa/lane.h"

struct completion_state {
    /* Lanes that became active. Writers: posters push (seq_cst). Reader: the thread takes all
     * (seq_cst), and looks here before it sleeps. */
    _Atomic(struct inflight_lane *) arrivals;
    /* Posters that may have claimed a lane and not yet pushed it. Writers: they count up before and
     * down after (seq_cst). Reader: drain waits for 0, since others post to that lane meanwhile. */
    _Atomic uint32_t announcing;
    /* 1 while the thread sleeps until woken. Writers: the thread stores 1 and then reads
     * `arrivals`; a poster pushes and then exchanges this (all seq_cst): one of the two sees the
     * other. */
    _Atomic uint32_t sleeping;
    /* Nothing is in flight. Writer: the thread, when it has parked all lanes (release), and before
     * it takes arrivals again. Reader: idle(), after those (acquire). */
    _Atomic uint32_t asleep;
    /* Futex word of naps. Writer: whoever wants a look now counts up (release). Reader: the thread
     * (acquire). */
    _Atomic uint32_t nudge;
    /* 1 during a nap that urgent work must cut short unless it rings. Writers: the thread stores 1
     * and then reads `urgent_posted`, a poster counts that and then exchanges this (all seq_cst).
     */
    _Atomic uint32_t lazy_nap;
    _Atomic uint32_t urgent_posted; /* writers and reader: as said above */
    /* Writers: who holds counts `holds` up and then reads `looking`; the thread stores that and
     * then reads `holds` (all seq_cst): one of the two sees the other. */
    _Atomic uint32_t holds, looking;
    /* Looks begun and done. Writer: the thread (release). Reader: harvest (acquire). */
    _Atomic uint32_t looks_begun, looks_done;
    /* Of entries. Writer: the thread (release). Reader: drain (acquire). */
    _Atomic uint64_t completed, failed;
    /* Writers: drain asks (counts `drain_wanted` up, seq_cst) and the thread answers with the
     * question before which everything has completed (release; read with acquire). `drain_progress`
     * are the entries completed that some question was about. */
    _Atomic uint32_t drain_wanted, drain_done;
    _Atomic uint64_t drain_progress; /* writer: the thread (release); reader: drain (acquire) */
    _Atomic bool running; /* writers: completion_start, the fork handler; readers: all; seq_cst */
    /* LANE_LISTED of this process. Writer: the fork handler, while the process has one thread.
     * Readers: posters and the thread (relaxed). */
    _Atomic uint32_t listed;
    /* Writer: completion_alarm_set (release). Readers: the thread and posters (acquire). */
    _Atomic(const struct completion_alarm *) alarm;
    struct inflight_lane *active; /* thread only */
    uint64_t received;            /* entries, thread only */
    uint32_t batch;               /* of entries received from now on, thread only */
    /* Writer: completion_tick_set (release). Reader: the thread (acquire). */
    void (*_Atomic tick)(uint64_t now_ns);
};
extern struct completion_state completion __attribute__((visibility("hidden")));

struct look {
    uint64_t begun_at_ns;
    bool thorough; /* look behind entries that are not done */
    bool progress;
    bool urgent;              /* urgent work remains, or was there until just now */
    bool waits;               /* it remains */
    uint32_t ringing, silent; /* how many of it ring, or do not */
};

/* What urgent work is waited for: none, the first after a while, or what was behind that. */
enum nap_wait { NAP_WAIT_NONE, NAP_WAIT_FIRST, NAP_WAIT_NEXT, NAP_WAITS };

struct nap {
    uint64_t length_ns; /* of the last nap that nothing was expected in */
    enum nap_wait wait; /* what is waited for ... */
    uint64_t wait_since_ns, expected_ns[NAP_WAITS]; /* ... since when, and how long it takes */
    uint64_t thorough_at_ns;
    uint64_t busy_at_ns;           /* when something was last in flight */
    uint32_t nudge, urgent_posted; /* as they were when the look began */
    bool after_alarm;              /* the last nap was a wait for the alarm */
    bool is_patient;               /* nothing has ended since a wait for the alarm */
};

static inline void lane_list(struct inflight_lane *lane)
{
    lane->active_next = completion.active;
    completion.active = lane;
}

/* ---- completion.c */

/* The thread looks soon, whatever it does now: at once, or where it waits for the alarm within a
 * millisecond. */
void completion_nudge(void);
/* At once there, too. */
void completion_nudge_now(void);
/* Entries that are done with, whether completed or failed. */
uint64_t completion_finished_count(void);

/* ---- nap.c; on the thread, after a look */

bool nap_look_is_thorough(const struct nap *nap, uint64_t now);
/* The next nap where urgent work is in flight, or was until just now. */
uint64_t nap_urgent_ns(struct nap *nap, const struct look *look);
void nap_or_sleep(struct nap *nap, const struct look *look, bool thorough);

#endif
