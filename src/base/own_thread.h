/*
 * Threads of ours in the program's process. The program's signals are for the program's threads,
 * and ours do not keep alive a program whose own threads have all ended.
 */
#ifndef BASE_OWN_THREAD_H
#define BASE_OWN_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* pthread_create() with every signal blocked in the new thread. */
int own_thread_create(pthread_t *thread, void *(*run)(void *), void *arg);

/* The first thing that `run` does: by its name every library of ours knows the thread, which from
 * then on takes the signals that it causes itself: the program may handle faults in its memory, and
 * blocked they would end it. `what` has at most six characters. */
void own_thread_name(const char *what);
bool own_thread_is_current(void); /* of any library of ours; in signal handlers, too */

/* The calling thread ends. When it is the main one, or the main one has ended, the process exits
 * with 0 as soon as only threads of ours are left, as it would have done without us. */
void own_thread_program_thread_ends(void);

#endif
