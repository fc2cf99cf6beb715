#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
    ANCHORS_MAX = 512,
    ANCHOR_TRIES = 6,
    /* Shorter segments would turn the ~20 ns uncertainty of an anchor into a rate error > 200 ppm.
     */
    SEGMENT_MIN_NS = 100000,
};

struct anchor {
    uint64_t ticks, ns;
};

/* Ticks that lie so far (20 s and more) ahead of the newest anchor are older than a reset. */
static const uint64_t ahead_ticks = UINT64_C(1) << 36;

bool clock_uses_tsc;

/* Guarded by `lock`. The oldest half is thinned out when the table is full. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct anchor anchors[ANCHORS_MAX];
static unsigned anchor_count;
/* The last two before the TSC began again (a suspended machine, a restored process). */
static struct anchor former[2];
static bool was_reset;
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
    pthread_mutex_init(&lock, NULL);
}

static void init_once(void)
{
    pthread_atfork(NULL, NULL, on_fork_child);
    clock_uses_tsc = tsc_is_usable();
    anchors[0] = anchor_read();
    anchor_count = 1;
}

void clock_init(void)
{
    pthread_once(&once, init_once);
}

static struct clock_segment segment_of(const struct anchor pair[2], uint64_t first, uint64_t last)
{
    return (struct clock_segment){
        .first_ticks = first,
        .last_ticks = last,
        .base_ticks = pair[0].ticks,
        .base_ns = pair[0].ns,
        .ns_per_tick = (double)(pair[1].ns - pair[0].ns) / (double)(pair[1].ticks - pair[0].ticks),
    };
}

/* The last ticks that the newest segment is good for. */
static uint64_t end_ticks(void)
{
    return was_reset ? anchors[anchor_count - 1].ticks + ahead_ticks : UINT64_MAX;
}

static struct clock_segment segment_from(unsigned i)
{
    return segment_of(&anchors[i], i ? anchors[i].ticks : 0,
                      i + 2 == anchor_count ? end_ticks() : anchors[i + 1].ticks);
}

/* Forgets every second old anchor: long runs keep coarse history and a fine recent past. */
static void anchors_thin(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < anchor_count; i++)
        if (i >= ANCHORS_MAX / 2 || i % 2 == 0)
            anchors[kept++] = anchors[i];
    anchor_count = kept;
}

/* What was recorded before and is not delivered yet keeps its times. */
static void anchors_restart(void)
{
    if (anchor_count > 1) {
        former[0] = anchors[anchor_count - 2];
        former[1] = anchors[anchor_count - 1];
        was_reset = true;
    }
    anchors[0] = anchor_read();
    anchor_count = 1;
}

static void anchor_add(void)
{
    struct anchor now = anchor_read();
    if (now.ticks < anchors[anchor_count - 1].ticks) {
        anchors_restart();
        now = anchor_read();
    }
    while (now.ns - anchors[anchor_count - 1].ns < SEGMENT_MIN_NS) {
        if (anchor_count > 1)
            return;
        now = anchor_read(); /* once in a process: wait for the first segment to be long enough */
    }
    if (anchor_count == ANCHORS_MAX)
        anchors_thin();
    anchors[anchor_count++] = now;
}

struct clock_segment clock_segment_now(void)
{
    clock_init();
    pthread_mutex_lock(&lock);
    anchor_add();
    struct clock_segment segment = segment_from(anchor_count - 2);
    pthread_mutex_unlock(&lock);
    return segment;
}

struct clock_segment clock_segment_find(uint64_t ticks)
{
    pthread_mutex_lock(&lock);
    unsigned i = anchor_count - 2;
    while (i > 0 && anchors[i].ticks > ticks)
        i--;
    struct clock_segment segment =
        ticks > end_ticks() ? segment_of(former, end_ticks() + 1, UINT64_MAX) : segment_from(i);
    pthread_mutex_unlock(&lock);
    return segment;
}
