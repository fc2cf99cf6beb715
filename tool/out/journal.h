/*
 * Rows as they come, kept in <prefix>_results.crocprof until the formats are complete that exist
 * only at their end: of a process that was killed these are made from it. A row is written as what
 * differs from the one before it of its table; texts and what rows point to once. The file is read
 * by the same version of crocprof, on the same machine. One thread.
 */
#ifndef OUT_JOURNAL_H
#define OUT_JOURNAL_H

#include <stdbool.h>

#include "process.h"
#include "rows.h"

#define JOURNAL_END "_results.crocprof"

struct journal;

/* 0 or -errno; -EEXIST: somebody else's is there. */
int journal_create(const char *prefix, struct journal **result);
void journal_row(struct journal *journal, enum out_table_id table, const void *row);
/* Everything is in the file; a process that is killed now loses nothing of it. */
void journal_flush(struct journal *journal);
/* Takes the file away. */
void journal_remove(struct journal *journal);
/* In a forked child: the file is its parent's. */
void journal_forget(struct journal *journal);

enum journal_state { JOURNAL_NONE, JOURNAL_IN_USE, JOURNAL_LEFT };

/* Whether such a file is there, and its process still writes. Calls with -ENOENT ... are NONE. */
enum journal_state journal_state(const char *path);

struct journal_reader {
    /* Comes first, once; the process and its texts stay until journal_read() returns. */
    void (*process)(void *data, const struct out_process *process);
    void (*row)(void *data, enum out_table_id table, const void *row);
    void (*end)(void *data); /* after the last row; texts are still there */
    void *data;
};

/* 0, or -errno with a message. A last record that was not finished is left out. Texts stay until
 * it returns. */
int journal_read(const char *path, const struct journal_reader *reader, char *error,
                 size_t error_size);

#endif
