/*
 * Buffered text output to one file. Not stdio: the number formatting is an order of magnitude
 * faster (a million CSV rows of 22 columns), and a forked child that exits does not write the
 * parent's half-full buffer a second time. Single thread.
 */
#ifndef OUT_WRITER_H
#define OUT_WRITER_H

#include <stddef.h>
#include <stdint.h>

enum { WRITER_BYTES = 1 << 16 };

struct writer {
    int file;   /* -1: closed */
    int status; /* first error as -errno; later output is dropped */
    size_t used;
    char bytes[WRITER_BYTES];
};

/* Creates or truncates. 0 or -errno. */
int writer_open(struct writer *writer, const char *path);
/* Writes to a copy of an open file, such as standard output. 0 or -errno. */
int writer_attach(struct writer *writer, int file);
/* Writes what is buffered; returns the first error of the writer's life. */
int writer_flush(struct writer *writer);
/* Writes what is left; returns the first error of the writer's life. */
int writer_close(struct writer *writer);

/* For long rows of short values: room for `size` bytes (at most WRITER_BYTES) to be stored at the
 * address returned, then writer_advance() with the end of what was. Nothing is written between. */
char *writer_room(struct writer *writer, size_t size);

static inline void writer_advance(struct writer *writer, const char *end)
{
    writer->used = (size_t)(end - writer->bytes);
}

enum { WRITER_U64_BYTES = 20 /* digits of the largest */, WRITER_EIGHT_DIGITS = 100000000 };

/* Decimal digits at `at`; returns their end. */
char *writer_u64_at(char *at, uint64_t value);
/* All eight digits of a number below WRITER_EIGHT_DIGITS, zeros in front. */
char *writer_eight_at(char *at, uint32_t value);

void writer_bytes(struct writer *writer, const char *bytes, size_t size);
void writer_char(struct writer *writer, char value);
void writer_u64(struct writer *writer, uint64_t value);
void writer_fixed(struct writer *writer, double value); /* six decimals */

#endif
