/* croc_bench threads: how calls scale. croc_bench latency: how long the longest ones take. */
#include "many.h"

#include "base/clock.h"
#include "calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    THREADS_MAX = 64,
    LATENCY_CALLS = 10000000,
    BUCKETS = 40, /* powers of two of nanoseconds */
};

static const double latency_budget_us = 100;

/* ---- threads */

static uint32_t calls_per_thread = 4000000;

struct lane {
    pthread_t thread;
    pthread_barrier_t *barrier;
    enum call_kind kind;
    uint64_t begin_ns, end_ns;
};

static void *lane_run(void *arg)
{
    struct lane *lane = arg;
    calls_make(lane->kind, calls_per_thread / 20);
    pthread_barrier_wait(lane->barrier);
    lane->begin_ns = clock_now_ns();
    calls_make(lane->kind, calls_per_thread);
    lane->end_ns = clock_now_ns();
    return NULL;
}

/* Wall time of a call in each of so many threads. */
static double lanes_run(enum call_kind kind, int count)
{
    static struct lane lanes[THREADS_MAX];
    pthread_barrier_t barrier;
    double sum_ns = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    calls_select(kind);
    for (int i = 0; i < count; i++) {
        lanes[i].kind = kind;
        lanes[i].barrier = &barrier;
        pthread_create(&lanes[i].thread, NULL, lane_run, &lanes[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(lanes[i].thread, NULL);
        sum_ns += (double)(lanes[i].end_ns - lanes[i].begin_ns) / calls_per_thread;
    }
    pthread_barrier_destroy(&barrier);
    return sum_ns / count;
}

int many_threads(int most, uint32_t calls)
{
    static const enum call_kind kinds[] = {CALL_FLOOR, CALL_CALLBACK, CALL_BUFFERED};
    uint64_t expected = 0;
    if (calls)
        calls_per_thread = calls;
    if (most <= 0)
        most = (int)sysconf(_SC_NPROCESSORS_ONLN);
    most = most > THREADS_MAX ? THREADS_MAX : most;
    printf("%-8s %10s %10s %10s %16s\n", "threads", "floor", "callback", "buffered",
           "buffered in all");
    for (int count = 1; count <= most;
         count = count == most || 2 * count <= most ? 2 * count : most) {
        double ns[CALL_KINDS];
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            ns[kinds[k]] = lanes_run(kinds[k], count);
        expected += (uint64_t)count * (calls_per_thread + calls_per_thread / 20);
        printf("%-8d %7.1f ns %7.1f ns %7.1f ns %12.1f M/s\n", count, ns[CALL_FLOOR],
               ns[CALL_CALLBACK], ns[CALL_BUFFERED], count * 1e3 / ns[CALL_BUFFERED]);
    }
    calls_select(CALL_PLAIN);
    uint64_t delivered = calls_delivered();
    printf("%llu of %llu records delivered\n", (unsigned long long)delivered,
           (unsigned long long)expected);
    return delivered != expected;
}

/* ---- latency */

static uint64_t buckets[CALL_KINDS][BUCKETS];
static double longest_us[CALL_KINDS];

static void latency_measure(enum call_kind kind)
{
    struct clock_segment segment = clock_segment_now();
    uint64_t longest = 0;
    calls_select(kind);
    calls_make(kind, LATENCY_CALLS / 10); /* memory is there */
    for (int i = 0; i < LATENCY_CALLS; i++) {
        uint64_t begin = clock_ticks();
        calls_make(kind, 1);
        uint64_t ticks = clock_ticks() - begin;
        uint64_t ns = (uint64_t)((double)ticks * segment.ns_per_tick);
        buckets[kind][ns ? 63 - __builtin_clzll(ns) : 0]++;
        longest = ns > longest ? ns : longest;
    }
    longest_us[kind] = (double)longest / 1e3;
}

int many_latency(void)
{
    static const enum call_kind kinds[] = {CALL_PLAIN, CALL_FLOOR, CALL_CALLBACK, CALL_BUFFERED};
    printf("of %d calls, so many took at least\n%-12s", LATENCY_CALLS, "");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        latency_measure(kinds[k]);
        printf(" %12s", call_names[kinds[k]]);
    }
    printf("\n");
    calls_select(CALL_PLAIN);
    for (int b = 0; b < BUCKETS; b++) {
        uint64_t any = 0;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            any += buckets[kinds[k]][b];
        if (any == 0)
            continue;
        printf("%9llu ns", 1ull << b);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            printf(" %12llu", (unsigned long long)buckets[kinds[k]][b]);
        printf("\n");
    }
    printf("%-12s", "longest, us");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        printf(" %12.1f", longest_us[kinds[k]]);
    printf("  budget %.0f  %s\n", latency_budget_us,
           longest_us[CALL_CALLBACK] <= latency_budget_us &&
                   longest_us[CALL_BUFFERED] <= latency_budget_us
               ? "met"
               : "OVER");
    return 0;
}
