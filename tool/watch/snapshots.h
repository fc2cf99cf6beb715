/* What the processes of a program have recorded: the files of a directory, one for each process. */
#ifndef WATCH_SNAPSHOTS_H
#define WATCH_SNAPSHOTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* A name with durations, or a counter of a kernel. Texts are there as long as the call that is told
 * of the row. */
struct snapshot_row {
    bool is_counter, additive;
    const char *kind; /* domain, or counter */
    const char *name;
    uint64_t calls;
    uint64_t total_ns, min_ns, max_ns; /* of durations */
    double sum;                        /* of a counter */
};

/* Each row of each file, in no order: several processes may have the same name. Returns the number
 * of files. */
unsigned snapshots_read(const char *directory,
                        void (*each)(const struct snapshot_row *row, void *data), void *data);

/* A directory of its own, that whoever runs as `user` can write to (-1: oneself), and its removal.
 * False after a line to stderr. */
bool snapshots_directory_make(char directory[PATH_MAX], long user);
void snapshots_directory_clear(const char *directory);
void snapshots_directory_remove(const char *directory);

#endif
