/*
 * Buffered text output to one file. Not stdio: the number formatting is an order of magnitude
 * faster (a million CSV rows of 22 columns), and a forked child that exits does not write the
 * parent's half-full buffer a second time. Single thread.
 */
#ifndef OUT_WRITER_H
#define OUT_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WRITER_BYTES = 1 << 16 };

struct writer {
    int file;   /* -1: closed */
    int status; /* first error as -errno; later output is dropped */
    /* Makes the file when the buffer is full for the first time (spool.h); NULL: there is one. */
    int (*file_create)(const char *directory);
    const char *directory;
    size_t used;
    char bytes[WRITER_BYTES];
};

/* Creates the file: -EEXIST when there is one, or a link of that name, which is somebody else's. A
 * character device is written to. 0 or -errno. */
int writer_open(struct writer *writer, const char *path);
/* Writes to a copy of an open file, such as standard output. 0 or -errno. */
int writer_attach(struct writer *writer, int file);
/* Writes what is buffered; returns the first error of the writer's life. */
int writer_flush(struct writer *writer);
/* Writes what is left; returns the first error of the writer's life. */
int writer_close(struct writer *writer);
/* Closes and writes nothing: in a forked child the rest is its parent's to write. */
void writer_abandon(struct writer *writer);

/* The file that writer_open() would make, for those who write it in another way: a descriptor or
 * -errno. */
int writer_file_create(const char *path);

/* Called with each file that was made, and for those that are made in yet another way. NULL: not.
 * Written before any sink is opened. */
extern void (*writer_file_made)(const char *path);

/* For long rows of short values: room for `size` bytes (at most WRITER_BYTES) to be stored at the
 * address returned, then writer_advance() with the end of what was. Nothing is written between. */
static inline char *writer_room(struct writer *writer, size_t size)
{
    if (__builtin_expect(size > WRITER_BYTES - writer->used, 0))
        writer_flush(writer);
    return writer->bytes + writer->used;
}

static inline void writer_advance(struct writer *writer, const char *end)
{
    writer->used = (size_t)(end - writer->bytes);
}

enum { WRITER_U64_BYTES = 20 /* digits of the largest */, WRITER_EIGHT_DIGITS = 100000000 };

/* The digits of a number below WRITER_EIGHT_DIGITS as eight bytes, the first one lowest. Halves,
 * quarters, then digits are divided side by side in one word; the multiplications are divisions by
 * 100 and 10 that are exact for what fits in the parts. */
static inline uint64_t writer_digits(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007f;
    uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16);
    uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000f;
    return tens + ((twos - 10 * tens) << 8);
}

#define WRITER_ZEROS 0x3030303030303030ull /* eight times '0' */

/* All eight digits of a number below WRITER_EIGHT_DIGITS, zeros in front. */
static inline char *writer_eight_at(char *at, uint32_t value)
{
    uint64_t text = writer_digits(value) | WRITER_ZEROS;
    memcpy(at, &text, sizeof text);
    return at + 8;
}

/* Without zeros in front. Eight bytes are stored in any case (see WRITER_U64_BYTES), and how many
 * count is computed: a branch on the number of digits is often foreseen wrongly. */
static inline char *writer_short_at(char *at, uint32_t value)
{
    uint64_t digits = writer_digits(value);
    unsigned skip = (unsigned)__builtin_ctzll(digits | 1ull << 56) & ~7u; /* bits */
    uint64_t text = (digits | WRITER_ZEROS) >> skip;
    memcpy(at, &text, sizeof text);
    return at + 8 - skip / 8;
}

/* From WRITER_EIGHT_DIGITS on. */
char *writer_long_at(char *at, uint64_t value);

/* Decimal digits at `at`; returns their end. Most numbers of a row are of one digit. */
static inline char *writer_u64_at(char *at, uint64_t value)
{
    if (value >= WRITER_EIGHT_DIGITS)
        return writer_long_at(at, value);
    if (value >= 10)
        return writer_short_at(at, (uint32_t)value);
    *at = (char)('0' + value);
    return at + 1;
}

void writer_bytes(struct writer *writer, const char *bytes, size_t size);
void writer_char(struct writer *writer, char value);
void writer_u64(struct writer *writer, uint64_t value);
void writer_fixed(struct writer *writer, double value); /* six decimals */

#endif
