/*
 * Keys in names of files and directories, replaced in the profiled process: %pid%, {pid},
 * %hostname%, %rank%, %env{NAME}% and so on (launch/keys.c has the list), %p, %h, %j, %r, %s for
 * five of them, $ENV{NAME} and %q{NAME} for variables. What is no key stays as it is.
 */
#ifndef LAUNCH_KEYS_H
#define LAUNCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* 0, -ENAMETOOLONG, or -EINVAL when `size` is 0. */
int keys_expand(const char *name, char *expanded, size_t size);

/* Length of what stands before the first key: all of it, if there is none. */
size_t keys_fixed_length(const char *name);

/* The name is another one in each process: it has a key such as %pid%, or one that reads the
 * command or the clock. */
bool keys_tell_processes_apart(const char *name);

/* Rank and number of ranks of this process in its job, from the variables that
 * ROCPROF_MPI_RANK_VAR and ROCPROF_MPI_SIZE_VAR name, or those of Open MPI, MPICH, Slurm, PBS and
 * others: 0 of 1 without. */
unsigned keys_rank(void);
unsigned keys_rank_count(void);

/* "N", "N-M" and so on, with commas or blanks between them: *is_in when `rank` is among them. False
 * when the text is no such list. */
bool keys_ranks_read(const char *text, unsigned rank, bool *is_in);

#endif
