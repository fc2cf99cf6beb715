#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void (*writer_file_made)(const char *path);

static int device_open(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISCHR(status.st_mode))
        return -EEXIST;
    int file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    return file < 0 ? -errno : file;
}

/* O_EXCL: names are predictable, and what is there already is somebody's. */
int writer_file_create(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 && writer_file_made)
        writer_file_made(path);
    if (file >= 0)
        return file;
    return errno == EEXIST ? device_open(path) : -errno;
}

int writer_open(struct writer *writer, const char *path)
{
    int file = writer_file_create(path);
    writer->used = 0;
    writer->file_create = NULL;
    writer->status = file < 0 ? file : 0;
    writer->file = file < 0 ? -1 : file;
    return writer->status;
}

int writer_attach(struct writer *writer, int file)
{
    writer->used = 0;
    writer->file_create = NULL;
    writer->status = 0;
    writer->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (writer->file < 0)
        writer->status = -errno;
    return writer->status;
}

static void file_make(struct writer *writer)
{
    int file = writer->file_create(writer->directory);
    if (file >= 0)
        writer->file = file;
    else if (writer->status == 0)
        writer->status = file; /* what is written from now on is dropped */
    writer->file_create = NULL;
}

int writer_flush(struct writer *writer)
{
    size_t done = 0;
    if (writer->file_create && writer->used > 0)
        file_make(writer);
    while (done < writer->used && writer->status == 0) {
        ssize_t wrote = write(writer->file, writer->bytes + done, writer->used - done);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno != EINTR)
            writer->status = -errno;
    }
    writer->used = 0;
    return writer->status;
}

int writer_close(struct writer *writer)
{
    if (writer->file < 0)
        return writer->status;
    writer_flush(writer);
    if (close(writer->file) != 0 && writer->status == 0)
        writer->status = -errno;
    writer->file = -1;
    return writer->status;
}

void writer_abandon(struct writer *writer)
{
    if (writer->file >= 0)
        close(writer->file);
    writer->file = -1;
    writer->used = 0;
}

void writer_bytes(struct writer *writer, const char *bytes, size_t size)
{
    while (size > WRITER_BYTES - writer->used) {
        size_t part = WRITER_BYTES - writer->used;
        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
        bytes += part;
        size -= part;
        writer_flush(writer);
    }
    memcpy(writer->bytes + writer->used, bytes, size);
    writer->used += size;
}

void writer_char(struct writer *writer, char value)
{
    if (writer->used == WRITER_BYTES)
        writer_flush(writer);
    writer->bytes[writer->used++] = value;
}

char *writer_long_at(char *at, uint64_t value)
{
    enum { EIGHT = WRITER_EIGHT_DIGITS };
    uint64_t rest = value / EIGHT;

    if (rest < EIGHT)
        at = writer_short_at(at, (uint32_t)rest);
    else
        at = writer_eight_at(writer_short_at(at, (uint32_t)(rest / EIGHT)),
                             (uint32_t)(rest % EIGHT));
    return writer_eight_at(at, (uint32_t)(value % EIGHT));
}

void writer_u64(struct writer *writer, uint64_t value)
{
    writer_advance(writer, writer_u64_at(writer_room(writer, WRITER_U64_BYTES), value));
}

/* Counter values are mostly whole numbers below 2^53, which need no printf. */
void writer_fixed(struct writer *writer, double value)
{
    if (value >= 0 && value < 9007199254740992.0 && value == (double)(uint64_t)value) {
        writer_u64(writer, (uint64_t)value);
        writer_bytes(writer, ".000000", 7);
        return;
    }
    char text[400]; /* the largest double has 309 digits before the point */
    int length = snprintf(text, sizeof text, "%.6f", value);
    writer_bytes(writer, text, (size_t)length);
}
