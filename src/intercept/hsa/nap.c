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
    ALARM_LIMIT_MS = 1,         /* what an interrupt that is lost costs */
    ALARM_RINGING_MAX = 2,      /* of more the ends are collected */
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

/* Down at once and up slowly. What had ended after the long nap took less, and nobody knows how
 * much. */
static void expected_learn(uint64_t *expected_ns, uint64_t took_ns, bool after_long_nap)
{
    if (after_long_nap)
        took_ns -= took_ns / 4;
    if (took_ns < *expected_ns)
        *expected_ns = took_ns;
    else
        *expected_ns += (took_ns - *expected_ns) / 4;
}

static uint64_t between(uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least)
        return least;
    return value > most ? most : value;
}

/* Something ended, or urgent work is there for the first time. */
static void wait_change(struct nap *nap, const struct look *look)
{
    bool is_next = nap->wait != NAP_WAIT_NONE;
    if (is_next && look->progress)
        expected_learn(&nap->expected_ns[nap->wait], look->begun_at_ns - nap->wait_since_ns,
                       nap->length_ns == 0);
    nap->wait = !look->waits ? NAP_WAIT_NONE : is_next ? NAP_WAIT_NEXT : NAP_WAIT_FIRST;
    nap->wait_since_ns = look->begun_at_ns;
    nap->length_ns = 0;
}

/*
 * Programs do the same again and again: most of what the last ones took is slept through at once,
 * so that the thread is neither in a long nap when the work ends nor in the way of who does it.
 * Then it looks often, and less so the longer nothing ends.
 */
uint64_t nap_urgent_ns(struct nap *nap, const struct look *look)
{
    if (look->progress || look->waits != (nap->wait != NAP_WAIT_NONE))
        wait_change(nap, look);
    uint64_t waited_ns = look->begun_at_ns - nap->wait_since_ns;
    uint64_t expected_ns = look->waits ? nap->expected_ns[nap->wait] / 8 * 7 : 0;
    if (waited_ns + NAP_URGENT_MIN_NS < expected_ns)
        return between(expected_ns - waited_ns, NAP_URGENT_MIN_NS, NAP_URGENT_MAX_NS);
    nap->length_ns =
        between(nap->length_ns + nap->length_ns / 2, NAP_URGENT_MIN_NS, NAP_URGENT_MAX_NS);
    return nap->length_ns;
}

/* Nobody need look by time: what is urgent rings, is little, and takes long. Where a program
 * launches on and on, ends are collected by short naps, since being woken by each costs it more.
 * With nothing urgent in flight the next that comes wakes the thread by its end, or, if it does not
 * ring, when it is posted. */
static bool alarm_fits(const struct nap *nap, const struct look *look)
{
    bool is_long = nap->is_patient || nap->length_ns >= NAP_URGENT_MAX_NS;
    if (look->silent != 0 || look->ringing > ALARM_RINGING_MAX)
        return false;
    return is_long || (look->ringing == 0 && nap->length_ns == 0);
}

/* False: there is no alarm. */
static bool alarm_wait(struct nap *nap)
{
    const struct completion_alarm *alarm =
        atomic_load_explicit(&completion.alarm, memory_order_acquire);
    bool waited = alarm != NULL;
    if (!alarm)
        return false;
    atomic_store_explicit(&completion.lazy_nap, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&completion.urgent_posted, memory_order_seq_cst) ==
            nap->urgent_posted &&
        atomic_load_explicit(&completion.nudge, memory_order_seq_cst) == nap->nudge)
        waited = alarm->wait(ALARM_LIMIT_MS);
    atomic_store_explicit(&completion.lazy_nap, 0, memory_order_seq_cst);
    return waited;
}

/* What rang and was not seen to have ended stands behind other work. */
static bool alarm_nap(struct nap *nap, const struct look *look)
{
    bool saw_nothing = nap->after_alarm && look->waits && !look->progress && !look->thorough;
    nap->is_patient = !look->progress && (nap->is_patient || nap->after_alarm);
    nap->after_alarm = false;
    if (!alarm_fits(nap, look))
        return false;
    if (saw_nothing) {
        nap->thorough_at_ns = 0;
        return true;
    }
    if (!alarm_wait(nap))
        return false;
    nap->length_ns = 0;
    nap->wait = NAP_WAIT_NONE;
    nap->after_alarm = true;
    return true;
}

/* A nudge since the look began makes this return at once. After the last urgent work its naps go on
 * until they are long: more may come. */
static void nap_take(struct nap *nap, const struct look *look)
{
    struct timespec length = {.tv_nsec = NAP_LAZY_NS};
    if (alarm_nap(nap, look))
        return;
    if (look->urgent || (nap->length_ns != 0 && nap->length_ns < NAP_URGENT_MAX_NS)) {
        length.tv_nsec = (long)nap_urgent_ns(nap, look);
        futex_wait(&completion.nudge, nap->nudge, &length);
        return;
    }
    nap->length_ns = 0;
    nap->wait = NAP_WAIT_NONE;
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
