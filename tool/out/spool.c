#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the file system knows no files without a name, it gets one for a moment. */
static int named_file_create(const char *directory)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/.crocprof-XXXXXX", directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return -errno;
    unlink(path);
    return file;
}

int spool_file_create(const char *directory)
{
    int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return file >= 0 ? file : named_file_create(directory);
}

struct writer *spool_writer(struct spool *spool, size_t size)
{
    struct writer *writer = spool->writer;
    if (!writer) {
        writer = spool->writer = malloc(sizeof *writer);
        if (!writer)
            return NULL;
        writer->file = -1;
        writer->status = 0;
        writer->used = 0;
        writer->file_create = spool_file_create; /* once its buffer is full */
        writer->directory = spool->directory;
    }
    if (spool_is_full(spool, size))
        writer_flush(writer);
    return writer;
}

bool spool_is_empty(const struct spool *spool)
{
    return !spool->writer || (spool->writer->file == -1 && spool->writer->used == 0);
}

/* Through user space: where the kernel cannot copy between these files. */
static int bytes_copy(int from, int to, char *buffer, size_t size)
{
    for (;;) {
        ssize_t length = read(from, buffer, size);
        if (length <= 0)
            return length == 0 ? 0 : -errno;
        for (ssize_t done = 0, wrote; done < length; done += wrote) {
            wrote = write(to, buffer + done, (size_t)(length - done));
            if (wrote < 0 && errno != EINTR)
                return -errno;
            wrote = wrote < 0 ? 0 : wrote;
        }
    }
}

static int file_copy(int from, int to, char *buffer, size_t size)
{
    if (lseek(from, 0, SEEK_SET) != 0)
        return -errno;
    ssize_t copied;
    while ((copied = copy_file_range(from, NULL, to, NULL, 1 << 30, 0)) > 0)
        ;
    return copied == 0 || errno == ENOSPC ? (copied == 0 ? 0 : -ENOSPC)
                                          : bytes_copy(from, to, buffer, size);
}

void spool_join(struct spool *spool, struct writer *to)
{
    struct writer *from = spool->writer;
    if (!from)
        return;
    if (from->file == -1) {
        writer_bytes(to, from->bytes, from->used);
    } else {
        writer_flush(from);
        writer_flush(to);
        if (from->status == 0 && to->status == 0)
            from->status = file_copy(from->file, to->file, from->bytes, sizeof from->bytes);
    }
    if (to->status == 0)
        to->status = from->status;
    spool_drop(spool);
}

void spool_drop(struct spool *spool)
{
    if (spool->writer && spool->writer->file != -1)
        close(spool->writer->file);
    free(spool->writer);
    spool->writer = NULL;
}
