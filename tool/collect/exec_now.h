/*
 * exec() of the program, and daemon(), whose process ends inside of the C library. Both are seen
 * because this library is preloaded, and what was collected is written before the process becomes
 * another program or ends. A raw system call is not seen, nor is an exec in a child that vfork() or
 * posix_spawn() made, where there is nothing to write.
 */
#ifndef COLLECT_EXEC_NOW_H
#define COLLECT_EXEC_NOW_H

/* `leave` runs on the thread of base/ending.h, once that is prepared, before every exec that looks
 * as if it will succeed. Should it fail all the same, `stay` runs on the thread that tried: the
 * program goes on, and collection with it. */
void exec_now_watch(void (*leave)(void), void (*stay)(void));

/* `image` is told what the process, or a child of vfork(), is about to become; it may do only what
 * such a child may. From then on. */
void exec_now_inform(void (*image)(const char *path, char *const environment[]));

#endif
