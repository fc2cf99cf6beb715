/* The life of internal correlation ids outside of the hot path. Private to session. */
#ifndef SESSION_IDS_H
#define SESSION_IDS_H

#include "base/thread.h"

/* To be called before any thread takes an id. */
void ids_init(void);
/* A context has stopped: what threads have left of their blocks may be for others. Any thread,
 * without a lock. */
void ids_hand_on(void);
void ids_on_thread_exit(struct thread *thread);
void ids_on_fork_prepare(void);
void ids_on_fork_parent(void);
void ids_on_fork_child(void);

#endif
