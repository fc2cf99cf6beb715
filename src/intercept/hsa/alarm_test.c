/* The completion thread and its alarm: here one that rings when the test says so, and whose wait
 * ends by nothing else unless it keeps to its limit. */
#include "intercept/hsa/completion.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "base/wait.h"

enum { MANY = 100, ROUNDS = 200, LIMIT_NS = 2000000000, ASKED_MAX = 40 };

enum keeping { KEEPS_LIMIT, WAITS_FOR_RING, IS_GONE };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t rang;
    bool is_set;
    enum keeping keeping;
    uint32_t waits;
} bell = {.lock = PTHREAD_MUTEX_INITIALIZER, .rang = PTHREAD_COND_INITIALIZER};

static void bell_ring(void)
{
    pthread_mutex_lock(&bell.lock);
    bell.is_set = true;
    pthread_cond_broadcast(&bell.rang);
    pthread_mutex_unlock(&bell.lock);
}

static bool bell_wait(uint32_t limit_ms)
{
    struct timespec until = wait_deadline(CLOCK_REALTIME, limit_ms * (uint64_t)WAIT_NS_PER_MS);
    pthread_mutex_lock(&bell.lock);
    bool is_there = bell.keeping != IS_GONE;
    bool is_over = !is_there;
    bell.waits++;
    while (!bell.is_set && !is_over) {
        if (bell.keeping == WAITS_FOR_RING)
            pthread_cond_wait(&bell.rang, &bell.lock);
        else
            is_over = pthread_cond_timedwait(&bell.rang, &bell.lock, &until) != 0;
    }
    bell.is_set = false;
    pthread_mutex_unlock(&bell.lock);
    return is_there;
}

static const struct completion_alarm alarm_played = {bell_wait, bell_ring};

static uint32_t bell_keep(enum keeping keeping)
{
    pthread_mutex_lock(&bell.lock);
    bell.keeping = keeping;
    uint32_t waits = bell.waits;
    pthread_mutex_unlock(&bell.lock);
    bell_ring(); /* a wait of the kind before is over */
    return waits;
}

struct job {
    struct inflight work; /* first */
    _Atomic bool is_over, is_completed;
    _Atomic uint32_t asked;
};

static bool job_ended(struct inflight *work)
{
    struct job *job = (struct job *)(void *)work;
    atomic_fetch_add(&job->asked, 1);
    return atomic_load(&job->is_over);
}

static void job_complete(struct inflight *work, bool failed)
{
    assert_false(failed);
    atomic_store(&((struct job *)(void *)work)->is_completed, true);
}

static void job_post(struct job *job, struct inflight_lane *lane, bool urgent, bool rings)
{
    *job = (struct job){.work = {.lane = lane,
                                 .urgent = urgent,
                                 .rings = rings,
                                 .ended = job_ended,
                                 .complete = job_complete}};
    completion_post(&job->work);
}

static void job_end(struct job *job, bool rings)
{
    atomic_store(&job->is_over, true);
    if (rings)
        bell_ring();
}

static bool is_completed(void *argument)
{
    return atomic_load(&((struct job *)argument)->is_completed);
}

static bool job_wait(struct job *job)
{
    return wait_until(is_completed, job, LIMIT_NS, 20 * WAIT_NS_PER_US);
}

static bool was_asked(void *argument)
{
    return atomic_load(&((struct job *)argument)->asked) > 0;
}

static bool waits_again(void *argument)
{
    pthread_mutex_lock(&bell.lock);
    bool again = bell.waits > *(const uint32_t *)argument && !bell.is_set;
    pthread_mutex_unlock(&bell.lock);
    return again;
}

/* The thread waits for the alarm and for nothing else. One that did not run for 10 ms may have
 * fallen asleep instead. */
static void thread_bring_to_alarm(struct inflight_lane *lane)
{
    enum { TRIES = 100, TRY_NS = 50000000 };
    uint32_t waits = bell_keep(WAITS_FOR_RING);
    for (int i = 0; i < TRIES; i++) {
        struct job first;
        job_post(&first, lane, true, true);
        job_end(&first, true);
        assert_true(job_wait(&first));
        if (wait_until(waits_again, &waits, TRY_NS, 20 * WAIT_NS_PER_US))
            return;
    }
    fail();
}

static int setup(void **state)
{
    (void)state;
    if (!completion_start())
        return -1;
    completion_alarm_set(&alarm_played);
    return 0;
}

static void lane_end(struct inflight_lane *lane)
{
    bell_keep(KEEPS_LIMIT);
    assert_true(completion_lane_close(lane, LIMIT_NS));
}

