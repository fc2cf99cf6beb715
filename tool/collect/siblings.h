/*
 * --process-sync: a process that has written its files waits until those of the same parent have,
 * too, for some programs end all their processes with the first one. Each holds a shared lock on
 * one file as long as it has something to write; the kernel takes it from those that die.
 */
#ifndef COLLECT_SIBLINGS_H
#define COLLECT_SIBLINGS_H

/* At the start of a process, and in a forked child. Does nothing when the file cannot be made. */
void siblings_join(void);

/* Behind the last file. Waits a minute at most, and says so. */
void siblings_wait(void);

#endif
