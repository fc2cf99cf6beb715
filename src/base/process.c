#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

/* Writers: the constructor, children of fork() while they have one thread. Readers: any; relaxed.
 */
static _Atomic pid_t own;

static void take(void)
{
    atomic_store_explicit(&own, getpid(), memory_order_relaxed);
}

__attribute__((constructor)) static void prepare(void)
{
    take();
    pthread_atfork(NULL, NULL, take);
}

bool process_is_own(void)
{
    pid_t process = atomic_load_explicit(&own, memory_order_relaxed);
    return process == 0 || process == getpid(); /* 0: the constructor has not run yet */
}

uint32_t process_id(void)
{
    pid_t process = atomic_load_explicit(&own, memory_order_relaxed);
    return (uint32_t)(process ? process : getpid());
}
