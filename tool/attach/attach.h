/* The profiler goes into a process that runs already, and out of it again. */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include "cli/options.h"
#include "target.h"

struct attach; /* the library that does it */

/* NULL after a line to stderr. */
struct attach *attach_open(void);
void attach_close(struct attach *attach);

/* Puts the tool, with these settings, into the process and, if `children`, into those below it that
 * use a GPU. 0, or an exit status after a line. */
int attach_begin(struct attach *attach, const struct target *target,
                 const struct settings *settings, bool children);
/* Takes it out; its files are complete then. Says nothing of a process that has ended. */
int attach_end(struct attach *attach, const struct target *target, bool children);

/* Before attach_begin(): the signals that end it are kept for attach_wait(). */
void attach_signals_hold(void);

enum attach_why { ATTACH_ASKED, ATTACH_TIME, ATTACH_ENDED };

/* Until somebody asks for the end (a signal, or a line on standard input), `duration_ms` have
 * passed (0: never), or the process has ended. */
enum attach_why attach_wait(const struct target *target, uint64_t duration_ms);

/* All of it, for --pid and the command of that name. Returns an exit status. */
int attach_run(struct cli_options *options, const char *pid);

#endif
