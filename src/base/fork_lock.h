/*
 * Leaf locks over a fork(). They are taken before it and given back behind it, in the parent and in
 * the child, which so finds them free, and whole what they guard: of the threads that may have been
 * in the middle of it only the one that forked goes on there.
 *
 * They are known from the time on at which the library is loaded. So of all that is ours they are
 * the last that are taken and the first that are free again: what else there is to do for a child
 * may use them.
 */
#ifndef BASE_FORK_LOCK_H
#define BASE_FORK_LOCK_H

#include <pthread.h>

struct fork_lock {
    pthread_mutex_t *lock;
    struct fork_lock *next;
};

void fork_lock_add(struct fork_lock *lock);

/* At file scope, once for each: `name` is a new one. Who has a lock of these waits for nobody but
 * malloc: no other lock, no thread, nobody's callback. */
#define FORK_LOCK(name, mutex)                                                                     \
    static struct fork_lock name = {.lock = &(mutex)};                                             \
    __attribute__((constructor)) static void name##_add(void)                                      \
    {                                                                                              \
        fork_lock_add(&name);                                                                      \
    }

#endif
