/*
 * KFD events: signals, hardware exceptions and memory exceptions, with the kernel's rules. An
 * auto-reset event wakes everybody who waits at the moment and stays set only when nobody did.
 */
#ifndef DRIVER_EVENTS_H
#define DRIVER_EVENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver/kfd_abi.h"

struct event_wait; /* one event of one blocked WAIT_EVENTS */

enum { EVENT_WITNESSES_MAX = 8 };

/* How often an event had been raised when a thread last waited for it. */
struct event_witness {
    const void *thread;
    uint64_t age;
};

struct event {
    bool used, set, auto_reset;
    uint32_t type;
    uint64_t age; /* times it was raised, plus one: a waiter tells what it has seen */
    struct kfd_hsa_memory_exception_data memory; /* of the last fault, for KFD_IOC_EVENT_MEMORY */
    struct event_wait *waits;
    struct event_witness witnesses[EVENT_WITNESSES_MAX];
    uint32_t witness_next; /* the place for another thread */
};

struct events {
    pthread_mutex_t lock;                      /* every slot; nothing is called out of it */
    struct event slot[KFD_SIGNAL_EVENT_LIMIT]; /* by id; 0 stays unused */
    /* Threads that an event woke and that have not run since. Writers: under the lock, who wakes
     * one and the woken one; reader: events_called() (relaxed: a hint). */
    _Atomic uint32_t called;
    void (*before_sleep)(void *data); /* without the lock; NULL: nothing */
    void *data;
};

/* `before_sleep(data)` is called by every thread that will sleep, once what it waits for counts. */
void events_init(struct events *events, void (*before_sleep)(void *data), void *data);
int event_create(struct events *events, uint32_t type, bool auto_reset, uint32_t *id);
int event_destroy(struct events *events, uint32_t id);
int event_set(struct events *events, uint32_t id); /* any thread */
int event_reset(struct events *events, uint32_t id);
/* A thread that an event woke has not run since. Any thread, without a lock. */
bool events_called(const struct events *events);
/* Raises every memory event of the process. Returns how many there were. */
int events_memory_fault(struct events *events, const struct kfd_hsa_memory_exception_data *fault);

/* data[] names the events and receives exception data, and the ages of signals that gave one; one
 * that was raised since counts as come. `timeout_ms`: 0 polls; UINT32_MAX waits for ever, but comes
 * back early, once, when the thread missed that a signal without an age was raised. An age that the
 * thread itself has left behind ends a wait only behind a moment of sleep. Returns 0 with
 * *result = KFD_IOC_WAIT_RESULT_*, or -errno. */
int events_wait(struct events *events, struct kfd_event_data *data, uint32_t count, bool all,
                uint32_t timeout_ms, uint32_t *result);

#endif
