/*
 * Programs that end without exit(): by quick_exit(), by abort(), by a signal nobody handles. What
 * is left to do is done first, then the program ends exactly as it would have: same status, same
 * signal, same core file.
 */
#ifndef BASE_ENDING_H
#define BASE_ENDING_H

#include <stdbool.h>

/* `finish` runs at most once, on a thread of ours. Signals whose disposition is not the default
 * belong to the program and stay as they are. `crashes`: SIGSEGV and its like, too. 0 or -errno. */
int ending_prepare(void (*finish)(void), bool crashes);

/* `leave` is called first, on the thread that ends the program and that does nothing more: in a
 * signal handler, or in quick_exit(). */
void ending_notice(void (*leave)(void));

/* The program ends now: runs `finish` and returns when it has, or after ten seconds. For whoever
 * sees an end that is no signal. */
void ending_begin(void);

/* Nothing is left to do, or will be done in another way. */
void ending_done(void);

#endif
