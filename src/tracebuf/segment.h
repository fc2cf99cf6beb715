/*
 * One stretch of storage that is filled once and delivered once. Private to tracebuf.
 */
#ifndef TRACEBUF_SEGMENT_H
#define TRACEBUF_SEGMENT_H

#include "tracebuf/tracebuf.h"

struct tracebuf_segment {
    /* Claimed so far: payload in the low half, storage in the high half, both in units of 8 bytes.
     * On a line of memory with nobody else's, as all producers write there.
     * Writers: producers (compare-exchange), the reset after delivery. */
    _Alignas(64) _Atomic uint64_t claimed;
    struct tracebuf_segment *next; /* in the list it is on; rotate_lock */
    uint64_t sequence;             /* order of rotation, for flush; rotate_lock */
    unsigned char *storage;
    size_t storage_bytes;
};

/* Heads a lease in buffers that are not exact. A cache line, so that records of one line each stand
 * on lines of their own. */
enum { EXTENT_HEAD_BYTES = 64 };
struct tracebuf_extent {
    _Alignas(EXTENT_HEAD_BYTES) uint64_t bytes; /* with this header; a multiple of its size */
    uint64_t used_bytes;
    /* What its producer has finished, when it was full: so many bytes of records from the first one
     * on, which all have this word, and their own sizes in its place. */
    uint64_t finished_bytes, finished_word;
    /* The producer is at it. Found at delivery, it was cancelled there: nobody knows what these
     * records are, and they are lost. */
    uint64_t finishing_count;
};

enum claim_result { CLAIM_DONE, CLAIM_CROSSED, CLAIM_FULL };

/* Takes storage against `payload_bytes` of the buffer's capacity. CROSSED: done, and the watermark
 * was passed by this claim. */
enum claim_result segment_claim(struct tracebuf_segment *segment,
                                const struct tracebuf_config *config, size_t payload_bytes,
                                size_t storage_bytes, unsigned char **at);

struct tracebuf_segment *segment_create(const struct tracebuf_config *config);
void segment_destroy(struct tracebuf_segment *segment);
bool segment_is_empty(const struct tracebuf_segment *segment);
void segment_reset(struct tracebuf_segment *segment);

/* By its producer, inside of its busy section: no record is added any more. */
void extent_finish(struct tracebuf_extent *extent, const struct tracebuf_config *config);

/* The records of a full segment in their order. No producer may be inside. */
struct segment_cursor {
    unsigned char *at, *run_end; /* records that follow each other */
    unsigned char *finished_end; /* up to here they are finished, and have this word */
    uint64_t finished_word;
    unsigned char *extent, *end; /* next extent, end of what is claimed */
    uint64_t lost;               /* see finishing_count */
};
struct segment_cursor segment_begin(struct tracebuf_segment *segment, bool exact);

/* The next records, at most `most`; sizes are put in their places. False: there are no more. */
bool segment_run_next(struct segment_cursor *cursor, size_t most, struct tracebuf_run *run);
/* How many records the cursor has before it, which are passed. */
size_t segment_count(struct segment_cursor *cursor);

/* Finishes the next records and makes their items, at most items_max; returns their number. */
size_t segment_collect(struct segment_cursor *cursor, const struct tracebuf_config *config,
                       struct tracebuf_item *items, struct tracebuf_item **pointers,
                       size_t items_max);

#endif
