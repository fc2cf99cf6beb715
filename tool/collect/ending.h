/*
 * Programs that end without exit(): by _exit(), by abort(), by a signal nobody handles. The report
 * is completed first, then the program ends exactly as it would have: same status, same signal.
 */
#ifndef COLLECT_ENDING_H
#define COLLECT_ENDING_H

/* `finish` runs at most once, on a thread of ours. Signals whose disposition is not the default
 * belong to the program and stay as they are. 0 or -errno. */
int ending_prepare(void (*finish)(void));

/* The report is complete, or will be by another way: nothing is left to do at the end. */
void ending_done(void);

#endif