/* Nor is it asked again and again meanwhile: 20 ms are 200 of the longest naps. */
static void what_rings_is_completed_when_it_rings(void **state)
{
    static struct inflight_lane lane;
    (void)state;
    thread_bring_to_alarm(&lane);
    for (int i = 0; i < ROUNDS; i++) {
        struct job job;
        job_post(&job, &lane, true, true);
        if (i % 50 == 0)
            wait_pause(20 * WAIT_NS_PER_MS);
        job_end(&job, true);
        assert_true(job_wait(&job));
        assert_in_range(atomic_load(&job.asked), 1, ASKED_MAX);
    }
    lane_end(&lane);
}

/* Two that go on when another one has rung. */
static void two_that_ring_are_not_looked_at_by_time(void **state)
{
    static struct inflight_lane lane;
    struct job jobs[3];
    (void)state;
    thread_bring_to_alarm(&lane);
    for (int i = 0; i < 3; i++)
        job_post(&jobs[i], &lane, true, true);
    for (int i = 0; i < 3; i++) {
        job_end(&jobs[i], true);
        assert_true(job_wait(&jobs[i]));
        if (i == 0)
            wait_pause(20 * WAIT_NS_PER_MS);
        assert_in_range(atomic_load(&jobs[i].asked), 1, ASKED_MAX);
    }
    lane_end(&lane);
}

static void silent_urgent_work_ends_the_wait(void **state)
{
    static struct inflight_lane lane;
    struct job job;
    (void)state;
    thread_bring_to_alarm(&lane);
    job_post(&job, &lane, true, false);
    assert_true(wait_until(was_asked, &job, LIMIT_NS, 20 * WAIT_NS_PER_US));
    job_end(&job, false);
    assert_true(job_wait(&job));
    lane_end(&lane);
}

/* The alarm rang once for what stands behind something that nobody waits for. */
static void what_rang_behind_other_work_is_found(void **state)
{
    static struct inflight_lane lane;
    struct job before, behind;
    (void)state;
    thread_bring_to_alarm(&lane);
    job_post(&before, &lane, false, false);
    job_post(&behind, &lane, true, true);
    job_end(&behind, true);
    assert_true(job_wait(&behind));
    assert_false(atomic_load(&before.is_completed));
    job_end(&before, true);
    assert_true(job_wait(&before));
    lane_end(&lane);
}

static void many_ends_are_collected_without_a_ring(void **state)
{
    static struct inflight_lane lane;
    static struct job jobs[MANY];
    (void)state;
    thread_bring_to_alarm(&lane);
    for (int i = 0; i < MANY; i++)
        job_post(&jobs[i], &lane, true, true);
    bell_ring();
    assert_true(wait_until(was_asked, &jobs[0], LIMIT_NS, 20 * WAIT_NS_PER_US));
    for (int i = MANY; i-- > 0;) /* the thread finds none, then all */
        job_end(&jobs[i], false);
    for (int i = 0; i < MANY; i++)
        assert_true(job_wait(&jobs[i]));
    lane_end(&lane);
}

static void harvest_does_not_wait_for_a_ring(void **state)
{
    static struct inflight_lane lane;
    struct job job;
    (void)state;
    thread_bring_to_alarm(&lane);
    job_post(&job, &lane, false, false);
    job_end(&job, false);
    completion_harvest(LIMIT_NS);
    assert_true(atomic_load(&job.is_completed));
    lane_end(&lane);
}

static void a_ring_that_is_lost_costs_a_moment(void **state)
{
    static struct inflight_lane lane;
    (void)state;
    thread_bring_to_alarm(&lane);
    bell_keep(KEEPS_LIMIT);
    for (int i = 0; i < ROUNDS / 10; i++) {
        struct job job;
        job_post(&job, &lane, true, true);
        job_end(&job, false);
        assert_true(job_wait(&job));
    }
    lane_end(&lane);
}

static void without_an_alarm_the_thread_looks_by_time(void **state)
{
    static struct inflight_lane lane;
    (void)state;
    thread_bring_to_alarm(&lane);
    bell_keep(IS_GONE);
    for (int i = 0; i < ROUNDS / 10; i++) {
        struct job job;
        job_post(&job, &lane, true, true);
        job_end(&job, false);
        assert_true(job_wait(&job));
    }
    lane_end(&lane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rings_is_completed_when_it_rings),
        cmocka_unit_test(two_that_ring_are_not_looked_at_by_time),
        cmocka_unit_test(silent_urgent_work_ends_the_wait),
        cmocka_unit_test(what_rang_behind_other_work_is_found),
        cmocka_unit_test(many_ends_are_collected_without_a_ring),
        cmocka_unit_test(harvest_does_not_wait_for_a_ring),
        cmocka_unit_test(a_ring_that_is_lost_costs_a_moment),
        cmocka_unit_test(without_an_alarm_the_thread_looks_by_time),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
