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

/* What a step takes beyond this was not ours: the process was stopped, or had no processor. */
enum { STEP_SLACK_NS = 20 * WAIT_NS_PER_MS };

bool wait_until(bool (*done)(void *argument), void *argument, uint64_t limit_ns, uint64_t step_ns)
{
    if (done(argument))
        return true;
    uint64_t before_ns = wait_now_ns(), passed_ns = 0;
    while (passed_ns < limit_ns) {
        uint64_t left_ns = limit_ns - passed_ns, pause_ns = step_ns < left_ns ? step_ns : left_ns;
        wait_pause(pause_ns);
        if (done(argument))
            return true;
        uint64_t now_ns = wait_now_ns(), took_ns = now_ns - before_ns;
        before_ns = now_ns;
        passed_ns += took_ns < pause_ns + STEP_SLACK_NS ? took_ns : pause_ns + STEP_SLACK_NS;
    }
    return false;
}
