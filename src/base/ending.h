/*
 * Programs that end without exit(): by quick_exit(), by abort(), by a signal nobody handles. What
 * is left to do is done first, then the program ends exactly as it would have: same status, same
 * signal, same core file.
 *
 * Several libraries of a process may each have this file. Whoever comes later finds the earlier
 * one's handlers, knows them for ours, and hands each signal on when its own part is done.
 */
#ifndef BASE_ENDING_H
#define BASE_ENDING_H

#include <stdbool.h>

/* `finish` runs at most once, on a thread of ours. Signals whose disposition is not the default
 * belong to the program and stay as they are. `crashes`: SIGSEGV and its like, too. 0 or -errno.
 * Once in a process: a forked child has no such thread, and nothing is done in it until it prepares
 * again. */
int ending_prepare(void (*finish)(void), bool crashes);

/* Both in a signal handler, or in quick_exit(). `leave` is called first, on the thread that ends
 * the program and that does nothing more. `busy`: is this thread just doing what is left to do? It
 * then goes on, and the signal counts when it calls ending_done(), or after ten seconds; where
 * another thread ends the program already, and waits for this one, that is the end. */
void ending_notice(void (*leave)(void), bool (*busy)(void));

/* The program ends now: runs `finish` and returns when it has, or after ten seconds. For whoever
 * sees an end that is no signal. */
void ending_begin(void);

/* The program may end, as by exec: runs `work` on the thread of ours, which a signal handler may
 * wait for, and returns when it has, or after ten seconds. As often as wanted. False: it has not
 * been done to its end, or the program ends already. errno stays. */
bool ending_aside(void (*work)(void));

/* In this process, which is no child of the one that did. */
bool ending_is_prepared(void);

/* Nothing is left to do, or will be done in another way. Does not return where a signal has been
 * waiting for it. */
void ending_done(void);

#endif
