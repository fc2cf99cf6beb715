/*
 * Every second, what the library's buffer and the markers hold goes into the files, from a thread
 * of ours: nobody is told of a kill -9, and a program that records little fills no buffer for
 * hours.
 */
#ifndef COLLECT_STREAM_NOW_H
#define COLLECT_STREAM_NOW_H

/* `flush` delivers the records that there are. Also after an end, or in a forked child. */
void stream_now_begin(void (*flush)(void));
/* A second that has just passed may still be worked on behind it. */
void stream_now_end(void);
/* In a forked child, which has no such thread. */
void stream_now_fork_child(void);

#endif
