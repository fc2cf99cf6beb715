#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int writer_open(struct writer *writer, const char *path)
{
    writer->used = 0;
    writer->status = 0;
    writer->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->file < 0)
        writer->status = -errno;
    return writer->status;
}

int writer_attach(struct writer *writer, int file)
{
    writer->used = 0;
    writer->status = 0;
    writer->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (writer->file < 0)
        writer->status = -errno;
    return writer->status;
}

int writer_flush(struct writer *writer)
{
    size_t done = 0;
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

char *writer_room(struct writer *writer, size_t size)
{
    if (size > WRITER_BYTES - writer->used)
        writer_flush(writer);
    return writer->bytes + writer->used;
}

/* "00" to "99" */
#define TEN(tens)                                                                                  \
    tens "0" tens "1" tens "2" tens "3" tens "4" tens "5" tens "6" tens "7" tens "8" tens "9"
static const char pairs[] =
    TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");

static void pair_put(char *at, uint32_t value)
{
    memcpy(at, pairs + 2 * (size_t)value, 2);
}

/* The divisions do not wait for each other. */
char *writer_eight_at(char *at, uint32_t value)
{
    uint32_t high = value / 10000, low = value % 10000;

    pair_put(at, high / 100);
    pair_put(at + 2, high % 100);
    pair_put(at + 4, low / 100);
    pair_put(at + 6, low % 100);
    return at + 8;
}

/* Below 10^8, without zeros in front. */
static char *short_put(char *at, uint32_t value)
{
    char digits[16];
    size_t skip;

    if (value < 10) {
        *at = (char)('0' + value);
        return at + 1;
    }
    if (value < 100) {
        pair_put(at, value);
        return at + 2;
    }
    if (value < 10000) {
        pair_put(digits, value / 100);
        pair_put(digits + 2, value % 100);
        skip = value < 1000;
        memcpy(at, digits + skip, 4);
        return at + 4 - skip;
    }
    writer_eight_at(digits, value);
    skip = value < 1000000 ? 2 : 0;
    skip += digits[skip] == '0';
    memcpy(at, digits + skip, 8); /* a few bytes more than needed: see WRITER_U64_BYTES */
    return at + 8 - skip;
}

char *writer_u64_at(char *at, uint64_t value)
{
    enum { EIGHT = WRITER_EIGHT_DIGITS };

    if (value < EIGHT)
        return short_put(at, (uint32_t)value);
    uint64_t rest = value / EIGHT;
    if (rest < EIGHT)
        at = short_put(at, (uint32_t)rest);
    else
        at = writer_eight_at(short_put(at, (uint32_t)(rest / EIGHT)), (uint32_t)(rest % EIGHT));
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
