/*
 * What leaves the command processor, and what wakes its thread: events and faults for the driver,
 * kicks and the sleep that they end. Below every other file of the folder.
 */
#ifndef CP_EVENTS_H
#define CP_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cp/cp.h"

enum { EVENTS_MAX = 4096 };

struct cp_events {
    struct cp_driver_ops ops; /* these two never change */
    void *driver;

    /* Writers: whoever kicks (+1, seq_cst: see `asleep`). Reader: the CP thread (acquire) before it
     * looks at the rings; it sleeps only while the value is still the one it saw then. */
    _Atomic uint32_t kicks;
    /* Writer: the CP thread (seq_cst). Readers: cp_events_wake() after its increment (seq_cst), to
     * save the system call when nobody sleeps. Dekker: one of the two sees the other. */
    _Atomic uint32_t asleep;

    /* Events posted and not yet raised, one bit each: the kernel driver's 4095 numbers. Writers:
     * cp_events_post() sets (release); the CP thread takes whole words (acquire). */
    _Atomic uint64_t posted[EVENTS_MAX / 64];
    /* Writers: cp_events_post() sets it after the bit (release); the CP thread clears it before it
     * takes the bits (acquire), so that a bit set too late for that has set it again. */
    atomic_bool any_posted;
};

/* Any thread; cheap when the CP is awake. */
void cp_events_wake(struct cp_events *events);
/* The driver is told at once: not inside a read section. */
void cp_events_raise(struct cp_events *events, uint32_t event_id);
void cp_events_memory_fault(struct cp_events *events, uint32_t gpu_id, uint64_t va, uint32_t kind);
bool cp_events_queue_exceptions(struct cp_events *events, uint64_t area_va, uint64_t exceptions);
/* Anywhere: the CP thread raises it soon. */
void cp_events_post(struct cp_events *events, uint32_t event_id);

/* The CP thread's own. */
void cp_events_posted_raise(struct cp_events *events);
/* Kicks so far: what was written before them is seen after this. */
uint32_t cp_events_kicks(struct cp_events *events);
/* Sleeps unless somebody kicked since `seen`; UINT64_MAX: until then. */
void cp_events_sleep(struct cp_events *events, uint32_t seen, uint64_t sleep_ns);
void cp_events_after_fork_child(struct cp_events *events); /* no thread sleeps there */

#endif
