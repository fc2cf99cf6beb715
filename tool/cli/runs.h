/*
 * Runs of the program one after the other, this process standing for all of them where signals are
 * concerned: what would have reached the program if it ran once, in this process, reaches it.
 */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include <stdbool.h>

/* Around all runs. */
void runs_begin(void);
void runs_end(void);

/*
 * Forks; the child, with the caller's signals, calls `become`, which returns an exit status only if
 * it fails. True, and *status is the wait status, or -1 after a line to stderr. False: a signal has
 * come that would have killed the program before it began; *status is as if it had.
 */
bool runs_once(int (*become)(void *data), void *data, int *status);

/* The signal by which somebody asked for the end of all runs; 0: nobody did. */
int runs_end_asked(void);

/* Ends as a run has: returns its exit status, or dies of its signal. */
int runs_end_like(int status);

#endif
