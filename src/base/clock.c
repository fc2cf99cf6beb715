#include "base/clock.h"
#include "base/clock_pairs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
    POINTS_MAX = 512,
    RECENT_POINTS = 16,
    ANCHOR_TRIES = 6,
    /* A rate over less than that would be wrong by more than 200 ppm: an anchor is uncertain by
     * ~20 ns. */
    BASELINE_MIN_NS = 100000,
    BASELINE_LONG_NS = 1000000000,
    /* How far the last piece reaches: a part of the time that its rate was measured over, so that
     * it is wrong by the same part of an anchor's uncertainty, and a few nanoseconds when the
     * kernel corrects its rate. */
    REACH_PART = 16,
    REACH_MIN_NS = 5000,
    REACH_MAX_NS = 250000,
};

struct anchor {
    uint64_t ticks, ns;
};

/* Ticks that lie so far (20 s and more) ahead of the newest anchor are older than a reset. */
static const uint64_t ahead_ticks = UINT64_C(1) << 36;
/* A rate that differs by more than that was not measured over a time without a break. */
static const double rate_tolerance = 2e-3;

bool clock_uses_tsc;

/* Guarded by `lock`: the corners of the chain, the last one in the future (while there is more than
 * one). The oldest half is thinned out when the table is full. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct anchor points[POINTS_MAX];
static unsigned point_count;
/* The last two before the TSC began again (a suspended machine, a restored process). */
static struct anchor former[2];
static bool was_reset;

/* The rate, ns per tick, is measured from `base`; guarded by `lock`. */
static struct {
    struct anchor base, next_base, newest;
    double ns_per_tick;
    bool is_doubtful; /* the next measurement counts whatever it says */
} rate;

/* The newest points, the last one first, for those who must not wait. Writer: who holds `lock`
 * makes `version` odd, stores the points (release, so that whoever sees one of them sees that) and
 * makes it even (release). Readers: any thread reads the version, the points and the version again
 * (all acquire), and has nothing if it changed. */
static _Atomic uint32_t version;
static struct {
    /* Writers and readers: as above. */
    _Atomic uint64_t ticks, ns;
} recent[RECENT_POINTS];

static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
/* A kernel that distrusts the TSC says so by using a slow clock source. */
static bool kernel_distrusts_tsc(void)
{
    char name[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file)
        return false;
    if (!fgets(name, sizeof name, file))
        name[0] = 0;
    fclose(file);
    return !strncmp(name, "hpet", 4) || !strncmp(name, "acpi_pm", 7) || !strncmp(name, "jiff", 4);
}

static bool tsc_is_usable(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d))
        return false;
    return (d & (1u << 8)) && !kernel_distrusts_tsc();
}
#else
static bool tsc_is_usable(void)
{
    return false;
}
#endif

/* The pair read in the narrowest window of a few tries: an interrupt between the reads would
 * otherwise shift every record of a segment. */
static struct anchor anchor_read(void)
{
    struct anchor best = {0, 0};
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = clock_ticks();
        uint64_t ns = clock_now_ns();
        uint64_t width = clock_ticks() - before;
        if (width >= best_width)
            continue;
        best_width = width;
        best = (struct anchor){before + width / 2, ns};
    }
    return best;
}

static void on_fork_child(void)
{
    uint32_t now = atomic_load_explicit(&version, memory_order_relaxed);
    pthread_mutex_init(&lock, NULL);
    if (now & 1) /* the parent was about to store them: there are none until the next anchor */
        for (int i = 0; i < RECENT_POINTS; i++)
            atomic_store_explicit(&recent[i].ticks, 0, memory_order_relaxed);
    atomic_store_explicit(&version, (now + 1) & ~1u, memory_order_release);
}

static void chain_begin(void)
{
    points[0] = anchor_read();
    point_count = 1;
    rate.base = rate.next_base = rate.newest = points[0];
    rate.is_doubtful = true;
}

static void init_once(void)
{
    pthread_atfork(NULL, NULL, on_fork_child);
    clock_pairs_init();
    clock_uses_tsc = tsc_is_usable();
    chain_begin();
}

void clock_init(void)
{
    pthread_once(&once, init_once);
}

uint64_t clock_ticks_now(void)
{
    return clock_ticks();
}

static struct clock_segment segment_of(struct anchor begin, struct anchor end, uint64_t first,
                                       uint64_t last)
{
    return (struct clock_segment){
        .first_ticks = first,
        .last_ticks = last,
        .base_ticks = begin.ticks,
        .base_ns = begin.ns,
        .ns_per_tick = (double)(end.ns - begin.ns) / (double)(end.ticks - begin.ticks),
    };
}

static struct clock_segment segment_from(unsigned i)
{
    return segment_of(points[i], points[i + 1], i ? points[i].ticks : 0, points[i + 1].ticks);
}

/* Forgets every second old point: long runs keep coarse history and a fine recent past. */
static void points_thin(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < point_count; i++)
        if (i >= POINTS_MAX / 2 || i % 2 == 0)
            points[kept++] = points[i];
    point_count = kept;
}

/* What was recorded before and is not delivered yet keeps its times. */
static void chain_restart(void)
{
    if (point_count > 1) {
        former[0] = points[point_count - 2];
        former[1] = points[point_count - 1];
        was_reset = true;
    }
    chain_begin();
}

