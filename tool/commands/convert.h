/* Recordings written in other formats, for the commands that do so. */
#ifndef COMMANDS_CONVERT_H
#define COMMANDS_CONVERT_H

#include <limits.h>

#include "recording/job.h"
#include "window.h"

struct convert_wish {
    const char *formats; /* as in --output-format */
    struct recording_ask ask;
    bool wants_stats;
    struct window window;
    /* Of a job: times are put on its first one's clock, what cannot be read is left out by name. */
    struct job *job;
    uint64_t page_rows; /* an HTML page has no more of a job's rows; 0: all of them */
};

/* All into one set of files, named after `stem`. An exit status, after lines for what failed; what
 * can be read is written all the same. */
int convert_files(char *const *paths, unsigned count, const char *stem,
                  const struct convert_wish *wish);

/* The directory with its keys replaced, made if need be. 0, or an exit status after a line. */
int convert_directory(const char *given, char directory[PATH_MAX]);

#endif
