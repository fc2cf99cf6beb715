/*
 * What a run that is not the last one has counted: a file for each process of the run, "PASS.N" in
 * a directory that crocprof made, N being the order in which the processes began to count. Lines,
 * so that what a killed process leaves can be read up to its last one. Single thread.
 */
#ifndef COLLECT_PASS_FILE_H
#define COLLECT_PASS_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "out/rows.h"

struct writer;

struct passes_launch {
    struct out_dispatch_row row; /* without `kernel` and `region` where it was read */
    uint32_t number;             /* launches of the kernel on the device before this one */
};

struct passes_value {
    const char *counter;
    double value;
    bool adds_up; /* a sum over launches means something */
    uint64_t id;  /* the counter's; 0: of another run, where it had another */
};

/* A launch and its values. */
struct pass_entry {
    struct passes_launch launch;
    struct pass_entry *next; /* its owner's */
    unsigned count;
    struct passes_value values[];
};

void pass_file_path(const char *directory, uint32_t pass, uint32_t process, char path[PATH_MAX]);

/* The first line: where this process's files would be. */
void pass_file_begin(struct writer *out, const char *stem);
void pass_file_launch(struct writer *out, const struct passes_launch *launch);
void pass_file_value(struct writer *out, const struct passes_value *value);

struct pass_reader {
    FILE *file;
    char *line; /* read and not taken yet; NULL: none */
    size_t line_bytes;
    bool has_line;
    char stem[PATH_MAX];
};

/* 0 or -errno. */
int pass_reader_open(struct pass_reader *reader, const char *directory, uint32_t pass,
                     uint32_t process);
/* The next launch, to be freed; its texts live as long as the process. NULL: that was all. */
struct pass_entry *pass_reader_next(struct pass_reader *reader);
void pass_reader_close(struct pass_reader *reader);

#endif
