#include "base/write_guard.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

static const int guarded[] = {SIGPIPE, SIGXFSZ};
enum { GUARDED_COUNT = sizeof guarded / sizeof guarded[0] };

void write_guard_begin(struct write_guard *guard)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; i < GUARDED_COUNT; i++)
        sigaddset(&ours, guarded[i]);
    sigpending(&guard->already_pending);
    pthread_sigmask(SIG_BLOCK, &ours, &guard->blocked);
}

/* What came meanwhile came from our write() and is for this thread: it is taken away. */
void write_guard_end(const struct write_guard *guard)
{
    static const struct timespec at_once = {0, 0};
    int saved_errno = errno;
    sigset_t pending;
    sigpending(&pending);
    for (int i = 0; i < GUARDED_COUNT; i++) {
        sigset_t one;
        if (!sigismember(&pending, guarded[i]) || sigismember(&guard->already_pending, guarded[i]))
            continue;
        sigemptyset(&one);
        sigaddset(&one, guarded[i]);
        while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &guard->blocked, NULL);
    errno = saved_errno;
}
