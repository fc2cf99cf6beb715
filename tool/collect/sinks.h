/*
 * The files of one report: a sink for each format that is wanted, all of one name, which no other
 * report has. Single thread.
 */
#ifndef COLLECT_SINKS_H
#define COLLECT_SINKS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "launch/settings.h"
#include "out/journal.h"
#include "out/out.h"

enum { SINKS_MAX = 8 };

struct sinks {
    const struct settings *settings;
    struct {
        const struct out_ops *ops;
        struct out_sink *sink;
    } sink[SINKS_MAX];
    unsigned count;
    bool has_failed;         /* some file was not made, or not completed */
    unsigned number;         /* of place.h */
    unsigned number_told;    /* to crocprof, before anything of it is made */
    char stem[PATH_MAX];     /* the same */
    uint64_t recorded_bytes; /* eight for each value of a row */
    uint64_t device, inode;  /* of the directory; 0: not known */
    struct journal *journal; /* for formats that exist only at their end; NULL: there are none */
};

/* Some format is written. */
bool sinks_wanted(const struct settings *settings);

/* "DIRECTORY/NAME" with its keys replaced by what they are in this process. 0 or -errno. */
int sinks_stem(const struct settings *settings, char stem[PATH_MAX]);

/* Opens what is wanted, named after the stem, in a directory that is made. Messages go to stderr; a
 * sink that cannot be opened is left out. */
void sinks_open(struct sinks *sinks, const struct settings *settings, const char *stem);
void sinks_row(struct sinks *sinks, enum out_table_id table, const void *row);
/* Some format has calls' arguments. */
bool sinks_want_arguments(const struct sinks *sinks);
/* After some rows: what a process leaves that is killed now has them. */
void sinks_flush(struct sinks *sinks);
/* A row of statistics: --stats asks every format for them; of some they are part in any case. */
void sinks_statistics_row(struct sinks *sinks, enum out_table_id table, const void *row);
/* What files begin with. False: there are none. */
bool sinks_prefix(const struct sinks *sinks, char prefix[PATH_MAX]);
/* Files of a report that has recorded less than was asked for are taken away. */
void sinks_close(struct sinks *sinks);
/* In a forked child: they are its parent's. */
void sinks_forget(struct sinks *sinks);

#endif
