#include "intercept/hsa/completion.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { STALL_NS = 200000000 };

struct job {
    struct inflight work; /* first */
    volatile int64_t value;
    int number;
    bool failed;
    _Atomic bool completed;
};

static _Atomic int completed_count;
static int completed_order[65536];

static void job_complete(struct inflight *work, bool failed)
{
    struct job *job = (struct job *)(void *)work;

    job->failed = failed;
    completed_order[atomic_load(&completed_count)] = job->number;
    atomic_store(&job->completed, true);
    atomic_fetch_add(&completed_count, 1);
}

static bool job_ended(struct inflight *work)
{
    const struct job *job = (const struct job *)(const void *)work;

    return __atomic_load_n(&job->value, __ATOMIC_ACQUIRE) < 1;
}

static void job_post(struct job *job, struct inflight_lane *lane, int number)
{
    job->value = 1;
    job->number = number;
    job->failed = false;
    atomic_store(&job->completed, false);
    job->work = (struct inflight){
        .lane = lane, .urgent = number % 2 == 0, .ended = job_ended, .complete = job_complete};
    completion_post(&job->work);
}

static void device_end(struct job *job)
{
    __atomic_store_n(&job->value, 0, __ATOMIC_RELEASE);
}

static bool job_wait(struct job *job)
{
    for (int i = 0; i < 2000 && !atomic_load(&job->completed); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return atomic_load(&job->completed);
}

static int start(void **state)
{
    (void)state;
    atomic_store(&completed_count, 0);
    return completion_start() ? 0 : -1;
}

static void one_lane_in_order(void **state)
{
    static struct job jobs[1000];
    struct inflight_lane lane = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        job_post(&jobs[i], &lane, i);
    for (int i = 0; i < 1000; i++)
        device_end(&jobs[i]);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(atomic_load(&completed_count), 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(completed_order[i], i);
    assert_int_equal(atomic_load(&lane.count), 0);
}

/* A kernel without barrier bit may end before an older one, which may even wait for it. */
static void a_later_entry_overtakes(void **state)
{
    struct inflight_lane lane = {0};
    struct job first, second;

    (void)state;
    job_post(&first, &lane, 1);
    job_post(&second, &lane, 2);
    device_end(&second);
    assert_true(job_wait(&second));
    assert_false(atomic_load(&first.completed));
    device_end(&first);
    assert_true(completion_lane_drain(&lane, STALL_NS));
    assert_true(atomic_load(&first.completed));
}

static void drain_gives_up_when_nothing_moves(void **state)
{
    struct inflight_lane stuck_lane = {0}, other_lane = {0};
    struct job stuck, other;

    (void)state;
    job_post(&stuck, &stuck_lane, 1);
    job_post(&other, &other_lane, 2);
    device_end(&other);
    assert_false(completion_drain(STALL_NS));
    assert_true(atomic_load(&other.completed));
    assert_false(atomic_load(&stuck.completed));
    /* The queue is declared dead: its work completes as failed. */
    uint64_t failed = completion_failed_count();
    atomic_store(&stuck_lane.failed, true);
    assert_true(completion_lane_drain(&stuck_lane, STALL_NS));
    assert_true(stuck.failed);
    assert_int_equal(completion_failed_count(), failed + 1);
}

static void harvest_reports_what_has_ended(void **state)
{
    static struct job jobs[200];
    struct inflight_lane lane = {0};

    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 200; i++)
            job_post(&jobs[i], &lane, i);
        for (int i = 0; i < 200; i += 2)
            device_end(&jobs[i]);
        completion_harvest(STALL_NS);
        for (int i = 0; i < 200; i++)
            assert_int_equal(atomic_load(&jobs[i].completed), i % 2 == 0);
        for (int i = 1; i < 200; i += 2)
            device_end(&jobs[i]);
        assert_true(completion_lane_drain(&lane, STALL_NS));
    }
}

struct poster {
    struct inflight_lane lane;
    struct job jobs[4000];
    pthread_t thread;
};

static void *poster_main(void *data)
{
    struct poster *poster = data;

    for (int i = 0; i < 4000; i++) {
        job_post(&poster->jobs[i], &poster->lane, i);
        if (i >= 64)
            device_end(&poster->jobs[i - 64]);
    }
    for (int i = 4000 - 64; i < 4000; i++)
        device_end(&poster->jobs[i]);
    return NULL;
}

static void many_posters_lose_nothing(void **state)
{
    enum { POSTERS = 4 };
    struct poster *posters = calloc(POSTERS, sizeof *posters);

    (void)state;
    for (int p = 0; p < POSTERS; p++)
        pthread_create(&posters[p].thread, NULL, poster_main, &posters[p]);
    for (int p = 0; p < POSTERS; p++)
        pthread_join(posters[p].thread, NULL);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(atomic_load(&completed_count), POSTERS * 4000);
    free(posters);
}

/* An idle thread costs nothing and still wakes. */
static void idle_and_again(void **state)
{
    struct inflight_lane lane = {0};
    struct job job;

    (void)state;
    for (int i = 0; i < 20; i++) {
        job_post(&job, &lane, i);
        device_end(&job);
        assert_true(job_wait(&job));
        assert_true(completion_lane_drain(&lane, STALL_NS));
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    }
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    assert_true(used < 2000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_lane_in_order, start),
        cmocka_unit_test_setup(a_later_entry_overtakes, start),
        cmocka_unit_test_setup(drain_gives_up_when_nothing_moves, start),
        cmocka_unit_test_setup(harvest_reports_what_has_ended, start),
        cmocka_unit_test_setup(many_posters_lose_nothing, start),
        cmocka_unit_test_setup(idle_and_again, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
