/* Timestamps of dispatch records on Linux's clocks. */
#include "api/rocprofiler_v1/internal.h"

#include <time.h>

#include "base/clock.h"

enum { CLOCKS = 5, TRIES = 20 };

static const struct {
    clockid_t clock, fine; /* fine: shows the same time without its steps */
} clocks[CLOCKS] = {
    [ROCPROFILER_TIME_ID_CLOCK_REALTIME] = {CLOCK_REALTIME, CLOCK_REALTIME},
    [ROCPROFILER_TIME_ID_CLOCK_REALTIME_COARSE] = {CLOCK_REALTIME_COARSE, CLOCK_REALTIME},
    [ROCPROFILER_TIME_ID_CLOCK_MONOTONIC] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC},
    [ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_COARSE] = {CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC},
    [ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_RAW] = {CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
};

/* A clock's distance from HSA's system clock, at one moment. */
struct distance {
    uint64_t at_ns;
    int64_t offset_ns;
    uint64_t error_ns;
};

static struct distance first[CLOCKS]; /* when the library was loaded */

/* The clock is read between two readings of HSA's; of several tries the one with the least time
 * between them counts. */
static struct distance distance_measure(clockid_t clock)
{
    struct distance best = {.error_ns = UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = clock_read_ns(CLOCK_BOOTTIME), now = clock_read_ns(clock),
                 after = clock_read_ns(CLOCK_BOOTTIME), error = (after - before + 1) / 2 + 1;
        if (error < best.error_ns)
            best = (struct distance){before + (after - before) / 2,
                                     (int64_t)(now - (before + (after - before) / 2)), error};
    }
    return best;
}

__attribute__((constructor)) static void distances_begin(void)
{
    for (int i = 0; i < CLOCKS; i++)
        first[i] = distance_measure(clocks[i].fine);
}

/* Clocks are adjusted against each other: between the two moments the distance grows evenly. */
static int64_t distance_at(const struct distance *from, const struct distance *to, uint64_t at_ns)
{
    int64_t change = to->offset_ns - from->offset_ns;
    if (at_ns <= from->at_ns || to->at_ns <= from->at_ns)
        return from->offset_ns;
    if (at_ns >= to->at_ns)
        return to->offset_ns;
    double part = (double)(at_ns - from->at_ns) / (double)(to->at_ns - from->at_ns);
    return from->offset_ns + (int64_t)((double)change * part);
}

hsa_status_t rocprofiler_get_time(rocprofiler_time_id_t time_id, uint64_t timestamp,
                                  uint64_t *value_ns, uint64_t *error_ns)
{
    struct timespec step;
    if ((unsigned)time_id >= CLOCKS)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_time: no clock %d", (int)time_id);
    struct distance now = distance_measure(clocks[time_id].fine);
    const struct distance *begin = &first[time_id];
    int64_t moved = now.offset_ns - begin->offset_ns;
    clock_getres(clocks[time_id].clock, &step);
    if (value_ns)
        *value_ns = timestamp + (uint64_t)distance_at(begin, &now, timestamp);
    if (error_ns)
        *error_ns = begin->error_ns + now.error_ns + (uint64_t)(moved < 0 ? -moved : moved) +
                    (uint64_t)step.tv_nsec;
    return HSA_STATUS_SUCCESS;
}
