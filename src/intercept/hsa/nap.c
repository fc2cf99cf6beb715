#include <stddef.h>

#include "base/futex.h"
#include "base/thread.h"
#include "intercept/hsa/completion_state.h"

/*
 * How long the thread sleeps between two looks while work is in flight. Nobody waits for work that
 * is not urgent, so it is collected in large batches; urgent work is looked at often at first,
 * because kernels and copies that somebody waits for are mostly short. With nothing in flight it
 * naps on for a while, so that a program that launches now and then need not wake it.
 */
enum {
    NAP_URGENT_MIN_NS = 5000,
    NAP_URGENT_MAX_NS = 100000,
    NAP_LAZY_NS = 1000000,
    IDLE_BEFORE_SLEEP_NS = 10000000,
    THOROUGH_EVERY_NS = 500000, /* a thorough look costs a few ns for each entry in flight */
};

/* Takes the lanes off the active list, but for those that something is posted to meanwhile. */
static void lanes_park(void)
{
    uint32_t listed = atomic_load_explicit(&completion.listed, memory_order_relaxed);
    struct inflight_lane *lanes = completion.active, *next;
    if (!lanes)
        return;
    completion.active = NULL;
    for (struct inflight_lane *lane = lanes; lane; lane = lane->active_next)
        lane_park(lane, listed);
    thread_fence_heavy();
    for (struct inflight_lane *lane = lanes; lane; lane = next) {
        next = lane->active_next;
        if (lane_park_end(lane, listed))
            lane_list(lane);
    }
}

static void sleep_until_posted(void)
{
    lanes_park();
    if (completion.active)
        return;
    atomic_store_explicit(&completion.sleeping, 1, memory_order_seq_cst);
    atomic_store_explicit(&completion.asleep, 1, memory_order_release);
    while (!atomic_load_explicit(&completion.arrivals, memory_order_seq_cst) &&
           atomic_load_explicit(&completion.sleeping, memory_order_seq_cst) == 1)
        futex_wait(&completion.sleeping, 1, NULL);
    atomic_store_explicit(&completion.asleep, 0, memory_order_release);
    atomic_store_explicit(&completion.sleeping, 0, memory_order_seq_cst);
}

static uint64_t urgent_nap_ns(const struct nap *nap, const struct look *look)
{
    uint64_t length_ns = look->progress ? 0 : nap->length_ns + nap->length_ns / 2;
    if (length_ns < NAP_URGENT_MIN_NS)
        return NAP_URGENT_MIN_NS;
    return length_ns > NAP_URGENT_MAX_NS ? NAP_URGENT_MAX_NS : length_ns;
}

/* A nudge since the look began makes this return at once. After the last urgent work its naps go on
 * until they are long: more may come. */
static void nap_take(struct nap *nap, const struct look *look)
{
    struct timespec length = {.tv_nsec = NAP_LAZY_NS};
    if (look->urgent || (nap->length_ns != 0 && nap->length_ns < NAP_URGENT_MAX_NS)) {
        nap->length_ns = urgent_nap_ns(nap, look);
        length.tv_nsec = (long)nap->length_ns;
        futex_wait(&completion.nudge, nap->nudge, &length);
        return;
    }
    nap->length_ns = 0;
    atomic_store_explicit(&completion.lazy_nap, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&completion.urgent_posted, memory_order_seq_cst) == nap->urgent_posted)
        futex_wait(&completion.nudge, nap->nudge, &length);
    atomic_store_explicit(&completion.lazy_nap, 0, memory_order_seq_cst);
}

bool nap_look_is_thorough(const struct nap *nap, uint64_t now)
{
    return now >= nap->thorough_at_ns;
}

void nap_or_sleep(struct nap *nap, const struct look *look, bool thorough)
{
    uint64_t now = look->begun_at_ns;
    if (thorough)
        nap->thorough_at_ns = now + THOROUGH_EVERY_NS;
    if (look->progress || completion.received != completion_finished_count())
        nap->busy_at_ns = now;
    if (now - nap->busy_at_ns < IDLE_BEFORE_SLEEP_NS)
        nap_take(nap, look);
    else
        sleep_until_posted();
}
