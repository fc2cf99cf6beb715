/*
 * Copies of callbacks' data, from the program's threads to whoever writes them out. A thread fills
 * chunks of its own; it takes no lock, and allocates only when no used chunk is free. One reader at
 * a time. Entries of a thread come out in the order in which they went in.
 */
#ifndef ROCTRACER_TOOL_JOURNAL_H
#define ROCTRACER_TOOL_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include <roctracer/roctracer.h>

/* Room for an entry whose size is not known yet. Largest entry: JOURNAL_ENTRY_BYTES_MAX. */
enum { JOURNAL_ENTRY_BYTES_MAX = 16384 };

struct journal_entry {
    uint32_t size_bytes; /* with this head */
    uint32_t reserved;
    roctracer_record_t record;
    _Alignas(16) unsigned char data[]; /* the callback data, and strings behind it */
};

/* NULL: no memory, too much waits to be written, or this thread is inside of begin already; the
 * loss is counted. An entry that was begun must be ended, by the same thread, with the size that
 * data[] has got. */
struct journal_entry *journal_begin(void);
void journal_end(struct journal_entry *entry, size_t data_size_bytes);

/* Calls `write` for every ended entry. */
void journal_drain(void (*write)(const struct journal_entry *entry));

/* Called (on a tracing thread, so it must be quick) when a chunk has become full. */
void journal_notify(void (*full)(void));

/* Entries lost so far. */
uint64_t journal_lost(void);

/* What waits to be written may take this much memory; 1 GiB unless told. */
void journal_limit(size_t bytes);

/* Runs in a forked child: what the parent recorded is the parent's. */
void journal_forget(void);

#endif
