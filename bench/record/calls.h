/* The calls that are measured: one stand-in function, called through each sort of table slot. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum call_kind {
    CALL_PLAIN,    /* the runtime's own pointer */
    CALL_FLOOR,    /* two tick readings, ids, one 80-byte record in memory of the thread */
    CALL_STOPPED,  /* wrapper, no context active */
    CALL_CALLBACK, /* wrapper, callback service with an empty callback */
    CALL_BUFFERED, /* wrapper, buffered service, 4 MiB lossless */
    CALL_KINDS,
    /* Calls that do not go a straight way: their instructions are counted, not their time. */
    CALL_NESTED = CALL_KINDS, /* as CALL_CALLBACK, inside of another traced call */
    CALL_RECORD_NESTED,       /* as CALL_BUFFERED, the same */
    CALL_TWO,                 /* callback services of two contexts */
    CALL_BOTH,                /* callback and buffered service, of two contexts */
    CALL_PUSHED,              /* as CALL_CALLBACK, with an external id that was pushed */
    CALL_LISTENED,            /* a listener of a front end, as roctracer's */
    CALL_COUNTED_KINDS
};

extern const char *const call_names[CALL_COUNTED_KINDS];

/* Configures the tool that the bench is; false when the engine refuses. */
bool calls_prepare(void);
/* Starts and stops contexts so that calls of that kind are what they claim. */
void calls_select(enum call_kind kind);
/* Makes `count` calls on this thread. */
void calls_make(enum call_kind kind, uint32_t count);
/* The same; it is what count.py looks at. */
enum { CALLS_COUNTED = 4096 };
void calls_counted(enum call_kind kind, uint32_t count);
/* The same, inside of a traced call where the kind says so. */
void calls_counted_inside(enum call_kind kind, uint32_t count);
/* Records that were delivered so far. */
uint64_t calls_delivered(void);

enum { FULL_BUFFER_BYTES = 16 << 20 };
/* Makes both halves of a lossless buffer of that size all but full; its callback waits meanwhile.
 * Then calls `looked` and lets go. */
void calls_fill(void (*looked)(void *), void *data);

#endif
