#include "intercept/hsa/device_clock.h"

#include <stdbool.h>

#include "base/clock.h"

enum {
    /* Of one line: answers are rounded to nanoseconds, so its slope is known to some 1e-7. */
    TOLERANCE_NS = 20,
    /* What two lines may differ by, and what a device may be idle for, without a second thought. */
    LEAP_NS = 1000000000,
    /* From here back the slope is measured: some ten milliseconds. */
    SLOPE_TICKS = 1 << 20
};

static uint64_t ask(const struct device_clock_source *source, uint64_t ticks)
{
    return source->ns_of_ticks(source->data, ticks);
}

static uint64_t line_ns(const struct device_clock_piece *piece, uint64_t ticks)
{
    int64_t elapsed = (int64_t)(ticks - piece->base_ticks);
    return piece->base_ns + (uint64_t)(int64_t)((double)elapsed * piece->ns_per_tick);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* A device that was lost may leave any ticks behind: what lies in the future is answered and
 * forgotten, else all that comes later would be of that time. */
static bool is_plausible(const struct device_clock *clock, uint64_t ns)
{
    return distance(ns, clock->newest_ns) < LEAP_NS ||
           (ns > clock->newest_ns && ns < clock_now_ns() + LEAP_NS);
}

/* Every second one of the older half goes: long runs keep a coarse history and a fine recent past.
 */
static void pieces_thin(struct device_clock *clock)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < clock->count; i++)
        if (i >= DEVICE_CLOCK_PIECES / 2 || i % 2 == 0)
            clock->pieces[kept++] = clock->pieces[i];
    clock->count = kept;
}

/* The line that the source follows now, through `ticks`; never a falling one. */
static void piece_add(struct device_clock *clock, const struct device_clock_source *source,
                      uint64_t ticks, uint64_t ns)
{
    uint64_t back = ticks < SLOPE_TICKS ? ticks : SLOPE_TICKS;
    uint64_t earlier = back > 0 ? ask(source, ticks - back) : ns;
    if (clock->count == DEVICE_CLOCK_PIECES)
        pieces_thin(clock);
    clock->pieces[clock->count++] = (struct device_clock_piece){
        .after_ticks = clock->newest_ticks,
        .least_ns = clock->newest_ns,
        .base_ticks = ticks,
        .base_ns = ns,
        .ns_per_tick = earlier < ns ? (double)(ns - earlier) / (double)back : 0,
    };
}

static uint64_t newest_ns(struct device_clock *clock, const struct device_clock_source *source,
                          uint64_t ticks)
{
    uint64_t ns = ask(source, ticks);
    if (ns == 0 || !is_plausible(clock, ns))
        return ns;
    if (clock->count == 0 ||
        distance(line_ns(&clock->pieces[clock->count - 1], ticks), ns) > TOLERANCE_NS)
        piece_add(clock, source, ticks, ns);
    const struct device_clock_piece *piece = &clock->pieces[clock->count - 1];
    clock->newest_ticks = ticks;
    clock->newest_ns = larger(line_ns(piece, ticks), piece->least_ns);
    return clock->newest_ns;
}

/* A piece that follows one which was thinned out begins later than the line before it ends. */
static uint64_t past_ns(const struct device_clock *clock, uint64_t ticks)
{
    uint32_t i = clock->count - 1;
    while (i > 0 && clock->pieces[i].after_ticks >= ticks)
        i--;
    uint64_t ns = line_ns(&clock->pieces[i], ticks);
    uint64_t most_ns = i + 1 < clock->count ? clock->pieces[i + 1].least_ns : clock->newest_ns;
    if (i > 0)
        ns = larger(ns, clock->pieces[i].least_ns);
    return ns < most_ns ? ns : most_ns;
}

uint64_t device_clock_ns(struct device_clock *clock, const struct device_clock_source *source,
                         uint64_t ticks)
{
    if (clock->count == 0 || ticks > clock->newest_ticks)
        return newest_ns(clock, source, ticks);
    return past_ns(clock, ticks);
}
