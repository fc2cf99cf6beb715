#include "intercept/hsa/completion.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_int_equal(atomic_load(&completed_count), 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(completed_order[i], i);
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
    assert_true(completion_lane_close(&lane, STALL_NS));
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
    assert_true(completion_lane_close(&stuck_lane, STALL_NS));
    assert_true(completion_lane_close(&other_lane, STALL_NS));
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
    assert_true(completion_lane_close(&lane, STALL_NS));
}

struct poster {
    struct inflight_lane lane;
    struct inflight_ring ring;
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

/* Two of them with rings, which are too small while the thread naps. */
static void many_posters_lose_nothing(void **state)
{
    enum { POSTERS = 4 };
    struct poster *posters = aligned_alloc(64, POSTERS * sizeof *posters);

    (void)state;
    memset(posters, 0, POSTERS * sizeof *posters);
    for (int p = 0; p < POSTERS; p++)
        posters[p].lane.ring = p % 2 == 0 ? &posters[p].ring : NULL;
    for (int p = 0; p < POSTERS; p++)
        pthread_create(&posters[p].thread, NULL, poster_main, &posters[p]);
    for (int p = 0; p < POSTERS; p++)
        pthread_join(posters[p].thread, NULL);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(atomic_load(&completed_count), POSTERS * 4000);
    for (int p = 0; p < POSTERS; p++)
        assert_true(completion_lane_close(&posters[p].lane, STALL_NS));
    free(posters);
}

/* An idle thread costs nothing and still wakes, from naps and from sleep. */
static void idle_and_again(void **state)
{
    static struct inflight_ring ring;
    struct inflight_lane lane = {.ring = &ring};
    struct job job;

    (void)state;
    for (int i = 0; i < 20; i++) {
        job_post(&job, &lane, i);
        device_end(&job);
        assert_true(job_wait(&job));
        assert_true(completion_lane_drain(&lane, STALL_NS));
        nanosleep(&(struct timespec){.tv_nsec = i % 4 == 0 ? 30000000 : 3000000}, NULL);
    }
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    assert_true(used < 2000000);
    assert_true(completion_lane_close(&lane, STALL_NS));
}

/* Lanes come and go while the thread naps, parks and sleeps; their memory goes at once. */
static void lanes_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct poster *poster = aligned_alloc(64, sizeof *poster);
        memset(poster, 0, sizeof *poster);
        poster->lane.ring = i % 2 == 0 ? &poster->ring : NULL;
        for (int j = 0; j < i % 7; j++) {
            job_post(&poster->jobs[j], &poster->lane, j);
            device_end(&poster->jobs[j]);
        }
        if (i % 50 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 11000000}, NULL);
        assert_true(completion_lane_close(&poster->lane, STALL_NS));
        memset(poster, 0x55, sizeof *poster);
        free(poster);
    }
}

/* A row is asked, completed and handed back as a whole. */
static _Atomic int rows_asked, rows_completed;
static _Atomic bool row_is_open;

static void row_asking(void)
{
    atomic_store(&row_is_open, true);
}

static void row_asked(void)
{
    atomic_store(&row_is_open, false);
    atomic_fetch_add(&rows_asked, 1);
}

static bool row_job_ended(struct inflight *work)
{
    assert_true(atomic_load(&row_is_open));
    return job_ended(work);
}

static void row_completed(struct inflight_lane *lane)
{
    atomic_fetch_add(&rows_completed, 1);
    assert_true(atomic_load(&lane->finished) < atomic_load(&lane->posted));
    assert_false(atomic_load(&row_is_open));
}

static void rows_have_a_begin_and_an_end(void **state)
{
    static const struct inflight_ops ops = {row_asking, row_asked, row_completed};
    static struct inflight_ring ring;
    static struct job jobs[3000];
    struct inflight_lane lane = {.ops = &ops, .ring = &ring};

    (void)state;
    for (int i = 0; i < 3000; i++) {
        jobs[i] = (struct job){.number = i};
        jobs[i].work =
            (struct inflight){.lane = &lane, .ended = row_job_ended, .complete = job_complete};
        completion_post(&jobs[i].work);
    }
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_int_equal(atomic_load(&completed_count), 3000);
    assert_true(atomic_load(&rows_completed) >= 1);
    assert_true(atomic_load(&rows_completed) <= atomic_load(&rows_asked));
}

/* The parent's work in flight is not the child's, which may use the same lanes. */
static void a_child_starts_anew(void **state)
{
    static struct inflight_ring ring;
    static struct inflight_lane lane = {.ring = &ring};
    struct job of_parent, of_child;
    int status = -1;

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* its runtime makes no threads in the child of a program with threads */
#endif
    job_post(&of_parent, &lane, 1);
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    pid_t child = fork();
    if (child == 0) {
        bool good = completion_drain(STALL_NS) && completion_start();
        device_end(&of_parent);
        job_post(&of_child, &lane, 2);
        device_end(&of_child);
        good &= completion_lane_close(&lane, STALL_NS) && atomic_load(&of_child.completed);
        _exit(good && !atomic_load(&of_parent.completed) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    device_end(&of_parent);
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_true(atomic_load(&of_parent.completed));
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
        cmocka_unit_test_setup(lanes_come_and_go, start),
        cmocka_unit_test_setup(rows_have_a_begin_and_an_end, start),
        cmocka_unit_test_setup(a_child_starts_anew, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
