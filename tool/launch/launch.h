/*
 * The environment in which the program runs: our libraries found beside this command, preloaded
 * into the program; the software GPU when the machine has none.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <limits.h>
#include <stdbool.h>

#include "settings.h"

/* Which process is the command, and which one started it: "PID PARENT". */
#define LAUNCH_PARENT_VARIABLE "CROCPROF_PARENT"

struct launch {
    char tool_library[PATH_MAX]; /* as LD_PRELOAD can hold it */
    char gpu_library[PATH_MAX];  /* the same; "" on a machine with a GPU */
    char program[PATH_MAX];      /* resolved through PATH */
    const char *preload;         /* what comes before ours, joined by ':'; NULL for none */
};

/* One of ours, where this command is installed or built. 0 or -errno. */
int launch_library_find(const char *name, char path[PATH_MAX]);

/* Finds the libraries and the program. 0, or -errno with a line for the user in `error`. */
int launch_prepare(struct launch *launch, const char *program, char *error, unsigned error_size);

/* Takes --preload over from the settings, which stay the owner. */
void launch_preload(struct launch *launch, const struct settings *settings);

/* --kokkos-trace: puts the library that Kokkos loads into KOKKOS_TOOLS_LIBS. 0, or -errno with a
 * line in `error`. */
int launch_kokkos(const struct settings *settings, char *error, unsigned error_size);

/* Puts the libraries into LD_PRELOAD and the settings into the environment. 0 or -errno. */
int launch_environment(const struct launch *launch, const struct settings *settings);

/* Called before anything else. The caller may ignore SIGCHLD, and then nobody could wait for a
 * child; or it may have given us a pipe that nobody reads, and then what we say would end us. The
 * program gets its signals as they were. */
void launch_signals_take(void);
void launch_signals_restore(void);

/* Replaces this process by the program, so that exit status and signals are the program's own.
 * Returns only on failure, with -errno. */
int launch_program(const struct launch *launch, char *const arguments[]);

#endif
