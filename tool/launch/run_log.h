/*
 * What the processes of a run tell the crocprof that started it, so that its last lines are true: a
 * file in memory that all of them append lines to, "KEY\tPID\tTEXT\n". Found by CROCPROF_RUN; where
 * that is not there, as when a program preloads the tool library by itself, nothing is told.
 */
#ifndef LAUNCH_RUN_LOG_H
#define LAUNCH_RUN_LOG_H

#include <stddef.h>

enum run_log_key {
    RUN_LOG_LOADED = 'L',    /* our library came into a process; its name */
    RUN_LOG_RUNTIME = 'I',   /* a GPU's runtime came, too */
    RUN_LOG_REPORT = 'O',    /* a report was begun */
    RUN_LOG_PLACE = 'P',     /* a report may be about to make files that begin with this */
    RUN_LOG_FILES = 'F',     /* a report's files begin with this */
    RUN_LOG_RECORDS = 'R',   /* how many records a report had, when it was closed */
    RUN_LOG_COUNTED = 'C',   /* launches were counted */
    RUN_LOG_UNCOUNTED = 'U', /* there were some, and the filters left none of them */
    RUN_LOG_FEW = 'M',       /* it left no files: --minimum-output-data */
    RUN_LOG_LEFT = 'X',      /* it becomes a program where we cannot follow: a sentence */
    RUN_LOG_NOT_ASKED = 'M', /* a rank that is not to be profiled: a sentence */
    RUN_LOG_NO_CODE = 'N'    /* the processor of a GPU that the program has no code for */
};

enum { RUN_LOG_BREAK = 1 }; /* stands where a text had a line break */

/* In crocprof: makes one, which the environment names from then on. The file, or -errno. */
int run_log_create(void);

/* In a process of the run, when our library comes into it: looks where the file is. */
void run_log_attach(void);

/* In a process of the run, behind that; nowhere else is anything told. Calls only what a child of
 * vfork() may. Line breaks in the text become RUN_LOG_BREAK; what is too long is cut. */
void run_log_put(enum run_log_key key, const char *text);

/* In crocprof: the processes that were started in the run and live on. */
void run_log_living(void (*visit)(long pid, void *data), void *data);

/* In crocprof: all of it, ended by a zero; the caller's to free. NULL: none. */
char *run_log_read(int file);

#endif
