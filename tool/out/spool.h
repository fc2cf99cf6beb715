/*
 * A part of a file that is written while other parts are, and joined to the file at its end. It is
 * kept in memory until that is full, then in a file without a name in the same directory, which is
 * gone when the process is. One thread.
 */
#ifndef OUT_SPOOL_H
#define OUT_SPOOL_H

#include <stdbool.h>

#include "writer.h"

struct spool {
    struct writer *writer; /* NULL before the first byte */
    const char *directory; /* borrowed */
};

/* Where to put the next bytes, with room for `size` (at most WRITER_BYTES) of them at once; longer
 * texts go to its file by writer_bytes(). NULL: no memory. */
struct writer *spool_writer(struct spool *spool, size_t size);

/* True: the next `size` bytes are the first that do not fit into memory. */
static inline bool spool_is_full(const struct spool *spool, size_t size)
{
    return spool->writer && spool->writer->file == -1 && size > WRITER_BYTES - spool->writer->used;
}

bool spool_is_empty(const struct spool *spool);
/* Appends everything to the file and frees. The first error of either is the file's then. */
void spool_join(struct spool *spool, struct writer *to);
/* Frees and writes nothing. */
void spool_drop(struct spool *spool);

/* A file without a name in that directory: a descriptor or -errno. */
int spool_file_create(const char *directory);

#endif
