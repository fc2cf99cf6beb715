#include "base/wait.h"

#include <errno.h>
#include <stddef.h>

void wait_pause(uint64_t ns)
{
    int saved = errno;
    struct timespec length = wait_timespec(ns);
    nanosleep(&length, NULL);
    errno = saved;
}

bool wait_until(bool (*done)(void *argument), void *argument, uint64_t limit_ns, uint64_t step_ns)
{
    if (done(argument))
        return true;
    uint64_t begin_ns = wait_now_ns(), passed_ns = 0;
    while (passed_ns < limit_ns) {
        uint64_t left_ns = limit_ns - passed_ns;
        wait_pause(step_ns < left_ns ? step_ns : left_ns);
        if (done(argument))
            return true;
        passed_ns = wait_now_ns() - begin_ns;
    }
    return false;
}
