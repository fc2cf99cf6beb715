#include "base/wait.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>

struct timespec wait_deadline(clockid_t clock, uint64_t limit_ns)
{
    const uint64_t limit_max_ns = UINT64_C(1000000000) * WAIT_NS_PER_S;
    return wait_timespec(clock_read_ns(clock) +
                         (limit_ns < limit_max_ns ? limit_ns : limit_max_ns));
}

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

struct movement {
    bool (*done)(void *argument);
    uint64_t (*progress)(void *argument);
    void *argument;
    uint64_t before;
    bool is_done;
    bool has_moved; /* and was asked just now */
};

static bool done_or_moved(void *argument)
{
    struct movement *movement = argument;
    if (movement->has_moved) {
        movement->has_moved = false;
        return false;
    }
    movement->is_done = movement->done(movement->argument);
    uint64_t now = movement->progress(movement->argument);
    movement->has_moved = now != movement->before;
    movement->before = now;
    return movement->is_done || movement->has_moved;
}

bool wait_while_moving(bool (*done)(void *argument), uint64_t (*progress)(void *argument),
                       void *argument, uint64_t stall_ns, uint64_t step_ns)
{
    struct movement movement = {
        .done = done, .progress = progress, .argument = argument, .before = progress(argument)};
    while (wait_until(done_or_moved, &movement, stall_ns, step_ns) && !movement.is_done)
        ;
    return movement.is_done;
}

void wait_step(unsigned *turn)
{
    enum { YIELDS = 100 };
    if ((*turn)++ < YIELDS)
        sched_yield();
    else
        wait_pause(50 * WAIT_NS_PER_US);
}