static void rate_measure(struct anchor now)
{
    double before = rate.ns_per_tick;
    rate.newest = now;
    if (now.ns - rate.base.ns < BASELINE_MIN_NS)
        return;
    double measured = (double)(now.ns - rate.base.ns) / (double)(now.ticks - rate.base.ticks);
    double difference = measured > before ? measured - before : before - measured;
    if (!rate.is_doubtful && difference > before * rate_tolerance) {
        rate.base = rate.next_base = now; /* the machine was suspended, or an anchor was bad */
        rate.is_doubtful = true;
        return;
    }
    rate.ns_per_tick = measured;
    rate.is_doubtful = false;
    if (now.ns - rate.next_base.ns >= BASELINE_LONG_NS) {
        rate.base = rate.next_base;
        rate.next_base = now;
    }
}

static void recent_store(void)
{
    uint32_t before = atomic_load_explicit(&version, memory_order_relaxed);
    atomic_store_explicit(&version, before + 1, memory_order_relaxed);
    for (unsigned i = 0; i < RECENT_POINTS; i++) {
        struct anchor point = i < point_count ? points[point_count - 1 - i] : (struct anchor){0, 0};
        atomic_store_explicit(&recent[i].ticks, point.ticks, memory_order_release);
        atomic_store_explicit(&recent[i].ns, point.ns, memory_order_release);
    }
    atomic_store_explicit(&version, before + 2, memory_order_release);
}

/* The chain goes on to `now` and a moment further. It must not run backwards, so what it is ahead
 * of the clock it loses by going at half the rate. */
static void chain_extend(struct anchor now)
{
    double reach_ns = (double)(now.ns - rate.base.ns) / REACH_PART;
    reach_ns = reach_ns < REACH_MIN_NS   ? REACH_MIN_NS
               : reach_ns > REACH_MAX_NS ? REACH_MAX_NS
                                         : reach_ns;
    if (point_count > 1) {
        struct anchor end = points[point_count - 1];
        uint64_t least_ns =
            end.ns + (uint64_t)((double)(now.ticks - end.ticks) * rate.ns_per_tick / 2);
        now.ns = now.ns > least_ns ? now.ns : least_ns;
    }
    if (point_count + 2 > POINTS_MAX)
        points_thin();
    points[point_count++] = now;
    points[point_count++] = (struct anchor){now.ticks + (uint64_t)(reach_ns / rate.ns_per_tick),
                                            now.ns + (uint64_t)reach_ns};
    recent_store();
}

/* Under `lock`: ticks up to now lie in the chain afterwards. Once in a process that waits until the
 * first rate can be measured, if it may. */
static void chain_reach(bool may_wait)
{
    uint64_t ticks = clock_ticks();
    if (point_count > 1 && ticks >= rate.newest.ticks && ticks <= points[point_count - 1].ticks)
        return;
    struct anchor now = anchor_read();
    if (now.ticks < rate.newest.ticks) {
        chain_restart();
        now = anchor_read();
    }
    if (point_count > 1 && now.ticks <= points[point_count - 1].ticks)
        return;
    while (point_count == 1 && now.ns - points[0].ns < BASELINE_MIN_NS) {
        if (!may_wait)
            return;
        now = anchor_read();
    }
    rate_measure(now);
    chain_extend(now);
}

struct clock_segment clock_segment_now(void)
{
    clock_init();
    pthread_mutex_lock(&lock);
    chain_reach(true);
    struct clock_segment segment = segment_from(point_count - 2);
    pthread_mutex_unlock(&lock);
    return segment;
}

static struct clock_segment segment_search(uint64_t ticks)
{
    uint64_t end_ticks = points[point_count - 1].ticks + ahead_ticks;
    if (was_reset && ticks > end_ticks)
        return segment_of(former[0], former[1], end_ticks + 1, UINT64_MAX);
    unsigned i = point_count - 2;
    while (i > 0 && points[i].ticks > ticks)
        i--;
    struct clock_segment segment = segment_from(i);
    if (ticks > segment.last_ticks) /* nobody has read them here: they come from elsewhere */
        segment.last_ticks = was_reset ? end_ticks : UINT64_MAX;
    return segment;
}

/* True: *segment is the one. Never waits. */
static bool recent_search(uint64_t ticks, struct clock_segment *segment)
{
    uint32_t before = atomic_load_explicit(&version, memory_order_acquire);
    struct anchor later = {atomic_load_explicit(&recent[0].ticks, memory_order_acquire),
                           atomic_load_explicit(&recent[0].ns, memory_order_acquire)};
    bool found = false;
    for (int i = 1; i < RECENT_POINTS && ticks <= later.ticks && !found; i++) {
        struct anchor point = {atomic_load_explicit(&recent[i].ticks, memory_order_acquire),
                               atomic_load_explicit(&recent[i].ns, memory_order_acquire)};
        found = point.ticks != 0 && ticks >= point.ticks && point.ticks < later.ticks;
        if (found)
            *segment = segment_of(point, later, point.ticks, later.ticks);
        later = point;
    }
    return found && !(before & 1) && atomic_load_explicit(&version, memory_order_acquire) == before;
}

/* False: they may be the future's. */
static bool recent_reaches(uint64_t ticks)
{
    return ticks <= atomic_load_explicit(&recent[0].ticks, memory_order_acquire);
}

bool clock_segment_try(uint64_t ticks, struct clock_segment *segment)
{
    if (recent_search(ticks, segment))
        return true;
    if (recent_reaches(ticks) || pthread_mutex_trylock(&lock) != 0)
        return false;
    chain_reach(false);
    pthread_mutex_unlock(&lock);
    return recent_search(ticks, segment);
}

struct clock_segment clock_segment_find(uint64_t ticks)
{
    struct clock_segment segment;
    if (recent_search(ticks, &segment))
        return segment;
    pthread_mutex_lock(&lock);
    if (point_count < 2 || ticks > points[point_count - 1].ticks)
        chain_reach(true);
    segment = segment_search(ticks);
    pthread_mutex_unlock(&lock);
    return segment;
}
