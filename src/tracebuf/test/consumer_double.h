/*
 * A consumer that checks what it gets, for the tests of tracebuf.
 */
#ifndef TRACEBUF_TEST_CONSUMER_DOUBLE_H
#define TRACEBUF_TEST_CONSUMER_DOUBLE_H

#include "tracebuf/tracebuf.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PRODUCERS = 8 };

/* What a callback saw; producers number their records, so loss, doubling and disorder all show. */
struct consumer_double {
    struct tracebuf *_Atomic buffer;
    _Atomic uint64_t records, callbacks;
    uint64_t dropped, largest_batch;
    uint64_t next[PRODUCERS + 1]; /* expected sequence per producer */
    _Atomic uint64_t disorder;
    void (*_Atomic in_callback)(struct consumer_double *consumer);
    _Atomic bool stop;
    bool raw; /* records are not struct record */
};

struct record {
    uint64_t producer, sequence;
};

static inline void deliver(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                           uint64_t dropped, void *arg)
{
    struct consumer_double *consumer = arg;
    for (size_t i = 0; i < count; i++) {
        if (consumer->raw)
            continue;
        const struct record *record = items[i]->payload;
        if (record->sequence < consumer->next[record->producer])
            consumer->disorder++;
        consumer->next[record->producer] = record->sequence + 1;
        consumer->disorder += items[i]->tag != 7;
    }
    consumer->buffer = buffer;
    consumer->dropped = dropped;
    consumer->largest_batch = count > consumer->largest_batch ? count : consumer->largest_batch;
    consumer->callbacks++;
    void (*in_callback)(struct consumer_double *) = consumer->in_callback;
    if (in_callback)
        in_callback(consumer);
    consumer->records +=
        count; /* last: a test that waits for it may then leave, and the consumer with it */
}

static inline bool put(struct tracebuf *buffer, uint64_t producer, uint64_t sequence, size_t size)
{
    struct thread *self = thread_self();
    struct record *record = tracebuf_reserve(buffer, self, 7, size);
    if (!record)
        return false;
    *record = (struct record){producer, sequence};
    tracebuf_commit(self);
    return true;
}

static inline bool put_word(struct tracebuf *buffer)
{
    struct thread *self = thread_self();
    uint64_t *record = tracebuf_reserve(buffer, self, 7, sizeof *record);
    if (!record)
        return false;
    *record = 1;
    tracebuf_commit(self);
    return true;
}

static inline struct tracebuf *buffer_make(struct consumer_double *consumer, size_t size,
                                           size_t watermark, enum tracebuf_policy policy)
{
    struct tracebuf_config config = {.size_bytes = size,
                                     .watermark_bytes = watermark,
                                     .policy = policy,
                                     .deliver = deliver,
                                     .arg = consumer};
    static struct tracebuf_thread *thread;
    if (!thread)
        thread = tracebuf_thread_create();
    assert_non_null(thread);
    struct tracebuf *buffer = tracebuf_create(&config);
    assert_non_null(buffer);
    tracebuf_assign(buffer, thread);
    return buffer;
}

static inline void nap(long microseconds)
{
    nanosleep(&(struct timespec){0, microseconds * 1000}, NULL);
}

/* Waits for an asynchronous delivery; false after 5 s. */
static inline bool eventually(_Atomic uint64_t *value, uint64_t at_least)
{
    for (int i = 0; i < 50000; i++) {
        if (*value >= at_least)
            return true;
        nap(100);
    }
    return false;
}

/* A callback that lasts until the test lets it go. */
static _Atomic bool held;
static inline void hold(struct consumer_double *consumer)
{
    (void)consumer;
    while (held)
        nap(100);
}

#endif
