#include "size_limit.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* Two threads that lift it would put back each other's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void size_limit_begin(struct size_limit *limit, uint64_t size_bytes)
{
    *limit = (struct size_limit){.is_lifted = false};
    if (getrlimit(RLIMIT_FSIZE, &limit->before) != 0 || limit->before.rlim_cur >= size_bytes)
        return;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, &limit->signals_before);
    pthread_mutex_lock(&lock);
    limit->is_lifted = true;
    getrlimit(RLIMIT_FSIZE, &limit->before); /* not what another thread had lifted it to */
    struct rlimit lifted = {.rlim_cur = limit->before.rlim_max, .rlim_max = limit->before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lifted);
}

void size_limit_end(const struct size_limit *limit)
{
    int saved_errno = errno;
    if (!limit->is_lifted)
        return;
    setrlimit(RLIMIT_FSIZE, &limit->before);
    pthread_mutex_unlock(&lock);
    if (saved_errno == EFBIG) { /* its signal is pending for this thread: it is taken away */
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGXFSZ);
        sigtimedwait(&signals, NULL, &(struct timespec){0});
    }
    pthread_sigmask(SIG_SETMASK, &limit->signals_before, NULL);
    errno = saved_errno;
}
